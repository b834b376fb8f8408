"""The card: what a judge is, which of it makes its identity, and what it claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path  # noqa: TC003 - pydantic reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import yaml
from pydantic import ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema, WithJsonSchema

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.json_schemas import derived_schema, shipped_schema
from judge_audit.core.vocabulary import OVERALL
from judge_audit.judges.cards.card_errors import ADVICE, kind_fault, schema_faults

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ENTRIES = 2_000
LARGEST = 1e18
SCALE = ("scale_low", "scale_high", "scale_step")
SCHEMA = "cards/card.schema.json"
"""Derived from `Card` below and written by `make schemas`; a test fails when it is out of date."""

Name = Annotated[str, Field(min_length=1)]
Fields = Annotated[Mapping[str, Any], WithJsonSchema({"type": "object"})]


def _number(**limits: float) -> WithJsonSchema:
    """Admit a number, or null for none."""
    return WithJsonSchema({"type": ["number", "null"], **limits})


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A judge's description: its fields are those of the file, with what each means, may hold and is by default.

    The JSON Schema of cards, and with it the card that `judge-audit judges new` writes, derive from them.

    Attributes:
        settings: Fields of its kind alone, as the card gives them; what of them makes the judge the judge, the
            kind writes into `weights`, `preprocessing` and `decoding`.
        runtime: What the kind computes with (library versions, devices); recorded with every call, not identity.
        origin: The file it was read from, which paths in it are relative to; neither identity nor recorded.
    """

    __pydantic_config__ = ConfigDict(use_attribute_docstrings=True)

    # A file in `judge_audit/judges/adapters`.
    kind: Annotated[str, Field(min_length=1, examples=["callable"])]
    """The kind of judge."""

    name: Annotated[str, Field(min_length=1, examples=["our-aesthetic-judge"])]
    """A label."""

    version: Annotated[
        str,
        WithJsonSchema({"type": ["string", "integer", "number"]}),
        Field(examples=["2026-11"]),
    ] = "1"
    """A label."""

    target: Annotated[str, Field(examples=["my_judge:score"])] = ""
    """What the kind loads; for a callable, module:attribute."""

    weights: Annotated[str, Field(examples=["sha256:9f86d0…"])] = ""
    """Digest of what it computes with. Part of its identity."""

    # False for an endpoint that may change behind its name.
    pinned: Annotated[bool, Field(examples=[True])] = False
    """True if the digest pins the weights."""

    # Text around the prompt.
    prompt_template: Annotated[str, Field(examples=["Rate how well this image shows: {prompt}"])] = ""
    """Part of its identity."""

    # What happens to pixels before the model, with backend and dtype.
    preprocessing: Annotated[Fields, Field(examples=[{"resize": 224, "backend": "pillow"}])] = field(
        default_factory=dict
    )
    """Part of its identity."""

    decoding: Annotated[Fields, Field(examples=[{"temperature": 0}])] = field(default_factory=dict)
    """Part of its identity."""

    # Version of the rule that reads its replies.
    parser_version: Annotated[str, Field(examples=["1"])] = "1"
    """Part of its identity."""

    # What the lake has seen counts where it is further on.
    epoch: Annotated[int, Field(ge=0, examples=[0])] = 0
    """Advanced when an unpinned judge changed."""

    scale_low: Annotated[float | None, _number(), Field(examples=[0])] = None
    """Lower end of the declared scale; leave out if none is declared."""

    scale_high: Annotated[float | None, _number(), Field(examples=[10])] = None
    """Upper end of the declared scale."""

    scale_step: Annotated[float | None, _number(exclusiveMinimum=0), Field(examples=[1])] = None
    """Step between attainable values; leave out if continuous."""

    higher_is_better: Annotated[bool, Field(examples=[True])] = True
    """Direction of the score."""

    # `overall` is the one that ladders use.
    dimensions: Annotated[
        tuple[Annotated[Name, Field(json_schema_extra={"not": {"const": "*"}})], ...],
        Field(min_length=1, json_schema_extra={"uniqueItems": True}, examples=[[OVERALL]]),
    ] = (OVERALL,)
    """Names of its sub-scores."""

    means: Annotated[
        Mapping[str, Name], Field(examples=[{"semantic": "prompt_match", "structure": "anatomy"}])
    ] = field(default_factory=dict)
    """Where the judge has names of its own for what the audit calls semantic, structure, aesthetic and compliance."""

    needs_prompt: Annotated[bool, Field(examples=[False])] = False
    """Whether an empty prompt is a fault."""

    compares: Annotated[bool, Field(examples=[True])] = False
    """True if it is shown two pictures and says which is better. Part of its identity."""

    # Also what is committed at a time.
    batch_size: Annotated[int, Field(ge=1, le=4096, examples=[32])] = 32
    """Images per request."""

    concurrency: Annotated[int, Field(ge=1, examples=[8])] = 8
    """Requests in flight at most."""

    description: Annotated[str, Field(examples=["Aesthetic score of a linear head on CLIP."])] = ""
    """One sentence for people."""

    licence: Annotated[str, Field(examples=["Apache-2.0"])] = ""
    """Of the weights."""

    settings: SkipJsonSchema[Mapping[str, Any]] = field(default_factory=dict)
    runtime: SkipJsonSchema[str] = ""
    origin: SkipJsonSchema[Path | None] = field(default=None, compare=False)

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
        names = [entry.name for entry in fields(self) if entry.name != "origin"]
        return canonical_json({name: getattr(self, name) for name in names})


