"""The commands that make audits: `init`, `demo`, `run`, `release`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from judge_audit.cli.output import print_json
from judge_audit.core.errors import MachineryError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.core.configuration import Configuration

DEMO_FOLDER = Path("judge-audit-demo")
"""Where `demo` keeps its pictures, its lake and its report, below the folder it is run in."""

REPORT = typer.Option(None, "--report", help="Folder of the report.")
LAKE = typer.Option(None, "--lake", help="Folder of the results.")
RUNNER = typer.Option(None, "--runner", help="What runs the tasks: threads, processes, dask or ray.")
WORKERS = typer.Option(None, "--workers", help="Tasks at a time; 0 for one per core.")
MAX_CALLS = typer.Option(None, "--max-calls", min=0, help="Show the judge so many pictures at most.")
MAX_COST = typer.Option(
    None, "--max-cost", min=0, help="Spend so much at most, in the currency of the judge's card."
)
DRY_RUN = typer.Option(
    False,
    "--dry-run",
    help="Say what would be asked and how long it takes; a judge never timed is shown three pictures.",
)
AS_JSON = typer.Option(False, "--json", help="Print the results as JSON.")


def init(folder: Path = typer.Argument(Path(), help="Where to.")) -> None:
    """Make a project: a commented audit.yaml and folders for your own parts."""
    from judge_audit.core.configuration import init_project

    made = init_project(folder)
    typer.echo(f"Made {', '.join(str(path) for path in made)}.")
    typer.echo(f"Name your items and your judge in {made[0]}, then: judge-audit run {made[0]}")


def demo(
    what: str = typer.Argument(
        "photos",
        metavar="[photos|published]",
        help="photos, or published: two famous judges beside three people.",
    ),
    lake: Path | None = LAKE,
    report: Path | None = REPORT,
    runner: str | None = RUNNER,
    workers: int | None = WORKERS,
    dry_run: bool = DRY_RUN,
    as_json: bool = AS_JSON,
) -> None:
    """Audit the built-in judge on built-in pictures, or published scores; in a lake of its own (judge-audit-demo/)."""
    if what == "published":
        _published(lake, report, dry_run=dry_run, as_json=as_json)
        return
    if what != "photos":
        raise UsageError(f"there is no demo “{what}”; there are photos and published.")
    from judge_audit.cli.configuration import configured
    from judge_audit.core.progress import shown
    from judge_audit.demo.corpus import write_demo_corpus
    from judge_audit.stimuli.brand_rules import example_path

    with shown() as progress:
        progress.stage("drawing the demo's pictures")
        items = write_demo_corpus(DEMO_FOLDER / "corpus")
    overrides = {
        "items": str(items),
        "rules": str(example_path()),
        "lake": str(lake or DEMO_FOLDER / "lake"),
        "report": str(report or DEMO_FOLDER / "report"),
        "runner": runner,
        "workers": workers,
    }
    _audit(configured(None, overrides), dry_run=dry_run, as_json=as_json)


def _published(lake: Path | None, report: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Import published ratings and replies, and audit both judges beside the people."""
    from judge_audit.audits.run_summary import lines_of
    from judge_audit.cli.configuration import configured
    from judge_audit.demo.published import JUDGES, card_path, import_published
    from judge_audit.lake import Lake

    home = lake or DEMO_FOLDER / "published" / "lake"
    folder = report or DEMO_FOLDER / "published" / "report"
    done = import_published(Lake.open(home))
    if not as_json:
        for line in (line for entry in done for line in entry.lines if not line.startswith("Columns of")):
            typer.echo(line)
    told = []
    for judge in JUDGES:
        overrides = {"judge": str(card_path(judge)), "lake": str(home), "report": str(folder / judge)}
        result = _result(configured(None, overrides), dry_run=dry_run)
        told.append(result.document)
        if not as_json:
            typer.echo(f"\n{judge}")
            for line in lines_of(result):
                typer.echo(line)
    if as_json:
        print_json(told)


