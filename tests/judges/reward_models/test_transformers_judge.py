"""Judges of kind transformers beside the models' own reference code."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image

from judge_audit.core.errors import InputError
from judge_audit.core.vocabulary import State
from judge_audit.judges import load_judge
from judge_audit.judges.calling.score_calls import runtime_id
from judge_audit.judges.protocol import Stimulus

pytest_plugins = ["tiny_models"]


def prepared(transformers, folder, shown):
    kind = {True: {"backend": "pil"}, False: {"use_fast": False}}[
        int(transformers.__version__.split(".")[0]) >= 5
    ]
    processor = transformers.AutoImageProcessor.from_pretrained(folder, **kind)
    return processor(images=[Image.fromarray(entry.image) for entry in shown], return_tensors="pt")[
        "pixel_values"
    ]


def reference_logits(torch, transformers, folder, shown, **padding):
    """What the model's own forward gives for each picture with its own prompt."""
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    told = tokenizer([entry.prompt for entry in shown], truncation=True, return_tensors="pt", **padding)
    told = {name: told[name] for name in tokenizer.model_input_names}
    with torch.no_grad():
        answer = model(**told, pixel_values=prepared(transformers, folder, shown))
    return answer.logits_per_image.diagonal().tolist()


def features(torch, transformers, folder, shown):
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        found = model.get_image_features(pixel_values=prepared(transformers, folder, shown))
    return getattr(found, "pooler_output", found)


def test_a_clip_scores_as_its_own_forward_does(torch, transformers, clip_folder, tmp_path, make):
    shown = make.stimuli()
    judge = load_judge(make.card(tmp_path, kind="transformers", model=str(clip_folder)))
    wanted = reference_logits(torch, transformers, clip_folder, shown, padding=True, max_length=make.tokens)
    assert make.overall(judge.score(shown)) == pytest.approx(wanted, abs=1e-5)
    assert judge.card.needs_prompt
    assert judge.card.pinned


def test_the_bare_cosine_is_what_the_factor_leaves(torch, clip_folder, tmp_path, make):
    shown = make.stimuli()
    fields = {"kind": "transformers", "model": str(clip_folder)}
    scaled = load_judge(make.card(tmp_path, **fields))
    bare = load_judge(make.card(tmp_path, "bare", **fields, scaled=False))
    factor = scaled.encoder.factor
    assert factor == pytest.approx(np.exp(2.6592), rel=1e-6)
    found = [factor * value for value in make.overall(bare.score(shown))]
    assert found == pytest.approx(make.overall(scaled.score(shown)), rel=1e-12)
    assert bare.card.judge_id != scaled.card.judge_id


def test_a_siglip_scores_as_its_own_forward_does(torch, transformers, siglip_folder, tmp_path, make):
    shown = make.stimuli()
    judge = load_judge(make.card(tmp_path, kind="transformers", model=str(siglip_folder)))
    padding = {"padding": "max_length", "max_length": make.tokens}
    wanted = reference_logits(torch, transformers, siglip_folder, shown, **padding)
    assert make.overall(judge.score(shown)) == pytest.approx(wanted, abs=1e-5)
    assert judge.encoder.offset == -3.0


def mlp(torch, width):
    """The shape of LAION's second aesthetic predictor: linear layers with dropout and nothing else between."""
    layers = [
        torch.nn.Linear(width, 16),
        torch.nn.Dropout(0.2),
        torch.nn.Linear(16, 8),
        torch.nn.Linear(8, 1),
    ]
    held = torch.nn.Module()
    held.layers = torch.nn.Sequential(*layers)
    return held.eval()


