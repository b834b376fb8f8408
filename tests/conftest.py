"""What several test folders share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """Real tables and images kept beside the checkout; absent elsewhere."""
    folder = Path(os.environ.get("JUDGE_AUDIT_CASES", Path(__file__).parents[2] / "shared" / "cases"))
    if not folder.is_dir():
        pytest.skip("the real cases are not beside this checkout")
    return folder


@pytest.fixture
def store(monkeypatch, tmp_path):
    """A real S3 server on loopback whose answers can be made to fail."""
    from s3_store import serving

    yield from serving(monkeypatch, tmp_path / "cache")
