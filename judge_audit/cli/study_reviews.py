"""What `study export --for reviews` does."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from judge_audit.cli.output import print_json
from judge_audit.core.errors import UsageError

BELONGS = frozenset(
    {"audit", "each", "quantile", "boundary", "before", "after", "dimension", "lake", "as_json"}
)
"""Options of `study export` that are about reviews."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the options say of a draw.

    Attributes:
        audit: The audit to draw from: latest, or its id.
        each: How many from each stratum.
        quantile: Share of a source that is its top, and its bottom.
        boundary: Share of accepted and rejected that is close to the boundary.
        before: The source before optimisation, "" for none.
        after: The source after it.
        dimension: Whose order counts, "" for the overall score.
        seed: Seed of the draw, None for the audit's own.
    """

    audit: str
    each: int
    quantile: float
    boundary: float
    before: str
    after: str
    dimension: str
    seed: int | None


def export(out: Path, drawn: Drawn, lake: str | None, *, as_json: bool) -> None:
    """Draw items for people to review and write them as a pack that shows neither scores nor reasons."""
    from judge_audit.audits.plugins import find_axes
    from judge_audit.cli.lakes import where
    from judge_audit.lake import Lake
    from judge_audit.people.review_pack import Wanted, export_reviews, key_path

    if bool(drawn.before) != bool(drawn.after):
        raise UsageError("--before and --after are given together.")
    project = str(Path.cwd()) if Path("audit.yaml").exists() else ""
    wanted = Wanted(
        quantile=drawn.quantile,
        boundary=drawn.boundary,
        each=drawn.each,
        before=drawn.before,
        after=drawn.after,
        dimension=drawn.dimension,
        axes=tuple(sorted(find_axes(project))),
        seed=drawn.seed,
    )
    done = export_reviews(Lake.open(where(lake), create=False), drawn.audit, out, wanted)
    if as_json:
        print_json({**asdict(done), "key": str(key_path(out))})
        return
    typer.echo(f"{out}: {done.rows:,} items to review, drawn as follows.")
    for name, (taken, held) in done.strata.items():
        typer.echo(f"  {name}: {taken:,} of {held:,}")
    for note in done.notes:
        typer.echo(f"Note: {note}")
    if done.unpictured:
        typer.echo(f"Note: {done.unpictured:,} have no picture in reach; their names stand in column image.")
    typer.echo(f"Keep {key_path(out)} to yourself until the reviews are back: it says why each was drawn.")
    typer.echo(f"Then: judge-audit import reviews {out / 'reviews.csv'}")
