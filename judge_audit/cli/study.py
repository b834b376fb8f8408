"""The `study` commands: what people are asked, and what came of it: `plan|readers|serve|results|export`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from judge_audit.cli.options import AS_JSON, PROJECT_FILE, axis_names, names
from judge_audit.cli.options import LAKE as ANY_LAKE
from judge_audit.cli.output import print_result
from judge_audit.cli.project import configured, file_here, opened, project_here
from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judge_audit.cli.options import Commands
    from judge_audit.core.configuration import Configuration
    from judge_audit.people.study.build_plan import Planned
    from judge_audit.people.study.folder import StudyFolder
    from judge_audit.people.study.readers import Reader
    from judge_audit.people.study.tasks import Pack

ADDRESS = "http://127.0.0.1:8765"
STUDY = Argument(Path("study"), metavar="STUDY", help="The study's folder.")
LAKE = Option(None, "--lake", help="Folder of the lake, if it has moved.")
URL = Option(ADDRESS, "--url", help="Address under which readers reach the page.")
DAYS = Option(14, "--days", help="Days that the links are good for.")


KINDS = ("labels", "choices", "readings", "reviews")
TASKS_ONLY = frozenset({"tool", "items", "study", "dimensions", "annotators", "pictures"})
"""Options of `study export` that are about labels, choices and readings."""

REVIEWS_ONLY = frozenset(
    {"audit", "each", "quantile", "boundary", "before", "after", "dimension", "lake", "as_json"}
)
"""Options of `study export` that are about reviews."""


def plan(  # noqa: PLR0917 - the options of a command, never called by position
    file: Path | None = PROJECT_FILE,
    items: str | None = Option(None, "--items", help="Items file: .csv, .jsonl or .parquet."),
    axes: str | None = Option(None, "--axes", help="Names with commas between; default, or all."),
    per_axis: int | None = Option(
        None, "--per-axis", min=1, help="Items to read on each axis; else as many as make thresholds narrow."
    ),
    catches: int | None = Option(
        None, "--catches", min=0, help="Ladders on which nothing changes; an eighth if not said."
    ),
    repeats: int | None = Option(
        None, "--repeats", min=0, help="Ladders each reader is shown again; a sixteenth if not said."
    ),
    protocol: str = Option("flicker", "--protocol", help="flicker, side_by_side or slider."),
    only_seen: bool = Option(False, "--only-seen", help="Do not ask from where a change is objectionable."),
    people: str | None = Option(None, "--readers", help="Two or more names with commas between."),
    days: int = DAYS,
    url: str = URL,
    name: str = Option("ladders", "--name", help="Name of the study; its readers see it."),
    seed: int | None = Option(None, "--seed", help="Seed of every draw."),
    ladder_items: int | None = Option(None, "--ladder-items", help="How many items carry ladders."),
    out: Path = Option(Path("study"), "--out", help="Folder of the study."),
    lake: str | None = Option(None, "--lake", help="Folder of the lake that takes the readings."),
    as_json: bool = AS_JSON,
) -> None:
    """Choose which items and axes people read, and say how long that takes."""
    from judge_audit.core.progress import shown
    from judge_audit.lake import Lake
    from judge_audit.people.study.build_plan import Wishes, plan_lines, plan_told
    from judge_audit.people.study.folder import make_folder
    from judge_audit.people.study.folder import register as put
    from judge_audit.people.study.plan import PROTOCOLS

    if protocol not in PROTOCOLS:
        raise UsageError(f"--protocol {protocol}: there are {', '.join(PROTOCOLS)}.")
    overrides = {
        "items": items,
        "axes": axis_names(axes),
        "seed": seed,
        "ladder_items": ladder_items,
        "lake": lake,
    }
    configuration = configured(file_here(file), overrides)
    wishes = Wishes(
        name=name,
        protocol=protocol,
        seed=configuration.seed,
        ladder_items=configuration.ladder_items,
        per_axis=per_axis,
        catches=catches,
        repeats=repeats,
        objectionable=not only_seen,
    )
    with shown() as progress:
        results_lake = Lake.open(configuration.lake)
        planned = _planned(configuration, wishes, results_lake, progress)
    folder = make_folder(out, planned.study, configuration.lake, configuration.project)
    put(results_lake, planned.study)
    links = _invite(folder, names(people), days, url)
    lines = [
        *plan_lines(folder.path, planned),
        *_link_lines(links, days),
        "",
        f"Then: judge-audit study serve {out}",
    ]
    print_result(plan_told(folder.path, planned, links), lines, as_json=as_json)


def readers(
    study: Path = STUDY,
    add: list[str] = Option([], "--add", metavar="NAME", help="Invite a reader."),
    renew: list[str] = Option(
        [], "--renew", metavar="NAME", help="Give a reader a new link; the old one ends."
    ),
    revoke: list[str] = Option([], "--revoke", metavar="NAME", help="Withdraw a reader's link."),
    days: int = DAYS,
    url: str = URL,
    as_json: bool = AS_JSON,
) -> None:
    """List a study's readers; invite, renew, revoke."""
    from judge_audit.people.study import readers as people
    from judge_audit.people.study.folder import open_folder

    folder = open_folder(study)
    links = _invite(folder, add, days, url)
    for name in (*renew, *revoke):
        key, invited = folder.readers()
        if name in renew:
            invited, token = people.renew(invited, name, datetime.now(UTC), days)
            links[people.find(invited, name).annotator_id] = f"{url.rstrip('/')}/r/{token}"
        else:
            invited = people.revoke(invited, name)
        folder.write_readers(key, invited)
    _, invited = folder.readers()
    document = [
        {"reader": reader.annotator_id, "until": reader.expires_at.isoformat(), "revoked": reader.revoked}
        for reader in invited
    ]
    now = datetime.now(UTC)
    lines = [f"{reader.order}. {reader.annotator_id}: {_standing(reader, now)}" for reader in invited]
    print_result({"readers": document, "links": links}, [*lines, *_link_lines(links, days)], as_json=as_json)