@pytest.mark.parametrize("ending", ["pth", "safetensors"])
def test_an_mlp_head_scores_as_laions_own_code_does(torch, transformers, clip_folder, tmp_path, make, ending):
    head = mlp(torch, 24)
    if ending == "pth":
        torch.save(head.state_dict(), tmp_path / "head.pth")
    else:
        from safetensors.torch import save_file

        save_file(head.state_dict(), tmp_path / "head.safetensors")
    told = {"kind": "mlp", "weights": f"head.{ending}", "normalise": True, "activation": "none"}
    judge = load_judge(make.card(tmp_path, kind="transformers", model=str(clip_folder), head=told))
    shown = make.stimuli()
    embeddings = features(torch, transformers, clip_folder, shown)
    with torch.no_grad():
        wanted = head.layers(embeddings / embeddings.norm(dim=-1, keepdim=True))[:, 0].tolist()
    assert make.overall(judge.score(shown)) == pytest.approx(wanted, abs=1e-5)
    assert not judge.card.needs_prompt


def test_an_activation_stands_between_the_layers(torch, transformers, clip_folder, tmp_path, make):
    head = mlp(torch, 24)
    torch.save(head.state_dict(), tmp_path / "head.pth")
    shown = make.stimuli()
    embeddings = features(torch, transformers, clip_folder, shown)
    for name, between in (("relu", torch.relu), ("gelu", torch.nn.functional.gelu)):
        told = {"kind": "mlp", "weights": "head.pth", "normalise": False, "activation": name}
        judge = load_judge(make.card(tmp_path, kind="transformers", model=str(clip_folder), head=told))
        with torch.no_grad():
            wanted = embeddings
            for layer in (head.layers[0], head.layers[2]):
                wanted = between(layer(wanted))
            wanted = head.layers[3](wanted)[:, 0].tolist()
        assert make.overall(judge.score(shown)) == pytest.approx(wanted, abs=1e-5)


def test_a_linear_head_on_a_siglip_tower_alone(torch, transformers, siglip_folder, tmp_path, make):
    """A vision tower without a text tower, as SigLIP-type aesthetic models have it."""
    whole = transformers.AutoModel.from_pretrained(siglip_folder)
    tower = transformers.SiglipVisionModel(whole.config.vision_config).eval()
    tower.save_pretrained(tmp_path / "tower")
    shutil.copy(siglip_folder / "preprocessor_config.json", tmp_path / "tower")
    weight = np.random.default_rng(3).normal(size=(2, 32)).astype(np.float32)
    np.savez(tmp_path / "head.npz", weight=weight, bias=np.array([0.5, -1], np.float32))
    told = {"kind": "linear", "weights": "head.npz", "normalise": True}
    fields = {"kind": "transformers", "model": "tower", "head": told, "dimensions": ["overall", "aesthetic"]}
    shown = make.stimuli()
    with torch.no_grad():
        found = tower(pixel_values=prepared(transformers, tmp_path / "tower", shown)).pooler_output.numpy()
    wanted = found / np.linalg.norm(found, axis=1, keepdims=True) @ weight.T + [0.5, -1]
    replies = load_judge(make.card(tmp_path, **fields)).score(shown)
    assert make.overall(replies) == pytest.approx(wanted[:, 0], abs=1e-5)
    assert [reply.scores["aesthetic"] for reply in replies] == pytest.approx(wanted[:, 1], abs=1e-5)
    assert (
        "reads no text"
        in make.faults(make.card(tmp_path, "bare", kind="transformers", model="tower"))["head"]
    )


def test_an_mlp_head_reads_the_picture_tower_of_a_whole_siglip(
    torch, transformers, siglip_folder, tmp_path, make
):
    """As aesthetic predictors on SigLIP are published: a model with both towers, layers on the pooled picture."""
    head = mlp(torch, 32)
    torch.save({"state_dict": head.state_dict()}, tmp_path / "head.pth")
    told = {"kind": "mlp", "weights": "head.pth", "normalise": True, "activation": "none"}
    judge = load_judge(make.card(tmp_path, kind="transformers", model=str(siglip_folder), head=told))
    shown = make.stimuli()
    model = transformers.SiglipModel.from_pretrained(siglip_folder).eval()
    with torch.no_grad():
        pooled = model.vision_model(pixel_values=prepared(transformers, siglip_folder, shown)).pooler_output
        wanted = head.layers(pooled / pooled.norm(dim=-1, keepdim=True))[:, 0].tolist()
    assert make.overall(judge.score(shown)) == pytest.approx(wanted, abs=1e-5)
    assert not judge.card.needs_prompt


