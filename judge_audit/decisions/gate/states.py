"""The states of an expectation and of the gate."""

from __future__ import annotations

OPEN = "open"
SHUT = "shut"
CANNOT = "cannot be asked"
CRITICAL, WARNING = "critical", "warning"
"""The severities: what keeps a gate from opening, and what is only said."""
