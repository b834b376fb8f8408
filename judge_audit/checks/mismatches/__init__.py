"""Are sub-scores several opinions? The responses to deliberate mismatches, kind by dimension.

It may import what `checks` may, and no other folder of checks but `people`.
"""