def test_a_prompt_longer_than_the_model_reads_is_cut_and_said(clip_folder, tmp_path, make):
    judge = load_judge(make.card(tmp_path, kind="transformers", model=str(clip_folder)))
    image = make.stimuli()[0].image
    short, long = "w1 " * 14, "w1 " * 40
    first, second = judge.score([Stimulus(image, short), Stimulus(image, long)])
    assert first.scores["overall"] == pytest.approx(second.scores["overall"], abs=1e-5)
    assert (first.raw, second.raw) == ("", "the prompt was cut at 16 of 42 tokens")
    assert json.loads(judge.card.as_json())["decoding"]["most_tokens"] == 16


def test_what_shares_the_batch_moves_nothing_beyond_rounding(clip_folder, tmp_path, make):
    judge = load_judge(make.card(tmp_path, kind="transformers", model=str(clip_folder), batch_size=2))
    shown = make.stimuli()
    together = make.overall(judge.score(shown))
    alone = [make.overall(judge.score([entry]))[0] for entry in shown]
    assert together == pytest.approx(alone, abs=1e-5)
    assert make.overall(judge.score(shown)) == pytest.approx(together, abs=1e-5)
    assert make.overall(judge.score(shown[::-1])) == pytest.approx(together[::-1], abs=1e-5)


def test_a_strip_that_would_become_a_giant_fails_alone(clip_folder, tmp_path, make):
    judge = load_judge(make.card(tmp_path, kind="transformers", model=str(clip_folder)))
    strip = np.zeros((1, 70_000, 3), np.uint8)
    bad, good = judge.score([Stimulus(strip, "a cat"), make.stimuli()[0]])
    assert (bad.state, good.state) == (State.FAILED, State.OK)
    assert "1 × 70000" in bad.raw