def serve(
    study: Path = Argument(Path("study"), metavar="STUDY", help="The study's folder, or its audit.yaml."),
    config: Path | None = Option(
        None, "--config", metavar="audit.yaml", help="The project, where the study lies in ./study beside it."
    ),
    host: str = Option("127.0.0.1", "--host", help="Address to listen on; this machine only if not said."),
    port: int = Option(8765, "--port", min=0, max=65535, help="Port to listen on."),
    url: str | None = Option(None, "--url", help="Address under which readers reach the page, if another."),
    lake: str | None = LAKE,
) -> None:
    """Serve the reading page."""
    from judge_audit.audits.plugins import find_axes, things
    from judge_audit.people.study.folder import open_folder
    from judge_audit.people.study.serve import serve_study

    folder = open_folder(config.parent / "study" if config and study == Path("study") else study)
    serve_study(
        folder,
        lake or folder.lake,
        things(find_axes(folder.project)),
        host=host,
        port=port,
        url=url or "",
        say=lambda text: typer.echo(text, err=True),
    )


def results(
    study: Path = STUDY,
    page: Path | None = Option(
        None, "--page", help="Where the page goes; results.html in the study's folder."
    ),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Say what the readings say: thresholds, agreement, false alarms, who reads out of line."""
    from judge_audit.lake import Lake
    from judge_audit.people.study.folder import open_folder
    from judge_audit.people.study.results import results_of
    from judge_audit.people.study.results_page import lines_of, write_page

    folder = open_folder(study)
    outcome = results_of(folder.study, Lake.open(lake or folder.lake, create=False), folder.readers()[1])
    target = page or folder.path / "results.html"
    write_page(outcome, target)
    print_result(asdict(outcome), (*lines_of(outcome), "", f"The page: {target}"), as_json=as_json)


def _planned(configuration: Configuration, wishes: Any, lake: Any, progress: Any) -> Planned:  # noqa: ANN401 - lazy
    """Read the items and plan the study."""
    from judge_audit.audits.plugins import select_axes
    from judge_audit.inputs.items import read_items
    from judge_audit.people.study.build_plan import plan_study

    if not configuration.items:
        raise UsageError(
            "there are no pictures to read: the judge is a table of scores. Name an items file with --items."
        )
    progress.stage("reading pictures")
    read = read_items(configuration.items, skip_bad=configuration.skip_bad, on_progress=progress.at)
    progress.stage("drawing ladders")
    from judge_audit_schemas.rows import ReadingsRow

    from judge_audit.core.tables import rows_of

    known = rows_of(lake.read("readings"), ReadingsRow)
    return plan_study(read.items.to_pylist(), select_axes(configuration), wishes, known, progress.at)


def _invite(folder: StudyFolder, names: Sequence[str], days: int, url: str) -> dict[str, str]:
    """Add readers that are not there yet, and give their links."""
    from judge_audit.people.study.readers import add_reader

    links = {}
    key, invited = folder.readers()
    for name in names:
        invited, token = add_reader(invited, name, datetime.now(UTC), days)
        links[invited[-1].annotator_id] = f"{url.rstrip('/')}/r/{token}"
    if links:
        folder.write_readers(key, invited)
    return links


def _link_lines(links: dict[str, str], days: int) -> list[str]:
    if not links:
        return []
    lines = [
        "",
        f"Personal links, good for {days} days. They are shown this once: send each to its reader alone.",
    ]
    return lines + [f"  {name}: {link}" for name, link in links.items()]


def _standing(reader: Reader, now: datetime) -> str:
    from judge_audit.core.formatting import minute

    if reader.revoked:
        return "withdrawn"
    return f"link good until {minute(reader.expires_at)}" if reader.open_at(now) else "link too old"


def export(
    context: typer.Context,
    out: Path = Argument(
        metavar="OUT", help="Folder of the pack; must not be there. Its key lies beside it."
    ),
    *,
    kind: str = Option(..., "--for", metavar="KIND", help="labels, choices, readings or reviews."),
    seed: int | None = Option(None, "--seed", help="Seed of the draw and of names and orders."),
    tool: str = Option("label-studio", "--tool", help="All but reviews: label-studio or csv."),
    items: str | None = Option(
        None, "--items", help="Labels, choices: items file; else that of ./audit.yaml."
    ),
    study: Path | None = Option(None, "--study", help="Readings: the folder of a planned study."),
    dimensions: str = Option(
        "semantic,structure,aesthetic,compliance,overall",
        "--dimensions",
        help="Labels: what is rated from 1 to 5.",
    ),
    annotators: str = Option("", "--annotators", help="csv: a table for each of these people."),
    pictures: str = Option(
        "", "--pictures-url", help="label-studio: address under which OUT is served; else its local files."
    ),
    audit: str = Option("latest", "--audit", help="Reviews: the audit to draw from: latest, or its id."),
    each: int = Option(30, "--each", min=1, help="Reviews: how many to draw from each stratum."),
    quantile: float = Option(
        0.2,
        "--quantile",
        min=0.01,
        max=0.5,
        help="Reviews: share of a source that is its top, and its bottom.",
    ),
    boundary: float = Option(
        0.2,
        "--boundary",
        min=0.01,
        max=1.0,
        help="Reviews: share of accepted and rejected that is close to the boundary.",
    ),
    before: str = Option("", "--before", metavar="SOURCE", help="Reviews: the source before optimisation."),
    after: str = Option(
        "", "--after", metavar="SOURCE", help="Reviews: the source after it, on the same prompts."
    ),
    dimension: str = Option(
        "", "--dimension", help="Reviews: whose order counts, where there is no overall score."
    ),
    lake: str | None = ANY_LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Write what people are asked: a pack that shows no score, no source and no reason."""
    from judge_audit.people.study.tasks import TOOLS

    if kind not in KINDS:
        raise UsageError(f"--for {kind}: there is no such pack; there are {', '.join(KINDS)}.")
    _check_given(context, kind)
    if kind == "reviews":
        if bool(before) != bool(after):
            raise UsageError("--before and --after are given together.")
        limits = {"quantile": quantile, "boundary": boundary, "each": each}
        sources = {"before": before, "after": after, "dimension": dimension}
        _export_reviews(out, audit, lake, {**limits, **sources, "seed": seed}, as_json=as_json)
        return
    people = names(annotators)
    if tool not in TOOLS:
        raise UsageError(f"--tool {tool}: there are {', '.join(TOOLS)}.")
    if people and tool != "csv":
        raise UsageError("--annotators belongs to --tool csv; Label Studio knows its own people.")
    if kind == "readings":
        pack, picture = _ladder_tasks(study)
    else:
        pack, picture = _item_tasks(kind, items, names(dimensions), 1 if seed is None else seed)
    _write_tasks(out, kind, tool, pack, picture, people, pictures)


def _check_given(context: typer.Context, kind: str) -> None:
    """Refuse options that belong to another kind of pack."""
    others = TASKS_ONLY if kind == "reviews" else REVIEWS_ONLY
    foreign = {
        name
        for name in others
        if (source := context.get_parameter_source(name)) is not None and source.name == "COMMANDLINE"
    }
    if foreign:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(foreign))
        raise UsageError(f"--for {kind}: {options} belongs to another kind of pack.")


