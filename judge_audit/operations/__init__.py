"""Running audits day by day: the model registry, records of runs, status and notices.

It may import `decisions`, `anchors` and what is below, and neither `report` nor Prefect.
"""
