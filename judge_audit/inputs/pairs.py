"""The manifest of pairs that people made by hand: one row per pair, in CSV, JSON Lines or Parquet; every fault at once.

Each row says whether its pair was constructed by a rule; without the column all were made by hand. The two are kept
apart everywhere after: a manifest that holds both says so.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import Fault, InputError
from judge_audit.core.row_files import missing_columns, read_rows
from judge_audit.core.vocabulary import POOLED
from judge_audit.inputs.items import file_columns, unused_note
from judge_audit.stimuli.images import ImageError, ImageLimits, load_image, resolve_image
from judge_audit.stimuli.mismatches.kind import DIMENSIONS
from judge_audit.stimuli.planning.mismatches import Member, Pair

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit.stimuli.mismatches.kind import Kind

REQUIRED = ("pair_id", "kind", "intact", "damaged")
OPTIONAL = (
    "variant", "intact_prompt", "damaged_prompt", "source", "topic", "cluster", "hold", "constructed", "told",
)  # fmt: skip
YES, NO = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0", ""})
ADVICE = (
    f"A manifest of pairs has the columns {', '.join(REQUIRED)} and may have {', '.join(OPTIONAL)}. intact and damaged "
    "name an item_id of the items file or a picture."
)


@dataclass(frozen=True, slots=True)
class PairsRead:
    """What a manifest held.

    Attributes:
        pairs: Sorted by pair_id.
        warnings: What a person should know.
        imports: Digest of each imported file they came from, by `import <import_id>`.
    """

    pairs: tuple[Pair, ...]
    warnings: tuple[str, ...]
    imports: Mapping[str, str] = field(default_factory=dict)


def read_pairs(
    path: str | Path,
    *,
    items: Iterable[Mapping[str, Any]],
    kinds: Mapping[str, Kind],
    limits: ImageLimits | None = None,
) -> PairsRead:
    """Read a manifest of pairs and every picture it names.

    Args:
        path: The file: .csv, .jsonl / .ndjson, or .parquet; its pictures are relative to its folder.
        items: Rows of the items, by whose item_id members may be named.
        kinds: The mismatch kinds by name.
        limits: Limits of pictures.

    Raises:
        InputError: With every fault by row and column.
        UsageError: If the file itself cannot be read.
    """
    path = Path(path)
    file_rows = read_rows(path)
    if absent := missing_columns(path, file_rows.columns, REQUIRED):
        raise InputError(absent, ADVICE)
    known = {str(item["item_id"]): item for item in items}
    faults = [*file_rows.faults, *_row_faults(path, file_rows.rows, kinds)]
    reader = _Reader(path, known, limits or ImageLimits())
    pairs: list[Pair] = []
    with ThreadPoolExecutor(max_workers=4, thread_name_prefix="decode") as pool:
        for outcome in pool.map(reader.pair, file_rows.rows):
            if isinstance(outcome, Pair):
                pairs.append(outcome)
            else:
                faults += outcome
    faults += _taint_faults(path, file_rows.rows, pairs, kinds)
    if faults:
        raise InputError(sorted(set(faults)), ADVICE)
    if not pairs:
        raise InputError([Fault(path.name, 0, "", "the file has no rows.")], ADVICE)
    warnings = unused_note(path, file_rows.columns, (*REQUIRED, *OPTIONAL))
    built = sum(pair.constructed for pair in pairs)
    if 0 < built < len(pairs):
        warnings.append(
            f"{path.name} holds {built} constructed and {len(pairs) - built} hand-made pairs; they are told apart."
        )
    return PairsRead(tuple(sorted(pairs, key=lambda pair: pair.pair_id)), tuple(warnings))


def _row_faults(
    path: Path, rows: Sequence[tuple[int, Mapping[str, str]]], kinds: Mapping[str, Kind]
) -> list[Fault]:
    """Find what is wrong with rows before any picture is opened."""
    faults: list[Fault] = []
    first: dict[str, int] = {}
    for number, row in rows:
        wrong = [(name, "it is empty.") for name in REQUIRED if not row[name].strip()]
        pair_id, kind, hold = row["pair_id"].strip(), row["kind"].strip(), _names(row)
        if pair_id and pair_id in first:
            wrong.append(("pair_id", f"“{pair_id}” stands in row {first[pair_id]} too."))
        first.setdefault(pair_id, number)
        if kind and kind not in kinds:
            wrong.append(("kind", f"there is no kind “{kind}”; the kinds are {', '.join(sorted(kinds))}."))
        if row.get("constructed", "").strip().lower() not in YES | NO:
            wrong.append(("constructed", f"“{row['constructed']}” is neither true nor false."))
        if row.get("source", "").strip() == POOLED:
            wrong.append(("source", "“*” is kept for figures over all sources."))
        unknown = [name for name in hold if name not in DIMENSIONS]
        wrong += [
            ("hold", f"there is no dimension “{name}”; they are {', '.join(DIMENSIONS)}.") for name in unknown
        ]
        if kind in kinds and (damaged := kinds[kind].damages) in hold:
            wrong.append(("hold", f"{damaged} is what {kinds[kind].name} damages; it cannot hold."))
        faults += [Fault(path.name, number, column, message) for column, message in wrong]
    return faults


def _taint_faults(
    path: Path,
    rows: Sequence[tuple[int, Mapping[str, str]]],
    pairs: Sequence[Pair],
    kinds: Mapping[str, Kind],
) -> list[Fault]:
    """Find intact members that another pair has as its damaged one: nothing untouched could be held against them."""
    numbers = {row["pair_id"].strip(): number for number, row in rows}
    known = [pair for pair in pairs if pair.kind in kinds]
    damaged = {(name, "", ""): pair.pair_id for pair in known if (name := pair.taints(kinds[pair.kind]))}
    damaged |= {pair.damaged.key: pair.pair_id for pair in known if pair.damaged.uri}
    message = "it is the damaged member of pair “{other}”; an intact member is an undamaged item."
    return [
        Fault(path.name, numbers[pair.pair_id], "intact", message.format(other=damaged[pair.intact.key]))
        for pair in pairs
        if pair.intact.key in damaged
    ]


def _names(row: Mapping[str, str]) -> list[str]:
    """Take the names of dimensions apart: by spaces, commas, semicolons or bars."""
    return re.sub(r"[,;|\[\]'\"]", " ", row.get("hold", "")).split()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one row after another."""

    path: Path
    items: Mapping[str, Mapping[str, Any]]
    limits: ImageLimits

    def pair(self, entry: tuple[int, Mapping[str, str]]) -> Pair | list[Fault]:
        """Make a pair of a row, or say what is wrong with it."""
        number, row = entry
        faults: list[Fault] = []
        members: dict[str, Member] = {}
        prompt = row.get("intact_prompt", "") or str(self._item(row["intact"]).get("prompt") or "")
        for name in ("intact", "damaged"):
            own = row.get(f"{name}_prompt", "") or str(self._item(row[name]).get("prompt") or "") or prompt
            try:
                members[name] = self._member(row[name].strip(), own)
            except ImageError as error:
                faults.append(Fault(self.path.name, number, name, f"{row[name]}: {error}"))
        intact = self._item(row["intact"])
        source = row.get("source", "").strip() or str(intact.get("source") or "")
        if not source and "source" not in intact and row["intact"].strip() not in self.items:
            message = "a pair whose intact member is a picture of its own needs the source it came from."
            faults.append(Fault(self.path.name, number, "source", message))
        if not faults and _same(members["intact"], members["damaged"]):
            message = "it is the same picture with the same prompt as the intact member."
            faults.append(Fault(self.path.name, number, "damaged", message))
        if faults:
            return faults
        return Pair(
            pair_id=row["pair_id"].strip(),
            kind=row["kind"].strip(),
            intact=members["intact"],
            damaged=members["damaged"],
            source=source,
            topic=row.get("topic", "").strip() or str(intact.get("topic") or ""),
            cluster=row.get("cluster", "").strip()
            or str(intact.get("cluster") or "")
            or row["pair_id"].strip(),
            hold=tuple(_names(row)) or None,
            constructed=row.get("constructed", "").strip().lower() in YES,
            variant=row.get("variant", "").strip(),
            told=row.get("told", "").strip(),
        )

    def _item(self, written: str) -> Mapping[str, Any]:
        return self.items.get(written.strip(), {})

    def _member(self, written: str, prompt: str) -> Member:
        """Find a member among the items, else as a picture."""
        if written in self.items:
            item = self.items[written]
            digest, exchanged = str(item.get("pixel_digest") or ""), prompt != str(item.get("prompt") or "")
            return Member(written, "", prompt, digest, written, exchanged)
        if not written:
            return Member("", "", prompt)
        if "." not in Path(written).name and "://" not in written:
            raise ImageError(
                "there is no such item in the items file, and it does not look like a picture's path."
            )
        uri = resolve_image(self.path.parent, written)
        image = load_image(uri, self.limits)
        return Member("", uri, prompt, image.pixel_digest, written, file=file_columns(uri, image))


def _same(intact: Member, damaged: Member) -> bool:
    """Say whether nothing tells two members apart."""
    same_item = intact.item_id and intact.item_id == damaged.item_id
    same_pixels = intact.pixel_digest and intact.pixel_digest == damaged.pixel_digest
    return intact.prompt == damaged.prompt and bool(same_item or same_pixels)
