"""What a judge can see: planted faults are named, honest judges are not, and nobody is cleared by ties."""

from __future__ import annotations

import dataclasses
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pytest
import yaml
from sight_evidence import AXES, Answers, answers, evidence, shown

from judge_audit.audits.control_proof import convicted, expected
from judge_audit.checks.ladders import jitter, premature, top_response
from judge_audit.checks.sight.sight import QUESTIONS, run
from judge_audit.core.digests import text_digest
from judge_audit.core.vocabulary import ORIGINAL
from judge_audit.judges.adapters.brisque import CARD as BRISQUE
from judge_audit.judges.adapters.brisque import build as brisque
from judge_audit.judges.controls import builtin_controls, seeing_controls
from judge_audit.judges.controls.pixel_control import sees_all
from judge_audit.judges.protocol import Recipe
from judge_audit.stimuli.sight_probes import ASKINGS, SIGHT

SEEING = {judge.card.name: judge for judge in seeing_controls()}
SIGHTED = Answers(lambda stimuli: [sees_all(stimulus) for stimulus in stimuli])


def _size(given, measure, kind):
    (row,) = [row for row in run(given).measures if row["measure"] == measure and row.get("kind") == kind]
    return row["value"]


@pytest.mark.parametrize("name", sorted(SEEING))
def test_a_control_that_sees_is_convicted_of_its_own_fault_and_no_other_in_nineteen_of_twenty_seeds(name):
    judge = SEEING[name]
    told = [run(shown(judge, seed)).verdicts for seed in range(20)]
    found = [convicted(verdicts) for verdicts in told]
    wanted = set(judge.control.convictions)
    assert all(expected(wanted, verdicts) == wanted for verdicts in told)
    assert sum(pairs == wanted for pairs in found) >= 19, found


def _recipe_rows(control, seed):
    """Answer the sight probes of 120 items as `score_control` has them answered."""
    askings = [(ORIGINAL, 0), (ORIGINAL, 1)]
    askings += [(probe.name, repeat) for probe in SIGHT.values() for repeat in range(probe.repeats)]
    rows = []
    for number in range(120):
        place = {"item_id": f"i{number}", "source": "abc"[number % 3], "topic": "", "cluster": f"i{number}"}
        for axis, repeat in askings if number < 16 else askings[:1]:
            untouched = axis in SIGHT and SIGHT[axis].same
            words = (ORIGINAL, repeat + ASKINGS[axis]) if untouched else (axis, repeat)
            recipe = Recipe(f"{seed} {number}", place["source"], words[0], 0.0, None, 1.0, words[1])
            value = control.score_probes([], [recipe])[0].scores["overall"]
            row = {"axis": axis, "rung": 0, "strength": 0.0, "repeat": repeat, "dimension": "overall"}
            rows.append({**place, **row, "value": value, "state": "ok"})
    return rows


@pytest.mark.parametrize(
    "name", [c.card.name for c in builtin_controls("zones", 0) if not c.control.pairs_only]
)
def test_a_control_with_another_fault_is_convicted_of_nothing_here(name):
    for seed in range(20):
        control = next(c for c in builtin_controls("zones", seed) if c.card.name == name)
        told = run(evidence(_recipe_rows(control, seed), control.card, {})).verdicts
        assert convicted(told) == set(), (seed, told)


def test_every_question_has_a_verdict_with_a_reason_and_measures_that_are_listed():
    found = run(shown(SIGHTED))
    assert [row["measure"] for row in found.verdicts] == [f"{question.name}_moved" for question in QUESTIONS]
    assert all(row["reason"] for row in found.verdicts)
    listed = yaml.safe_load((files("judge_audit_schemas") / "measures.yaml").read_text(encoding="utf-8"))
    assert {row["measure"] for row in found.measures} <= {
        name for name, entry in listed.items() if entry["check"] == "sight"
    }


def test_batch_dependence_is_named_with_its_size():
    given = shown(SEEING["batch-dependent"])
    (row,) = [row for row in run(given).verdicts if row["finding"] == "batch_dependent"]
    largest = _size(given, "batch_change", "largest")
    assert 0.02 < _size(given, "batch_change", "median") < largest < 0.5
    assert f"up to {largest:.2g}" in row["reason"]
    assert f"{_size(given, 'batch_change_sd', 'largest'):.2g} SDs" in row["reason"]


