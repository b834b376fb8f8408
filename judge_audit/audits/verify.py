"""Verifies a certificate against the lake: every changed, missing or added row is named by its table."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import jinja2

from judge_audit.core.errors import AuditError, MachineryError, UsageError
from judge_audit.core.messages import say
from judge_audit.core.version import __version__
from judge_audit.decisions.gate.certificate import FORMAT, Rests, digest_of, digested, evidence_tables
from judge_audit.decisions.gate.expectations import listed
from judge_audit.decisions.gate.rebuild import false_claims
from judge_audit.lake.audits import removed_words
from judge_audit.lake.evidence import audit_root, damaged_evidence
from judge_audit.report.certificate import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pyarrow as pa

    from judge_audit.decisions.signers import People
    from judge_audit.lake import Lake

    Row = dict[str, Any]

EMBEDDED = re.compile(r'<script type="application/json" id="certificate">(.*?)</script>', re.DOTALL)
PICTURE = re.compile(r'src="(data:image/jpeg;base64,[A-Za-z0-9+/=]+)"')
LARGEST = 64 << 20
"""Bytes of a certificate that are read at all."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of a certificate.

    Attributes:
        document: Its content.
        faults: What does not hold, one sentence each.
        rows: How many rows were compared with it.
    """

    document: Row
    faults: tuple[str, ...]
    rows: int


def picture_digest(uri: str) -> str:
    """Digest a picture as a page holds it."""
    return hashlib.sha256(uri.encode("ascii")).hexdigest()


def read_certificate(path: Path) -> tuple[Row, str]:
    """Read a certificate.

    Args:
        path: The page or the JSON.

    Returns:
        Its content, and the page's text; "" for the JSON.

    Raises:
        UsageError: If it is no certificate, or too new.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path}: this is no certificate: it is larger than {LARGEST >> 20} MiB.")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(
            f"{path}: there is no such file. `judge-audit gate` writes a certificate."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: it cannot be read: {error}.") from error
    page = text if text.lstrip().startswith("<") else ""
    if page:
        embedded = EMBEDDED.search(page)
        text = embedded[1] if embedded else ""
    try:
        content = json.loads(text)
        known = content["format"], content["rests"], content["rows"], content["digest"], content["gate"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(f"{path}: this is no certificate of judge-audit.") from error
    if known[0] != FORMAT:
        raise UsageError(
            f"{path}: it has format {known[0]}; this judge-audit knows {FORMAT}. Install a newer judge-audit."
        )
    return content, page


def verify(lake: Lake, path: Path, now: datetime, people: People | None = None) -> Verified:
    """Compare a certificate with the lake.

    Args:
        lake: The lake.
        path: The page or the JSON.
        now: The time.
        people: The project's people and their keys, None where it lists none.

    Raises:
        UsageError: If it is no certificate.
    """
    document, page = read_certificate(path)
    try:
        rests = Rests(**document["rests"])
        due = {
            name: (int(digests["rows"]), str(digests["digest"]), dict(digests["each"]))
            for name, digests in document["rows"].items()
        }
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: this is no certificate of judge-audit: {error}.") from error
    faults = []
    if digest_of(document) != document["digest"]:
        faults.append(say("gate.verify.edited"))
    if page and not _says_the_same(document, page):
        other = document.get("code_version") != __version__
        faults.append(say("gate.verify.page_other_version" if other else "gate.verify.page"))
    expires = document.get("expires_at")
    if not expires or datetime.fromisoformat(expires) <= now:
        faults.append(say("gate.verify.expired", at=expires or "–"))
    damages = damaged_evidence(lake, [rests.candidate, document["gate"].get("baseline") or ""])
    faults += [str(one) for one in damages]
    try:
        faults += _held(lake, rests, due, document.get("root"))
        faults += false_claims(lake, document, people)
    except MachineryError as error:
        if not damages:
            raise
        faults.append(say("gate.verify.unread", error=" ".join(str(error).split())))
    return Verified(document, tuple(faults), sum(rows for rows, _, _ in due.values()))


def _held(
    lake: Lake, rests: Rests, due: Mapping[str, tuple[int, str, dict[str, str]]], root: object
) -> list[str]:
    """Compare the rows in the lake with those a certificate was issued for.

    Raises:
        MachineryError: If the lake cannot be read.
    """
    gone = removed_words(lake, rests.candidate)
    faults = [gone] if gone else []
    faults += _rows(evidence_tables(lake, rests), due)
    if root is not None and not faults and audit_root(lake, rests.candidate) != root:
        faults.append(say("gate.verify.root", audit=rests.candidate))
    return faults


def _says_the_same(document: Mapping[str, Any], page: str) -> bool:
    """Write the page again from its content and its own pictures, and compare."""
    pictures = {picture_digest(uri): uri for uri in PICTURE.findall(page)}
    with suppress(AuditError, jinja2.TemplateError, LookupError, TypeError, ValueError, AttributeError):
        return render(document, pictures) == page
    return False  # content that no page can be made of was not written by us


def _rows(
    reading: Mapping[str, Callable[[], pa.Table]], due: Mapping[str, tuple[int, str, dict[str, str]]]
) -> list[str]:
    """Compare table by table."""
    faults = [say("gate.verify.unlisted", table=name) for name in reading if name not in due]
    for name, (rows, digest, each) in due.items():
        if name not in reading:
            if rows:
                faults.append(say("gate.verify.gone", table=name, n=rows))
            continue
        try:
            now = digested(name, reading[name]())
        except MachineryError as error:
            faults.append(say("gate.verify.unreadable", table=name, error=error))
            continue
        if now.digest != digest:
            faults.append(_differs(name, rows, each, now.rows, now.each))
    return faults


def _differs(
    name: str, rows: int, each: Mapping[str, str], rows_now: int, each_now: Mapping[str, str]
) -> str:
    """Name what differs in a table: by row where it was small enough to keep every row's digest."""
    if (not each and rows) or (not each_now and rows_now):
        return say("gate.verify.differs", table=name, then=rows, now=rows_now)
    parts = [
        say(f"gate.verify.{word}", list=listed(sorted(keys)))
        for word, keys in (
            ("missing", set(each) - set(each_now)),
            ("added", set(each_now) - set(each)),
            ("changed", {key for key in set(each) & set(each_now) if each[key] != each_now[key]}),
        )
        if keys
    ]
    return say("gate.verify.rows", table=name, what=" ".join(parts))
