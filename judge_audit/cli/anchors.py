"""The commands about the anchor set: `anchors add|relabel|retire|verify|log|show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from judge_audit.cli import anchor_views
from judge_audit.cli.anchor_views import AS_JSON, FOLDER, line_of, summary_of
from judge_audit.cli.output import print_json
from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from judge_audit.anchors import AnchorSet, Draft, Label

FILE = typer.Argument(None, metavar="[FILE]", help="Many at once: .csv, .jsonl or .parquet, a row per label.")
AUTHOR = typer.Option(..., "--author", help="Who makes the change.")
REASON = typer.Option(..., "--reason", help="Why.")
LEVEL = typer.Option(
    None, "--level", help="Of the labels: nominal, ordinal or interval; ordinal if not said."
)
SCALE = typer.Option(None, "--scale", metavar="LOW..HIGH", help="Ends of the scale the labels are on.")
LOWER = typer.Option(False, "--lower-is-better", help="A smaller label is a better one.")
LABELS = typer.Option([], "--label", metavar="DIMENSION=VALUE@ANNOTATOR", help="What somebody said of it.")
TIER = typer.Option(None, "--tier", help="good, middling or bad.")
KIND = typer.Option(
    None,
    "--kind",
    help="What is wrong with it: semantic_miss, poor_quality, compliance_breach, structural_error.",
)
SOURCE = typer.Option(None, "--source", help="The generator it came from.")
TOPIC = typer.Option(None, "--topic", help="Subject group.")


def commands() -> typer.Typer:
    """Give the `anchors` commands."""
    app = typer.Typer(
        help="Keep the anchor set: labelled pictures whose every change is recorded.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    app.callback()(_group)
    for name, command in (
        ("add", add),
        ("relabel", relabel),
        ("retire", retire),
        ("verify", anchor_views.verify),
        ("log", anchor_views.log),
        ("show", anchor_views.show),
    ):
        app.command(name)(command)
    return app


def _group() -> None:
    """Keep the anchor set: labelled pictures whose every change is recorded."""


def add(  # noqa: PLR0917 - the options of a command, never called by position
    folder: Path = FOLDER,
    file: Path | None = FILE,
    anchor_id: str | None = typer.Option(None, "--id", help="Name of the anchor."),
    image: str | None = typer.Option(None, "--image", help="Its picture: a path (copied) or an address."),
    tier: str | None = TIER,
    kind: str | None = KIND,
    source: str | None = SOURCE,
    prompt: str = typer.Option("", "--prompt", help="The text it was made for."),
    topic: str | None = TOPIC,
    cluster: str = typer.Option("", "--cluster", help="Name shared by anchors that are not independent."),
    known_as: str = typer.Option(
        "", "--known-as", help="item_id by which imported scores know it, if another."
    ),
    label: list[str] = LABELS,
    level: str | None = LEVEL,
    scale: str | None = SCALE,
    lower_is_better: bool = LOWER,
    author: str = AUTHOR,
    reason: str = REASON,
    as_json: bool = AS_JSON,
) -> None:
    """Add pictures that people labelled: one by options, or those of a file. The folder is made if need be."""
    from judge_audit import anchors

    told = _scale(level, scale, lower=lower_is_better)
    single = {"--id": anchor_id, "--image": image, "--tier": tier, "--source": source, "--label": label}
    if file is not None:
        _alone(single)
        drafts = _drafts(file, told, new=True)
    else:
        missing = [name for name, given in single.items() if not given]
        if missing:
            raise UsageError(f"give a FILE, or {', '.join(missing)} of the one picture to add.")
        draft = anchors.Draft(
            anchor_id=anchor_id or "",
            image=image or "",
            tier=tier,
            kind=kind,
            source=source,
            prompt=prompt,
            topic=topic,
            cluster=cluster,
            known_as=known_as,
            labels=_labels(label, told),
        )
        drafts = (draft,)
    origin = file.name if file is not None else ""
    held = anchors.add(folder, drafts, author=author, reason=reason, origin=origin)
    _changed(held, "added", [draft.anchor_id for draft in drafts], as_json=as_json)


def relabel(  # noqa: PLR0917 - the options of a command, never called by position
    folder: Path = FOLDER,
    what: str = typer.Argument(metavar="ANCHOR|FILE", help="An anchor, or a file with a row per label."),
    tier: str | None = TIER,
    kind: str | None = KIND,
    source: str | None = SOURCE,
    topic: str | None = TOPIC,
    no_kind: bool = typer.Option(False, "--no-kind", help="Nothing is wrong with it after all."),
    label: list[str] = LABELS,
    withdraw: list[str] = typer.Option(
        [], "--withdraw", metavar="DIMENSION@ANNOTATOR", help="Take a label away."
    ),
    level: str | None = LEVEL,
    scale: str | None = SCALE,
    lower_is_better: bool = LOWER,
    author: str = AUTHOR,
    reason: str = REASON,
    as_json: bool = AS_JSON,
) -> None:
    """Change what is said of an anchor, never its picture; labels replace those of the same people."""
    from judge_audit import anchors

    told = _scale(level, scale, lower=lower_is_better)
    file = Path(what)
    origin = ""
    if file.suffix.lower() in {".csv", ".jsonl", ".ndjson", ".parquet"} and file.exists():
        _alone({"--tier": tier, "--kind": kind, "--label": label, "--withdraw": withdraw})
        drafts, origin = _drafts(file, told, new=False), file.name
    else:
        draft = anchors.Draft(
            anchor_id=what,
            tier=tier,
            kind="" if no_kind else kind,
            source=source,
            topic=topic,
            labels=_labels(label, told),
            withdrawn=tuple(_withdrawn(entry) for entry in withdraw),
        )
        drafts = (draft,)
    held = anchors.relabel(folder, drafts, author=author, reason=reason, origin=origin)
    _changed(held, "relabelled", [draft.anchor_id for draft in drafts], as_json=as_json)


def retire(
    folder: Path = FOLDER,
    names: list[str] = typer.Argument(metavar="ANCHOR...", help="The anchors to take out."),
    author: str = AUTHOR,
    reason: str = REASON,
    as_json: bool = AS_JSON,
) -> None:
    """Take anchors out of the set; their pictures and their history stay."""
    from judge_audit import anchors

    held = anchors.retire(folder, names, author=author, reason=reason)
    _changed(held, "retired", names, as_json=as_json)


def _changed(held: AnchorSet, verb: str, names: list[str], *, as_json: bool) -> None:
    """Say what a change came to."""
    if as_json:
        print_json({**summary_of(held), verb: names})
        return
    typer.echo(f"{len(names)} {verb}. {line_of(held)}")
    typer.echo("Commit the folder to version control.")


def _alone(given: dict[str, Any]) -> None:
    """Refuse options of one anchor beside a file."""
    if strangers := [name for name, value in given.items() if value]:
        raise UsageError(f"{', '.join(strangers)}: a FILE says this of each of its anchors; leave it out.")


def _drafts(file: Path, scale: dict[str, str], *, new: bool) -> tuple[Draft, ...]:
    from judge_audit.anchors.label_table import read_drafts

    return read_drafts(file, scale, new=new)


def _scale(level: str | None, scale: str | None, *, lower: bool) -> dict[str, str]:
    """Take the options about the labels' scale together."""
    found = {"level": level or "", "higher_is_better": "false" if lower else "true"}
    if scale is not None:
        low, dots, high = scale.partition("..")
        if not dots or not low or not high:
            raise UsageError(f"--scale {scale}: write LOW..HIGH, such as 1..5.")
        found |= {"low": low, "high": high}
    return found


def _labels(given: list[str], scale: dict[str, str]) -> tuple[Label, ...]:
    """Take DIMENSION=VALUE@ANNOTATOR apart."""
    from judge_audit.anchors.label_table import label_of

    found = []
    for entry in given:
        dimension, equals, rest = entry.partition("=")
        value, at, annotator = rest.partition("@")
        if not (dimension and equals and value and at and annotator):
            raise UsageError(f"--label {entry}: write DIMENSION=VALUE@ANNOTATOR, such as overall=4@ann.")
        try:
            found.append(label_of(dimension, annotator, value, scale))
        except ValueError as error:
            raise UsageError(f"--label {entry}: {error}") from error
    return tuple(found)


def _withdrawn(entry: str) -> tuple[str, str]:
    """Take DIMENSION@ANNOTATOR apart."""
    dimension, at, annotator = entry.partition("@")
    if not (dimension and at and annotator):
        raise UsageError(f"--withdraw {entry}: write DIMENSION@ANNOTATOR, such as overall@ann.")
    return dimension, annotator
