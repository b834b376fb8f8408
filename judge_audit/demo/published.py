"""The second demo: what two famous judges wrote of 985 published images that three people had rated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judge_audit.inputs.ingest.importer import import_file
from judge_audit.judges import load_judge

if TYPE_CHECKING:
    from judge_audit.inputs.ingest.importer import Imported
    from judge_audit.lake import Lake

FOLDER = Path(__file__).parent / "published"
JUDGES = ("gemini", "gpt4v")


def card_path(judge: str) -> Path:
    """Give the path of a judge's card."""
    return FOLDER / f"{judge}.card.yaml"


def import_published(lake: Lake) -> list[Imported]:
    """Import the ratings and both judges' replies; what is there already costs nothing."""
    done = [import_file(lake, "labels", FOLDER / "ratings.csv", mapping=FOLDER / "ratings.yaml")]
    done += [
        import_file(
            lake,
            "scores",
            FOLDER / "replies.csv",
            mapping=FOLDER / f"{judge}.yaml",
            card=load_judge(card_path(judge)).card,
        )
        for judge in JUDGES
    ]
    return done
