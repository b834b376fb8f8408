"""Judges whose weights are not pinned: a few pictures asked afresh in every audit tell whether it is the same judge.

It may import cards, `lake` and `measures`.

What makes a judge but for its epoch is its *lineage*. Each time its canaries are asked is an *asking*; what an
asking showed, and which epoch it therefore is, is one row of `canary_nights`, and the first one written counts.
"""
