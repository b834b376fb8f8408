"""Asking a judge: draw, call in batches, say what became of every probe, within a budget and with patience.

It may import cards and the protocol of judges, `stimuli` and `core`, and no adapter.
"""
