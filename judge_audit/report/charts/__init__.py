"""Drawings of the report, as SVG made of plain values with the one module `svg`.

They may import `report.figures`, `checks` and `core`, and no section.
"""
