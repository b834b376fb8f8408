"""What every room needs: configuration, tables, vocabulary, limits, messages, digests, errors, progress and files.

It imports `schemas` and third parties, and no other room.
"""
