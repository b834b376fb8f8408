"""The card: what a judge is, which of it makes its identity, and what it claims."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.vocabulary import OVERALL
from judge_audit.judges.cards.card_errors import ADVICE, kind_fault, schema_faults

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MOST_ENTRIES = 2_000
LARGEST = 1e18
SCALE = ("scale_low", "scale_high", "scale_step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A judge's description.

    Attributes:
        kind: The kind of judge (a file in `judge_audit/judges/`).
        name: Its name, a label.
        version: Its version, a label.
        target: What the kind loads (`module:attribute` for callables).
        weights: Digest of what it computes with; part of the identity.
        pinned: Whether the digest pins the weights; False for an endpoint that may change behind its name.
        prompt_template: Text around the prompt; identity.
        preprocessing: What happens to pixels before the model, with backend and dtype; identity.
        decoding: Decoding parameters; identity.
        parser_version: Version of the rule that reads its replies; identity.
        epoch: Advanced when an unpinned judge has silently changed; identity. What the lake has seen counts where
            it is further on.
        scale_low: Lower end of the declared scale, None if it declares none.
        scale_high: Upper end.
        scale_step: Step between attainable values, None for a continuous scale.
        higher_is_better: Direction.
        dimensions: Names of its sub-scores; `overall` is the one that ladders use.
        means: What is its own name for semantic, structure, aesthetic or compliance, where it has another.
        needs_prompt: Whether an empty prompt is a fault.
        compares: Whether it compares two pictures and gives no score; identity.
        batch_size: Images per request; also what is committed at a time.
        concurrency: Requests in flight at most.
        description: One sentence for people.
        licence: Of the weights.
        settings: Fields of its kind alone, as the card gives them; what of them makes the judge the judge, the
            kind writes into `weights`, `preprocessing` and `decoding`.
        runtime: What the kind computes with (library versions, devices); recorded with every call, not identity.
        origin: The file it was read from, which paths in it are relative to; neither identity nor recorded.
    """

    kind: str
    name: str
    version: str = "1"
    target: str = ""
    weights: str = ""
    pinned: bool = False
    prompt_template: str = ""
    preprocessing: Mapping[str, Any] = field(default_factory=dict)
    decoding: Mapping[str, Any] = field(default_factory=dict)
    parser_version: str = "1"
    epoch: int = 0
    scale_low: float | None = None
    scale_high: float | None = None
    scale_step: float | None = None
    higher_is_better: bool = True
    dimensions: tuple[str, ...] = (OVERALL,)
    means: Mapping[str, str] = field(default_factory=dict)
    needs_prompt: bool = False
    compares: bool = False
    batch_size: int = 32
    concurrency: int = 8
    description: str = ""
    licence: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    runtime: str = ""
    origin: Path | None = field(default=None, compare=False)

    @property
    def judge_id(self) -> str:
        """Hash of what makes the judge the judge; names, versions and claims are only labels on it."""
        return text_digest("judge", *self._made_of, str(self.epoch))[:16]

    @property
    def lineage_id(self) -> str:
        """Hash of the same without the epoch: what all epochs of an unpinned judge share."""
        return text_digest("lineage", *self._made_of)[:16]

    @property
    def _made_of(self) -> tuple[str, ...]:
        return (
            self.kind,
            self.target,
            self.weights,
            self.prompt_template,
            canonical_json(self.preprocessing),
            canonical_json(self.decoding),
            self.parser_version,
            *(["compares"] if self.compares else []),
        )

    def as_json(self) -> str:
        """Write the card as canonical JSON; a card holds no secrets, only names of variables that do."""
        told = [entry.name for entry in fields(self) if entry.name != "origin"]
        return canonical_json({name: getattr(self, name) for name in told})


def card_schema(kind: str = "") -> dict[str, Any]:
    """Give the JSON Schema of cards, with the fields of one kind's own if it has a `<kind>.schema.json`.

    Fields that several kinds have lie in `shared/` and are named under `shared`.
    """
    folder = files("judge_audit_schemas") / "cards"
    schema: dict[str, Any] = json.loads((folder / "card.schema.json").read_text(encoding="utf-8"))
    own = own_schema(kind)
    schema["properties"] |= own.get("properties", {})
    schema["required"] += own.get("required", [])
    return schema


def own_schema(kind: str) -> dict[str, Any]:
    """Give what cards of one kind say beside what every card says; empty if it has no `<kind>.schema.json`.

    `usual` names fields that need not be there and mostly are.
    """
    folder = files("judge_audit_schemas") / "cards"
    place = folder / f"{kind}.schema.json"
    if not kind.isidentifier() or kind == "card" or not place.is_file():
        return {}
    own: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    properties: dict[str, Any] = {}
    for name in own.get("shared", ()):
        properties |= json.loads((folder / "shared" / f"{name}.json").read_text(encoding="utf-8"))
    return own | {"properties": properties | own["properties"]}


