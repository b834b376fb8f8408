from __future__ import annotations

SLOWEST = (
    "test_whole_audit.py",
    "test_wheel.py",
    "test_runners.py",
    "test_release.py",
    "test_endpoint_runs.py",
)
"""Files that begin, so that workers end together: they are dealt out whole, in this order."""


def pytest_collection_modifyitems(items):
    places = {name: place for place, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))
