from __future__ import annotations

import json

import pytest
import yaml

from judge_audit.core.configuration import FOLDERS, Configuration, audit_schema, init_project, resolve
from judge_audit.core.errors import InputError, UsageError


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("JUDGE_AUDIT_LAKE", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine"
    init_project(folder)
    return folder


def write(project, text):
    (project / "audit.yaml").write_text(text, encoding="utf-8")
    return project / "audit.yaml"


def test_the_shipped_file_says_the_defaults(project):
    plain = resolve(project / "audit.yaml").as_json()
    bare = resolve(write(project, "items: items.csv\n")).as_json()
    assert plain == bare


def test_the_shipped_file_and_the_dataclass_and_the_schema_agree_on_the_keys(project):
    of_a_block = {"runner_address", "runner_options"}
    keys = set(Configuration(items="x").as_json()) - of_a_block
    assert set(audit_schema()["properties"]) == keys | {"notify"}  # whose address may be a secret
    assert set(yaml.safe_load((project / "audit.yaml").read_text(encoding="utf-8"))) <= keys


def test_init_leaves_a_place_for_each_kind_of_part(project):
    assert {path.name for path in project.iterdir() if path.is_dir()} == set(FOLDERS)


def test_paths_are_relative_to_where_they_stand(project, tmp_path):
    path = write(project, "items: pictures/items.csv\nlake: results\n")
    assert resolve(path).items == str(project / "pictures/items.csv")
    assert resolve(path).lake == str(project / "results")
    assert resolve(path, {"items": "other.csv"}).items == str(tmp_path / "other.csv")


def test_the_command_line_wins_and_no_choice_is_none(project):
    path = write(project, "items: items.csv\nseed: 5\nladder_items: 12\n")
    found = resolve(path, {"seed": 9, "ladder_items": None})
    assert (found.seed, found.ladder_items) == (9, 12)


def test_the_environment_names_the_lake_unless_the_file_does(project, monkeypatch, tmp_path):
    monkeypatch.setenv("JUDGE_AUDIT_LAKE", str(tmp_path / "shared"))
    assert resolve(write(project, "items: a.csv\n")).lake == str(tmp_path / "shared")
    assert resolve(write(project, "items: a.csv\nlake: own\n")).lake == str(project / "own")


def test_every_wrong_key_is_named_at_once_with_its_line(project):
    path = write(project, "items: items.csv\nladder_items: many\nrunner: rockets\nsead: 3\n")
    with pytest.raises(InputError) as caught:
        resolve(path)
    said = str(caught.value)
    assert len(caught.value.faults) == 3
    for line, key in ((2, "ladder_items"), (3, "runner"), (4, "sead")):
        assert f"audit.yaml, line {line}, key {key}" in said


def test_an_unknown_limit_is_refused_with_the_list(project):
    with pytest.raises(UsageError, match="there is no limit “nonsense”"):
        resolve(write(project, "items: items.csv\nlimits:\n  nonsense: 1\n"))


@pytest.mark.parametrize("text", ["items: [unclosed", "- a\n- b\n", "", "\x00"])
def test_a_file_that_is_no_mapping_is_refused_by_name(project, text):
    with pytest.raises(UsageError, match=r"audit\.yaml"):
        resolve(write(project, text))


def test_a_tag_in_the_file_runs_nothing(project, tmp_path):
    with pytest.raises(UsageError):
        resolve(write(project, f"items: !!python/object/apply:os.mkdir ['{tmp_path}/made']\n"))
    assert not (tmp_path / "made").exists()


def test_a_configuration_survives_json(project):
    found = resolve(write(project, "items: items.csv\naxes: [blur, crop]\n"))
    assert Configuration.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_what_is_declared_for_acceptance_is_read_and_a_wrong_one_is_refused_by_key(tmp_path):
    text = "items: items.csv\nuses:\n  acceptance:\n    false_accept: {limit: %s, owner: %s}\n"
    path = tmp_path / "audit.yaml"
    path.write_text(text % ("0.02", "Ada"))
    found = resolve(path)
    assert found.uses["acceptance"]["false_accept"] == {"limit": 0.02, "owner": "Ada"}
    assert Configuration.from_json(found.as_json()) == found
    for limit, owner in (("2", "Ada"), ("0.02", "'  '"), ("few", "Ada")):
        path.write_text(text % (limit, owner))
        with pytest.raises(InputError, match="uses"):
            resolve(path)
