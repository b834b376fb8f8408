"""Work for other tools: tasks whose names tell nothing, and the key that says what each of them is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.digests import canonical_json, draw_seed, text_digest
from judge_audit.core.errors import UsageError
from judge_audit.people.study.plan import slots_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.people.study.plan import Ladder, Study

    Row = Mapping[str, Any]

FORMAT = 1
KINDS = ("labels", "choices", "readings")
DIMENSIONS = ("semantic", "structure", "aesthetic", "compliance", "overall")
LETTERS = "ABCDEFGHI"
"""Most candidates that are shown side by side; of larger groups as many are drawn by the seed."""

LOW, HIGH = 1, 5
NEVER = "never"


@dataclass(frozen=True, slots=True)
class Task:
    """One thing that a person is asked.

    Attributes:
        name: A name that tells nothing.
        prompt: The prompt, "" where it is not shown.
        pictures: Field of the task to what is shown there: an item_id, or (ladder, rung).
        told: What the key says of it.
    """

    name: str
    prompt: str
    pictures: Mapping[str, Any]
    told: Mapping[str, Any]


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
        names = {task.name: dict(task.told) for task in self.tasks}
        return {
            "format": FORMAT,
            "for": self.kind,
            "dimensions": list(self.dimensions),
            **self.about,
            "names": names,
        }


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
    for row in _shuffled(items, seed, "labels"):
        name = _name(seed, "labels", str(row["item_id"]))
        columns = ("item_id", "source", "topic", "prompt_id", "cluster")
        told = {column: row[column] or "" for column in columns}
        tasks.append(Task(name, str(row["prompt"] or ""), {"picture": row["item_id"]}, told))
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
        order = _shuffled(groups[group_id], seed, group_id)
        cut += len(order) > len(LETTERS)
        shown = order[: len(LETTERS)]
        candidates = [str(row["item_id"]) for row in shown]
        told = {"group_id": group_id, "candidates": candidates}
        pictures = dict(zip(LETTERS, candidates, strict=False))
        tasks.append(Task(_name(seed, "choices", group_id), str(shown[0]["prompt"] or ""), pictures, told))
    if not tasks:
        raise UsageError(
            "no prompt has two images to choose between (items with the same prompt_id or prompt)."
        )
    notes = (
        (f"{cut:,} groups have more than {len(LETTERS)} images; {len(LETTERS)} of each were drawn.",)
        if cut
        else ()
    )
    return Pack("choices", tuple(_shuffled_tasks(tasks, seed)), notes=notes)


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
        told = {
            **_ladder_told(ladder),
            "strengths": [slot.strength(step) for step in range(1, study.steps + 1)],
        }
        tasks.append(Task(name, "", pictures, told))
    about = {"steps": study.steps, "objectionable": study.objectionable, "renderer": study.renderer}
    return Pack("readings", tuple(tasks), about={**about, "study_id": study.study_id, "protocol": "strip"})


def _ladder_told(ladder: Ladder) -> dict[str, Any]:
    names = ("item_id", "axis", "catch", "recipe_version", "probe_ids", "rung_digests")
    told = asdict(ladder)
    return {name: told[name] for name in names}


def _name(seed: int, *parts: str) -> str:
    return text_digest("task", str(seed), *parts)[:16]


def _shuffled(rows: Sequence[Row], seed: int, what: str) -> list[Row]:
    ordered = sorted(rows, key=lambda row: str(row["item_id"]))
    rng = np.random.default_rng(draw_seed(seed, "tasks", what))
    return [ordered[place] for place in rng.permutation(len(ordered))]


def _shuffled_tasks(tasks: Sequence[Task], seed: int) -> list[Task]:
    rng = np.random.default_rng(draw_seed(seed, "tasks", "order"))
    return [tasks[place] for place in rng.permutation(len(tasks))]
