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
