"""The evidence of each use: review of both ends, first choices, optimisation, acceptance and appeals.

It may import what `checks` may, and `people` for labelled scores.
"""