def derived_card_schema() -> dict[str, Any]:
    """Derive the JSON Schema of cards from the fields of `Card`."""
    return derived_schema(Card, "A judge's card")


def card_schema(kind: str = "") -> dict[str, Any]:
    """Give the JSON Schema of cards, with the fields of one kind's own if it has a `<kind>.schema.json`.

    Fields that several kinds have lie in `shared/` and are named under `shared`.
    """
    schema = shipped_schema(SCHEMA)
    own = own_schema(kind)
    schema["properties"] |= own.get("properties", {})
    schema["required"] += own.get("required", [])
    return schema


def own_schema(kind: str) -> dict[str, Any]:
    """Give what cards of one kind say beside what every card says; empty if it has no `<kind>.schema.json`.

    `usual` names fields that need not be there and mostly are.
    """
    name = f"cards/{kind}.schema.json"
    if not kind.isidentifier() or name == SCHEMA or not files("judge_audit_schemas").joinpath(name).is_file():
        return {}
    own = shipped_schema(name)
    properties: dict[str, Any] = {}
    for shared in own.get("shared", ()):
        properties |= shipped_schema(f"cards/shared/{shared}.json")
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
        about = "a card is a mapping of fields, such as kind: onnx and name: our-judge."
        raise InputError([Fault(origin, 0, "", about)], ADVICE)
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
    own = {name: about["default"] for name, about in schema["properties"].items() if "default" in about}
    content = {**own, **content}
    known = {entry.name for entry in fields(Card)}
    values = {name: value for name, value in content.items() if name in known}
    values["dimensions"] = tuple(content.get("dimensions", (OVERALL,)))
    card = Card(**values, settings={name: value for name, value in content.items() if name not in known})
    return replace(card, version=str(card.version))


def _means_faults(origin: str, content: Mapping[str, Any]) -> list[Fault]:
    """Find names that `means` takes for dimensions and that are none, or stand for two."""
    means, own = content.get("means", {}), content.get("dimensions", [OVERALL])
    faults = []
    for name, called in means.items():
        twice = [other for other, meant in means.items() if meant == called and other != name]
        if called not in own:
            faults.append(Fault(origin, 0, f"means.{name}", f"“{called}” is not among the dimensions {own}."))
        elif twice:
            faults.append(Fault(origin, 0, f"means.{name}", f"“{called}” stands for {twice[0]} too."))
        elif name in own and called != name:
            message = (
                f"the judge has a dimension “{name}” of its own; it cannot be called “{called}” as well."
            )
            faults.append(Fault(origin, 0, f"means.{name}", message))
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
    waiting, count = [content], 0
    while waiting:
        entry = waiting.pop()
        count += 1
        if count > MOST_ENTRIES:
            return f"a card holds at most {MOST_ENTRIES} entries; an alias (*name) may repeat far too much."
        if isinstance(entry, (int, float)) and not abs(entry) < LARGEST:
            return f"{entry} is not a number a card can hold."
        if isinstance(entry, dict):
            waiting += [*entry.keys(), *entry.values()]
        elif isinstance(entry, list):
            waiting += entry
    return ""
