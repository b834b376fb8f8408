"""The release gate: suites of expectations over the results, an approved judge, a certificate.

Great Expectations and pandas live here and nowhere else, and are imported when a gate is asked; otherwise it may import
what `decisions` may.
"""
