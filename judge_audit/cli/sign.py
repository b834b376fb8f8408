"""`judge-audit sign`: a person says yes to one use of a judge, for a time."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path  # noqa: TC003 - typer reads the annotations

import typer

from judge_audit.cli.lakes import AS_JSON, LAKE, where
from judge_audit.cli.output import print_json
from judge_audit.core.errors import UsageError

DAYS = 90


def sign(  # noqa: PLR0917 - one option each
    use: str | None = typer.Option(
        None,
        "--use",
        help="filtering, ranking, reward, acceptance or screening; without it sign-offs are listed.",
    ),
    by: str = typer.Option("", "--by", help="Name of the person who says yes."),
    reason: str = typer.Option("", "--reason", help="Why."),
    until: str | None = typer.Option(
        None, "--until", help=f"Last day, YYYY-MM-DD; {DAYS} days from now if not given."
    ),
    audit: str = typer.Option("latest", "--audit", help="The audit it rests on: its id, or latest."),
    key: Path | None = typer.Option(None, "--key", help="An Ed25519 private key (PEM) to sign with."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Sign one use of a judge on the strength of an audit, or list what is signed."""
    from judge_audit.audits.stages.gate import account
    from judge_audit.decisions.signoffs import Judged, Yes, signoff_lines, signoffs_of
    from judge_audit.decisions.signoffs import sign as record
    from judge_audit.lake import Lake
    from judge_audit.lake.audits import find_audit

    opened = Lake.open(where(lake), create=False)
    row = find_audit(opened, audit)
    now = datetime.now(UTC)
    if use is None:
        found = signoffs_of(opened, row["audit_id"], now)
    else:
        ends = _day(until) if until else now + timedelta(days=DAYS)
        made = record(opened, row, Yes(use, by, account(), reason, now, ends), key)
        found = [Judged(made, "")]
    if as_json:
        told = [asdict(entry.signoff) | {"void": entry.void} for entry in found]
        print_json(told)
        return
    for entry in found:
        for line in signoff_lines(entry):
            typer.echo(line)
    if not found:
        typer.echo(f"Nobody has signed the audit {row['audit_id']}.")


def _day(text: str) -> datetime:
    """Take the end of a day."""
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f"--until {text}: write a day as YYYY-MM-DD.") from error
    return day + timedelta(days=1)
