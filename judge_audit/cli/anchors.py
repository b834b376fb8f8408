"""The commands about the anchor set: `anchors add|relabel|retire|verify|log|show`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from judge_audit.cli.options import AS_JSON, scale_ends
from judge_audit.cli.output import print_json, print_lines, print_result
from judge_audit.core.errors import EXIT_JUDGE_FAILED, InputError, UsageError

if TYPE_CHECKING:
    from judge_audit.anchors import AnchorSet, Entry, Label
    from judge_audit.cli.options import Commands
    from judge_audit.core.errors import Fault

FOLDER = Argument(metavar="FOLDER", help="The folder of the set.")
VERSION = Option(None, "--version", help="An earlier version; the newest if not said.")
FILE = Argument(None, metavar="[FILE]", help="Many at once: .csv, .jsonl or .parquet, a row per label.")
AUTHOR = Option(..., "--author", help="Who makes the change.")
REASON = Option(..., "--reason", help="Why.")
LEVEL = Option(None, "--level", help="Of the labels: nominal, ordinal or interval; ordinal if not said.")
SCALE = Option(None, "--scale", metavar="LOW..HIGH", help="Ends of the scale the labels are on.")
LOWER = Option(False, "--lower-is-better", help="A smaller label is a better one.")
LABELS = Option([], "--label", metavar="DIMENSION=VALUE@ANNOTATOR", help="What somebody said of it.")
TIER = Option(None, "--tier", help="good, middling or bad.")
KIND = Option(
    None,
    "--kind",
    help="What is wrong with it: semantic_miss, poor_quality, compliance_breach, structural_error.",
)
SOURCE = Option(None, "--source", help="The generator it came from.")
TOPIC = Option(None, "--topic", help="Subject group.")


def add(  # noqa: PLR0917 - the options of a command, never called by position
    folder: Path = FOLDER,
    file: Path | None = FILE,
    anchor_id: str | None = Option(None, "--id", help="Name of the anchor."),
    image: str | None = Option(None, "--image", help="Its picture: a path (copied) or an address."),
    tier: str | None = TIER,
    kind: str | None = KIND,
    source: str | None = SOURCE,
    prompt: str = Option("", "--prompt", help="The text it was made for."),
    topic: str | None = TOPIC,
    cluster: str = Option("", "--cluster", help="Name shared by anchors that are not independent."),
    known_as: str = Option("", "--known-as", help="item_id by which imported scores know it, if another."),
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
    from judge_audit.anchors.label_table import read_drafts

    scale_columns = _scale(level, scale, lower=lower_is_better)
    single = {"--id": anchor_id, "--image": image, "--tier": tier, "--source": source, "--label": label}
    if file is not None:
        _alone(single)
        drafts = read_drafts(file, scale_columns, new=True)
    else:
        missing = [name for name, value in single.items() if not value]
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
            labels=_labels(label, scale_columns),
        )
        drafts = (draft,)
    origin = file.name if file is not None else ""
    anchor_set = anchors.add(folder, drafts, author=author, reason=reason, origin=origin)
    _changed(anchor_set, "added", [draft.anchor_id for draft in drafts], as_json=as_json)


def relabel(  # noqa: PLR0917 - the options of a command, never called by position
    folder: Path = FOLDER,
    what: str = Argument(metavar="ANCHOR|FILE", help="An anchor, or a file with a row per label."),
    tier: str | None = TIER,
    kind: str | None = KIND,
    source: str | None = SOURCE,
    topic: str | None = TOPIC,
    no_kind: bool = Option(False, "--no-kind", help="Nothing is wrong with it after all."),
    label: list[str] = LABELS,
    withdraw: list[str] = Option([], "--withdraw", metavar="DIMENSION@ANNOTATOR", help="Take a label away."),
    level: str | None = LEVEL,
    scale: str | None = SCALE,
    lower_is_better: bool = LOWER,
    author: str = AUTHOR,
    reason: str = REASON,
    as_json: bool = AS_JSON,
) -> None:
    """Change what is said of an anchor, never its picture; labels replace those of the same people."""
    from judge_audit import anchors
    from judge_audit.anchors.label_table import read_drafts

    scale_columns = _scale(level, scale, lower=lower_is_better)
    file = Path(what)
    origin = ""
    if file.suffix.lower() in {".csv", ".jsonl", ".ndjson", ".parquet"} and file.exists():
        _alone({"--tier": tier, "--kind": kind, "--label": label, "--withdraw": withdraw})
        drafts, origin = read_drafts(file, scale_columns, new=False), file.name
    else:
        draft = anchors.Draft(
            anchor_id=what,
            tier=tier,
            kind="" if no_kind else kind,
            source=source,
            topic=topic,
            labels=_labels(label, scale_columns),
            withdrawn=tuple(_withdrawn(entry) for entry in withdraw),
        )
        drafts = (draft,)
    anchor_set = anchors.relabel(folder, drafts, author=author, reason=reason, origin=origin)
    _changed(anchor_set, "relabelled", [draft.anchor_id for draft in drafts], as_json=as_json)


def retire(
    folder: Path = FOLDER,
    names: list[str] = Argument(metavar="ANCHOR...", help="The anchors to take out."),
    author: str = AUTHOR,
    reason: str = REASON,
    as_json: bool = AS_JSON,
) -> None:
    """Take anchors out of the set; their pictures and their history stay."""
    from judge_audit import anchors

    anchor_set = anchors.retire(folder, names, author=author, reason=reason)
    _changed(anchor_set, "retired", names, as_json=as_json)


def _changed(anchor_set: AnchorSet, verb: str, names: list[str], *, as_json: bool) -> None:
    """Say what a change came to."""
    lines = (f"{len(names)} {verb}. {_line(anchor_set)}", "Commit the folder to version control.")
    print_result({**_summary(anchor_set), verb: names}, lines, as_json=as_json)


def _alone(options: dict[str, Any]) -> None:
    """Refuse options of one anchor beside a file."""
    if clashing := [name for name, value in options.items() if value]:
        raise UsageError(f"{', '.join(clashing)}: a FILE says this of each of its anchors; leave it out.")


def _scale(level: str | None, scale: str | None, *, lower: bool) -> dict[str, str]:
    """Take the options about the labels' scale together."""
    columns = {"level": level or "", "higher_is_better": "false" if lower else "true"}
    if scale is not None:
        columns["low"], columns["high"] = scale_ends(scale)
    return columns


