"""The flows that are deployed: every night, on demand, before a release, and the tidying between.

Their parameters are what a person fills in on Prefect's page. `deployments/prefect.yaml` says when they run.
"""

from __future__ import annotations

from typing import Any

from judge_audit_flows.deployment.deployed_audit import Wanted, audited, settled
from judge_audit_flows.deployment.parameters import NO_OVERRIDES, STEADY, Overrides, Persistence
from judge_audit_flows.runtime.outcome import refused
from judge_audit_flows.runtime.run_names import deployed_label
from judge_audit_flows.runtime.stale_runs import STALE, Patience, tidied
from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State  # noqa: TC002 - Prefect reads the annotations
from prefect.states import Completed

from judge_audit.core.configuration import resolve
from judge_audit.core.errors import AuditError
from judge_audit.decisions.gate.approvals import approved_judges
from judge_audit.lake import Lake

APPROVED = "approved"
"""Stands in the list of judges for every judge that is approved today."""


@flow(name="judge-audit-nightly", flow_run_name=deployed_label, persist_result=False)
def nightly(
    audit: str = "audit.yaml",
    judges: tuple[str, ...] = (),
    gate: bool = True,  # noqa: FBT001, FBT002 - a parameter a person fills in
    use: str = "",
    overrides: Overrides = NO_OVERRIDES,
    persistence: Persistence = STEADY,
) -> State[Any]:
    """Audit the judge that is in use, and hold it against the audit it was approved by.

    Args:
        audit: Path of the project's audit.yaml, as the machine sees it that runs this.
        judges: Judges to audit one after another: built-in names, module:attribute, or cards; `approved` stands for
            every judge approved today. Empty for the one that audit.yaml names.
        gate: Ask the release gate about each: what has drifted since its approval then fails this run.
        use: What the gate is asked about: filtering, ranking, reward, acceptance or screening. Empty for what the judge
            was approved for last.
        overrides: Choices that win over audit.yaml in this run.
        persistence: How often to try again where the machinery failed.
    """
    try:
        named = named_judges(audit, judges)
    except AuditError as error:
        return settled([refused("", error)])
    wanted = [Wanted(audit, judge, gate, use) for judge in named]
    return settled([audited(one, overrides, persistence, apart=len(wanted) > 1) for one in wanted])


@flow(name="judge-audit-ad-hoc", flow_run_name=deployed_label, persist_result=False)
def ad_hoc(
    audit: str = "audit.yaml",
    judge: str = "",
    overrides: Overrides = NO_OVERRIDES,
    persistence: Persistence = STEADY,
) -> State[Any]:
    """Audit a judge now.

    Args:
        audit: Path of the project's audit.yaml, as the machine sees it that runs this.
        judge: A built-in name, module:attribute, or a card. Empty for the one that audit.yaml names.
        overrides: Choices that win over audit.yaml in this run.
        persistence: How often to try again where the machinery failed.
    """
    return settled([audited(Wanted(audit, judge), overrides, persistence)])


@flow(name="judge-audit-release-gate", flow_run_name=deployed_label, persist_result=False)
def release_gate(
    audit: str = "audit.yaml",
    judge: str = "",
    use: str = "",
    baseline: str = "approved",
    overrides: Overrides = NO_OVERRIDES,
    persistence: Persistence = STEADY,
) -> State[Any]:
    """Audit a candidate, its anchors first, and ask the release gate about it.

    Args:
        audit: Path of the project's audit.yaml, as the machine sees it that runs this.
        judge: The candidate: a built-in name, module:attribute, or a card. Empty for the one that audit.yaml names.
        use: What it is to be released for: filtering, ranking, reward, acceptance or screening. Empty for what a judge
            of this name was approved for last.
        baseline: The audit it is held against, or `approved`.
        overrides: Choices that win over audit.yaml in this run.
        persistence: How often to try again where the machinery failed.
    """
    wanted = Wanted(audit, judge, True, use, baseline)
    return settled([audited(wanted, overrides, persistence)])


@flow(name="judge-audit-tidy", persist_result=False)
def tidy(patience: Patience = STALE) -> State[Any]:
    """Put an end to runs of ours whose processes are gone, and free what they held.

    Args:
        patience: After how long a run that gives no sign of life is taken for dead.
    """
    done = tidied(patience)
    log = get_run_logger()
    for line in done:
        log.info(line)
    return Completed(message="\n".join(done) or "Nothing was stale.")


def named_judges(audit: str, judges: tuple[str, ...]) -> tuple[str, ...]:
    """Say which judges are meant: `approved` stands for what is approved today, nothing for the file's own.

    Raises:
        AuditError: If the file cannot be read, or nothing is approved; no lake is made for it.
    """
    if APPROVED not in judges:
        return judges or ("",)
    lake = Lake.open(resolve(audit).lake, create=False)
    names = [name for judge in judges for name in (approved_judges(lake) if judge == APPROVED else [judge])]
    return tuple(dict.fromkeys(names))
