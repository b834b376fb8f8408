"""Drawings of the report, as SVG made of plain values.

They may import `figures` and `core`, and no section.
"""
