"""The command that looks ahead: `plan`, `plan --show AXIS`, `plan --show-pairs KIND`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Option

from judge_audit.cli.options import AS_JSON, PROJECT_FILE
from judge_audit.cli.output import print_result
from judge_audit.cli.project import configured, file_here
from judge_audit.core.errors import MachineryError, UsageError

if TYPE_CHECKING:
    from judge_audit.core.configuration import Configuration
    from judge_audit.report.sheets.axis_sheet import Ladder
    from judge_audit.stimuli.axes.axis import Axis

MOST = 12


def plan(
    file: Path | None = PROJECT_FILE,
    *,
    show: str | None = Option(
        None, "--show", metavar="AXIS", help="Draw this axis: originals and all rungs."
    ),
    show_pairs: str | None = Option(
        None,
        "--show-pairs",
        metavar="KIND",
        help="Draw pairs of this mismatch kind: intact, damaged, difference.",
    ),
    rules: Path | None = Option(
        None, "--rules", help="Brand rules that pairs break; the shipped example if not said."
    ),
    items: str | None = Option(None, "--items", help="Items file; without one, the demo's pictures."),
    count: int = Option(3, "--count", min=1, max=MOST, help="How many items."),
    out: Path | None = Option(None, "--out", help="Where to; AXIS.png here if not said."),
    audit: str | None = Option(None, "--audit", help="Pilot: an audit_id, or latest."),
    lake: str | None = Option(None, "--lake", help="The lake that holds the pilot."),
    spread: float | None = Option(
        None, "--spread", min=0, help="No pilot: how far apart items answer a change, in SDs of a source."
    ),
    retest: float | None = Option(None, "--retest", min=0, help="No pilot: retest noise, in SDs."),
    step: float | None = Option(None, "--step", min=0, help="No pilot: attainable step, in SDs."),
    reliability: float | None = Option(
        None, "--reliability", min=0.01, max=0.99, help="Correlation of one annotator with another."
    ),
    design: list[str] = Option(
        [],
        "--design",
        metavar="NAME=N",
        help="items, sources, untouched, repeats, pairs, annotators, labelled or axes; may be repeated.",
    ),
    limit: list[str] = Option([], "--limit", metavar="NAME=VALUE", help="Another margin; repeatable."),
    power: float = Option(0.8, "--power", min=0.5, max=0.99, help="Share of audits to end so."),
    draws: int = Option(200, "--draws", min=50, max=5000, help="Audits rehearsed at each size."),
    calls: int | None = Option(None, "--calls", min=1, help="Budget: calls to the judge."),
    minutes: float | None = Option(None, "--minutes", min=0, help="Budget: minutes of the judge."),
    seconds: float | None = Option(None, "--seconds", min=0, help="Time of a call, if no pilot tells."),
    cost: float | None = Option(None, "--cost", min=0, help="Budget: money."),
    price: float = Option(0.0, "--price", min=0, help="Price of a call."),
    label_price: float = Option(0.0, "--label-price", min=0, help="Price of a label or reading."),
    as_json: bool = AS_JSON,
) -> None:
    """Say what each verdict needs and what a budget buys, from a pilot or stated spread; or draw with --show."""
    from judge_audit.report.sheets.axis_sheet import draw_sheet
    from judge_audit.report.sheets.layout import png_of

    if show is not None and show_pairs is not None:
        raise UsageError("plan draws one thing: give --show AXIS or --show-pairs KIND.")
    if show is None and show_pairs is None:
        from judge_audit.cli.sample_sizes import Asked, say_needs

        stated = {"change": spread, "retest": retest, "step": step}
        asked = Asked(
            audit,
            lake,
            {name: value for name, value in stated.items() if value is not None},
            reliability,
            tuple(design),
            tuple(limit),
            power,
            draws,
            calls,
            minutes,
            seconds,
            cost,
            price,
            label_price,
        )
        say_needs(asked, as_json=as_json)
        return
    here = file_here(file)
    configuration = None if here is None and items is None else configured(here, {"items": items})
    if show_pairs is not None:
        _plan_pairs(show_pairs, configuration, rules, count, out, as_json=as_json)
        return
    assert show is not None
    axis = _axis(show, configuration.project if configuration else "")
    ladders = _ladders(configuration, axis, count)
    target = out or Path(f"{axis.name}.png")
    _write(target, png_of(draw_sheet(axis, ladders)))
    drawn = ", ".join(ladder.item for ladder in ladders)
    lines = [f"{target}: {axis.name}, {len(axis.strengths)} rungs, on {drawn}."]
    print_result(_document(axis, ladders, target), lines, as_json=as_json)


def _write(target: Path, content: bytes) -> None:
    """Write a picture, or say why not."""
    try:
        target.write_bytes(content)
    except OSError as error:
        raise MachineryError(f"{target}: the picture cannot be written: {error.strerror}.") from error


def _plan_pairs(
    name: str,
    configuration: Configuration | None,
    rules: Path | None,
    count: int,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Draw pairs of a mismatch kind: of the items file, or else of the demo's pictures and of staged scenes."""
    from judge_audit.audits.plugins import find_mismatches
    from judge_audit.report.sheets.layout import png_of
    from judge_audit.report.sheets.pair_sheet import draw_pair_sheet
    from judge_audit.report.sheets.sheet_items import (
        demo_materials,
        materials_of_file,
        show_pairs,
        show_scene_pairs,
    )
    from judge_audit.stimuli.brand_rules import example_rules, read_brand_rules

    kinds = find_mismatches(configuration.project if configuration else "")
    if name not in kinds:
        raise UsageError(
            f"--show-pairs: there is no kind “{name}”; the kinds are {', '.join(sorted(kinds))}."
        )
    kind = kinds[name].thing
    stated = read_brand_rules(rules) if rules else example_rules()
    if configuration is None:
        shown = show_pairs(kind, demo_materials(count, 20, stated))
        shown += show_scene_pairs(kind, count, 1) if kinds[name].origin == "the package" else []
    else:
        materials = materials_of_file(configuration.items, count=count, seed=configuration.seed, rules=stated)
        shown = show_pairs(kind, materials)
    target = out or Path(f"{name}.png")
    _write(target, png_of(draw_pair_sheet(kind, shown)))
    document = {"picture": str(target), "kind": name, "pairs": [pair.as_json() for pair in shown]}
    made = sum(pair.built for pair in shown)
    lines = [f"{target}: {name}, {made} pairs; {len(shown) - made} items do not suit."]
    print_result(document, lines, as_json=as_json)


