"""Pure numbers: lifts, their intervals, ladders, scales, agreement and the purity of axes.

They may import `core` for words and digests; no clock, disk, network or unseeded draw.
"""
