"""Who may sign: with people.yaml present an unknown key, another's key or none does not count."""

from __future__ import annotations

import base64

import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from gate_lake import add_audit, night, standing_rows, whole_lake

from judge_audit.core.errors import InputError, UsageError
from judge_audit.decisions.signers import read_people
from judge_audit.decisions.signoffs import RefusedError, Yes, sign, signoffs_of
from judge_audit.lake.audits import find_audit


def public(key):
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def written(key, path):
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return path


@pytest.fixture
def keys():
    return {name: Ed25519PrivateKey.generate() for name in ("Ada", "Bob", "Eve")}


@pytest.fixture
def project(tmp_path, keys):
    folder = tmp_path / "team"
    folder.mkdir()
    people = [
        {"name": "Ada", "key": public(keys["Ada"]), "may": ["acceptance", "screening"]},
        {"name": "Bob", "key": public(keys["Bob"]), "may": ["screening"]},
    ]
    (folder / "people.yaml").write_text(yaml.safe_dump({"people": people}))
    return folder


@pytest.fixture
def lake(tmp_path):
    lake = whole_lake(tmp_path / "lake")
    allowed = ("filtering", "ranking", "reward", "acceptance")
    add_audit(lake, "second", at=2, standings=standing_rows("second", "j1", allowed, "accept"))
    return lake


def yes(signer):
    return Yes("acceptance", signer, "account", "because", night(3), night(20))


@pytest.mark.parametrize(
    ("signer", "held", "said"),
    [
        ("Ada", "Ada", ""),
        ("Ada", "Eve", "is not the one"),
        ("Ada", "Bob", "is not the one"),
        ("Ada", None, "signed with none"),
        ("Eve", "Eve", "does not list Eve"),
        ("Bob", "Bob", "may not sign acceptance"),
    ],
)
def test_a_signature_counts_only_with_the_key_of_a_person_who_may(
    lake, project, keys, tmp_path, signer, held, said
):
    people = read_people(str(project))
    key = written(keys[held], tmp_path / "key.pem") if held else None
    audit = find_audit(lake)
    sign(lake, audit, yes(signer), key)
    (entry,) = signoffs_of(lake, "second", night(4), people)
    assert said in entry.void if said else entry.void == ""
    (unread,) = signoffs_of(lake, "second", night(4))
    assert unread.void == ""
    if said:
        with pytest.raises(RefusedError, match=said):
            sign(lake, audit, yes(signer), key, people)


@pytest.mark.parametrize(
    ("now", "said"), [(night(3), ""), (night(1), "in the future"), (night(21), "expired on")]
)
def test_the_dates_of_a_signature_are_held_against_the_time(lake, now, said):
    sign(lake, find_audit(lake), yes("Ada"))
    (entry,) = signoffs_of(lake, "second", now)
    assert said in entry.void if said else entry.void == ""


def test_every_fault_of_the_file_is_named_at_once(project):
    entries = [
        {"name": "", "key": "AAAA", "may": "screening"},
        {"name": "Ada", "key": 5, "may": [1]},
        {"name": "Ada"},
        "Bob",
    ]
    (project / "people.yaml").write_text(yaml.safe_dump({"people": entries}))
    with pytest.raises(InputError) as refused:
        read_people(str(project))
    places = {(fault.row, fault.column) for fault in refused.value.faults}
    assert {(1, "name"), (1, "key"), (1, "may"), (2, "key"), (2, "may"), (3, ""), (4, "")} <= places


@pytest.mark.parametrize("text", ["[", "people: 5", "persons: []", "people: []\nmore: 1"])
def test_a_file_of_another_shape_is_refused(project, text):
    (project / "people.yaml").write_text(text)
    with pytest.raises(UsageError, match=r"people\.yaml"):
        read_people(str(project))


def test_a_project_without_the_file_lists_nobody(tmp_path):
    assert read_people(str(tmp_path)) is None
    assert read_people("") is None