def test_brisque_is_steady_in_any_company_and_sees_the_border():
    found = answers(shown(brisque(BRISQUE), count=16, size=(96, 128)))
    assert found["alone"] == found["copy"] == found["border"] == found["original"] == ("pass", "")


def test_a_judge_asked_for_one_picture_at_a_time_has_no_company_to_lean_on():
    judge = Answers(SEEING["batch-dependent"].control.scores, batch_size=1)
    (row,) = [row for row in run(shown(judge)).verdicts if row["axis"] == "alone"]
    assert row["verdict"] == "pass"
    assert "one picture per request" in row["reason"]


def test_brisque_takes_no_prompt_and_that_is_no_fault():
    found = answers(shown(brisque(BRISQUE), count=16, size=(96, 128)))
    assert found["swapped_prompt"] == ("pass", "no_prompt")


@pytest.mark.parametrize("step", [0.5, 1.0])
def test_a_judge_of_few_values_is_neither_cleared_nor_called_blind_by_equal_scores(step):
    judge = Answers(lambda stimuli: [round(stimulus.image.mean() / 40 / step) * step for stimulus in stimuli])
    found = answers(shown(judge))
    assert {found[name][0] for name in ("original", "alone", "copy", "upside_down")} == {"inconclusive"}


def test_a_judge_of_few_values_is_still_convicted_where_its_scores_move():
    judge = Answers(lambda stimuli: [float(len(stimuli) > 1) + round(s.image.mean() / 40) for s in stimuli])
    assert answers(shown(judge))["alone"] == ("fail", "batch_dependent")


def test_a_constant_judge_is_left_to_the_scale_check():
    found = answers(shown(Answers(lambda stimuli: [5.0] * len(stimuli), needs_prompt=True)))
    assert {verdict for verdict, _ in found.values()} == {"inconclusive"}


def test_retest_noise_is_named_and_is_no_fault_unless_the_card_rules_it_out():
    rng = np.random.default_rng(0)

    def noisy(stimuli):
        return [sees_all(stimulus) + rng.normal(0, 0.05) for stimulus in stimuli]

    found = answers(shown(Answers(noisy)))
    assert found["original"] == ("pass", "retest_noise")
    assert not {name for name, (verdict, _) in found.items() if verdict == "fail"}
    strict = answers(shown(Answers(noisy, decoding={"temperature": 0})))
    assert strict["original"] == ("fail", "not_repeatable")


def test_a_noisy_judge_in_whose_noise_everything_drowns_is_not_called_blind():
    rng = np.random.default_rng(0)
    judge = Answers(lambda stimuli: [rng.normal() for _ in stimuli], needs_prompt=True)
    assert {verdict for verdict, _ in answers(shown(judge)).values()} <= {"pass", "inconclusive"}


def test_rounding_of_numbers_is_not_batch_dependence():
    judge = Answers(lambda stimuli: [sees_all(s) * (1 + 1e-7 * len(stimuli)) for s in stimuli])
    assert answers(shown(judge))["alone"] == ("pass", "")


def test_a_judge_that_only_counts_positions_depends_on_the_order():
    class Second(Answers):
        """Pays a premium for a picture it has met before, in a batch."""

        def __init__(self, rule):
            super().__init__(rule)
            self.met = set()

        def score(self, stimuli):
            replies = super().score(stimuli)
            for stimulus, reply in zip(stimuli, replies, strict=True):
                name = text_digest(stimulus.image.tobytes().hex(), stimulus.prompt)
                if len(stimuli) > 1 and name not in self.met:
                    self.met.add(name)
                    reply.scores["overall"] += 0.3
            return replies

    found = answers(shown(Second(SIGHTED.rule)))
    # The copy comes first here, the original after it; either way they differ, and the original stands alone.
    assert found["alone"] == ("pass", "")
    assert found["copy"] == ("fail", "order_dependent")


def test_a_corpus_of_one_prompt_cannot_say_whether_it_is_read():
    assert answers(shown(SIGHTED, prompts=False))["swapped_prompt"] == ("missing", "")


def test_a_corpus_too_small_decides_nothing():
    found = answers(shown(SIGHTED, count=6))
    assert {verdict for verdict, _ in found.values()} == {"inconclusive"}


