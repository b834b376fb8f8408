"""What measures surface statistics of pictures, kept in the lake like the scores of a judge.

They may import `stimuli` and the protocol of judges.
"""
