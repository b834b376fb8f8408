from __future__ import annotations

import pytest
from night_server import nights_in


@pytest.fixture
def nights(tmp_path):
    with nights_in(tmp_path) as found:
        yield found
