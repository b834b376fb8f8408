"""The command that hands work to people and to their tools: `study export`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations

import typer

from judge_audit.cli import study_reviews, study_tasks
from judge_audit.cli.lakes import AS_JSON, LAKE
from judge_audit.core.errors import UsageError

KINDS = ("labels", "choices", "readings", "reviews")


def register(app: typer.Typer) -> None:
    """Add the command to a group."""
    app.command("export")(export)


def export(
    context: typer.Context,
    out: Path = typer.Argument(
        metavar="OUT", help="Folder of the pack; must not be there. Its key lies beside it."
    ),
    *,
    kind: str = typer.Option(..., "--for", metavar="KIND", help="labels, choices, readings or reviews."),
    seed: int | None = typer.Option(None, "--seed", help="Seed of the draw and of names and orders."),
    tool: str = typer.Option("label-studio", "--tool", help="All but reviews: label-studio or csv."),
    items: str | None = typer.Option(
        None, "--items", help="Labels, choices: items file; else that of ./audit.yaml."
    ),
    study: Path | None = typer.Option(None, "--study", help="Readings: the folder of a planned study."),
    dimensions: str = typer.Option(
        study_tasks.DIMENSIONS, "--dimensions", help="Labels: what is rated from 1 to 5."
    ),
    annotators: str = typer.Option("", "--annotators", help="csv: a table for each of these people."),
    pictures: str = typer.Option(
        "", "--pictures-url", help="label-studio: address under which OUT is served; else its local files."
    ),
    audit: str = typer.Option(
        "latest", "--audit", help="Reviews: the audit to draw from: latest, or its id."
    ),
    each: int = typer.Option(30, "--each", min=1, help="Reviews: how many to draw from each stratum."),
    quantile: float = typer.Option(
        0.2,
        "--quantile",
        min=0.01,
        max=0.5,
        help="Reviews: share of a source that is its top, and its bottom.",
    ),
    boundary: float = typer.Option(
        0.2,
        "--boundary",
        min=0.01,
        max=1.0,
        help="Reviews: share of accepted and rejected that is close to the boundary.",
    ),
    before: str = typer.Option(
        "", "--before", metavar="SOURCE", help="Reviews: the source before optimisation."
    ),
    after: str = typer.Option(
        "", "--after", metavar="SOURCE", help="Reviews: the source after it, on the same prompts."
    ),
    dimension: str = typer.Option(
        "", "--dimension", help="Reviews: whose order counts, where there is no overall score."
    ),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Write what people are asked: a pack that shows no score, no source and no reason."""
    if kind not in KINDS:
        raise UsageError(f"--for {kind}: there is no such pack; there are {', '.join(KINDS)}.")
    _check_given(context, kind)
    if kind == "reviews":
        drawn = study_reviews.Drawn(audit, each, quantile, boundary, before, after, dimension, seed)
        study_reviews.export(out, drawn, lake, as_json=as_json)
        return
    handed = study_tasks.Handed(
        kind, tool, items, study, dimensions, annotators, pictures, 1 if seed is None else seed
    )
    study_tasks.export(out, handed)


def _check_given(context: typer.Context, kind: str) -> None:
    """Refuse options that belong to another kind of pack."""
    others = study_tasks.BELONGS if kind == "reviews" else study_reviews.BELONGS
    given = {
        name
        for name in others
        if (source := context.get_parameter_source(name)) is not None and source.name == "COMMANDLINE"
    }
    if given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(given))
        raise UsageError(f"--for {kind}: {options} belongs to another kind of pack.")