def run(  # noqa: PLR0917 - the options of a command, never called by position
    file: Path | None = typer.Argument(None, metavar="audit.yaml", help="The project's audit.yaml."),
    items: str | None = typer.Option(None, "--items", help="Items file: .csv, .jsonl or .parquet."),
    judge: str | None = typer.Option(None, "--judge", help="A built-in name, module:attribute, or a card."),
    axes: str | None = typer.Option(None, "--axes", help="Names with commas between; default, or all."),
    ladder_items: int | None = typer.Option(None, "--ladder-items", help="How many items carry ladders."),
    repeats: int | None = typer.Option(None, "--repeats", help="How often each probe is asked."),
    readings: str | None = typer.Option(None, "--readings", help="Your annotators' readings file."),
    traffic: str | None = typer.Option(
        None, "--traffic", help="A sample of real traffic to hold the items against."
    ),
    anchors: str | None = typer.Option(
        None, "--anchors", help="Folder of the anchor set: labelled pictures, asked first."
    ),
    anchor_version: int | None = typer.Option(
        None, "--anchor-version", help="An earlier version of it, to replay a verdict."
    ),
    pairs: str | None = typer.Option(None, "--pairs", help="Your manifest of hand-made pairs."),
    pairs_per_kind: int | None = typer.Option(
        None, "--pairs-per-kind", help="Pairs to build of each mismatch kind; 0 builds none."
    ),
    rules: str | None = typer.Option(None, "--rules", help="Brand rules that built pairs break."),
    strangers: str | None = typer.Option(
        None, "--strangers", help="Prompts to exchange with where the items have one topic."
    ),
    only: str | None = typer.Option(
        None, "--only", help="mismatches: the pairs and what they are held against, nothing else."
    ),
    seed: int | None = typer.Option(None, "--seed", help="Seed of every draw."),
    context: str | None = typer.Option(
        None, "--context", help="internal, or outside (people beyond the team)."
    ),
    lake: str | None = LAKE,
    report: str | None = REPORT,
    runner: str | None = RUNNER,
    workers: int | None = WORKERS,
    max_calls: int | None = MAX_CALLS,
    max_cost: float | None = MAX_COST,
    skip_bad: bool = typer.Option(False, "--skip-bad", help="Leave bad rows out, and list them."),
    dry_run: bool = DRY_RUN,
    as_json: bool = AS_JSON,
) -> None:
    """Audit a judge. What stands here wins over audit.yaml."""
    from judge_audit.cli.configuration import configured

    overrides = {
        "items": items,
        "judge": judge,
        "axes": _names(axes),
        "ladder_items": ladder_items,
        "repeats": repeats,
        "readings": readings,
        "traffic": traffic,
        "anchors": anchors,
        "anchor_version": anchor_version,
        "pairs": pairs,
        "pairs_per_kind": pairs_per_kind,
        "rules": rules,
        "strangers": strangers,
        "only": only,
        "seed": seed,
        "context": context,
        "lake": lake,
        "report": report,
        "runner": runner,
        "workers": workers,
        "skip_bad": skip_bad or None,
        "max_calls": max_calls,
        "max_cost": max_cost,
    }
    _audit(configured(file, overrides), dry_run=dry_run, as_json=as_json)


def release(
    file: Path = typer.Argument(Path("audit.yaml"), metavar="audit.yaml", help="The candidate's audit.yaml."),
    judge: str | None = typer.Option(None, "--judge", help="A built-in name, module:attribute, or a card."),
    use: str | None = typer.Option(
        None,
        "--for",
        metavar="USE",
        help="filtering, ranking, reward, acceptance or screening; else what it was approved for last.",
    ),
    baseline: str = typer.Option(
        "approved", "--baseline", metavar="AUDIT|approved", help="What to hold it against."
    ),
    *,
    lake: str | None = LAKE,
    report: str | None = REPORT,
    runner: str | None = RUNNER,
    workers: int | None = WORKERS,
    as_json: bool = AS_JSON,
) -> None:
    """Audit a candidate and ask the gate. Exit codes: 0 open, 1 shut, 2 cannot be asked, 3 the machinery failed."""
    from judge_audit.audits.run_summary import lines_of
    from judge_audit.cli.configuration import configured
    from judge_audit.core.progress import shown

    overrides = {"judge": judge, "lake": lake, "report": report, "runner": runner, "workers": workers}
    configuration = configured(file, overrides)
    with shown() as progress:
        told = find_flow("release")(configuration, progress=progress, use=use, baseline=baseline)
    if as_json:
        print_json(told.document)
    else:
        for line in lines_of(told):
            typer.echo(line)
    raise typer.Exit(told.code)


def _names(text: str | None) -> str | list[str] | None:
    """Take the names of axes apart."""
    if text is None or text in {"default", "all"}:
        return text
    return [name.strip() for name in text.split(",") if name.strip()]


def _audit(configuration: Configuration, *, dry_run: bool, as_json: bool) -> None:
    """Hand a configuration to the audit flow and print what it came to."""
    from judge_audit.audits.run_summary import lines_of

    result = _result(configuration, dry_run=dry_run)
    if as_json:
        print_json(result.document)
    else:
        for line in lines_of(result):
            typer.echo(line)


def _result(configuration: Configuration, *, dry_run: bool) -> Any:  # noqa: ANN401 - the flows' own type
    """Hand a configuration to the audit flow."""
    from judge_audit.core.progress import shown

    with shown() as progress:
        return find_flow("audit")(configuration, progress=progress, dry_run=dry_run)


def find_flow(name: str) -> Callable[..., Any]:
    """Find a flow: the flows stand above the library, which therefore does not import them."""
    from importlib.metadata import entry_points

    found = list(entry_points(group="judge_audit.flows", name=name))
    if not found:
        raise MachineryError(f"the {name} flow is not installed. Install image-judge-audit again with pip.")
    flow: Callable[..., Any] = found[0].load()
    return flow
