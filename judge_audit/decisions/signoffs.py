"""Sign-offs: a named person's recorded yes to one use of a judge, on the strength of one audit, for a time.

A sign-off is a record, not cryptography, unless a key is given: then its words are signed with Ed25519, and one
whose signature does not fit is none.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from judge_audit_schemas.rows import SignoffsRow, StandingsRow

from judge_audit.core.clocks import TOLERANCE
from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.errors import AuditError, UsageError
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.vocabulary import Position, Standing
from judge_audit.decisions.standings import POSITION_ROW
from judge_audit.lake.audits import audit_digest
from judge_audit.lake.evidence import see_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from judge_audit.decisions.signers import People
    from judge_audit.lake.lake import Lake

SCREENING = "screening"
"""What a person signs where no use has been earned: that they look at what the judge put in order."""

LONGEST = timedelta(days=366)
"""A sign-off lasts at most this long: judges, traffic and people change."""


class RefusedError(AuditError):
    """What was asked to be signed is not what the audit found."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Signoff:
    """A person's recorded yes.

    Attributes:
        signoff_id: Digest of all that follows but the signature.
        audit_id: The audit it rests on.
        judge_id: The judge.
        use: A use, or screening.
        signer: The person, by name.
        account: The account that ran the command.
        reason: Why they signed.
        signed_at: When (UTC).
        expires_at: From when on it is none (UTC).
        audit_digest: What the audit had come to.
        public_key: Ed25519 key in base64, "" if signed without one.
        signature: Of the sign-off's words, in base64, "" if signed without a key.
    """

    signoff_id: str
    audit_id: str
    judge_id: str
    use: str
    signer: str
    account: str
    reason: str
    signed_at: datetime
    expires_at: datetime
    audit_digest: str
    public_key: str = ""
    signature: str = ""

    @property
    def words(self) -> bytes:
        """What a key signs: everything but the signature and the id made of it all."""
        held = {
            name: value for name, value in asdict(self).items() if name not in {"signature", "signoff_id"}
        }
        return canonical_json(held).encode()


@dataclass(frozen=True, slots=True)
class Judged:
    """A sign-off, and why it is none.

    Attributes:
        signoff: The record.
        void: Why it does not count, "" if it does.
    """

    signoff: Signoff
    void: str


@dataclass(frozen=True, slots=True)
class Yes:
    """What a person says.

    Attributes:
        use: A use of the audit, or screening.
        signer: Who says it, by name.
        account: The account that runs the command.
        reason: Why.
        now: The time (UTC).
        expires_at: When it ends (UTC).
    """

    use: str
    signer: str
    account: str
    reason: str
    now: datetime
    expires_at: datetime

    @property
    def faults(self) -> list[str]:
        """What is wrong with it."""
        asked = (("--by", self.signer), ("--reason", self.reason))
        faults = [f"{name} is empty." for name, text in asked if not text.strip()]
        if self.expires_at <= self.now:
            faults.append(f"--until {self.expires_at:%Y-%m-%d} lies in the past.")
        if self.expires_at > self.now + LONGEST:
            faults.append(
                f"--until {self.expires_at:%Y-%m-%d}: a sign-off lasts {LONGEST.days} days at most."
            )
        return faults


def sign(
    lake: Lake, audit: Mapping[str, Any], yes: Yes, key: Path | None = None, people: People | None = None
) -> Signoff:
    """Record a sign-off.

    Args:
        lake: Where.
        audit: Row of `audits` of the audit it rests on.
        yes: What the person says.
        key: File of an Ed25519 private key in PEM.
        people: The project's people and their keys, None where it lists none.

    Raises:
        UsageError: If something is empty or cannot be, such as an expiry in the past.
        RefusedError: If the audit did not allow the use, or the project's people do not let this one sign it.
        DamagedError: If evidence of the audit is damaged.
    """
    if yes.faults:
        raise UsageError("Nothing was signed. " + " ".join(yes.faults))
    audit_id = audit["audit_id"]
    see_whole(lake, [audit_id])
    standings = _standings(lake, audit_id)
    if yes.use not in standings:
        known = ", ".join([*sorted(set(standings) - {SCREENING}), SCREENING])
        raise UsageError(f"the audit {audit_id} knows no use “{yes.use}”; it knows {known}.")
    if standings[yes.use] != Standing.ALLOWED:
        raise RefusedError(
            f"Nothing was signed: in the audit {audit_id} the judge is {standings[yes.use]} for {yes.use}. "
            "A signature does not stand in for evidence; the report says what is missing."
        )
    private = _private(key) if key else None
    draft = Signoff(
        signoff_id="",
        audit_id=audit_id,
        judge_id=audit["judge_id"],
        use=yes.use,
        signer=yes.signer.strip(),
        account=yes.account,
        reason=yes.reason.strip(),
        signed_at=yes.now,
        expires_at=yes.expires_at,
        audit_digest=audit_digest(lake, audit_id),
        public_key=_text(private.public_key()) if private else "",
    )
    if people is not None and (objection := people.objection(draft.signer, draft.public_key, draft.use)):
        raise RefusedError(f"Nothing was signed: {objection}")
    made = _sealed(draft, private)
    lake.commit({"signoffs": from_rows("signoffs", [asdict(made)])})
    return made


