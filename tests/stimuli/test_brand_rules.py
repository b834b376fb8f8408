"""Brand rules: what is read, and how faults are told."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from judge_audit.core.errors import InputError, UsageError
from judge_audit.stimuli.brand_rules import example_rules, read_brand_rules, rules_schema
from judge_audit.stimuli.mismatches.elements import ELEMENTS


def written(tmp_path, text):
    path = tmp_path / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_breaks_in_every_way():
    rules = example_rules()
    assert {rule.breach for rule in rules.rules} == {"banned_element", "margin", "white_space"}
    assert all(rule.description for rule in rules.rules)


def test_the_schema_names_the_elements_that_are_drawn():
    assert rules_schema()["$defs"]["rule"]["properties"]["element"]["enum"] == sorted(ELEMENTS)


def test_every_fault_is_told_at_once_by_file_rule_and_field(tmp_path):
    path = written(
        tmp_path,
        """
brand: Mine
colour: red
rules:
  - {name: a, breach: margin}
  - {name: b, breach: white_space, box: [0, 0.5, 1, 0.2]}
  - {name: c, breach: banned_element, element: badge, size: 7}
  - {name: c, breach: banned_element, element: dragon}
  - {breach: sideways}
  - {name: e, breach: white_space, box: [0, 0, 1, 3]}
  - {name: f, breach: banned_element}
""",
    )
    with pytest.raises(InputError) as caught:
        read_brand_rules(path)
    told = str(caught.value)
    for part in (
        "rules.yaml, rule “a”, field margin: it is missing.",
        "rules.yaml, rule “b”, field box: write left, top, right, bottom",
        "rules.yaml, rule “c”, field size: 7 is greater",
        "rules.yaml, rule “c”, field element: 'dragon' is not one of",
        "rule 3 has this name too",
        "rules.yaml, rule number 5, field name: it is missing.",
        "rules.yaml, rule number 5, field breach: 'sideways'",
        "rules.yaml, rule “e”, field box, entry 4",
        "rules.yaml, rule “f”",
        "'colour' was unexpected",
        "example.yaml",
    ):
        assert part in told, part


@pytest.mark.parametrize(
    "text", ["", "[]", "rules: 3", "brand: Mine\nrules: []", "brand: Mine\nrules: [3, x]", "3"]
)
def test_files_of_another_shape_are_refused(tmp_path, text):
    with pytest.raises(InputError, match=r"rules\.yaml"):
        read_brand_rules(written(tmp_path, text))


def test_a_missing_or_broken_file_is_told(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read_brand_rules(tmp_path / "none.yaml")
    with pytest.raises(UsageError, match="not valid YAML"):
        read_brand_rules(written(tmp_path, "a: [1"))


def test_a_picture_of_the_teams_own_is_read_and_digested(tmp_path):
    logo = np.zeros((8, 12, 4), np.uint8)
    logo[2:6, 2:10] = (200, 10, 10, 255)
    Image.fromarray(logo).save(tmp_path / "logo.png")
    path = written(
        tmp_path, "brand: B\nrules: [{name: a, breach: banned_element, picture: logo.png, size: 0.2}]"
    )
    first = read_brand_rules(path)
    assert np.array_equal(first.rules[0].picture, logo)
    assert first.rules[0].element == "picture"
    logo[3, 3] = (1, 2, 3, 255)
    Image.fromarray(logo).save(tmp_path / "logo.png")
    assert read_brand_rules(path).digest != first.digest


@pytest.mark.parametrize(
    ("name", "why"),
    [("none.png", "No such file"), ("../logo.png", "must stay in the folder"), ("clear.png", "transparent")],
)
def test_a_picture_that_cannot_serve_is_refused(tmp_path, name, why):
    Image.fromarray(np.zeros((8, 8, 4), np.uint8)).save(tmp_path / "clear.png")
    path = written(tmp_path, f"brand: B\nrules: [{{name: a, breach: banned_element, picture: {name}}}]")
    with pytest.raises(InputError, match=rf"field picture: .*{why}"):
        read_brand_rules(path)


def test_the_same_rules_have_the_same_digest_however_they_are_laid_out(tmp_path):
    rule = "{name: a, breach: margin, margin: 0.1}"
    first = read_brand_rules(written(tmp_path, f"brand: B\nrules: [{rule}]"))
    second = read_brand_rules(written(tmp_path, f"# mine\nrules:\n  - {rule}\nbrand: B"))
    assert first.digest == second.digest
