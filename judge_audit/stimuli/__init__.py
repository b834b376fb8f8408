"""What a judge is shown: images, masks, axes, mismatches, drawing, and the plan of probes.

It may import `measures` and `core`.
"""
