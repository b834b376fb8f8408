"""What follows from the evidence: standings of the uses, sign-offs, the release gate and the change of a judge.

It may import `inputs`, `checks` and what is below, and neither `anchors` nor `report`.
"""
