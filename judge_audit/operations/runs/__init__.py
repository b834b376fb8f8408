"""Runs: every start of `run`, `release` or `gate`, by hand or by a scheduler, and what became of it.

It may import what `operations` may.
"""

from judge_audit.operations.runs.run_history import Runs, read_runs
from judge_audit.operations.runs.run_record import GATE, RELEASE, RUN, Run, recorded

__all__ = ["GATE", "RELEASE", "RUN", "Run", "Runs", "read_runs", "recorded"]
