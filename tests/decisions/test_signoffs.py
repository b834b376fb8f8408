"""A sign-off counts while it lasts, for what was signed, and for nothing else."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows
from judge_audit.decisions.signoffs import RefusedError, Signoff, Yes, sign, signoffs_of
from judge_audit.lake import Lake
from judge_audit.lake.audits import find_audit

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=30)


@pytest.fixture
def lake(tmp_path):
    """A lake with one complete audit: ranking allowed, acceptance barred, reward unproven."""
    lake = Lake.open(tmp_path / "lake")
    audit = {"audit_id": "a1", "status": "complete", "judge_id": "j1", "plan_id": "p1", "code_version": "1"}
    audit |= {"started_at": NOW, "ended_at": NOW, "configuration": "{}", "seed": 1, "input_digests": "{}"}
    lake.commit({"audits": from_rows("audits", [audit | {"commits": []}])})
    stands = {"ranking": "allowed", "acceptance": "barred", "reward": "unproven", "position": "screening"}
    rows = [
        {"audit_id": "a1", "judge_id": "j1", "use": use, "standing": standing, "reasons": [], "missing": []}
        for use, standing in stands.items()
    ]
    lake.commit({"standings": from_rows("standings", rows)})
    return lake


def signed(lake, use="ranking", **rest):
    key = rest.pop("key", None)
    parts = {"use": use, "signer": "Ada", "account": "ci", "reason": "Looked at the report."}
    return sign(lake, find_audit(lake), Yes(**parts | {"now": NOW, "expires_at": LATER} | rest), key)


def pem(path, key):
    done = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(done)
    return path


def voids(lake, now=NOW):
    return [entry.void for entry in signoffs_of(lake, "a1", now)]


def test_a_sign_off_says_who_with_which_account_for_what_why_and_until_when(lake):
    signed(lake)
    [entry] = signoffs_of(lake, "a1", NOW)
    held = entry.signoff
    assert (held.signer, held.account, held.use, held.expires_at) == ("Ada", "ci", "ranking", LATER)
    assert (held.reason, held.judge_id, held.audit_id, entry.void) == (
        "Looked at the report.",
        "j1",
        "a1",
        "",
    )


def test_it_counts_up_to_its_last_moment_and_no_longer(lake):
    signed(lake)
    assert voids(lake, LATER - timedelta(microseconds=1)) == [""]
    assert "expired" in voids(lake, LATER)[0]


def test_evidence_that_came_after_it_makes_it_none(lake):
    signed(lake)
    row = {"audit_id": "a1", "subject": "j1", "check": "jitter", "measure": "jitter", "verdict": "fail"}
    lake.commit(
        {"verdicts": from_rows("verdicts", [row | {"finding": "", "provisional": False, "reason": "x"}])}
    )
    assert "not those that were signed" in voids(lake)[0]


@pytest.mark.parametrize("use", ["acceptance", "reward"])
def test_a_signature_does_not_stand_in_for_evidence(lake, use):
    with pytest.raises(RefusedError, match="Nothing was signed"):
        signed(lake, use=use)
    assert voids(lake) == []


def test_screening_may_be_signed_unless_the_judge_orders_nothing(lake):
    signed(lake, use="screening")
    assert voids(lake) == [""]
    standing = {"audit_id": "a2", "judge_id": "j2", "use": "position", "standing": "none"}
    lake.commit({"standings": from_rows("standings", [standing | {"reasons": [], "missing": []}])})
    with pytest.raises(RefusedError, match="barred for screening"):
        sign(lake, {"audit_id": "a2", "judge_id": "j2"}, Yes("screening", "Ada", "ci", "r", NOW, LATER))


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ({"signer": " "}, "--by is empty"),
        ({"reason": ""}, "--reason is empty"),
        ({"expires_at": NOW}, "in the past"),
        ({"expires_at": NOW + timedelta(days=400)}, "366 days at most"),
        ({"use": "filming"}, "knows no use “filming”"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(lake, rest, told):
    with pytest.raises(UsageError, match=told):
        signed(lake, **rest)
    assert voids(lake) == []


def test_a_key_signs_every_word(lake, tmp_path):
    made = signed(lake, key=pem(tmp_path / "key.pem", Ed25519PrivateKey.generate()))
    assert made.public_key
    assert voids(lake) == [""]
    for name, other in (
        ("signer", "Eve"),
        ("expires_at", LATER + timedelta(days=300)),
        ("use", "acceptance"),
    ):
        forged = dataclasses.replace(made, **{name: other})
        forged = dataclasses.replace(forged, signoff_id=_id(forged))
        lake.commit({"signoffs": from_rows("signoffs", [dataclasses.asdict(forged)])})
    told = {entry.signoff.signoff_id: entry.void for entry in signoffs_of(lake, "a1", NOW)}
    assert told.pop(made.signoff_id) == ""
    assert len(told) == 3
    assert all("does not fit" in void for void in told.values())


def test_words_changed_without_a_key_do_not_fit_their_id(lake):
    made = signed(lake)
    forged = dataclasses.replace(made, signer="Eve", signoff_id="0" * 32)
    lake.commit({"signoffs": from_rows("signoffs", [dataclasses.asdict(forged)])})
    assert sorted(bool(void) for void in voids(lake)) == [False, True]


def test_another_kind_of_key_or_none_at_all_is_refused_with_advice(lake, tmp_path):
    other = pem(tmp_path / "rsa.pem", rsa.generate_private_key(65537, 2048))
    (tmp_path / "text.pem").write_text("no key")
    for path in (other, tmp_path / "text.pem"):
        with pytest.raises(UsageError, match="openssl genpkey"):
            signed(lake, key=path)
    with pytest.raises(UsageError, match="cannot be read"):
        signed(lake, key=tmp_path / "absent.pem")


def test_an_audit_that_is_not_there_is_told_with_those_that_are(lake):
    with pytest.raises(UsageError, match="the newest are a1"):
        find_audit(lake, "a9")


def _id(signoff: Signoff) -> str:
    from judge_audit.core.digests import text_digest

    return text_digest("signoff", signoff.words.decode())
