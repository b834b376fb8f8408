"""How things stand: what a scheduler, a dashboard or a person on call asks."""

from judge_audit.status.document import make_status
from judge_audit.status.telling import exposition, status_lines

__all__ = ["exposition", "make_status", "status_lines"]
