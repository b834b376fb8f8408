"""The commands that decide about a release: `gate`, `approve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from judge_audit.cli.output import print_json

if TYPE_CHECKING:
    from judge_audit.core.configuration import Configuration

LAKE = typer.Option(
    None, "--lake", help="Folder of the lake; else that of ./audit.yaml or $JUDGE_AUDIT_LAKE."
)
AS_JSON = typer.Option(False, "--json", help="Print the results as JSON.")
CANDIDATE = typer.Option(
    None, "--candidate", metavar="AUDIT", help="The audit of the judge to release; else the newest."
)
USE = typer.Option(
    None,
    "--for",
    metavar="USE",
    help="filtering, ranking, reward, acceptance or screening; else what it was approved for last.",
)


def gate(
    candidate: str | None = CANDIDATE,
    baseline: str = typer.Option(
        "approved", "--baseline", metavar="AUDIT|approved", help="What to hold it against."
    ),
    use: str | None = USE,
    report: str | None = typer.Option(None, "--report", help="Folder of the certificate."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Ask whether a judge may be released. Exit codes: 0 open, 1 shut, 2 cannot be asked."""
    from judge_audit.audits.stages.gate import certify
    from judge_audit.audits.stages.gate import gate as ask
    from judge_audit.cli.lakes import opened
    from judge_audit.operations.runs import GATE, recorded

    held = opened(lake)
    with recorded(configuration_here(lake), GATE, lambda line: typer.echo(line, err=True)) as run:
        told = ask(held, candidate=candidate, baseline=baseline, use=use, project=project_here())
        told = certify(held, told, Path(report or folder_of(lake)), project=project_here())
        run.asked(told.document)
    if as_json:
        print_json(told.document)
    else:
        for line in told.lines:
            typer.echo(line)
    raise typer.Exit(told.code)


def approve(
    candidate: str | None = CANDIDATE,
    *,
    by: str = typer.Option(..., "--by", metavar="NAME", help="The person who approves."),
    reason: str = typer.Option(..., "--reason", help="Why."),
    use: str | None = USE,
    first: bool = typer.Option(
        False, "--first", help="None was approved for this use before: compare with nothing."
    ),
    despite: list[str] = typer.Option(
        [],
        "--despite",
        metavar="SUITE/EXPECTATION",
        help="Take on, by name, what is not met; for the record.",
    ),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Record the approved judge, against which later candidates are held."""
    from judge_audit.audits.stages.gate import account, approve_candidate
    from judge_audit.cli.lakes import opened
    from judge_audit.decisions.gate.approvals import Approver

    approver = Approver(by, account(), reason, tuple(dict.fromkeys(despite)), first)
    row = approve_candidate(
        opened(lake), candidate=candidate, use=use, approver=approver, project=project_here()
    )
    if as_json:
        print_json(row)
        return
    typer.echo(f"Audit {row['audit_id']} is approved for {row['use']} by {row['signer']}: {row['reason']}")
    if row["despite"]:
        typer.echo(f"Taken on by name: {', '.join(row['despite'])}.")
    typer.echo("Later audits of a judge of this name are held against it.")


def verify(
    certificate: Path = typer.Argument(metavar="CERT", help="certificate.html or certificate.json."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Hold a certificate against the lake. Exit codes: 0 it holds, 1 it does not."""
    from datetime import UTC, datetime

    from judge_audit.audits.verify import verify as hold
    from judge_audit.cli.lakes import opened
    from judge_audit.core.errors import EXIT_GOOD, EXIT_JUDGE_FAILED
    from judge_audit.core.messages import say

    found = hold(opened(lake), certificate, datetime.now(UTC))
    if as_json:
        print_json({"holds": not found.faults, "faults": found.faults})
    elif found.faults:
        for line in (say("gate.verify.bad"), *(f"  {fault}" for fault in found.faults)):
            typer.echo(line)
    else:
        asked = found.document["gate"]
        tables = len(found.document["rows"])
        told = {"candidate": asked["candidate"], "state": asked["state"]}
        typer.echo(say("gate.verify.good", n=found.rows, tables=tables, **told))
    raise typer.Exit(EXIT_JUDGE_FAILED if found.faults else EXIT_GOOD)


def folder_of(lake: str | None) -> str:
    """Give the folder of the report that belongs to a lake, as `run` would."""
    from judge_audit.cli.configuration import configured
    from judge_audit.cli.lakes import where

    if lake is None and Path("audit.yaml").exists():
        return configured("audit.yaml").report
    home = where(lake)
    return "judge-audit-report" if "://" in home else str(Path(home).with_name("judge-audit-report"))


def configuration_here(lake: str | None) -> Configuration:
    """Give what ./audit.yaml says, if there is one, for a command that is about a lake and no judge in particular."""
    from dataclasses import replace

    from judge_audit.cli.configuration import configured
    from judge_audit.cli.lakes import where
    from judge_audit.core.configuration import Configuration

    held = configured("audit.yaml") if Path("audit.yaml").exists() else Configuration()
    return replace(held, lake=where(lake), judge="")


def project_here() -> str:
    """Give the project in whose folder this is asked."""
    return str(Path.cwd()) if Path("audit.yaml").exists() else ""
