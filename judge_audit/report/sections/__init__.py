"""The parts of the report's document, one a file: rows of the lake become plain values.

They may import charts, sheets, `report.figures`, `report.facts` and what `report` may, and not the page.
"""