def _write_tasks(
    out: Path,
    kind: str,
    tool: str,
    pack: Pack,
    picture: Callable[[Any], Any],
    people: Sequence[str],
    address: str,
) -> None:
    """Write tasks for another tool; nothing in them says source, score or axis."""
    from judge_audit.people.review_pack import key_path
    from judge_audit.people.study.tasks import write_tasks

    prefix = f"{address.rstrip('/')}/" if address else ""
    made = write_tasks(pack, out, tool, picture, annotators=people, prefix=prefix)
    typer.echo(f"{out}: {len(pack.tasks):,} tasks. " + ", ".join(path.name for path in made))
    for note in pack.notes:
        typer.echo(f"Note: {note}")
    typer.echo(f"Keep {key_path(out)} to yourself: it says which item each task is.")
    typer.echo(f"Then: judge-audit import {kind} FILE --from {tool} --key {key_path(out)}")


def _ladder_tasks(study: Path | None) -> tuple[Pack, Callable[[Any], Any]]:
    """Make the pack of a study's ladders."""
    from judge_audit.audits.plugins import find_axes, things
    from judge_audit.people.study.folder import open_folder
    from judge_audit.people.study.picture_provider import PictureProvider
    from judge_audit.people.study.tasks import reading_pack

    if study is None:
        raise UsageError(
            "readings are of a planned study: name its folder with --study (judge-audit study plan)."
        )
    folder = open_folder(study)
    pictures = PictureProvider(things(find_axes(folder.project)))
    ladders = {ladder.key: ladder for ladder in folder.study.ladders}
    return reading_pack(folder.study), lambda shown: pictures.rungs(ladders[shown[0]])[shown[1]]