def test_refused_answers_are_neither_moves_nor_rests():
    given = shown(SIGHTED)
    rows = given.responses.to_pylist()
    for row in [row for row in rows if row["axis"] in {"alone", "border"}][::2]:
        row |= {"value": None, "state": "refused"}
    found = answers(evidence(rows, given.card, {}))
    assert found["alone"][0] == "inconclusive"
    assert found["border"][0] == "inconclusive"


def test_the_order_of_rows_changes_nothing():
    given = shown(SEEING["batch-dependent"], axes=("watermark",), ladder_items=16)
    rows = given.responses.to_pylist()
    turned = dataclasses.replace(given, responses=pa.Table.from_pylist(rows[::-1]), _cache={})
    one, two = run(given), run(turned)
    assert sorted(map(repr, one.measures)) == sorted(map(repr, two.measures))
    assert sorted(map(repr, one.verdicts)) == sorted(map(repr, two.verdicts))


@pytest.mark.parametrize("rule", [lambda y: y, lambda y: 100 * y, lambda y: y - 1000])
def test_the_verdicts_do_not_depend_on_the_unit_of_the_scores(rule):
    wanted = answers(shown(SEEING["centre-crop-only"]))
    other = Answers(
        lambda stimuli: [rule(y) for y in SEEING["centre-crop-only"].control.scores(stimuli)],
        needs_prompt=True,
    )
    assert answers(shown(other)) == wanted


def test_a_judge_whose_lower_scores_are_better_is_seen_the_same():
    judge = Answers(lambda stimuli: [-sees_all(s) for s in stimuli], higher_is_better=False)
    assert answers(shown(judge)) == answers(shown(SIGHTED))


def _local(given):
    """Let people see the watermark ladder: noticed at .1, objected to at .5."""
    items = sorted({row["item_id"] for row in given.rows if row["axis"] == "watermark"})
    keys = ("perceptible_low", "perceptible_high", "objectionable")
    zones = [
        {"item_id": item, "axis": axis, **dict(zip(keys, (low, 1.4 * low, high), strict=True))}
        | {"basis": "readings"}
        for item in items
        for axis, low, high in (("watermark", 0.1, 0.5), ("saturation-", 0.1, 0.9))
    ]
    return evidence(given.rows, given.card, given.axes, zones)


def test_a_ladder_outside_its_view_is_unseen_and_neither_dead_nor_passed():
    def middle(stimuli):
        return [sees_all(dataclasses.replace(s, image=s.image[12:36, 16:48].copy())) for s in stimuli]

    given = _local(shown(Answers(middle), axes=("saturation-", "watermark"), ladder_items=40))
    for check in (premature, jitter, top_response):
        told = {row["axis"]: row for row in check.run(given).verdicts}
        assert (told["watermark"]["verdict"], told["watermark"]["finding"]) == ("missing", "unseen")
        assert "outside what this judge looks at" in told["watermark"]["reason"]
        assert told["saturation-"]["finding"] != "unseen"
    (row,) = [row for row in run(given).verdicts if row["finding"] == "unseen"]
    assert (row["axis"], row["value"]) == ("watermark", 1.0)
    (first,) = [r for r in run(given).measures if r["measure"] == "seen_from" and r["axis"] == "watermark"]
    assert first["value"] is None


def test_a_whole_picture_change_that_moves_nothing_is_dead_and_not_unseen():
    judge = Answers(lambda stimuli: [float(int(s.prompt.split()[1]) ** 2 % 83) for s in stimuli])
    given = _local(shown(judge, axes=("saturation-", "watermark"), ladder_items=40))
    told = {row["axis"]: row for row in top_response.run(given).verdicts}
    assert told["saturation-"]["finding"] == "dead"
    assert told["watermark"]["finding"] == "unseen"


def test_a_judge_that_sees_the_corner_is_not_excused():
    given = _local(shown(SIGHTED, axes=("saturation-", "watermark"), ladder_items=40))
    told = {row["axis"]: row for row in top_response.run(given).verdicts}
    assert told["watermark"]["finding"] != "unseen"
    (first,) = [r for r in run(given).measures if r["measure"] == "seen_from" and r["axis"] == "watermark"]
    assert first["value"] in AXES["watermark"].strengths


def test_a_constant_judge_is_not_excused_as_unseeing():
    judge = Answers(lambda stimuli: [5.0] * len(stimuli))
    given = _local(shown(judge, axes=("saturation-", "watermark"), ladder_items=40))
    told = {row["axis"]: row["finding"] for row in top_response.run(given).verdicts}
    assert told["watermark"] == ""