def test_a_changed_processor_or_dtype_is_another_judge_and_a_moved_folder_is_not(clip_folder, tmp_path, make):
    def judge_id(name="clip", **fields):
        return load_judge(make.card(tmp_path, kind="transformers", model=name, **fields)).card.judge_id

    shutil.copytree(clip_folder, tmp_path / "clip")
    same = [judge_id(), judge_id(batch_size=4, description="x")]
    shutil.copytree(clip_folder, tmp_path / "deep" / "er")
    same.append(judge_id("deep/er"))
    same.append(judge_id("clip", processor="deep/er"))
    told = json.loads((tmp_path / "deep" / "er" / "config.json").read_text(encoding="utf-8"))
    told["transformers_version"] = "4.0"
    (tmp_path / "deep" / "er" / "config.json").write_text(json.dumps(told, indent=7), encoding="utf-8")
    same.append(judge_id("deep/er"))
    assert len(set(same)) == 1
    other = [judge_id(dtype="bfloat16"), judge_id(scaled=False)]
    make.processor(tmp_path / "deep" / "er", size={"shortest_edge": make.side}, resample=2)
    other.append(judge_id("deep/er"))
    make.processor(tmp_path / "deep" / "er", size={"shortest_edge": make.side}, image_std=[0.5, 0.5, 0.5])
    other.append(judge_id("deep/er"))
    told = json.loads((tmp_path / "clip" / "tokenizer.json").read_text(encoding="utf-8"))
    told["model"]["vocab"]["cat"], told["model"]["vocab"]["dog"] = 7, 6
    (tmp_path / "clip" / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    other.append(judge_id())
    assert len({*same, *other}) == 1 + len(other)


def test_the_identity_tells_dtype_backend_and_processor_and_the_runtime_versions(clip_folder, tmp_path, make):
    card = load_judge(make.card(tmp_path, kind="transformers", model=str(clip_folder))).card
    assert card.preprocessing["dtype"] == "float32"
    assert card.preprocessing["backend"] == "pillow"
    assert card.preprocessing["size"] == {"shortest_edge": make.side}
    assert card.weights.startswith("sha256:")
    for word in ("torch ", "transformers ", "cpu"):
        assert word in card.runtime
    assert runtime_id(card) != runtime_id(replace(card, runtime=card.runtime.replace("transformers", "x")))


def test_half_precision_answers_near_the_whole(clip_folder, tmp_path, make):
    shown = make.stimuli()
    fields = {"kind": "transformers", "model": str(clip_folder)}
    whole, half = (
        make.overall(load_judge(make.card(tmp_path, **fields, dtype=name)).score(shown))
        for name in ("float32", "bfloat16")
    )
    assert half == pytest.approx(whole, abs=0.5)
    assert half != pytest.approx(whole, abs=1e-5)


def test_another_backend_of_the_processor_is_another_judge(clip_folder, tmp_path, make):
    if not find_spec("torchvision"):
        pytest.skip("torchvision is not installed")
    fields = {"kind": "transformers", "model": str(clip_folder)}
    one, other = (
        load_judge(make.card(tmp_path, **fields, backend=name)) for name in ("pillow", "torchvision")
    )
    assert one.card.judge_id != other.card.judge_id
    shown = make.stimuli()
    assert make.overall(one.score(shown)) == pytest.approx(make.overall(other.score(shown)), abs=0.1)
    assert make.overall(one.score(shown)) != pytest.approx(make.overall(other.score(shown)), abs=1e-5)


def test_without_torchvision_its_backend_is_refused_rather_than_replaced(clip_folder, tmp_path, make):
    if find_spec("torchvision"):
        pytest.skip("torchvision is installed")
    path = make.card(tmp_path, kind="transformers", model=str(clip_folder), backend="torchvision")
    assert "backend: pillow" in " ".join(make.faults(path).values())


def test_a_declared_digest_holds_the_model_to_it(clip_folder, tmp_path, make):
    fields = {"kind": "transformers", "model": str(clip_folder)}
    digest = load_judge(make.card(tmp_path, **fields)).card.weights
    assert load_judge(make.card(tmp_path, **fields, weights=digest)).card.weights == digest
    assert digest in make.faults(make.card(tmp_path, **fields, weights="sha256:0"))["weights"]


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, place):
        self.place = str(place)

    def __reduce__(self):
        return open, (self.place, "w")


def test_a_pickle_is_never_loaded_and_the_advice_says_what_to_do(torch, clip_folder, tmp_path, make):
    fields = {"kind": "transformers", "model": "clip"}
    shutil.copytree(clip_folder, tmp_path / "clip")
    (tmp_path / "clip" / "model.safetensors").unlink()
    (tmp_path / "clip" / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(tmp_path / "boom")))
    said = make.faults(make.card(tmp_path, **fields))["model"]
    assert "pytorch_model.bin, a pickle" in said
    assert "safetensors" in said
    told = {"kind": "linear", "weights": "head.pth", "normalise": True}
    for save in (lambda bomb, path: path.write_bytes(pickle.dumps(bomb)), torch.save):
        save({"weight": Bomb(tmp_path / "boom")}, tmp_path / "head.pth")
        said = make.faults(make.card(tmp_path, **{**fields, "model": str(clip_folder)}, head=told))[
            "head.weights"
        ]
        assert "save_file" in said
    assert not (tmp_path / "boom").exists()