def _axis(name: str, project: str) -> Axis:
    """Find an axis by its name, among the team's own too."""
    from judge_audit.audits.plugins import find_axes

    axes = find_axes(project)
    if name not in axes:
        raise UsageError(f"--show: there is no axis “{name}”; the axes are {', '.join(sorted(axes))}.")
    return axes[name].thing


def _ladders(configuration: Configuration | None, axis: Axis, count: int) -> list[Ladder]:
    """Take a few items, of the items file or else of the demo."""
    from judge_audit.demo.corpus import demo_pictures
    from judge_audit.report.sheets.sheet_items import ladder_of, ladders_of_file

    if configuration is None:
        return [ladder_of(row, pixels, axis) for row, pixels in demo_pictures(count)]
    return ladders_of_file(
        configuration.items,
        axis,
        count=count,
        seed=configuration.seed,
        readings=configuration.readings,
    )


def _document(axis: Axis, ladders: list[Ladder], target: Path) -> dict[str, Any]:
    """Say what the picture shows."""
    from judge_audit.report.sheets.axis_sheet import zone_name

    return {
        "picture": str(target),
        "axis": axis.name,
        "unit": axis.unit,
        "items": [
            {
                "item_id": ladder.item,
                "region": ladder.region or None,
                "provisional": ladder.provisional if ladder.low is not None else None,
                "rungs": [
                    {"strength": strength, "zone": zone_name(ladder, strength, axis.overdone) or None}
                    for strength in axis.strengths
                ],
            }
            for ladder in ladders
        ],
    }
