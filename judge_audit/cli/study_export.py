"""The command that hands work to people: `study export`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import typer

from judge_audit.errors import UsageError

LAKE = typer.Option(
    None, "--lake", help="Folder of the lake; else that of ./audit.yaml or $JUDGE_AUDIT_LAKE."
)
KINDS = ("reviews",)


def register(app: typer.Typer) -> None:
    """Add the command to a group."""
    app.command("export")(export)


def export(
    out: Path = typer.Argument(
        metavar="OUT", help="Folder of the pack; must not be there. Its key lies beside it."
    ),
    *,
    kind: str = typer.Option(..., "--for", metavar="KIND", help="What people are asked for: reviews."),
    audit: str = typer.Option("latest", "--audit", help="The audit to draw from: latest, or its id."),
    each: int = typer.Option(30, "--each", min=1, help="How many to draw from each stratum."),
    quantile: float = typer.Option(
        0.2, "--quantile", min=0.01, max=0.5, help="Share of a source that is its top, and its bottom."
    ),
    boundary: float = typer.Option(
        0.2,
        "--boundary",
        min=0.01,
        max=1.0,
        help="Share of accepted and rejected that is close to the boundary.",
    ),
    before: str = typer.Option("", "--before", metavar="SOURCE", help="The source before optimisation."),
    after: str = typer.Option(
        "", "--after", metavar="SOURCE", help="The source after it, on the same prompts."
    ),
    dimension: str = typer.Option(
        "", "--dimension", help="Whose order counts, where there is no overall score."
    ),
    seed: int | None = typer.Option(None, "--seed", help="Seed of the draw; the audit's own if not said."),
    lake: str | None = LAKE,
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
) -> None:
    """Draw items for people to review and write them as a pack that shows neither scores nor reasons."""
    from judge_audit.cli.lakes import where
    from judge_audit.lake import Lake
    from judge_audit.parts import find_axes
    from judge_audit.people.packs import key_path
    from judge_audit.people.review_pack import Wanted, export_reviews

    if kind not in KINDS:
        raise UsageError(f"--for {kind}: there is no such pack; there is {', '.join(KINDS)}.")
    if bool(before) != bool(after):
        raise UsageError("--before and --after are given together.")
    project = str(Path.cwd()) if Path("audit.yaml").exists() else ""
    wanted = Wanted(
        quantile=quantile,
        boundary=boundary,
        each=each,
        before=before,
        after=after,
        dimension=dimension,
        axes=tuple(sorted(find_axes(project))),
        seed=seed,
    )
    done = export_reviews(Lake.open(where(lake), create=False), audit, out, wanted)
    if as_json:
        typer.echo(json.dumps({**asdict(done), "key": str(key_path(out))}, ensure_ascii=False, indent=2))
        return
    typer.echo(f"{out}: {done.rows:,} items to review, drawn as follows.")
    for name, (drawn, held) in done.strata.items():
        typer.echo(f"  {name}: {drawn:,} of {held:,}")
    for note in done.notes:
        typer.echo(f"Note: {note}")
    if done.unpictured:
        typer.echo(f"Note: {done.unpictured:,} have no picture in reach; their names stand in column image.")
    typer.echo(f"Keep {key_path(out)} to yourself until the reviews are back: it says why each was drawn.")
    typer.echo(f"Then: judge-audit import reviews {out / 'reviews.csv'}")
