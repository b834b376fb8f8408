from __future__ import annotations

import pytest
import yaml
from little_vlm import card

from judge_audit.judges import load_judge


@pytest.fixture
def judge_at(tmp_path):
    """Load a judge from a card in a file."""

    def load(url, **more):
        path = tmp_path / "vlm.yaml"
        path.write_text(yaml.safe_dump(card(url, **more)), encoding="utf-8")
        return load_judge(str(path))

    return load
