"""Does the score follow surface statistics, and in the same way in every source?

It may import what `checks` may, and no other folder of checks.
"""
