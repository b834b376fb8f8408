"""Work for other tools: tasks with opaque names, the key that says what each is, and how both are written.

A pack is written as Label Studio tasks with their configuration, or as tables to be filled in.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from judge_audit.core.digests import canonical_json, draw_seed, text_digest
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.templating import strict_environment
from judge_audit.people.review_pack import key_path, spreadsheet_text
from judge_audit.people.study.picture_provider import stored_png
from judge_audit.people.study.plan import slots_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from judge_audit.people.study.plan import Study

    Row = Mapping[str, Any]
    Picture = Callable[[Any], NDArray[np.uint8]]

Asked = TypeVar("Asked")

FORMAT = 1
KINDS = ("labels", "choices", "readings")
DIMENSIONS = ("semantic", "structure", "aesthetic", "compliance", "overall")
LETTERS = "ABCDEFGHI"
"""Most candidates that are shown side by side; of larger groups as many are drawn by the seed."""

LADDER_COLUMNS = ("item_id", "axis", "catch", "recipe_version", "probe_ids", "rung_digests")
"""What the key says of a ladder."""

LOW, HIGH = 1, 5
NEVER = "never"


@dataclass(frozen=True, slots=True)
class Task:
    """One thing that a person is asked.

    Attributes:
        name: A name that tells nothing.
        prompt: The prompt, "" where it is not shown.
        pictures: Field of the task to what is shown there: an item_id, or (ladder, rung).
        key: What the key says of it.
    """

    name: str
    prompt: str
    pictures: Mapping[str, Any]
    key: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pack:
    """Work of one kind.

    Attributes:
        kind: labels, choices or readings.
        tasks: The tasks, in the order in which they are asked.
        dimensions: Dimensions of labels.
        about: What else the key says: protocol, steps.
        notes: What a person should know.
    """

    kind: str
    tasks: tuple[Task, ...]
    dimensions: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def pack_id(self) -> str:
        """Digest of what is asked."""
        return text_digest("pack", canonical_json(self.as_key()))[:16]

    def as_key(self) -> dict[str, Any]:
        """Give what the key holds."""
        about = {"format": FORMAT, "for": self.kind, "dimensions": list(self.dimensions), **self.about}
        return {**about, "names": {task.name: dict(task.key) for task in self.tasks}}


def label_pack(items: Sequence[Row], dimensions: Sequence[str], seed: int) -> Pack:
    """Ask for a label per dimension of every item.

    Raises:
        UsageError: If a dimension's name cannot be a field.
    """
    odd = [name for name in dimensions if not name.isidentifier()]
    if odd or not dimensions:
        raise UsageError(
            f"--dimensions: {', '.join(odd) or 'nothing'} is no name; letters, digits and _ only."
        )
    tasks = []
    for row in _shuffled(_by_id(items), seed, "labels"):
        name = _name(seed, "labels", str(row["item_id"]))
        columns = ("item_id", "source", "topic", "prompt_id", "cluster")
        key = {column: row[column] or "" for column in columns}
        tasks.append(Task(name, str(row["prompt"] or ""), {"picture": row["item_id"]}, key))
    return Pack("labels", tuple(tasks), tuple(dimensions))


def choice_pack(items: Sequence[Row], seed: int) -> Pack:
    """Ask for the first choice within every group of items of one prompt, in an order drawn by the seed.

    Raises:
        UsageError: If no prompt has two items.
    """
    groups: dict[str, list[Row]] = {}
    for row in items:
        groups.setdefault(str(row["prompt_id"]), []).append(row)
    tasks, cut = [], 0
    for group_id in sorted(groups):
        if len(groups[group_id]) < 2:
            continue
        order = _shuffled(_by_id(groups[group_id]), seed, group_id)
        cut += len(order) > len(LETTERS)
        shown = order[: len(LETTERS)]
        candidates = [str(row["item_id"]) for row in shown]
        key = {"group_id": group_id, "candidates": candidates}
        pictures = dict(zip(LETTERS, candidates, strict=False))
        tasks.append(Task(_name(seed, "choices", group_id), str(shown[0]["prompt"] or ""), pictures, key))
    if not tasks:
        raise UsageError(
            "no prompt has two images to choose between (items with the same prompt_id or prompt)."
        )
    most = len(LETTERS)
    note = f"{cut:,} groups have more than {most} images; {most} of each were drawn."
    return Pack("choices", tuple(_shuffled(tasks, seed, "order")), notes=(note,) if cut else ())


def reading_pack(study: Study) -> Pack:
    """Ask for the points of every ladder of a study, each as a row of pictures.

    Other tools can neither flicker nor give each reader an order of their own, so the protocol is one of its own,
    `strip`, never mixed with others.
    """
    tasks = []
    for slot in slots_of(study, "strip"):
        if slot.repeat:
            continue
        ladder = slot.ladder
        name = _name(study.seed, "readings", *map(str, ladder.key))
        pictures = {f"step{step}": (ladder.key, slot.rung(step)) for step in range(study.steps + 1)}
        key = {column: getattr(ladder, column) for column in LADDER_COLUMNS}
        key["strengths"] = [slot.strength(step) for step in range(1, study.steps + 1)]
        tasks.append(Task(name, "", pictures, key))
    about = {"steps": study.steps, "objectionable": study.objectionable, "renderer": study.renderer}
    return Pack("readings", tuple(tasks), about={**about, "study_id": study.study_id, "protocol": "strip"})


def _name(seed: int, *parts: str) -> str:
    return text_digest("task", str(seed), *parts)[:16]


def _by_id(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: str(row["item_id"]))


def _shuffled(asked: Sequence[Asked], seed: int, what: str) -> list[Asked]:
    rng = np.random.default_rng(draw_seed(seed, "tasks", what))
    return [asked[place] for place in rng.permutation(len(asked))]


TOOLS = ("label-studio", "csv")
SERVED = "/data/local-files/?d="
"""Where Label Studio serves pictures of its own machine."""


def write_tasks(
    pack: Pack, folder: Path, tool: str, picture: Picture, *, annotators: Sequence[str] = (), prefix: str = ""
) -> list[Path]:
    """Write a pack: wholly, or nothing.

    Args:
        pack: The work.
        folder: Where to; must not be there.
        tool: label-studio or csv.
        picture: Gives the pixels of what a task shows.
        annotators: Who fills in a table; one table each.
        prefix: What precedes the name of a picture in tasks; Label Studio's own address if not given.

    Returns:
        The files that people are handed.

    Raises:
        UsageError: If the folder is there.
        MachineryError: If the disk refuses.
    """
    if folder.exists() or key_path(folder).exists():
        raise UsageError(f"{folder}: it is there already; name another folder.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            names = _write_pictures(pack, draft / "pictures", picture)
            if tool == "csv":
                made = _write_tables(pack, draft, names, annotators)
            else:
                made = _write_label_studio(pack, draft, names, prefix or f"{SERVED}{folder.name}/")
            key = {**pack.as_key(), "pack": pack.pack_id}
            (draft / "key").write_text(json.dumps(key, indent=1, ensure_ascii=False), encoding="utf-8")
            (draft / "key").replace(key_path(folder))
            draft.chmod(0o755)
            draft.replace(folder)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    except OSError as error:
        raise MachineryError(f"{folder}: the pack cannot be written: {error.strerror}.") from error
    return [folder / name for name in made]


def _write_pictures(pack: Pack, folder: Path, picture: Picture) -> dict[tuple[str, str], str]:
    """Write what tasks show, named by task and field; files of one size have one length."""
    folder.mkdir()
    names = {}
    for task in pack.tasks:
        for name_of_field, shown in task.pictures.items():
            name = f"pictures/{task.name}-{name_of_field}.png"
            (folder.parent / name).write_bytes(stored_png(picture(shown)))
            names[task.name, name_of_field] = name
    return names


def _write_tables(
    pack: Pack, folder: Path, names: Mapping[tuple[str, str], str], annotators: Sequence[str]
) -> list[str]:
    """Write a table for each annotator; what is to be filled in is empty."""
    fields = list(dict.fromkeys(field for task in pack.tasks for field in task.pictures))
    asked = {
        "labels": list(pack.dimensions),
        "choices": ["first"],
        "readings": ["perceptible", "objectionable"],
    }
    columns = ["pack", "name", "annotator_id", "prompt", *fields, *asked[pack.kind]]
    made = []
    for who in annotators or ("",):
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        for task in pack.tasks:
            shown = {field: names[task.name, field] for field in task.pictures}
            row = {"pack": pack.pack_id, "name": task.name, "annotator_id": who}
            writer.writerow({**row, "prompt": spreadsheet_text(task.prompt), **shown})
        name = f"{pack.kind}-{who.replace(' ', '_')}.csv" if who else f"{pack.kind}.csv"
        (folder / name).write_text(text.getvalue(), encoding="utf-8")
        made.append(name)
    return made


def _write_label_studio(
    pack: Pack, folder: Path, names: Mapping[tuple[str, str], str], prefix: str
) -> list[str]:
    """Write tasks and a labelling configuration; groups of each size are a project of their own."""
    sizes: dict[int, list[Task]] = {}
    for task in pack.tasks:
        sizes.setdefault(len(task.pictures), []).append(task)
    made = []
    for size, tasks in sorted(sizes.items()):
        suffix = f"-of-{size}" if len(sizes) > 1 else ""
        rows = [
            {
                "data": {
                    "pack": pack.pack_id,
                    "name": task.name,
                    "prompt": task.prompt,
                    **{field: prefix + names[task.name, field] for field in task.pictures},
                }
            }
            for task in tasks
        ]
        (folder / f"tasks{suffix}.json").write_text(
            json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8"
        )
        (folder / f"config{suffix}.xml").write_text(_config(pack, size), encoding="utf-8")
        made += [f"tasks{suffix}.json", f"config{suffix}.xml"]
    return made


def _config(pack: Pack, size: int) -> str:
    """Write a labelling configuration."""
    questions = {"perceptible": "First step at which you see any change"}
    if pack.about.get("objectionable"):
        questions["objectionable"] = "First step at which the change disturbs you"
    template = strict_environment("judge_audit.people.study").get_template("label_studio.xml")
    words = {"low": LOW, "high": HIGH, "never": NEVER, "letters": LETTERS[:size], "questions": questions}
    return template.render(pack=pack, steps=pack.about.get("steps"), **words) + "\n"
