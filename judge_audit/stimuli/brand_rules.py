"""Brand rules: what compliance means to a team, as a small YAML; every fault at once."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from judge_audit.core.digests import canonical_json, file_digest, text_digest
from judge_audit.core.errors import Fault, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

ADVICE = "schemas/brand/rules.schema.json describes brand rules, and schemas/brand/example.yaml shows some."
MOST_PIXELS = 16_000_000


@dataclass(frozen=True, slots=True)
class BrandRule:
    """One rule.

    Attributes:
        name: Its name, unique in the file.
        breach: banned_element, margin or white_space.
        description: What the team means by it, for people.
        element: What is banned: a drawn one by name, or "picture".
        size: Side of the banned element when overlaid, as a share of the short side.
        picture: The team's own picture of it with opacity, shape (height, width, 4); None for drawn ones.
        margin: Width of the margin kept free, as a share of the short side.
        box: Space kept empty: left, top, right, bottom as shares of width and height.
    """

    name: str
    breach: str
    description: str = ""
    element: str = ""
    size: float = 0.3
    picture: NDArray[np.uint8] | None = None
    margin: float = 0.0
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class BrandRules:
    """A team's rules.

    Attributes:
        brand: Whose they are.
        rules: In the order of the file.
        digest: Digest of all of it, the pictures named among it: another digest is another standard.
    """

    brand: str
    rules: tuple[BrandRule, ...]
    digest: str


def rules_schema() -> dict[str, Any]:
    """Give the JSON Schema of brand rules."""
    text = (files("judge_audit_schemas") / "brand" / "rules.schema.json").read_text(encoding="utf-8")
    loaded = yaml.safe_load(text)
    assert isinstance(loaded, dict)
    return loaded


def example_path() -> Path:
    """Give the path of the shipped example."""
    return Path(str(files("judge_audit_schemas") / "brand" / "example.yaml"))


def example_rules() -> BrandRules:
    """Give the shipped example, for demos and for corpora whose team has stated none."""
    text = (files("judge_audit_schemas") / "brand" / "example.yaml").read_text(encoding="utf-8")
    return _made("example.yaml", yaml.safe_load(text), Path())


def read_brand_rules(path: str | Path) -> BrandRules:
    """Read a team's brand rules.

    Args:
        path: The YAML file; pictures in it are relative to its folder.

    Raises:
        InputError: With every fault by rule and field.
        UsageError: If the file is missing or not YAML.
    """
    path = Path(path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"{path}: there is no such file. {ADVICE}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: it cannot be read: {error}.") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path.name}: it is not valid YAML: {error}") from error
    return _made(path.name, content, path.parent)


def _made(name: str, content: Any, folder: Path) -> BrandRules:  # noqa: ANN401 - whatever a file holds
    """Check the content of a file and make rules of it."""
    faults = [*_schema_faults(name, content), *_sense_faults(name, content)]
    pictures: dict[int, tuple[NDArray[np.uint8], str]] = {}
    for number, entry in enumerate(_entries(content)):
        if isinstance(entry.get("picture"), str):
            try:
                pictures[number] = _picture(folder, entry["picture"])
            except (OSError, ValueError, UsageError) as error:
                faults.append(_fault(name, _called(entry, number), "picture", f"{entry['picture']}: {error}"))
    if faults:
        raise InputError(faults, ADVICE)
    rules = []
    for number, entry in enumerate(content["rules"]):
        picture = pictures.get(number)
        rules.append(
            BrandRule(
                name=entry["name"],
                breach=entry["breach"],
                description=entry.get("description", ""),
                element="picture" if picture else entry.get("element", ""),
                size=float(entry.get("size", 0.3)),
                picture=picture[0] if picture else None,
                margin=float(entry.get("margin", 0)),
                box=tuple(float(share) for share in entry.get("box", (0, 0, 0, 0))),  # type: ignore[arg-type]
            )
        )
    shown = [digest for _, (_, digest) in sorted(pictures.items())]
    return BrandRules(content["brand"], tuple(rules), text_digest(canonical_json(content), *shown))


def _schema_faults(name: str, content: Any) -> list[Fault]:  # noqa: ANN401
    """Hold the content against the schema."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - only where rules are read

    faults = []
    for error in Draft202012Validator(rules_schema()).iter_errors(content):
        place = [part for part in error.absolute_path if part != "rules"]
        rule, field = "", ".".join(str(part) for part in place if not isinstance(part, int))
        if place and isinstance(place[0], int):
            rule = _called(content["rules"][place[0]], place[0])
            if len(place) > 2 and isinstance(place[-1], int):
                field = f"{field}, entry {place[-1] + 1}"
        for missing in _missing(error) or [field]:
            said = "it is missing." if _missing(error) else f"{_plainly(error)}."
            faults.append(_fault(name, rule, missing, said))
    return faults


