"""Contact sheets, which one engine lays out, and the pictures of the page.

They may import `inputs`, `stimuli`, `people` and `demo`, and no section.
"""
