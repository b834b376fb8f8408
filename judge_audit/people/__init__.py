"""What people say: readings and zones, labels, reviews; and visual-difference models until there are readers.

It may import `lake`, `stimuli`, `measures` and `core`, and nothing of `judges`.
"""
