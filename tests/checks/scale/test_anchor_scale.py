"""The anchor set as the labelled ends of a scale: leaving, reach, capability, and no double counting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from labelled_evidence import table

from judge_audit.checks.scale import scale
from judge_audit.checks.scale.labelled_ends import anchors
from judge_audit.judges.cards.card import Card

CARD = Card(kind="table", name="j", scale_low=0.0, scale_high=10.0)
TIERS = ("bad", "middling", "good")


def with_anchors(
    evidence, scores, *, tiers=None, values=None, ends=(1.0, 5.0), same_as=None, dimension="overall"
):
    """Put an anchor set beside traffic: a third of each tier unless said otherwise."""
    n = len(scores)
    tiers = tiers or [TIERS[at % 3] for at in range(n)]
    values = values or [{"bad": 1.0, "middling": 3.0, "good": 5.0}[tier] for tier in tiers]
    responses = [
        {"item_id": f"anchor:a{at}", "source": "s", "topic": "", "prompt_id": "", "cluster": f"a{at}"}
        | {"axis": "anchor", "rung": 0, "strength": 0.0, "repeat": repeat, "dimension": dimension}
        | {"value": float(scores[at]), "state": "ok"}
        for at in range(n)
        for repeat in range(2)
    ]
    rows = [
        {"anchor_id": f"a{at}", "item_id": f"anchor:a{at}", "tier": tiers[at], "kind": "", "source": "s"}
        | {
            "topic": "",
            "cluster": f"a{at}",
            "dimension": dimension,
            "annotator_id": rater,
            "value": values[at],
        }
        | {"level": "ordinal", "low": ends[0], "high": ends[1], "higher_is_better": True}
        | {"same_as": same_as[at] if same_as else None}
        for at in range(n)
        for rater in ("ann", "bob")
    ]
    whole = pa.concat_tables([evidence.responses, pa.Table.from_pylist(responses, evidence.responses.schema)])
    return replace(evidence, responses=whole, anchors=pa.Table.from_pylist(rows), _cache={})


def piled(n=150, seed=1):
    """Traffic whose scores all lie around 6, unlabelled."""
    return table({"overall": np.random.default_rng(seed).uniform(5.6, 6.4, n)}, {}, card=CARD)


def verdicts(evidence):
    return {(row["measure"], row.get("kind", "*")): row for row in scale.run(evidence).verdicts}


def test_without_anchors_a_pile_is_narrow_traffic():
    assert verdicts(piled())["pile", "*"]["finding"] == "narrow_traffic"


def test_anchors_that_stay_in_the_pile_convict_it():
    scores = np.random.default_rng(2).uniform(5.6, 6.4, 120)
    found = verdicts(with_anchors(piled(), scores))
    assert found["pile", "*"]["finding"] == "stacked"
    assert found["leaving", "bad"]["n"] == 40
    assert found["leaving", "bad"]["value"] == 0


def test_anchors_that_leave_the_pile_do_not():
    scores = np.where(np.arange(120) % 3 == 0, 1.0, np.where(np.arange(120) % 3 == 1, 6.0, 9.5))
    found = verdicts(with_anchors(piled(), scores))
    assert found["pile", "*"]["finding"] == "narrow_traffic"
    assert found["leaving", "bad"]["verdict"] == "pass"
    assert found["leaving", "good"]["verdict"] == "pass"


def test_an_end_is_unreachable_only_after_thirty_anchors_that_belong_there():
    few, enough = (np.full(n, 6.0) for n in (60, 120))
    reach = "reach", "lower end"
    assert verdicts(with_anchors(piled(), few))[reach]["verdict"] == "inconclusive"
    assert verdicts(with_anchors(piled(), enough))[reach]["finding"] == "unreachable"
    assert verdicts(with_anchors(piled(), np.where(np.arange(60) % 3, 6.0, 0.2)))[reach]["verdict"] == "pass"


def test_the_tier_decides_of_the_whole_picture_and_labels_of_a_dimension():
    held = anchors(with_anchors(piled(), [1.0, 9.0], tiers=["bad", "good"], values=[3.0, 3.0]), "overall")
    assert held.bad.tolist() == [True, False]
    assert held.good.tolist() == [False, True]
    two = Card(kind="table", name="j", dimensions=("semantic", "aesthetic"), scale_low=0.0, scale_high=10.0)
    traffic = table({"semantic": [5.0, 6.0], "aesthetic": [5.0, 6.0]}, {}, card=two)
    told = with_anchors(traffic, [1.0, 9.0], tiers=["bad", "good"], values=[5.0, 1.0], dimension="semantic")
    held = anchors(told, "semantic")
    assert held.good.tolist() == [True, False]
    assert anchors(told, "aesthetic") is None


def test_an_item_that_is_an_anchor_counts_once():
    ratings = {"overall": np.array([[1.0, 1.0], [5.0, 5.0], [3.0, 3.0]])}
    traffic = table({"overall": [1.0, 9.0, 5.0]}, ratings, card=CARD)
    told = with_anchors(traffic, [1.0, 9.0], tiers=["bad", "good"], same_as=["i00000", None])
    held = anchors(told, "overall")
    assert held.bad.sum() == 1
    assert held.good.sum() == 2
    assert held.worst.sum() == 1


def test_the_correlation_with_people_is_that_of_the_items_where_there_are_any():
    rng = np.random.default_rng(4)
    quality = rng.normal(size=80)
    ratings = {"overall": np.clip(np.round(3 + quality)[:, None] + np.zeros((1, 2)), 1, 5)}
    traffic = table({"overall": np.clip(5 + quality + rng.normal(size=80), 0, 10)}, ratings, card=CARD)

    def told(evidence):
        return next(row for row in scale.run(evidence).measures if row["measure"] == "people_correlation")

    upside_down = np.where(np.arange(90) % 3 == 0, 9.0, 1.0)
    assert told(with_anchors(traffic, upside_down)) == told(traffic)


def test_a_judge_that_puts_the_anchors_upside_down_is_reversed_where_nobody_labelled_items():
    scores = np.where(np.arange(90) % 3 == 0, 9.0, np.where(np.arange(90) % 3 == 1, 5.0, 1.0))
    scores = scores + np.random.default_rng(3).uniform(-0.5, 0.5, 90)
    found = verdicts(with_anchors(piled(), scores))
    assert found["capability", "*"]["finding"] == "reversed"


def test_anchors_enter_no_pile_of_the_traffic():
    bare, more = piled(), with_anchors(piled(), np.full(90, 0.1))
    pile = [
        next(row for row in scale.run(each).measures if row["measure"] == "pile") for each in (bare, more)
    ]
    assert pile[0] == pile[1]


@pytest.mark.parametrize("scores", [[np.nan], []])
def test_anchors_without_a_score_are_none(scores):
    if scores:
        told = with_anchors(piled(), [1.0])
        states = pa.array(
            ["refused" if axis == "anchor" else "ok" for axis in told.responses["axis"].to_pylist()]
        )
        place = told.responses.schema.get_field_index("state")
        told = replace(told, responses=told.responses.set_column(place, "state", states), _cache={})
    else:
        told = with_anchors(piled(), [])
    assert anchors(told, "overall") is None
