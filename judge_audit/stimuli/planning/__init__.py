"""The plan: which probes, pairs, comparisons and combinations there are, and in which blocks they are asked.

It may import the rest of `stimuli`, and nothing imports a stage from here.
"""
