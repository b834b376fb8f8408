"""The commands of studies that read ladders: `study plan|readers|serve|results`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from judge_audit.cli.output import print_json
from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.core.configuration import Configuration
    from judge_audit.people.study.build_plan import Planned
    from judge_audit.people.study.folder import StudyFolder
    from judge_audit.people.study.readers import Reader

ADDRESS = "http://127.0.0.1:8765"
STUDY = typer.Argument(Path("study"), metavar="STUDY", help="The study's folder.")
LAKE = typer.Option(None, "--lake", help="Folder of the lake, if it has moved.")
AS_JSON = typer.Option(False, "--json", help="Print the results as JSON.")
URL = typer.Option(ADDRESS, "--url", help="Address under which readers reach the page.")
DAYS = typer.Option(14, "--days", help="Days that the links are good for.")


def register(app: typer.Typer) -> None:
    """Add the commands to a group."""
    app.command("plan")(plan)
    app.command("readers")(readers)
    app.command("serve")(serve)
    app.command("results")(results)


def plan(  # noqa: PLR0917 - the options of a command, never called by position
    file: Path | None = typer.Argument(
        None, metavar="audit.yaml", help="The project's audit.yaml; ./audit.yaml if there is one."
    ),
    items: str | None = typer.Option(None, "--items", help="Items file: .csv, .jsonl or .parquet."),
    axes: str | None = typer.Option(None, "--axes", help="Names with commas between; default, or all."),
    per_axis: int | None = typer.Option(
        None, "--per-axis", min=1, help="Items to read on each axis; else as many as make thresholds narrow."
    ),
    catches: int | None = typer.Option(
        None, "--catches", min=0, help="Ladders on which nothing changes; an eighth if not said."
    ),
    repeats: int | None = typer.Option(
        None, "--repeats", min=0, help="Ladders each reader is shown again; a sixteenth if not said."
    ),
    protocol: str = typer.Option("flicker", "--protocol", help="flicker, side_by_side or slider."),
    only_seen: bool = typer.Option(
        False, "--only-seen", help="Do not ask from where a change is objectionable."
    ),
    people: str | None = typer.Option(None, "--readers", help="Two or more names with commas between."),
    days: int = DAYS,
    url: str = URL,
    name: str = typer.Option("ladders", "--name", help="Name of the study; its readers see it."),
    seed: int | None = typer.Option(None, "--seed", help="Seed of every draw."),
    ladder_items: int | None = typer.Option(None, "--ladder-items", help="How many items carry ladders."),
    out: Path = typer.Option(Path("study"), "--out", help="Folder of the study."),
    lake: str | None = typer.Option(None, "--lake", help="Folder of the lake that takes the readings."),
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
    given = {"items": items, "axes": _several(axes), "seed": seed, "ladder_items": ladder_items, "lake": lake}
    configuration = _configuration(file, given)
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
        held = Lake.open(configuration.lake)
        planned = _planned(configuration, wishes, held, progress)
    folder = make_folder(out, planned.study, configuration.lake, configuration.project)
    put(held, planned.study)
    links = _invite(folder, _names(people), days, url)
    if as_json:
        print_json(plan_told(folder.path, planned, links))
        return
    for line in (
        *plan_lines(folder.path, planned),
        *_link_lines(links, days),
        "",
        f"Then: judge-audit study serve {out}",
    ):
        typer.echo(line)


def readers(
    study: Path = STUDY,
    add: list[str] = typer.Option([], "--add", metavar="NAME", help="Invite a reader."),
    renew: list[str] = typer.Option(
        [], "--renew", metavar="NAME", help="Give a reader a new link; the old one ends."
    ),
    revoke: list[str] = typer.Option([], "--revoke", metavar="NAME", help="Withdraw a reader's link."),
    days: int = DAYS,
    url: str = URL,
    as_json: bool = AS_JSON,
) -> None:
    """List a study's readers; invite, renew, revoke."""
    from datetime import UTC, datetime

    from judge_audit.people.study import readers as people
    from judge_audit.people.study.folder import open_folder

    folder = open_folder(study)
    links = _invite(folder, add, days, url)
    for name in (*renew, *revoke):
        key, held = folder.readers()
        if name in renew:
            held, token = people.renew(held, name, datetime.now(UTC), days)
            links[people.find(held, name).annotator_id] = f"{url.rstrip('/')}/r/{token}"
        else:
            held = people.revoke(held, name)
        folder.write_readers(key, held)
    _, held = folder.readers()
    if as_json:
        told = [
            {"reader": row.annotator_id, "until": row.expires_at.isoformat(), "revoked": row.revoked}
            for row in held
        ]
        print_json({"readers": told, "links": links})
        return
    for reader in held:
        typer.echo(f"{reader.order}. {reader.annotator_id}: {_standing(reader, datetime.now(UTC))}")
    for line in _link_lines(links, days):
        typer.echo(line)


