"""Does a score carry an absolute meaning: piles, ends reached, labelled ends, and coverage of real traffic.

It may import what `checks` may, and `people` for labels.
"""
