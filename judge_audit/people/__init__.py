"""What people say: readings and zones, labels, reviews, and what stands in for readers until there are any.

It may import `lake`, `stimuli`, `measures` and `core`, and nothing of `judges`.
"""
