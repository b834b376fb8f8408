"""The budget that all workers of an audit draw from."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from judge_audit.judges.calling.budget import Budget, money

WORKER = """
import sys
from pathlib import Path
from judge_audit.judges.calling.budget import Budget
budget = Budget(Path(sys.argv[1]), max_calls=100, max_cost=9.0, currency="EUR")
bought = 0
while True:
    with budget.taken([0.1] * 7) as taken:
        if not taken.count:
            break
        bought += taken.count
        taken.settled = 0.1 * taken.count
print(bought)
"""


def test_processes_together_never_go_beyond_the_cap(tmp_path):
    path = tmp_path / "budget" / "a.sqlite"
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    bought = [int(worker.communicate(timeout=60)[0]) for worker in workers]
    assert sum(bought) == 90
    spent = Budget(path).spent()
    assert (spent.calls, spent.stopped) == (90, True)
    assert spent.cost == pytest.approx(9.0)


def test_what_was_set_aside_and_not_spent_can_be_spent_by_another(tmp_path):
    budget = Budget(tmp_path / "p.sqlite", max_cost=1.0, currency="USD")
    held = threading.Event()

    def careful():
        with budget.taken([0.9]) as taken:
            held.set()
            time.sleep(0.3)
            taken.settled = 0.1

    worker = threading.Thread(target=careful)
    worker.start()
    held.wait()
    with budget.taken([0.8]) as taken:
        assert taken.count == 1
        taken.settled = 0.8
    worker.join()
    assert budget.spent().cost == pytest.approx(0.9)
    assert not budget.spent().stopped


def test_a_batch_is_bought_as_far_as_the_money_reaches(tmp_path):
    budget = Budget(tmp_path / "p.sqlite", max_cost=1.0)
    with budget.taken([0.3, 0.3, 0.3, 0.3]) as taken:
        assert taken.count == 3
        taken.settled = 0.9
    with budget.taken([0.3]) as taken:
        assert taken.count == 0
    assert budget.spent().stopped


def test_a_judge_that_breaks_gives_back_what_was_set_aside(tmp_path):
    budget = Budget(tmp_path / "p.sqlite", max_calls=3)
    with pytest.raises(ValueError, match="broke"), budget.taken([0, 0, 0]):
        raise ValueError("broke")
    with budget.taken([0, 0, 0]) as taken:
        assert taken.count == 3


def test_no_cap_is_no_end_and_everything_is_counted(tmp_path):
    budget = Budget(tmp_path / "p.sqlite", currency="USD")
    for _ in range(3):
        with budget.taken([1e6] * 10) as taken:
            taken.settled = 2.5
    assert budget.told() == "7.50 USD"
    budget.remove()
    assert not list(tmp_path.rglob("*.sqlite"))


def test_the_purse_is_told_in_the_line_of_progress(tmp_path):
    budget = Budget(tmp_path / "p.sqlite", max_calls=2000, max_cost=20, currency="EUR")
    with budget.taken([0.01] * 3) as taken:
        taken.settled = 0.0123
    assert budget.told() == "3 of 2,000 calls, 0.0123 of 20.00 EUR"


@pytest.mark.parametrize(
    ("value", "told"), [(0, "0.00"), (0.5, "0.5"), (0.00123, "0.00123"), (1234.5, "1,234.50")]
)
def test_sums_are_written_in_cents_or_what_is_left_of_them(value, told):
    assert money(np.float64(value)) == told
