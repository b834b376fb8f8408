"""What can the judge see, and does it answer the same of the same picture?

It may import what `checks` may, and no other folder of checks.
"""