def read_card(path: Path, kinds: Iterable[str] | None = None) -> Card:
    """Read a card from a YAML file.

    Args:
        path: The file.
        kinds: The kinds that there are, where that is known.

    Raises:
        UsageError: If there is no such file or it is not YAML.
        InputError: With every wrong field, and what a right one looks like.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: the card cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{path.name}: the card is not valid YAML: {error}") from error
    return replace(card_of(content, path.name, kinds), origin=path)


def card_of(content: Any, origin: str, kinds: Iterable[str] | None = None) -> Card:  # noqa: ANN401 - any YAML
    """Check a card's content and make a card of it."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - only where a card is read

    if not isinstance(content, dict):
        told = "a card is a mapping of fields, such as kind: onnx and name: our-judge."
        raise InputError([Fault(origin, 0, "", told)], ADVICE)
    if kinds is not None and (stranger := kind_fault(origin, content, kinds)):
        raise InputError([stranger], ADVICE)
    if message := unfit(content):
        raise InputError([Fault(origin, 0, "", message)])
    schema = card_schema(str(content.get("kind", "")))
    if faults := schema_faults(origin, schema, Draft202012Validator(schema).iter_errors(content)):
        raise InputError(faults, ADVICE)
    low, high = content.get("scale_low"), content.get("scale_high")
    if (low is None) != (high is None) or (low is not None and low >= high):
        message = (
            "scale_low and scale_high are given together, the lower one first. For example: scale_low: 0, "
            "scale_high: 10."
        )
        raise InputError([Fault(origin, 0, "scale_low", message)])
    if faults := _means_faults(origin, content):
        raise InputError(faults, "means says: the audit's name of a dimension, then the judge's own.")
    if faults := _comparing_faults(origin, content):
        raise InputError(faults, "A judge that compares two pictures answers left, right or tie.")
    own = {name: told["default"] for name, told in schema["properties"].items() if "default" in told}
    content = {**own, **content}
    known = {entry.name for entry in fields(Card)}
    given = {name: value for name, value in content.items() if name in known}
    given["dimensions"] = tuple(content.get("dimensions", (OVERALL,)))
    card = Card(**given, settings={name: value for name, value in content.items() if name not in known})
    return replace(card, version=str(card.version))


def _means_faults(origin: str, content: Mapping[str, Any]) -> list[Fault]:
    """Find names that `means` takes for dimensions and that are none, or stand for two."""
    means, own = content.get("means", {}), content.get("dimensions", [OVERALL])
    faults = []
    for name, called in means.items():
        twice = [other for other, held in means.items() if held == called and other != name]
        if called not in own:
            faults.append(Fault(origin, 0, f"means.{name}", f"“{called}” is not among the dimensions {own}."))
        elif twice:
            faults.append(Fault(origin, 0, f"means.{name}", f"“{called}” stands for {twice[0]} too."))
        elif name in own and called != name:
            said = f"the judge has a dimension “{name}” of its own; it cannot be called “{called}” as well."
            faults.append(Fault(origin, 0, f"means.{name}", said))
    return faults


def _comparing_faults(origin: str, content: Mapping[str, Any]) -> list[Fault]:
    """Find what a judge that compares two pictures cannot have: a scale, a direction, sub-scores."""
    if not content.get("compares"):
        return []
    scale = dict.fromkeys(SCALE, "it gives no score, so it has no scale; leave it out.")
    wrong = {name: message for name, message in scale.items() if content.get(name) is not None}
    if content.get("higher_is_better") is False:
        wrong["higher_is_better"] = "the picture that it names is the better one; leave it out."
    if content.get("dimensions", [OVERALL]) != [OVERALL] or content.get("means"):
        wrong["dimensions"] = (
            f"it says which picture is better as a whole; leave it out, or write [{OVERALL}]."
        )
    return [Fault(origin, 0, name, message) for name, message in wrong.items()]


def unfit(content: Any) -> str:  # noqa: ANN401 - whatever YAML holds
    """Say what no card may hold: numbers that are none, and more than anyone writes (YAML may refer to itself)."""
    waiting, seen = [content], 0
    while waiting:
        entry = waiting.pop()
        seen += 1
        if seen > MOST_ENTRIES:
            return f"a card holds at most {MOST_ENTRIES} entries; an alias (*name) may repeat far too much."
        if isinstance(entry, (int, float)) and not abs(entry) < LARGEST:
            return f"{entry} is not a number a card can hold."
        if isinstance(entry, dict):
            waiting += [*entry.keys(), *entry.values()]
        elif isinstance(entry, list):
            waiting += entry
    return ""