def serve(
    study: Path = typer.Argument(
        Path("study"), metavar="STUDY", help="The study's folder, or its audit.yaml."
    ),
    config: Path | None = typer.Option(
        None, "--config", metavar="audit.yaml", help="The project, where the study lies in ./study beside it."
    ),
    host: str = typer.Option(
        "127.0.0.1", "--host", help="Address to listen on; this machine only if not said."
    ),
    port: int = typer.Option(8765, "--port", min=0, max=65535, help="Port to listen on."),
    url: str | None = typer.Option(
        None, "--url", help="Address under which readers reach the page, if another."
    ),
    lake: str | None = LAKE,
) -> None:
    """Serve the reading page."""
    from judge_audit.audits.plugins import find_axes
    from judge_audit.people.study.serve import serve_study

    folder = _open(config.parent / "study" if config and study == Path("study") else study)
    serve_study(
        folder,
        lake or folder.lake,
        {name: part.thing for name, part in find_axes(folder.project).items()},
        host=host,
        port=port,
        url=url or "",
        say=lambda text: typer.echo(text, err=True),
    )


def results(
    study: Path = STUDY,
    page: Path | None = typer.Option(
        None, "--page", help="Where the page goes; results.html in the study's folder."
    ),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Say what the readings say: thresholds, agreement, false alarms, who reads out of line."""
    from judge_audit.lake import Lake
    from judge_audit.people.study.results import results_of
    from judge_audit.people.study.results_page import lines_of, write_page

    folder = _open(study)
    found = results_of(folder.study, Lake.open(lake or folder.lake, create=False), folder.readers()[1])
    target = page or folder.path / "results.html"
    write_page(found, target)
    if as_json:
        print_json(found.as_json())
        return
    for line in (*lines_of(found), "", f"The page: {target}"):
        typer.echo(line)


def _open(study: Path) -> StudyFolder:
    from judge_audit.people.study.folder import open_folder

    return open_folder(study)


def _configuration(file: Path | None, given: dict[str, Any]) -> Configuration:
    from judge_audit.cli.configuration import configured

    if file is None and Path("audit.yaml").exists():
        file = Path("audit.yaml")
    return configured(file, given)


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
    known = lake.read("readings").to_pylist()
    return plan_study(read.items.to_pylist(), select_axes(configuration), wishes, known, progress.at)


def _invite(folder: StudyFolder, names: Sequence[str], days: int, url: str) -> dict[str, str]:
    """Add readers that are not there yet, and give their links."""
    from datetime import UTC, datetime

    from judge_audit.people.study.readers import add_reader

    links = {}
    key, held = folder.readers()
    for name in names:
        held, token = add_reader(held, name, datetime.now(UTC), days)
        links[held[-1].annotator_id] = f"{url.rstrip('/')}/r/{token}"
    if links:
        folder.write_readers(key, held)
    return links


def _link_lines(links: dict[str, str], days: int) -> list[str]:
    if not links:
        return []
    lines = [
        "",
        f"Personal links, good for {days} days. They are shown this once: send each to its reader alone.",
    ]
    return lines + [f"  {name}: {link}" for name, link in links.items()]


def _standing(reader: Reader, now: Any) -> str:  # noqa: ANN401 - a time
    if reader.revoked:
        return "withdrawn"
    from judge_audit.core.formatting import minute

    return f"link good until {minute(reader.expires_at)}" if reader.open_at(now) else "link too old"


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _several(text: str | None) -> str | list[str] | None:
    return text if text is None or text in {"default", "all"} else _names(text)
