"""How things stand: what a scheduler, a dashboard or a person on call asks.

It may import what `operations` may.
"""

from judge_audit.operations.status.document import make_status
from judge_audit.operations.status.exposition import exposition, status_lines

__all__ = ["exposition", "make_status", "status_lines"]
