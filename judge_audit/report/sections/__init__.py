"""The parts of the report's document, one a file: rows of the lake become plain values.

They may import charts, `figures` and what `report` may, and not the page.
"""
