"""Checks of ladders: premature, jitter, top response, headroom, stability between sources, and purity.

It may import what `checks` may, and `sight` for what the judge cannot see.
"""
