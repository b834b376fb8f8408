"""Personal links: kept as digests, ending, withdrawn, of different people."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta

import pytest
from study_cases import study_in

from judge_audit.core.errors import UsageError
from judge_audit.people.study import readers as people
from judge_audit.people.study.folder import make_folder, open_folder

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def test_a_token_is_told_once_and_kept_as_a_digest(tmp_path):
    made, _, tokens = study_in(tmp_path)
    told = (made.path / "readers.json").read_text()
    assert all(token not in told for token in tokens)
    assert stat.S_IMODE((made.path / "readers.json").stat().st_mode) == 0o600


def test_a_link_ends_with_its_days_when_withdrawn_and_when_renewed():
    held, token = people.add_reader((), "ana", NOW, days=3)
    assert people.by_token(held, token, NOW + timedelta(days=2)).annotator_id == "ana"
    assert people.by_token(held, token, NOW + timedelta(days=3)) is None
    assert people.by_token(held, token + "x", NOW) is None
    assert people.by_token(people.revoke(held, "ana"), token, NOW) is None
    renewed, other = people.renew(held, "ana", NOW)
    assert people.by_token(renewed, token, NOW) is None
    assert people.by_token(renewed, other, NOW).reader_id == held[0].reader_id


def test_a_session_ends_with_its_link_and_cannot_be_forged():
    held, _ = people.add_reader((), "ana", NOW)
    key = b"k" * 32
    text = people.open_session(held[0], key)
    reader, nonce = people.by_session(held, text, key, NOW)
    assert reader == held[0]
    assert nonce in text
    assert people.by_session(held, text, b"x" * 32, NOW) is None
    assert people.by_session(held, text.replace(nonce, "0" * 32), key, NOW) is None
    assert people.by_session(held, "", key, NOW) is None
    assert people.by_session(people.renew(held, "ana", NOW)[0], text, key, NOW) is None
    assert people.by_session(people.revoke(held, "ana"), text, key, NOW) is None
    assert people.by_session(held, text, key, NOW + timedelta(days=15)) is None


@pytest.mark.parametrize("name", ["ana", "ANA", " a n a ", "ａｎａ"])
def test_two_readers_are_two_people(name):
    held, _ = people.add_reader((), "ana", NOW)
    with pytest.raises(UsageError, match=r"already|no name"):
        people.add_reader(held, name, NOW)


@pytest.mark.parametrize("name", ["", "../x", "<b>", "a\nb", "x" * 81])
def test_a_name_is_a_name(name):
    with pytest.raises(UsageError, match="no name"):
        people.add_reader((), name, NOW)


def test_who_is_not_invited_is_named_with_those_who_are():
    held, _ = people.add_reader((), "ana", NOW)
    with pytest.raises(UsageError, match=r"no reader “eve”.*ana"):
        people.revoke(held, "eve")
    with pytest.raises(UsageError, match="1 to 366 days"):
        people.renew(held, "ana", NOW, days=0)


def test_a_changed_plan_is_refused_and_the_same_plan_keeps_its_readers(tmp_path):
    made, _, _ = study_in(tmp_path)
    again = make_folder(made.path, made.study, made.lake, "")
    assert len(again.readers()[1]) == 2
    path = made.path / "study.json"
    content = json.loads(path.read_text())
    content["ladders"][0]["strengths"][0] *= 2
    path.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="changed after it was planned"):
        open_folder(made.path)
    path.write_text("{}")
    with pytest.raises(UsageError, match="not a study"):
        open_folder(made.path)
    with pytest.raises(UsageError, match="there is no study"):
        open_folder(tmp_path / "nowhere")
