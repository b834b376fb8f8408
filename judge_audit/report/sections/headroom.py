"""The hack forecast of the report: how far, in which direction, and the images it lifted most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.checks.ladders.headroom import NAME
from judge_audit.core.formatting import lift_text, number_text
from judge_audit.core.messages import knows, say
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.measures.headroom import GREEDY, PAIR, SINGLE, half_of, is_combined, read_combo
from judge_audit.report.charts.forest import Group, Line, forest
from judge_audit.report.facts import Changed, rows_of, where
from judge_audit.report.figures import figure_of, finite
from judge_audit.report.sections.ladders import rises, verdict_of
from judge_audit.stimuli.combinations import read_recipe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb
    from judge_audit_schemas.rows import MeasuresRow
    from markupsafe import Markup

    from judge_audit.report.facts import Facts
    from judge_audit.report.percentiles import Placing

    Row = Mapping[str, Any]

MAXIMA = {"value": "image_maximum", "fresh": "image_maximum_fresh", "budget": "image_budget"}
"""Figures of the image that rose most, and their measures."""

FAMILIES = (SINGLE, PAIR, GREEDY, POOLED)
SHOWN = 3
"""Images shown before and after."""

ANSWERED = """
SELECT probes.item_id, items.source, items."cluster", scores.dimension, probes.axis, probes.rung, probes.strength,
    scores."value", probes.recipe
FROM probes
JOIN items ON items.plan_id = $1 AND items.item_id = probes.item_id
JOIN scores ON scores.probe_id = probes.probe_id AND scores.repeat = probes.repeat
WHERE list_contains($2, probes.plan_id) AND scores.judge_id = $3 AND scores.state = 'ok' AND probes.repeat = 0
ORDER BY probes.item_id, scores.dimension, probes.axis
"""


class Mix(Changed):
    """A score of a mix of changes."""

    recipe: str


def headroom_of(
    con: duckdb.DuckDBPyConnection, facts: Facts, placing: Mapping[str, Placing]
) -> list[dict[str, Any]]:
    """Put together what is known of headroom, one entry per dimension; empty if nothing was tried."""
    measures = where(facts.measures, check=NAME)
    plans = facts.configuration.get("combined_ids") or []
    answers: list[Mix] = rows_of(con, ANSWERED, facts.audit["plan_id"], plans, facts.audit["judge_id"])
    parts = []
    for dimension in dict.fromkeys(row["dimension"] for row in measures):
        own = where(measures, dimension=dimension)
        verdict = next(map(verdict_of, where(facts.verdicts, check=NAME, dimension=dimension)), None)
        ridden = _ridden(own)
        part = {
            "dimension": dimension,
            "families": _families(own),
            "ridden": ridden,
            "margin": facts.limits["headroom.margin"],
            "verdict": verdict,
            "maximum": {
                name: next((finite(row["value"]) for row in where(own, measure=measure)), None)
                for name, measure in MAXIMA.items()
            },
        }
        worst = _worst(ridden, where(answers, dimension=dimension), facts, placing)
        parts.append({**part, "worst": worst, "sentence": _sentence(part)})
    return parts


def _families(measures: Sequence[MeasuresRow]) -> list[dict[str, Any]]:
    lifts = {row["kind"]: row for row in where(measures, measure=NAME)}
    return [{"family": family, **figure_of(lifts[family])} for family in FAMILIES if family in lifts]


def _ridden(measures: Sequence[MeasuresRow]) -> list[dict[str, Any]]:
    """List what was chosen, with its lift where it was not chosen; families in order, the best of all last."""
    rows = where(measures, measure="ridden")
    rows.sort(key=lambda row: (FAMILIES.index(row["kind"]), row["axis"]))
    return [
        {
            "family": row["kind"],
            "axis": row["axis"],
            "axes": list(read_combo(row["axis"]).axes),
            **figure_of(row),
        }
        for row in rows
    ]


def direction(axes: Iterable[str]) -> str:
    """Say in words where a recipe goes."""
    words = [say(f"hacking.axis.{axis}") if knows(f"hacking.axis.{axis}") else axis for axis in axes]
    return say("hacking.and").join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _sentence(part: Row) -> str:
    """Say what was found, in words."""
    verdict = part["verdict"]
    best = [row for row in part["ridden"] if row["family"] == POOLED]
    if verdict is None or not best:
        return say("hacking.lead_single")
    whole = next((row for row in part["families"] if row["family"] == POOLED), None)
    words = {
        name: say("hacking.unknown") if whole is None or whole[column] is None else lift_text(whole[column])
        for name, column in (("value", "value"), ("low", "ci_low"), ("high", "ci_high"))
    }
    words["direction"] = say("hacking.or").join(dict.fromkeys(direction(row["axes"]) for row in best))
    kinds = {Verdict.FAIL: "hackable", Verdict.PASS: "pass"}
    return say(f"hacking.lead_{kinds.get(verdict['verdict'], 'open')}", **words)


def _worst(
    ridden: Sequence[Row], answers: Sequence[Mix], facts: Facts, placing: Mapping[str, Placing]
) -> list[dict[str, Any]]:
    """Find the images that the chosen mixes lifted most, each once and only where they were not chosen."""
    chosen = {row["axis"] for row in ridden if is_combined(row["axis"])}
    mixes = {
        (row["item_id"], row["axis"]): row
        for row in answers
        if row["axis"] in chosen and _untried(row, facts.audit["seed"])
    }
    risen = rises(facts.untouched, list(mixes.values()), placing)
    worst: list[dict[str, Any]] = []
    for row in sorted(risen, key=lambda row: (-row["lift"], row["item_id"], row["axis"])):
        if len(worst) < SHOWN and all(row["item_id"] != other["item_id"] for other in worst):
            recipe = mixes[row["item_id"], row["axis"]]["recipe"]
            doses = [[dose.axis, dose.strength] for dose in read_recipe(recipe)]
            worst.append({**row, "recipe": recipe, "doses": doses})
    return worst


def _untried(row: Mix, seed: int) -> bool:
    """Tell whether a recipe was not chosen on the half that an image belongs to."""
    return read_combo(row["axis"]).chosen_on != half_of(row["cluster"], seed)


def doses_text(row: Row) -> str:
    """Write the strengths of a mix."""
    return ", ".join(
        say("hacking.share", axis=axis, strength=number_text(strength)) for axis, strength in row["doses"]
    )


def family_chart(part: Row) -> Markup:
    """Draw the headroom of each family next to the limit."""
    lines = tuple(Line(say(f"hacking.families.{row['family']}"), row) for row in part["families"])
    largest = max((row["value"] for row in part["families"] if row["value"] is not None), default=None)
    label = say("hacking.aria", n=len(lines), value=lift_text(largest))
    return forest([Group("", lines)], label, (part["margin"], say("hacking.limit")))
