"""People with people, the judge compared with people, the judge with itself, and sub-scores.

It may import what `checks` may, and no other folder of checks.
"""
