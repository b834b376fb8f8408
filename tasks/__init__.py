"""Thin Prefect tasks, one file per kind of task: each runs one stage of an audit where the runner puts it.

They import the library and Prefect, and no flow.
"""

from judge_audit_tasks.check import check
from judge_audit_tasks.controls import controls
from judge_audit_tasks.gate import gate
from judge_audit_tasks.plan import prepare
from judge_audit_tasks.report import report
from judge_audit_tasks.score import Scored, score

__all__ = ["Scored", "check", "controls", "gate", "prepare", "report", "score"]
