"""Draw the map of the rooms from the code: `make map` writes docs/pictures/rooms.svg.

Floors are the layers that pyproject.toml states and lint-imports keeps. An arrow goes from a room to one that it
imports, where no longer way over other rooms leads there too; the sentence is the first of the room's own `__init__`.
"""

from __future__ import annotations

import ast
import sys
import textwrap
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "rooms.svg"
WIDTH, FLOOR, HEIGHT, ROOM = 1000, 104, 76, 300
ABOVE = (("flows",), ("tasks",))
BELOW = (("schemas",),)


def floors() -> list[tuple[str, ...]]:
    """Give the rooms floor by floor, from the top."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (rooms,) = [entry for entry in contracts["contracts"] if entry["name"].startswith("rooms of the library")]
    inside = [tuple(name.strip() for name in layer.split("|")) for layer in rooms["layers"]]
    return [*ABOVE, *inside, *BELOW]


def arrows() -> set[tuple[str, str]]:
    """Give which room imports which."""
    packages = ("judge_audit", "judge_audit_flows", "judge_audit_tasks", "judge_audit_schemas")
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=True, cache_dir=None)
    found = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = (room_of(module), room_of(imported))
            if all(pair) and pair[0] != pair[1]:
                found.add(pair)
    return found


def room_of(module: str) -> str:
    """Name the room of a module; none for the package's own `__init__`."""
    parts = module.split(".")
    if parts[0] != "judge_audit":
        return parts[0].removeprefix("judge_audit_")
    return parts[1] if len(parts) > 1 else ""


def needed(found: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Leave out every arrow between rooms that a way over other rooms joins too."""
    reached: dict[str, set[str]] = {start: {end for one, end in found if one == start} for start, _ in found}
    for _ in reached:
        for rooms in reached.values():
            rooms |= {further for room in rooms for further in reached.get(room, ())}
    return {
        (start, end)
        for start, end in found
        if not any(end in reached.get(over, ()) for one, over in found if one == start and over != end)
    }


def folder_of(room: str) -> Path:
    """Give the folder of a room, or the file of one that is no folder."""
    folder = ROOT / room if room in {"flows", "tasks", "schemas"} else ROOT / "judge_audit" / room
    return folder if folder.is_dir() else folder.with_suffix(".py")


def about(room: str) -> tuple[str, int]:
    """Give the first sentence that a room says of itself, and the lines of its Python files."""
    folder = folder_of(room)
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]
    said = ast.get_docstring(
        ast.parse((folder / "__init__.py" if folder.is_dir() else folder).read_text("utf-8"))
    )
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    return " ".join((said or "").split("\n\n")[0].split()), lines


def drawing() -> str:
    """Draw the map."""
    stack = floors()
    at = {}
    for number, rooms in enumerate(stack):
        for place, room in enumerate(rooms):
            at[room] = (WIDTH * (place + 1 / 2) / len(rooms), 20 + number * FLOOR)
    height = 20 + len(stack) * FLOOR
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
            'role="img" aria-label="The rooms of judge-audit: every arrow points down">'
        ),
        (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z" fill="#6b7c8d"/></marker></defs>'
        ),
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for start, end in sorted(needed(arrows())):
        (x1, y1), (x2, y2) = at[start], at[end]
        apart = (y2 - y1) > FLOOR and x1 == x2
        bend = (x1 + x2) / 2 + (ROOM + 60 if apart else 0)
        path = f"M{x1:.0f},{y1 + HEIGHT:.0f} Q{bend:.0f},{(y1 + HEIGHT + y2) / 2:.0f} {x2:.0f},{y2:.0f}"
        colour = "#b3261e" if y2 <= y1 else "#6b7c8d"
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" marker-end="url(#tip)"/>')
    for room, (x, y) in sorted(at.items()):
        said, lines = about(room)
        left = x - ROOM / 2
        parts.append(
            f'<rect x="{left:.0f}" y="{y}" width="{ROOM}" height="{HEIGHT}" rx="6" fill="#eef3f8" stroke="#35506b"/>'
            f'<text x="{left + 10:.0f}" y="{y + 19}" font-size="15" font-weight="bold">{escape(room)}</text>'
            f'<text x="{left + ROOM - 10:.0f}" y="{y + 19}" text-anchor="end" font-size="11" fill="#5a6b7b">'
            f"{max(100, round(lines, -2)):,} lines</text>"
        )
        for number, line in enumerate(textwrap.wrap(said, 50)[:3]):
            place = f'x="{left + 10:.0f}" y="{y + 36 + 14 * number}"'
            parts.append(f'<text {place} font-size="11.5" fill="#33414f">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {len(arrows())} arrows, {len(floors())} floors")
    sys.exit(0)
