"""Contact sheets and strips: pictures put together for people to look at.

They may import `stimuli`, `people` and `demo`.
"""