def _item_tasks(
    kind: str, items: str | None, dimensions: list[str], seed: int
) -> tuple[Pack, Callable[[Any], Any]]:
    """Make a pack of an items file."""
    from judge_audit.inputs.items import read_items
    from judge_audit.people.study.tasks import choice_pack, label_pack
    from judge_audit.stimuli.images import load_image

    configuration = configured(file_here(), {"items": items})
    if not configuration.items:
        raise UsageError("there are no pictures to show: name an items file with --items.")
    rows = read_items(configuration.items, skip_bad=configuration.skip_bad).items.to_pylist()
    uris = {row["item_id"]: row["uri"] for row in rows}
    pack = label_pack(rows, dimensions, seed) if kind == "labels" else choice_pack(rows, seed)
    return pack, lambda item_id: load_image(uris[item_id]).pixels


def _export_reviews(
    out: Path, audit: str, lake: str | None, wishes: dict[str, Any], *, as_json: bool
) -> None:
    """Draw items for people to review and write them as a pack that shows neither scores nor reasons."""
    from judge_audit.audits.plugins import find_axes
    from judge_audit.people.review_pack import Wanted, export_reviews, key_path

    wanted = Wanted(axes=tuple(sorted(find_axes(project_here()))), **wishes)
    done = export_reviews(opened(lake), audit, out, wanted)
    key = key_path(out)
    unpictured = f"{done.unpictured:,} have no picture in reach; their names stand in column image."
    lines = [
        f"{out}: {done.rows:,} items to review, drawn as follows.",
        *(f"  {name}: {drawn:,} of {among:,}" for name, (drawn, among) in done.strata.items()),
        *(f"Note: {note}" for note in (*done.notes, *([unpictured] if done.unpictured else []))),
        f"Keep {key} to yourself until the reviews are back: it says why each was drawn.",
        f"Then: judge-audit import reviews {out / 'reviews.csv'}",
    ]
    print_result({**asdict(done), "key": str(key)}, lines, as_json=as_json)


COMMANDS: Commands = {command.__name__: command for command in (plan, readers, serve, results, export)}
