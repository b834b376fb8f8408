"""Writing work down for other tools: Label Studio's tasks and configuration, or tables to be filled in."""

from __future__ import annotations

import csv
import io
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.people.study.png import stored_png
from judge_audit.people.study.tasks import HIGH, LETTERS, LOW, NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.people.study.tasks import Pack, Task

    Picture = Callable[[Any], NDArray[np.uint8]]

TOOLS = ("label-studio", "csv")
SERVED = "/data/local-files/?d="
"""Where Label Studio serves pictures of its own machine."""


def key_path(folder: Path) -> Path:
    """Name the key that lies beside a pack."""
    return folder.with_name(f"{folder.name}.key.json")


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
        prefix: What stands before the name of a picture in tasks; Label Studio's own address if not given.

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
        for field, shown in task.pictures.items():
            name = f"pictures/{task.name}-{field}.png"
            (folder.parent / name).write_bytes(stored_png(picture(shown)))
            names[task.name, field] = name
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
            row = {
                "pack": pack.pack_id,
                "name": task.name,
                "annotator_id": who,
                "prompt": _harmless(task.prompt),
            }
            writer.writerow({**row, **shown})
        name = f"{pack.kind}-{who.replace(' ', '_')}.csv" if who else f"{pack.kind}.csv"
        (folder / name).write_text(text.getvalue(), encoding="utf-8")
        made.append(name)
    return made


def _harmless(text: str) -> str:
    """Keep a spreadsheet from taking a prompt for a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


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
        config = "\n".join(["<View>", *_config(pack, size), "</View>"]) + "\n"
        (folder / f"config{suffix}.xml").write_text(config, encoding="utf-8")
        made += [f"tasks{suffix}.json", f"config{suffix}.xml"]
    return made


def _config(pack: Pack, size: int) -> Iterable[str]:
    """Write the inside of a labelling configuration."""
    if pack.kind == "readings":
        yield from _ladder_config(pack.about["steps"], objectionable=pack.about["objectionable"])
        return
    yield '  <Text name="prompt" value="$prompt"/>'
    if pack.kind == "labels":
        yield '  <Image name="picture" value="$picture"/>'
        yield f'  <Header value="From {LOW} (worst) to {HIGH} (best)"/>'
        for dimension in pack.dimensions:
            yield f"  <Header value={quoteattr(dimension)}/>"
            yield f'  <Rating name={quoteattr(dimension)} toName="picture" maxRating="{HIGH}" required="true"/>'
        return
    letters = LETTERS[:size]
    for letter in letters:
        yield f'  <Header value="{letter}"/><Image name="{letter}" value="${letter}"/>'
    yield '  <Header value="Which is best? Choose several if they are equally good."/>'
    yield f'  <Choices name="first" toName="{letters[0]}" choice="multiple" required="true">'
    yield from (f'    <Choice value="{letter}" alias="{letter}"/>' for letter in letters)
    yield "  </Choices>"


def _ladder_config(steps: int, *, objectionable: bool) -> Iterable[str]:
    for step in range(steps + 1):
        said = f"step {step}" if step else "the original"
        yield f'  <Header value="{said}"/><Image name="step{step}" value="$step{step}"/>'
    asked = [("perceptible", "First step at which you see any change")]
    asked += [("objectionable", "First step at which the change disturbs you")] if objectionable else []
    for name, question in asked:
        yield f'  <Header value="{question}"/>'
        yield f'  <Choices name="{name}" toName="step0" choice="single" required="true">'
        yield from (f'    <Choice value="step {step}" alias="{step}"/>' for step in range(1, steps + 1))
        yield f'    <Choice value="{NEVER}" alias="{NEVER}"/>'
        yield "  </Choices>"