def _missing(error: Any) -> list[str]:  # noqa: ANN401 - a ValidationError
    """Name the fields that are not there, for an error about that."""
    if error.validator != "required" or not isinstance(error.instance, dict):
        return []
    field = next((name for name in error.validator_value if f"'{name}' is a required" in error.message), "")
    return [field] if field else []


def _plainly(error: Any) -> str:  # noqa: ANN401
    """Say in plain words what a value must be."""
    told = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    if error.validator == "additionalProperties":
        return f"{error.message[0].lower()}{error.message[1:]}"
    return f"{error.message}" + (f"; it is: {told.rstrip('.')}" if told else "")


def _sense_faults(name: str, content: Any) -> list[Fault]:  # noqa: ANN401
    """Find what a schema cannot say: names that stand twice, boxes out of order."""
    faults = []
    first: dict[str, int] = {}
    for number, entry in enumerate(_entries(content)):
        called = entry.get("name")
        if isinstance(called, str):
            if called in first:
                said = f"rule {first[called] + 1} has this name too; every rule needs its own."
                faults.append(_fault(name, called, "name", said))
            first.setdefault(called, number)
        box = entry.get("box")
        if isinstance(box, list) and len(box) == 4 and all(isinstance(share, (int, float)) for share in box):
            left, top, right, bottom = box
            if left >= right or top >= bottom:
                said = "write left, top, right, bottom, each pair rising, such as [0, 0, 1, 0.25]."
                faults.append(_fault(name, _called(entry, number), "box", said))
    return faults


def _entries(content: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401
    """Give those rules of a file that are mappings."""
    rules = content.get("rules") if isinstance(content, dict) else None
    return [entry if isinstance(entry, dict) else {} for entry in rules] if isinstance(rules, list) else []


def _called(entry: Any, number: int) -> str:  # noqa: ANN401
    """Name a rule, by its place if it has no name."""
    called = entry.get("name") if isinstance(entry, dict) else None
    return f"“{called}”" if isinstance(called, str) and called else f"number {number + 1}"


def _fault(name: str, rule: str, field: str, message: str) -> Fault:
    """Say where something is wrong."""
    place = [name, *([f"rule {rule}"] if rule else []), *([f"field {field}"] if field else [])]
    return Fault(", ".join(place), 0, "", message)


def _picture(folder: Path, written: str) -> tuple[NDArray[np.uint8], str]:
    """Read a team's picture of what is banned, with its opacity, and digest the file."""
    import io  # noqa: PLC0415
    import warnings  # noqa: PLC0415

    import numpy as np  # noqa: PLC0415
    from PIL import Image  # noqa: PLC0415 - only where a rule names a picture

    from judge_audit.stimuli.images import resolve_image  # noqa: PLC0415

    content = Path(resolve_image(folder, written)).read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(content)) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise ValueError(f"it has {image.width} × {image.height} pixels; that is too large.")
                pixels = np.asarray(image.convert("RGBA"), np.uint8)
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise ValueError("it is too large.") from error
    if not (pixels[..., 3] > 0).any():
        raise ValueError("it is wholly transparent.")
    return pixels, file_digest(content)
