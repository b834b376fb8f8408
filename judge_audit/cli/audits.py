"""The commands that make audits: `init`, `demo`, `run`, `release`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from judge_audit.cli.options import AS_JSON, BASELINE, USE, axis_names, key_option, with_keys
from judge_audit.cli.output import print_json, print_lines, print_result
from judge_audit.cli.project import configured
from judge_audit.core.errors import MachineryError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.core.configuration import Configuration

DEMO_FOLDER = Path("judge-audit-demo")
"""Where `demo` keeps its pictures, its lake and its report, below the folder it is run in."""

REPORT, LAKE, RUNNER, WORKERS, JUDGE = map(key_option, ("report", "lake", "runner", "workers", "judge"))
DRY_RUN = Option(
    False,
    "--dry-run",
    help="Say what would be asked and how long it takes; a judge never timed is shown three pictures.",
)


def init(folder: Path = Argument(Path(), help="Where to.")) -> None:
    """Make a project: a commented audit.yaml and folders for your own parts."""
    from judge_audit.core.configuration import init_project

    made = init_project(folder)
    typer.echo(f"Made {', '.join(str(path) for path in made)}.")
    typer.echo(f"Name your items and your judge in {made[0]}, then: judge-audit run {made[0]}")


def demo(
    what: str = Argument(
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
    from judge_audit.demo.published import JUDGES, card_path, import_published
    from judge_audit.lake import Lake

    home = lake or DEMO_FOLDER / "published" / "lake"
    folder = report or DEMO_FOLDER / "published" / "report"
    done = import_published(Lake.open(home))
    if not as_json:
        print_lines(line for entry in done for line in entry.lines if not line.startswith("Columns of"))
    documents = []
    for judge in JUDGES:
        overrides = {"judge": str(card_path(judge)), "lake": str(home), "report": str(folder / judge)}
        result = _result(configured(None, overrides), dry_run=dry_run)
        documents.append(result.document)
        if not as_json:
            print_lines((f"\n{judge}", *result.lines))
    if as_json:
        print_json(documents)


@with_keys
def run(
    file: Path | None = Argument(None, metavar="audit.yaml", help="The project's audit.yaml."),
    *,
    lake: str | None = LAKE,
    report: str | None = REPORT,
    runner: str | None = RUNNER,
    workers: int | None = WORKERS,
    max_calls: int | None = key_option("max_calls", least=0),
    max_cost: float | None = key_option("max_cost", least=0),
    skip_bad: bool = key_option("skip_bad"),
    dry_run: bool = DRY_RUN,
    as_json: bool = AS_JSON,
    **keys: Any,  # noqa: ANN401 - the other keys of audit.yaml that are options
) -> None:
    """Audit a judge. What stands here wins over audit.yaml."""
    overrides = {
        **keys,
        "axes": axis_names(keys["axes"]),
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
    file: Path = Argument(Path("audit.yaml"), metavar="audit.yaml", help="The candidate's audit.yaml."),
    judge: str | None = JUDGE,
    use: str | None = USE,
    baseline: str = BASELINE,
    *,
    lake: str | None = LAKE,
    report: str | None = REPORT,
    runner: str | None = RUNNER,
    workers: int | None = WORKERS,
    as_json: bool = AS_JSON,
) -> None:
    """Audit a candidate and ask the gate. Exit codes: 0 open, 1 shut, 2 cannot be asked, 3 the machinery failed."""
    from judge_audit.core.progress import shown

    overrides = {"judge": judge, "lake": lake, "report": report, "runner": runner, "workers": workers}
    configuration = configured(file, overrides)
    with shown() as progress:
        answer = find_flow("release")(configuration, progress=progress, use=use, baseline=baseline)
    print_result(answer.document, answer.lines, as_json=as_json)
    raise typer.Exit(answer.code)


def _audit(configuration: Configuration, *, dry_run: bool, as_json: bool) -> None:
    """Hand a configuration to the audit flow and print what it came to."""
    result = _result(configuration, dry_run=dry_run)
    print_result(result.document, result.lines, as_json=as_json)


def _result(configuration: Configuration, *, dry_run: bool) -> Any:  # noqa: ANN401 - the flows' own type
    """Hand a configuration to the audit flow."""
    from judge_audit.core.progress import shown

    with shown() as progress:
        return find_flow("audit")(configuration, progress=progress, dry_run=dry_run)


def find_flow(name: str) -> Callable[..., Any]:
    """Find a flow: the flows stand above the library, which therefore does not import them."""
    from importlib.metadata import entry_points

    entries = list(entry_points(group="judge_audit.flows", name=name))
    if not entries:
        raise MachineryError(f"the {name} flow is not installed. Install image-judge-audit again with pip.")
    flow: Callable[..., Any] = entries[0].load()
    return flow
