"""How far the clocks of a team's machines may be apart."""

from __future__ import annotations

from datetime import timedelta

TOLERANCE = timedelta(minutes=2)
"""Clocks of machines that are kept in step differ by less."""