def _labels(written: list[str], scale: dict[str, str]) -> tuple[Label, ...]:
    """Take DIMENSION=VALUE@ANNOTATOR apart."""
    from judge_audit.anchors.label_table import label_of

    labels = []
    for entry in written:
        dimension, equals, rest = entry.partition("=")
        value, at, annotator = rest.partition("@")
        if not (dimension and equals and value and at and annotator):
            raise UsageError(f"--label {entry}: write DIMENSION=VALUE@ANNOTATOR, such as overall=4@ann.")
        try:
            labels.append(label_of(dimension, annotator, value, scale))
        except ValueError as error:
            raise UsageError(f"--label {entry}: {error}") from error
    return tuple(labels)


def _withdrawn(entry: str) -> tuple[str, str]:
    """Take DIMENSION@ANNOTATOR apart."""
    dimension, at, annotator = entry.partition("@")
    if not (dimension and at and annotator):
        raise UsageError(f"--withdraw {entry}: write DIMENSION@ANNOTATOR, such as overall@ann.")
    return dimension, annotator


def verify(
    folder: Path = FOLDER,
    head: str = Option("", "--head", help="Head of an earlier version that the ledger must extend."),
    lake: str | None = Option(None, "--lake", help="A lake whose audits the ledger must extend."),
    mend: bool = Option(False, "--mend", help="First write the manifest anew if a change was interrupted."),
    as_json: bool = AS_JSON,
) -> None:
    """See that nothing was changed without an entry: exit 0 if so, 1 with every place if not."""
    from judge_audit import anchors

    mended = anchors.mend(folder) if mend else False
    anchor_set, faults = anchors.verified(folder, extends=head)
    if anchor_set is not None and lake is not None:
        faults = [*faults, *_against_lake(anchor_set, lake)]
    document = {
        "sound": not faults,
        "faults": [{"file": fault.file, "row": fault.row, "message": fault.message} for fault in faults],
        "mended": mended,
        **(_summary(anchor_set) if anchor_set is not None else {}),
    }
    if as_json:
        print_json(document)
    elif faults:
        for fault in faults:
            typer.echo(str(fault), err=True)
        typer.echo(f"{folder}: {len(faults)} things are wrong; no audit uses the set as it is.", err=True)
    elif anchor_set is not None:
        print_lines(
            (*(["The manifest was written anew."] if mended else []), *anchor_set.notes, _line(anchor_set))
        )
    if faults:
        raise typer.Exit(EXIT_JUDGE_FAILED)