def test_code_that_comes_with_a_model_is_not_run_unless_the_card_says_so(clip_folder, tmp_path, make):
    shutil.copytree(clip_folder, tmp_path / "clip")
    config = json.loads((tmp_path / "clip" / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "ours", "auto_map": {"AutoConfig": "ours.Config", "AutoModel": "ours.Model"}}
    (tmp_path / "clip" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    code = f"open({str(tmp_path / 'boom')!r}, 'w').close()\nraise ValueError('read')\n"
    (tmp_path / "clip" / "ours.py").write_text(code, encoding="utf-8")
    said = make.faults(make.card(tmp_path, kind="transformers", model="clip"))["model"]
    assert "remote_code: true" in said
    assert not (tmp_path / "boom").exists()
    said = make.faults(make.card(tmp_path, kind="transformers", model="clip", remote_code=True))["model"]
    assert "read" in said
    assert (tmp_path / "boom").exists()
    config["auto_map"]["AutoModel"] = "stranger/model--ours.Model"
    (tmp_path / "clip" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    said = make.faults(make.card(tmp_path, kind="transformers", model="clip", remote_code=True))["model"]
    assert "another place" in said


def test_a_file_that_lacks_weights_is_refused_rather_than_filled_up_by_chance(clip_folder, tmp_path, make):
    from safetensors.torch import load_file, save_file

    shutil.copytree(clip_folder, tmp_path / "clip")
    state = load_file(tmp_path / "clip" / "model.safetensors")
    del state["visual_projection.weight"]
    save_file(state, tmp_path / "clip" / "model.safetensors", metadata={"format": "pt"})
    said = make.faults(make.card(tmp_path, kind="transformers", model="clip"))["model"]
    assert "visual_projection.weight" in said
    assert "random" in said


def test_without_a_network_the_error_says_so_and_what_to_write(transformers, tmp_path, make, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecretsecret")
    path = make.card(tmp_path, kind="transformers", model="yuvalkirstain/PickScore_v1")
    said = make.faults(path)["model"]
    assert "no folder yuvalkirstain/PickScore_v1 beside the card" in said
    assert "model: models/PickScore_v1" in said
    assert "hf_secret" not in said


@pytest.mark.parametrize(
    ("fields", "column", "words"),
    [
        ({"model": "nothing"}, "model", "no such folder"),
        ({"model": "../x"}, "model", "leads out"),
        ({"dtype": "int8"}, "dtype", "float32"),
        ({"device": "cuda:77"}, "device", "device: cpu"),
        ({"device": "gpu"}, "device", 'device: "cpu"'),
        ({"preprocessing": {"size": 3}}, "preprocessing", "processor"),
        ({"head": {"kind": "linear", "weights": "head.npz"}}, "head.normalise", "missing"),
        ({"head": {"kind": "mlp", "weights": "head.npz", "normalise": True}}, "head.activation", "missing"),
        ({"head": {"kind": "linear", "weights": "no.pth", "normalise": True}}, "head.weights", "no.pth"),
        ({"head": {"kind": "linear", "weights": "wide.npz", "normalise": True}}, "head", "24 numbers"),
        ({"dimensions": ["overall", "semantic"]}, "dimensions", "1 scores"),
    ],
)  # fmt: skip
def test_every_wrong_field_is_named_with_a_right_value(clip_folder, tmp_path, make, fields, column, words):
    np.savez(tmp_path / "wide.npz", weight=np.ones((1, 99), np.float32))
    path = make.card(tmp_path, **{"kind": "transformers", "model": str(clip_folder), **fields})
    with pytest.raises(InputError) as caught:
        load_judge(path)
    (said,) = [fault.message for fault in caught.value.faults if fault.column == column]
    assert words in said


def test_nothing_heavy_is_imported_before_such_a_judge_is_used():
    script = (
        "import sys, judge_audit.judges as judges; judges.builtin_kinds(); judges.builtin_cards()\n"
        "assert not {'torch', 'transformers', 'open_clip', 'huggingface_hub', 'pyiqa'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_without_the_library_the_error_names_the_extra(tmp_path, make):
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from judge_audit.judges import load_judge\n"
        "from judge_audit.core.errors import UsageError\n"
        "try: load_judge(sys.argv[1])\n"
        "except UsageError as error: print(error)\n"
    )
    path = make.card(tmp_path, kind="transformers", model="clip")
    told = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    assert "pip install 'image-judge-audit[transformers]'" in told.stdout
