"""Metrics of pyiqa, where it is installed; nothing of ours installs it, for its licence."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from judge_audit.core.errors import UsageError
from judge_audit.judges import load_judge

pytest_plugins = ["tiny_models"]


@pytest.fixture(scope="module")
def pyiqa(torch):
    if not find_spec("pyiqa"):
        pytest.skip("pyiqa is not installed (non-commercial, so it never is by us)")
    import pyiqa

    return pyiqa


@pytest.mark.filterwarnings("ignore")
def test_a_metric_without_weights_scores_as_pyiqa_does(torch, pyiqa, tmp_path, make):
    judge = load_judge(make.card(tmp_path, kind="pyiqa", metric="entropy"))
    metric = pyiqa.create_metric("entropy", device="cpu")
    shown = make.stimuli()
    planes = [np.ascontiguousarray(entry.image.transpose(2, 0, 1), np.float32) / 255 for entry in shown]
    wanted = [float(metric(torch.from_numpy(plane)[None])) for plane in planes]
    assert make.overall(judge.score(shown)) == pytest.approx(wanted, abs=1e-5)
    assert "Noncommercial" in judge.card.licence
    assert "pyiqa" in judge.card.runtime


@pytest.mark.filterwarnings("ignore")
def test_a_metric_that_is_not_there_is_named_with_one_that_is(pyiqa, tmp_path, make):
    assert "metric: musiq" in make.faults(make.card(tmp_path, kind="pyiqa", metric="muziq"))["metric"]
    assert (
        "needs the picture alone" in make.faults(make.card(tmp_path, kind="pyiqa", metric="psnr"))["metric"]
    )


def test_without_pyiqa_the_error_names_its_licence(torch, tmp_path, make, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyiqa", None)
    with pytest.raises(UsageError, match="no commercial use"):
        load_judge(make.card(tmp_path, kind="pyiqa", metric="musiq"))
