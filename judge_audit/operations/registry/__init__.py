"""Registered models: which versions there are, how one becomes a judge, what was submitted, what the registry is told.

It may import what `operations` may; MLflow is imported in `mlflow_client` alone, and a launcher that is handed over
starts the runs.
"""

from __future__ import annotations

from judge_audit.operations.registry.ledger import Ledger, Version
from judge_audit.operations.registry.settings import Settings, settings_of
from judge_audit.operations.registry.submit import Launched, Outcome, Request, submit

__all__ = ["Launched", "Ledger", "Outcome", "Request", "Settings", "Version", "settings_of", "submit"]
