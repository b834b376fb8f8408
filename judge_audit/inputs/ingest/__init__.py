"""Tables that people hold already: labels, judges' scores, readings, choices, decisions and more."""

from __future__ import annotations
