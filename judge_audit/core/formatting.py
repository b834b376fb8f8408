"""Texts of strangers on a terminal."""

from __future__ import annotations


def harmless(text: str) -> str:
    """Put a question mark for every sign that a terminal would obey: names come from files of strangers."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
