"""The one order of the stages: the budget is looked at before combining, and is one for both rounds."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from judge_audit.audits.context import AuditContext
from judge_audit.audits.pipeline import LocalExecutor, run_stages
from judge_audit.core.configuration import resolve
from judge_audit.judges import load_judge
from judge_audit.judges.calling.budget import BudgetReached
from judge_audit.lake import Lake


def brightness(images, prompts):
    return [float(image.mean()) for image in images]


brightness.pinned = True


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    folder = tmp_path_factory.mktemp("items")
    lines = ["item_id,source,prompt,image"]
    for number in range(12):
        rng = np.random.default_rng(number)
        pixels = np.clip(rng.normal(60 + 5 * number, 20 + number, (48, 48, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
        lines.append(f"i{number:02d},{'xy'[number % 2]},a picture,{number}.png")
    (folder / "items.csv").write_text("\n".join(lines))
    return folder / "items.csv"


class AskingAlone(LocalExecutor):
    """Runs the stages up to the last question."""

    def controls(self, prepared):
        pass

    check = report = controls


def asked(items, lake, **options):
    given = {"items": str(items), "lake": str(lake), "ladder_items": 4, "pairs_per_kind": 0, **options}
    configuration = resolve(None, {"axes": ["saturation+", "contrast-"], **given})
    return run_stages(AskingAlone(AuditContext(configuration, load_judge(brightness))))


def plans(lake):
    return set(Lake.open(lake, create=False).read("probes")["plan_id"].to_pylist())


@pytest.fixture(scope="module")
def whole(items, tmp_path_factory):
    lake = tmp_path_factory.mktemp("whole") / "lake"
    return asked(items, lake).bought, len(plans(lake))


def test_the_budget_is_one_for_both_rounds(items, whole, tmp_path):
    calls, _ = whole
    with pytest.raises(
        BudgetReached, match=f"{calls - 1} pictures were shown to the judge, up to 1 are left"
    ):
        asked(items, tmp_path / "lake", max_calls=calls - 1)
    assert not list(tmp_path.glob("**/*.sqlite"))
    assert asked(items, tmp_path / "lake", max_calls=1).bought == 1


def test_nothing_is_combined_by_the_scores_of_half_an_audit(items, whole, tmp_path):
    with pytest.raises(BudgetReached):
        asked(items, tmp_path / "lake", max_calls=5)
    assert len(plans(tmp_path / "lake")) < whole[1]
