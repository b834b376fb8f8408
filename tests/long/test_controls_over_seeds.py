"""Each control is convicted of exactly what it declares, over 20 seeds of corpus and control."""

from __future__ import annotations

import pytest
from planted_evidence import examine, make

from judge_audit.audits.control_proof import convicted, expected
from judge_audit.judges.controls import builtin_controls

pytestmark = pytest.mark.long

SEEDS = 20
COMBOS = ("combo:saturation+&contrast+", "combo:saturation+&sharpen")


@pytest.mark.parametrize("name", sorted(c.card.name for c in builtin_controls("zones", 0)))
def test_a_control_is_convicted_exactly_in_nineteen_of_twenty_seeds(name):
    exact = strictly = 0
    odd = []
    for seed in range(SEEDS):
        control = next(c for c in builtin_controls("zones", seed) if c.card.name == name)

        def score(recipe, control=control):
            return control.score_probes([], [recipe])[0].scores

        rest = {"pairs": 16, "axes": ()} if control.control.pairs_only else {"combos": COMBOS}
        evidence = make(score, control.card, seed=seed, is_control=True, labeller=control, **rest)
        verdicts = examine(evidence).verdicts
        found, wanted = convicted(verdicts), expected(control.convictions, verdicts)
        tolerated = expected(control.control.tolerated, verdicts)
        assert bool(wanted) == bool(control.convictions)
        strictly += found == wanted
        exact += wanted <= found <= wanted | tolerated
        odd += sorted(found - wanted - tolerated) + [("missed", *pair) for pair in sorted(wanted - found)]
    print(f"{name}: {exact} of {SEEDS} seeds, {strictly} without the tolerated pairs; else {odd}")
    assert exact >= SEEDS - 1
