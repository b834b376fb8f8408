"""Drawings of the report, as SVG made of plain values.

They may import `figure_text` and `core`, and no section.
"""
