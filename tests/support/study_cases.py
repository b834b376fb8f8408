"""A small study that the tests of reading share."""

from __future__ import annotations

import csv
from datetime import UTC, datetime

import numpy as np
from PIL import Image
from starlette.testclient import TestClient

from judge_audit.inputs.items import read_items
from judge_audit.lake import Lake
from judge_audit.people.study.build_plan import Wishes, plan_study
from judge_audit.people.study.folder import make_folder, register
from judge_audit.people.study.marks import Marks
from judge_audit.people.study.picture_provider import PictureProvider
from judge_audit.people.study.readers import add_reader
from judge_audit.people.study.server import ServerState, make_app
from judge_audit.stimuli.axes import builtin_axes

AXES = {name: axis for name, axis in builtin_axes().items() if name in {"saturation+", "blur", "crop"}}
SCREEN = {
    "shown_width": 48,
    "shown_height": 40,
    "pixel_ratio": 1.5,
    "zoom": 1,
    "distance_cm": 60,
    "seconds": 12.5,
}
HOST = "http://127.0.0.1:8765"


def write_items(folder, count=12, size=(40, 48)):
    folder.mkdir(parents=True, exist_ok=True)
    rows = [["item_id", "source", "prompt", "image", "topic", "cluster"]]
    for number in range(count):
        rng = np.random.default_rng(number)
        coarse = rng.integers(30, 226, (5, 6, 3)).astype(np.uint8)
        picture = Image.fromarray(coarse).resize(size[::-1], Image.Resampling.BICUBIC)
        picture.save(folder / f"zebra{number}.png")
        source, topic = f"quokka{number % 2}", f"heron{number % 3}"
        rows.append(
            [f"zebra-{number:02d}", source, "a bird", f"zebra{number}.png", topic, f"otter{number // 2}"]
        )
    with (folder / "items.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return folder / "items.csv"


def items_of(folder, **more):
    return read_items(write_items(folder, **more)).items


def planned(items, axes=AXES, **wishes):
    asked = {"per_axis": 2, "catches": 3, "repeats": 2, "seed": 7, **wishes}
    return plan_study(items.to_pylist(), axes, Wishes(name="birds", **asked))


def study_in(folder, names=("ana", "ben"), **wishes):
    """Plan a study on disk, invite readers, and give folder, lake and tokens."""
    study = planned(items_of(folder / "pictures"), **wishes).study
    lake = Lake.open(folder / "lake")
    made = make_folder(folder / "study", study, str(folder / "lake"), "")
    register(lake, study)
    tokens = []
    key, readers = made.readers()
    for name in names:
        readers, token = add_reader(readers, name, datetime.now(UTC))
        tokens.append(token)
    made.write_readers(key, readers)
    return made, lake, tokens


def state_of(folder, lake):
    marks = Marks(folder.study, lake)
    marks.load()
    heard = []
    return ServerState(folder, marks, PictureProvider(AXES), secure=False, say=heard.append), heard


def client_of(state, **more):
    app = make_app(state, frozenset({"127.0.0.1"}), "")
    return TestClient(app, base_url=HOST, raise_server_exceptions=False, **more)


def signed_in(state, token):
    client = client_of(state)
    client.get(f"/r/{token}")
    return client


def mark(client, place, perceptible, *, after=-1, objectionable=None, asked=False, reason="", **screen):
    body = {
        "slot": place,
        "after": after,
        "perceptible": perceptible,
        "objectionable": objectionable,
        "asked": asked,
        "reason": reason,
        "screen": {**SCREEN, **screen},
    }
    form = client.get("/api/state").json()["form"]
    return client.post("/api/mark", json=body, headers={"x-form": form})
