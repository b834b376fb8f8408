"""Every card in docs/judges.md is right as it stands, and every kind has one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from judge_audit.judges import builtin_kinds, load_judge
from judge_audit.judges.cards.card import card_of
from judge_audit.judges.cards.card_template import kinds_of
from judge_audit.judges.protocol import Stimulus

PAGE = (Path(__file__).parents[2] / "docs" / "judges.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]


def whole_cards():
    """The cards; a block that is no whole card is read as a change of the one before it."""
    found = []
    for block in BLOCKS:
        found.append(block if "kind" in block else {**found[-1], **block})
    return found


@pytest.mark.parametrize("content", whole_cards(), ids=lambda content: content["kind"])
def test_a_documented_card_fits_its_schema(content):
    card = card_of(content, "docs/judges.md")
    assert card.name
    assert len(content) <= 12


def test_every_kind_of_which_there_may_be_a_card_is_documented_with_one_of_ten_lines():
    kinds = {kind.name for kind in kinds_of(builtin_kinds()) if not kind.own_card}
    shown = {block["kind"] for block in BLOCKS if "kind" in block}
    assert kinds - shown <= {"table"}, kinds - shown
    for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL):
        assert len(text.strip().splitlines()) <= 12


def test_the_callable_of_the_documentation_scores(tmp_path):
    (code,) = [
        text for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "# my_module.py" in text
    ]
    (tmp_path / "my_module.py").write_text(code, encoding="utf-8")
    (card,) = [block for block in BLOCKS if block.get("kind") == "callable"]
    (tmp_path / "card.yaml").write_text(yaml.safe_dump(card), encoding="utf-8")
    judge = load_judge("card.yaml", project=tmp_path)
    (reply,) = judge.score([Stimulus(np.full((4, 5, 3), 7, np.uint8), "a cat")])
    assert reply.scores == {"overall": 7.0}
    assert "import scores" in PAGE
