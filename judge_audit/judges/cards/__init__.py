"""The card: what a judge is, what makes its identity, what it claims, its files, prices and keys.

It may import `core` alone, and no model runtime.
"""

from judge_audit.judges.cards.card import Card, card_of, read_card

__all__ = ["Card", "card_of", "read_card"]
