"""One audit within a deployed flow: attempts, progress in the run's log, an end that says why.

The library's errors carry a message for people. Prefect would put an exception's name before it and a traceback into
the log; a deployed run ends in a state whose message is that sentence, after a few words that say what kind it is of.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from judge_audit_flows.audit import run_audit
from judge_audit_flows.release import run_release
from judge_audit_flows.runtime.outcome import Ending, RunLog, gate_event, persisted, slug, worst
from judge_audit_flows.runtime.stale_runs import TAG
from prefect import tags
from prefect.artifacts import create_markdown_artifact
from prefect.events import emit_event
from prefect.exceptions import CancelledRun
from prefect.logging import get_run_logger
from prefect.states import Completed, Failed

from judge_audit.audits.run_summary import AuditResult, ReleaseResult
from judge_audit.core.configuration import Configuration, resolve
from judge_audit.core.errors import EXIT_GOOD, EXIT_MACHINERY
from judge_audit.core.progress import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_flows.deployment.parameters import Overrides, Persistence
    from prefect.client.schemas.objects import State


@dataclass(frozen=True, slots=True)
class Wanted:
    """One audit that is asked for.

    Attributes:
        audit: Path of audit.yaml.
        judge: What to audit; "" for the judge the file names.
        gate: Whether the release gate is asked.
        use: What the judge is to be released for; "" for what it was approved for last.
        baseline: The audit it is held against, or `approved`.
    """

    audit: str
    judge: str = ""
    gate: bool = False
    use: str = ""
    baseline: str = "approved"


def configured(wanted: Wanted, overrides: Overrides, *, apart: bool) -> Configuration:
    """Read audit.yaml and lay the choices of a run over it.

    Args:
        wanted: What is asked for.
        overrides: What was filled in.
        apart: Whether several judges are audited, each of which then has a folder of its own in the report's.
    """
    choices = {**overrides.given(), **({"judge": wanted.judge} if wanted.judge else {})}
    configuration = resolve(wanted.audit, choices)
    if not apart:
        return configuration
    report = f"{configuration.report.rstrip('/')}/{slug(configuration.judge)}"
    return resolve(wanted.audit, {**choices, "report": report})


def audited(wanted: Wanted, overrides: Overrides, persistence: Persistence, *, apart: bool = False) -> Ending:
    """Make one audit within a flow run, again where the machinery failed, and say how it ended; never raises for that.

    Whatever was bought stays bought: an attempt goes on from what the lake holds.
    """
    named = wanted.judge or "the judge of audit.yaml"

    def attempt() -> Ending:
        try:
            return _attempt(wanted, configured(wanted, overrides, apart=apart))
        except CancelledRun:
            text = "cancelled: what was bought is kept, the next run goes on from there"
            return Ending(named, EXIT_MACHINERY, text, final=True)

    return persisted(named, attempt, get_run_logger(), persistence.retries, persistence.wait_seconds)


def _attempt(wanted: Wanted, configuration: Configuration) -> Ending:
    """Make an audit, with its progress in the run's log, and keep what the gate said as an artifact."""
    log = get_run_logger()
    result: AuditResult | ReleaseResult
    with shown(RunLog(log.info)) as progress, tags(TAG):
        if wanted.gate:
            result = run_release(configuration, progress, use=wanted.use or None, baseline=wanted.baseline)
        else:
            audit = run_audit(configuration, progress)
            assert isinstance(audit, AuditResult)  # what is no dry run
            result = audit
    lines, text = result.lines, result.state_message
    for line in lines:
        log.info(line)
    keep(configuration.judge, text, lines, gated=wanted.gate)
    judge, code = wanted.judge or configuration.judge, EXIT_GOOD
    if isinstance(result, ReleaseResult):
        code = result.code
        announce(configuration, result.gated.document)
    return Ending(judge, code, text, result.document)


def keep(judge: str, text: str, lines: Sequence[str], *, gated: bool) -> None:
    """Keep what an audit came to as an artifact, under one key a judge, so that Prefect shows its history."""
    kind = "gate" if gated else "audit"
    body = "\n".join(f"- {escape(line.strip())}" for line in lines if line.strip())
    create_markdown_artifact(
        markdown=f"# {escape(text.splitlines()[0] if text else kind)}\n\n{body}\n",
        key=f"{TAG}-{kind}-{slug(judge)}",
        description=f"What the {'release gate' if gated else 'audit'} came to.",
    )


def announce(configuration: Configuration, gate: dict[str, Any]) -> None:
    """Emit the event that says what state the gate is in."""
    payload = {name: gate.get(name) for name in ("state", "use", "candidate", "baseline", "certificate")}
    emit_event(
        gate_event(str(gate["state"])),
        resource={
            "prefect.resource.id": f"judge-audit.judge.{slug(configuration.judge)}",
            "prefect.resource.name": configuration.judge,
        },
        payload={**payload, "judge": configuration.judge, "lake": configuration.lake},
    )


def settled(endings: Sequence[Ending]) -> State[Any]:
    """Give the state a flow run ends in: the worst of its endings, and every judge's reason in the message.

    A shut gate is a failure to Prefect, so that schedulers and automations notice; the message's beginning tells it
    from a failure of the machinery.
    """
    code, message = worst(endings)
    return Completed(message=message) if code == EXIT_GOOD else Failed(message=message)
