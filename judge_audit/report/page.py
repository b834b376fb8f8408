"""The page: the document through one template, every name from outside escaped."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from judge_audit.checks.mismatches import mismatch_rows
from judge_audit.core.formatting import lift_text, number_text, percentile, share_text, shortened
from judge_audit.core.messages import knows, say
from judge_audit.core.templating import strict_environment
from judge_audit.core.vocabulary import Capability, Position, Verdict
from judge_audit.report import figures
from judge_audit.report.charts import (
    change_charts,
    covariate_charts,
    histograms,
    history_charts,
    ladder_charts,
    people_charts,
    use_charts,
)
from judge_audit.report.sections import (
    anchors,
    changes,
    comparisons,
    covariates,
    dimensions,
    headroom,
    people,
    people_agreement,
    source_stability,
)
from judge_audit.report.sheets import axis_sheet
from judge_audit.report.sheets.page_pictures import QUALITY, SIDE
from judge_audit.stimuli.mismatches.kind import hardness
from judge_audit.stimuli.surface_statistics import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import jinja2

    from judge_audit.report.sheets.page_pictures import Pair, Tile

MODULES = (
    anchors, axis_sheet, change_charts, changes, comparisons, covariate_charts, covariates, dimensions, figures,
    headroom, histograms, history_charts, ladder_charts, mismatch_rows, people, people_agreement, people_charts,
    source_stability, use_charts,
)  # fmt: skip
"""What the templates write and draw with, under the modules' own names."""

USES = ("filtering", "ranking", "reward", "acceptance")
SYMBOLS = {"pass": "✓", "fail": "✕", "inconclusive": "?", "missing": "–"}
STANDING_LOOK = {"allowed": "pass", "barred": "fail", "unproven": "inconclusive"}
SQL = (
    'judge-audit lake sql "SELECT * FROM covariate_verdicts"',
    'judge-audit lake sql "SELECT * FROM percentiles"',
    'judge-audit lake sql "SELECT * FROM worst_movers"',
)
COMPARED_SQL = (
    'judge-audit lake sql "SELECT * FROM comparisons_by_position"',
    'judge-audit lake sql "SELECT * FROM pairwise_ranks"',
    SQL[0],
)


def write_page(
    document: Mapping[str, Any],
    pictures: Mapping[tuple[str, str, float], Pair],
    tiles: Mapping[str, Sequence[Tile]],
    pairs: Mapping[str, Sequence[str]] | None = None,
    worst: Mapping[tuple[str, str], Pair] | None = None,
) -> str:
    """Write the page.

    Args:
        document: The content.
        pictures: Pairs of data URIs by item, axis and strength.
        tiles: Small pictures of the contact sheets by axis, the original's first.
        pairs: Of each deliberate mismatch that is shown, by its pair_id: intact, damaged and, where pixels
            differ, their difference.
        worst: Pairs of data URIs of the hack forecast by item and recipe.
    """
    sources = sorted({source for section in document["ladders"] for source in section["sources"]})
    styled = len(sources) <= ladder_charts.STYLES
    styles = {source: place if styled else 0 for place, source in enumerate(sources)}
    template = environment().get_template("report.html")
    return template.render(
        doc=document,
        judge=document["judge"],
        headline=headline(document),
        sources=sources if styled else [],
        styles=styles,
        reach=ladder_charts.reach_of(document["ladders"]),
        pictures=pictures,
        worst_pictures=worst or {},
        strips={row["axis"]: row for row in document["strips"]},
        tiles_of=tiles,
        pair_tiles=pairs or {},
        uses=sorted(
            document["uses"], key=lambda row: USES.index(row["use"]) if row["use"] in USES else len(USES)
        ),
        several=len(document["meaning"]) > 1,
        statistics=STATISTICS,
        smallest=_smallest(document["controls"]["smallest_lift"]),
        plainly=plainly,
        sql=COMPARED_SQL if document["comparisons"] else SQL,
        side=SIDE,
        quality=QUALITY,
    )


def headline(document: Mapping[str, Any]) -> list[str]:
    """Say in words what a number means, and what may be done with it."""
    sentences = []
    if not document["meaning"]:
        return [say("report.meaning.none")]
    meaning = document["meaning"][0]
    listed = [
        say(
            f"report.meaning.beats_{'next' if place else 'first'}",
            percent=percentile(value),
            source=figures.source_name(source),
        )
        for place, (source, value) in enumerate(meaning["headline_percentiles"].items())
    ]
    direction = say("report.higher_is_better" if document["higher_is_better"] else "report.lower_is_better")
    text = {"value": number_text(meaning["headline"]), "direction": direction}
    if len(listed) <= ladder_charts.STYLES:
        sentences.append(say("report.meaning.beats", list=enumeration(listed), **text))
    if meaning["differ"] is not None:
        key = "differ" if meaning["differ"] >= 10 else "alike"
        sentences.append(say(f"report.meaning.{key}", points=f"{meaning['differ']:.0f}"))
    card = document["provenance"]["card"]
    if document["capability"] == Capability.ABSOLUTE:
        sentences.append(say("report.meaning.absolute"))
    elif card.get("scale_low") is None:
        sentences.append(say("report.meaning.undeclared"))
    else:
        sentences.append(say("report.meaning.ranker"))
    return sentences


def _smallest(rows: list[dict[str, Any]]) -> str:
    """List the smallest rises that could have been shown."""
    rises = [
        say("report.controls.smallest_one", value=lift_text(row["value"]), axis=row["axis"])
        for row in rows
        if row["value"] is not None
    ]
    return ", ".join(rises)


def enumeration(parts: list[str]) -> str:
    """Join parts as a sentence does."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + say("report.meaning.and") + parts[-1]


def plainly(reason: str) -> str:
    """Leave out of a reason what the caveats have said once for all of them."""
    for sentence in (say("notes.provisional"), say("notes.pooled")):
        reason = reason.replace(sentence, "")
    return " ".join(reason.split())


def pretty(content: Any) -> str:  # noqa: ANN401 - whatever a configuration holds
    """Write content as JSON for reading."""
    return json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True, default=str)


def wording(group: str, name: str) -> str:
    """Give the word for a name whose list a project may lengthen; the name itself where there is none."""
    key = f"report.{group}.{name}"
    return say(key) if knows(key) else name


@cache
def environment() -> jinja2.Environment:
    """Set up the template engine: everything is escaped, nothing undefined is let through."""
    environment = strict_environment()
    environment.globals |= {
        "say": lambda key, **values: say(f"report.{key}", **values),
        "tell": say,
        "word": wording,
        "lift_text": lift_text,
        "hardness": hardness,
        **{module.__name__.rpartition(".")[2]: module for module in MODULES},
        "positions": [position.value for position in Position],
        "symbols": SYMBOLS,
        "verdicts": [verdict.value for verdict in Verdict],
        "standing_look": STANDING_LOOK,
    }
    environment.filters |= {
        "number": number_text,
        "lift": lift_text,
        "percent": percentile,
        "share": share_text,
        "source": figures.source_name,
        "short": shortened,
        "pretty": pretty,
    }
    return environment
