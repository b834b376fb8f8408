"""The demo: pictures drawn or cropped on the spot, staged pairs, and published tables.

It may import `inputs` and what is below.
"""
