"""Studies: people read ladders on a page of our own, blind and each by themselves.

It may import what `people` may; the web framework is imported in `server` and `serve` alone.
"""
