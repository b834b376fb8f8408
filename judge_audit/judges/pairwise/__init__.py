"""Judges that compare two pictures and give no score: protocol, answers, and adapters around those that score.

They may import cards, and the protocol and the parser of judges that score.
"""