def _against_lake(anchor_set: AnchorSet, lake: str) -> list[Fault]:
    """Find where the ledger does not extend what a lake has seen."""
    from judge_audit.anchors import hold_to_lake
    from judge_audit.lake import Lake

    try:
        hold_to_lake(anchor_set, Lake.open(lake, create=False))
    except InputError as error:
        return list(error.faults)
    return []


def log(folder: Path = FOLDER, as_json: bool = AS_JSON) -> None:
    """Tell the history: every change, with who made it, why, and whose labels it rests on."""
    from judge_audit.anchors import read_anchors

    anchor_set = read_anchors(folder)
    history = [(entry, _differences(anchor_set, entry)) for entry in anchor_set.entries]
    lines = []
    for entry, changed in history:
        about = f"{entry.action} {entry.anchor_id}  by {entry.author}: {entry.reason}"
        lines.append(f"{entry.number}  {entry.time}  {about}")
        lines += [f"   {'; '.join(changed)}"] if changed else []
    document = [{**json.loads(entry.as_json()), "changed": changed} for entry, changed in history]
    print_result(document, lines, as_json=as_json)


def show(
    folder: Path = FOLDER,
    version: int | None = VERSION,
    as_json: bool = AS_JSON,
) -> None:
    """Show what the set covers (tiers by source and kind, dimensions, annotators), and name the gaps."""
    from judge_audit.anchors import anchor_labels, coverage, read_anchors
    from judge_audit.core.limits import read_limits

    anchor_set = read_anchors(folder)
    covered = coverage(anchor_labels(anchor_set, version), read_limits()["scale.min_end_anchors"])
    lines = [
        _line(anchor_set, version),
        *(
            f"  {cell['anchors']:>4}  {cell['tier']:<9} {cell['source']}  {cell['kind']}".rstrip()
            for cell in covered.cells
        ),
        *(
            f"{name}: {part['anchors']} anchors, {part['annotators']} annotators, {part['by_one']} by one only"
            for name, part in covered.dimensions.items()
        ),
        "Annotators: " + ", ".join(f"{name} ({n} labels)" for name, n in covered.annotators.items()),
        *(f"Gap: {gap}" for gap in covered.gaps),
    ]
    print_result({**_summary(anchor_set, version), **asdict(covered)}, lines, as_json=as_json)


def _summary(anchor_set: AnchorSet, version: int | None = None) -> dict[str, Any]:
    """Name a version, for programs."""
    return {
        "set_id": anchor_set.set_id,
        "version": version or anchor_set.version,
        "head": anchor_set.head(version),
        "anchors": len(anchor_set.at(version)),
        "notes": list(anchor_set.notes),
    }


def _line(anchor_set: AnchorSet, version: int | None = None) -> str:
    """Name a version in a line."""
    about = _summary(anchor_set, version)
    return f"Version {about['version']}: {about['anchors']} anchors, head {about['head']}, set {about['set_id']}."


def _differences(anchor_set: AnchorSet, entry: Entry) -> list[str]:
    """Say what a relabelling changed."""
    if entry.action != "relabel" or entry.anchor is None:
        return []
    before = next(row for row in anchor_set.at(entry.number - 1) if row.anchor_id == entry.anchor_id)
    differences = [
        f"{name}: {getattr(before, name) or '-'} → {getattr(entry.anchor, name) or '-'}"
        for name in ("tier", "kind", "source", "topic")
        if getattr(before, name) != getattr(entry.anchor, name)
    ]
    old, new = (
        {(label.dimension, label.annotator_id): label.value for label in row.labels}
        for row in (before, entry.anchor)
    )
    differences += [
        f"{key[0]} by {key[1]}: {_value(old.get(key))} → {_value(new.get(key))}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]
    return differences


def _value(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


COMMANDS: Commands = {command.__name__: command for command in (add, relabel, retire, verify, log, show)}