def signoffs_of(lake: Lake, audit_id: str, now: datetime, people: People | None = None) -> list[Judged]:
    """Read the sign-offs of an audit, newest first, each with why it is none.

    Args:
        lake: The lake.
        audit_id: The audit.
        now: The time.
        people: The project's people and their keys; None where it lists none, so that any key or none will do.
    """
    standings, digest = _standings(lake, audit_id), audit_digest(lake, audit_id)
    found = []
    for row in rows_of(lake.read("signoffs", audit_id=audit_id), SignoffsRow):
        values: Mapping[str, Any] = row
        signoff = Signoff(**{name: values[name] for name in Signoff.__dataclass_fields__})
        void = ""
        if not _genuine(signoff):
            void = say("signoffs.forged")
        elif signoff.audit_digest != digest:
            void = say("signoffs.other_rows")
        elif standings.get(signoff.use) != Standing.ALLOWED:
            void = say("signoffs.lost")
        elif signoff.signed_at > now + TOLERANCE:
            void = say("signoffs.future", day=f"{signoff.signed_at:%Y-%m-%d}")
        elif signoff.expires_at > signoff.signed_at + LONGEST:
            void = say("signoffs.too_long", day=f"{signoff.expires_at:%Y-%m-%d}", days=LONGEST.days)
        elif signoff.expires_at <= now:
            void = say("signoffs.expired", day=f"{signoff.expires_at:%Y-%m-%d}")
        if not void and people is not None:
            void = people.objection(signoff.signer, signoff.public_key, signoff.use)
        found.append(Judged(signoff, void))
    return sorted(found, key=lambda entry: entry.signoff.signed_at, reverse=True)


def _standings(lake: Lake, audit_id: str) -> dict[str, str]:
    """Give the standing of each use, and of screening, which any judge may do that puts images in order."""
    rows = {
        row["use"]: row["standing"]
        for row in rows_of(lake.read("standings", audit_id=audit_id), StandingsRow)
    }
    position = rows.pop(POSITION_ROW, Position.NONE.value)
    rows[SCREENING] = Standing.BARRED.value if position == Position.NONE else Standing.ALLOWED.value
    return rows


def _private(path: Path) -> Ed25519PrivateKey:
    advice = "Make one with: openssl genpkey -algorithm ed25519 -out key.pem"
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise UsageError(f"--key {path}: it cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError(f"--key {path}: it is no unencrypted private key in PEM. {advice}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"--key {path}: it is no Ed25519 key. {advice}")
    return key


def _text(key: Ed25519PublicKey) -> str:
    return base64.b64encode(key.public_bytes_raw()).decode("ascii")


def _sealed(draft: Signoff, private: Ed25519PrivateKey | None) -> Signoff:
    content = asdict(draft)
    if private is not None:
        content["signature"] = base64.b64encode(private.sign(draft.words)).decode("ascii")
    content["signoff_id"] = text_digest("signoff", draft.words.decode())
    return Signoff(**content)


def _genuine(signoff: Signoff) -> bool:
    """Tell whether a sign-off is what was written down, and its signature, if it has a key, fits."""
    if signoff.signoff_id != text_digest("signoff", signoff.words.decode()):
        return False
    if not signoff.public_key and not signoff.signature:
        return True
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(signoff.public_key, validate=True))
        key.verify(base64.b64decode(signoff.signature, validate=True), signoff.words)
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True


def signoff_lines(entry: Judged) -> list[str]:
    """Tell a sign-off in the terminal."""
    signoff = entry.signoff
    key = signoff.public_key
    keyed = f", with the key {key[:12]}…" if key else ", unsigned: anyone could have written this"
    days = f"on {signoff.signed_at:%Y-%m-%d}, until {signoff.expires_at:%Y-%m-%d}"
    return [
        f"{signoff.use}: signed by {signoff.signer} (account {signoff.account}) {days}{keyed}.",
        f"  Reason: {signoff.reason}",
        *([f"  It does not count: {entry.void}"] if entry.void else []),
    ]
