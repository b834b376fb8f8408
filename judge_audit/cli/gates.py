"""The commands by which people decide about a judge: `gate`, `approve`, `verify`, `sign`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import typer
from typer import Argument, Option

from judge_audit.cli.options import AS_JSON, BASELINE, LAKE, USE
from judge_audit.cli.output import print_result
from judge_audit.cli.project import configuration_here, opened, project_here, report_folder
from judge_audit.core.errors import EXIT_GOOD, EXIT_JUDGE_FAILED, UsageError

DAYS = 90
"""Days that a sign-off lasts, if nobody says how long."""

CANDIDATE = Option(
    None, "--candidate", metavar="AUDIT", help="The audit of the judge to release; else the newest."
)


def gate(
    candidate: str | None = CANDIDATE,
    baseline: str = BASELINE,
    use: str | None = USE,
    report: str | None = Option(None, "--report", help="Folder of the certificate."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Ask whether a judge may be released. Exit codes: 0 open, 1 shut, 2 cannot be asked."""
    from judge_audit.audits.stages.gate import certify
    from judge_audit.audits.stages.gate import gate as ask
    from judge_audit.operations.runs import GATE, recorded

    results = opened(lake)
    with recorded(configuration_here(lake), GATE, lambda line: typer.echo(line, err=True)) as run:
        answer = ask(results, candidate=candidate, baseline=baseline, use=use, project=project_here())
        answer = certify(results, answer, Path(report or report_folder(lake)), project=project_here())
        run.asked(answer.document)
    print_result(answer.document, answer.lines, as_json=as_json)
    raise typer.Exit(answer.code)


def approve(
    candidate: str | None = CANDIDATE,
    *,
    by: str = Option(..., "--by", metavar="NAME", help="The person who approves."),
    reason: str = Option(..., "--reason", help="Why."),
    use: str | None = USE,
    first: bool = Option(
        False, "--first", help="None was approved for this use before: compare with nothing."
    ),
    despite: list[str] = Option(
        [],
        "--despite",
        metavar="SUITE/EXPECTATION",
        help="Take on, by name, what is not met; for the record.",
    ),
    succeeds: str = typer.Option(
        "",
        "--succeeds",
        metavar="JUDGE_ID",
        help="The approved judge of another origin that this one takes over from.",
    ),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Record the approved judge, against which later candidates are held."""
    from judge_audit.audits.stages.gate import account, approve_candidate
    from judge_audit.decisions.gate.approvals import Approver

    approver = Approver(by, account(), reason, tuple(dict.fromkeys(despite)), first, succeeds)
    row = approve_candidate(
        opened(lake), candidate=candidate, use=use, approver=approver, project=project_here()
    )
    lines = [
        f"Audit {row['audit_id']} is approved for {row['use']} by {row['signer']}: {row['reason']}",
        *([f"Taken on by name: {', '.join(row['despite'])}."] if row["despite"] else []),
        "Later audits of this judge are held against it.",
    ]
    print_result(row, lines, as_json=as_json)


def verify(
    certificate: Path = Argument(metavar="CERT", help="certificate.html or certificate.json."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Hold a certificate against the lake. Exit codes: 0 it holds, 1 it does not."""
    from judge_audit.audits.verify import verify as hold
    from judge_audit.core.messages import say
    from judge_audit.decisions.signers import read_people

    people = read_people(project_here())
    checked = hold(opened(lake), certificate, datetime.now(UTC), people)
    if checked.faults:
        lines = [say("gate.verify.bad"), *(f"  {fault}" for fault in checked.faults)]
    else:
        about = {name: checked.document["gate"][name] for name in ("candidate", "state")}
        lines = [say("gate.verify.good", n=checked.rows, tables=len(checked.document["rows"]), **about)]
    print_result({"holds": not checked.faults, "faults": checked.faults}, lines, as_json=as_json)
    raise typer.Exit(EXIT_JUDGE_FAILED if checked.faults else EXIT_GOOD)


def sign(  # noqa: PLR0917 - one option each
    use: str | None = Option(
        None,
        "--use",
        help="filtering, ranking, reward, acceptance or screening; without it sign-offs are listed.",
    ),
    by: str = Option("", "--by", help="Name of the person who says yes."),
    reason: str = Option("", "--reason", help="Why."),
    until: str | None = Option(
        None, "--until", help=f"Last day, YYYY-MM-DD; {DAYS} days from now if not given."
    ),
    audit: str = Option("latest", "--audit", help="The audit it rests on: its id, or latest."),
    key: Path | None = Option(None, "--key", help="An Ed25519 private key (PEM) to sign with."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Sign one use of a judge on the strength of an audit, or list what is signed."""
    from judge_audit.audits.stages.gate import account, home_of
    from judge_audit.decisions.signers import read_people
    from judge_audit.decisions.signoffs import Judged, Yes, signoff_lines, signoffs_of
    from judge_audit.decisions.signoffs import sign as record
    from judge_audit.lake.audits import find_audit

    results = opened(lake)
    row = find_audit(results, audit)
    now, people = datetime.now(UTC), read_people(home_of(row, project_here()))
    if use is None:
        signed = signoffs_of(results, row["audit_id"], now, people)
    else:
        ends = _day(until) if until else now + timedelta(days=DAYS)
        made = record(results, row, Yes(use, by, account(), reason, now, ends), key, people)
        signed = [Judged(made, "")]
    lines = [line for entry in signed for line in signoff_lines(entry)]
    print_result(
        [asdict(entry.signoff) | {"void": entry.void} for entry in signed],
        lines if signed else [f"Nobody has signed the audit {row['audit_id']}."],
        as_json=as_json,
    )


def _day(text: str) -> datetime:
    """Take the end of a day."""
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f"--until {text}: write a day as YYYY-MM-DD.") from error
    return day + timedelta(days=1)
