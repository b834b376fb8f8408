"""ImageReward and HPSv3 by their own packages, beside what the packages give by themselves.

The packages are stand-ins with the same public face, for the real ones want transformers before 5; the last tests run
where a real one is installed, with a small model.
"""

from __future__ import annotations

import importlib
import json
import pickle
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from judge_audit.cli import run_command
from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges import load_judge
from judge_audit.judges.protocol import Stimulus

pytest_plugins = ["tiny_models", "own_packages"]

REWARD = {"kind": "imagereward", "checkpoint": "ImageReward.pt", "config": "med_config.json"}
HPS = {"kind": "hpsv3", "checkpoint": "HPSv3.safetensors"}


@pytest.fixture
def reward(torch, own_packages, tmp_path):
    """A checkpoint as the hub keeps it, and the package's own model with its weights."""
    made = importlib.import_module("ImageReward.ImageReward").ImageReward
    (tmp_path / "med_config.json").write_text(json.dumps({"hidden_size": 6, "words": own_packages.words}))
    torch.manual_seed(11)
    model = made(str(tmp_path / "med_config.json")).eval()
    torch.save(model.state_dict() | {"a.relic": torch.zeros(2)}, tmp_path / "ImageReward.pt")
    return model


@pytest.fixture
def hps(torch, own_packages, tmp_path):
    from safetensors.torch import save_file

    package = importlib.import_module("hpsv3.inference")
    torch.manual_seed(12)
    save_file(package.Model(7).state_dict(), tmp_path / "HPSv3.safetensors")
    return package.HPSv3RewardInferencer(None, str(tmp_path / "HPSv3.safetensors"), "cpu")


def test_imagereward_scores_as_its_package_does(reward, tmp_path, make, capsys):
    shown = make.stimuli()
    judge = load_judge(make.card(tmp_path, **REWARD))
    wanted = [reward.score(entry.prompt, Image.fromarray(entry.image)) for entry in shown]
    assert make.overall(judge.score(shown)) == pytest.approx(wanted, abs=1e-5)
    assert len({round(value, 4) for value in wanted}) > 3
    assert judge.card.needs_prompt
    assert judge.card.pinned
    assert capsys.readouterr().out == ""


def test_imagereward_says_where_a_prompt_was_cut(reward, tmp_path, make):
    judge = load_judge(make.card(tmp_path, **REWARD))
    image = make.stimuli()[0].image
    replies = judge.score([Stimulus(image, "cat " * 34), Stimulus(image, "cat " * 50)])
    assert replies[0].scores == replies[1].scores
    assert [reply.raw for reply in replies] == ["", "the prompt was cut at 35 of 51 tokens"]


def test_a_strip_fails_alone(reward, tmp_path, make):
    strip = Stimulus(np.zeros((1, 70_000, 3), np.uint8), "a cat")
    bad, good = load_judge(make.card(tmp_path, **REWARD)).score([strip, make.stimuli()[0]])
    assert (bad.state, good.state) == (State.FAILED, State.OK)


def test_hpsv3_gives_the_mean_and_keeps_the_other_number(torch, hps, tmp_path, make, capsys):
    shown = make.stimuli()
    with torch.no_grad():
        wanted = [hps.reward([Image.fromarray(entry.image)], [entry.prompt])[0].tolist() for entry in shown]
    replies = load_judge(make.card(tmp_path, **HPS)).score(shown)
    assert make.overall(replies) == pytest.approx([mean for mean, _ in wanted], abs=1e-5)
    assert "logarithm of the spread" in replies[0].raw
    both = load_judge(make.card(tmp_path, **HPS, dimensions=["overall", "unsure"])).score(shown)
    assert [reply.scores["unsure"] for reply in both] == pytest.approx(
        [other for _, other in wanted], abs=1e-5
    )
    assert both[0].raw == ""
    assert capsys.readouterr().out == ""


def test_whatever_changes_the_answer_changes_the_judge_and_nothing_else_does(
    torch, reward, hps, own_packages, tmp_path, make
):
    from safetensors.torch import save_file

    def judge_id(fields, **more):
        own_packages.forget()
        importlib.invalidate_caches()
        return load_judge(make.card(tmp_path, **{**fields, **more})).card.judge_id

    known = own_packages.words
    found = [judge_id(REWARD), judge_id(HPS)]
    (tmp_path / "deep").mkdir()
    for name in ("ImageReward.pt", "med_config.json", "HPSv3.safetensors"):
        (tmp_path / "deep" / name).write_bytes((tmp_path / name).read_bytes())
    moved = {"checkpoint": "deep/ImageReward.pt", "config": "deep/med_config.json"}
    same = [judge_id(REWARD, **moved, batch_size=2), judge_id(HPS, checkpoint="deep/HPSv3.safetensors")]
    assert same == found
    state = reward.state_dict()
    torch.save(state | {"mlp.1.bias": state["mlp.1.bias"] + 1}, tmp_path / "deep" / "ImageReward.pt")
    state = hps.model.state_dict()
    save_file(
        {**state, "rm_head.weight": state["rm_head.weight"] + 1}, tmp_path / "deep" / "HPSv3.safetensors"
    )
    found += [judge_id(REWARD, **moved), judge_id(HPS, checkpoint="deep/HPSv3.safetensors")]
    told = json.dumps({"hidden_size": 6, "words": [*known[:-2], known[-1], known[-2]]})
    (tmp_path / "deep" / "med_config.json").write_text(told)
    found.append(judge_id(REWARD, config="deep/med_config.json"))
    (tmp_path / "deep" / "ours.yaml").write_text(json.dumps({"words": [*known[:5], "dog", "cat"]}))
    found.append(judge_id(HPS, config="deep/ours.yaml"))
    for place in ("ImageReward/ImageReward.py", "hpsv3/inference.py"):
        path = own_packages.folder / place
        path.write_text(path.read_text(encoding="utf-8") + "\n# another version\n", encoding="utf-8")
    found += [judge_id(REWARD), judge_id(HPS)]
    assert len(set(found)) == len(found)


def test_the_card_tells_package_steps_and_versions(reward, hps, tmp_path, make):
    first, second = (load_judge(make.card(tmp_path, **fields)).card for fields in (REWARD, HPS))
    assert first.preprocessing["steps"] == ["Crop(size=8) <function>"]
    assert (first.preprocessing["dtype"], second.preprocessing["dtype"]) == ("float32", "float32")
    assert second.preprocessing["resample"] == 3
    assert first.decoding["package"].startswith("image-reward")
    assert first.decoding["most_tokens"] == 35
    for card in (first, second):
        assert "transformers " in card.runtime
        assert card.weights.startswith("sha256:")


@pytest.mark.parametrize("fields", [REWARD, HPS], ids=lambda fields: fields["kind"])
def test_a_trial_of_it_prints_nothing_of_what_its_package_prints(reward, hps, tmp_path, make, capsys, fields):
    path = make.card(tmp_path, **fields)
    assert run_command(["judges", "try", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    looks = {look["name"]: look["moved"] for look in document["looks"]}
    assert looks["same"] == looks["alone"] == 0
    assert len(document["pictures"]) == 3


class Bomb:
    def __init__(self, place):
        self.place = str(place)

    def __reduce__(self):
        return open, (self.place, "w")


def test_no_pickle_runs_code_whatever_the_package_would_do(torch, reward, hps, tmp_path, make):
    for save in (lambda bomb, path: path.write_bytes(pickle.dumps(bomb)), torch.save):
        save({"mlp.0.weight": Bomb(tmp_path / "boom")}, tmp_path / "bad.pt")
        said = make.faults(make.card(tmp_path, **{**REWARD, "checkpoint": "bad.pt"}))["checkpoint"]
        assert "save_file" in said
        said = make.faults(make.card(tmp_path, **{**HPS, "checkpoint": "bad.pt"}))["checkpoint"]
        assert "checkpoint: HPSv3.safetensors" in said
    assert not (tmp_path / "boom").exists()


def test_a_checkpoint_that_lacks_what_the_score_needs_is_refused(torch, reward, tmp_path, make):
    state = reward.state_dict()
    del state["blip.vision_proj.weight"]
    torch.save(state, tmp_path / "ImageReward.pt")
    load_judge(make.card(tmp_path, **REWARD))
    del state["mlp.0.weight"]
    torch.save(state, tmp_path / "ImageReward.pt")
    said = make.faults(make.card(tmp_path, **REWARD))["checkpoint"]
    assert "mlp.0.weight" in said
    assert "random" in said
    torch.save({**state, "mlp.0.weight": torch.zeros(3, 3)}, tmp_path / "ImageReward.pt")
    assert "other shapes" in make.faults(make.card(tmp_path, **REWARD))["checkpoint"]


@pytest.mark.parametrize(
    ("fields", "column", "words"),
    [
        ({**REWARD, "checkpoint": "no.pt"}, "checkpoint", "No such file"),
        ({**REWARD, "config": "no.json"}, "config", "no such file"),
        ({**REWARD, "config": "empty.json"}, "config", "bert-base-uncased"),
        ({**REWARD, "dimensions": ["a", "b"]}, "dimensions", "one dimension"),
        ({**REWARD, "preprocessing": {"size": 8}}, "preprocessing", "the package brings its own"),
        ({**REWARD, "weights": "sha256:0"}, "weights", "digest is sha256:"),
        ({**HPS, "checkpoint": "no.safetensors"}, "checkpoint", "No such file"),
        ({**HPS, "checkpoint": "empty.safetensors"}, "checkpoint", "cannot load it"),
        ({**HPS, "config": "no.yaml"}, "config", "no such file"),
        ({**HPS, "dimensions": ["a", "b", "c"]}, "dimensions", "or two"),
        ({**HPS, "weights": "sha256:0"}, "weights", "digest is sha256:"),
        ({**HPS, "device": "cuda:77"}, "device", "device: cpu"),
    ],
)
def test_every_wrong_field_is_named_with_a_right_value(reward, hps, tmp_path, make, fields, column, words):
    (tmp_path / "empty.json").write_text("{}")
    (tmp_path / "empty.safetensors").write_bytes(b"")
    assert words in make.faults(make.card(tmp_path, **fields))[column]


def test_a_package_that_asks_otherwise_is_refused(hps, own_packages, tmp_path, make):
    path = own_packages.folder / "hpsv3" / "inference.py"
    path.write_text(path.read_text(encoding="utf-8").replace("image_paths", "images"), encoding="utf-8")
    own_packages.forget()
    with pytest.raises(UsageError, match="asked in another way"):
        load_judge(make.card(tmp_path, **HPS))


@pytest.mark.parametrize(
    ("fields", "words"), [(REWARD, "pip install image-reward"), (HPS, "pip install hpsv3")]
)
def test_without_the_package_the_error_says_what_to_install(
    torch, tmp_path, make, monkeypatch, fields, words
):
    for name in ("ImageReward", "hpsv3"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError) as caught:
        load_judge(make.card(tmp_path, **fields))
    assert words in str(caught.value)
    assert "environment of its own" in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_the_real_image_reward_scores_as_it_does_by_itself(torch, transformers, tmp_path, make, monkeypatch):
    if not find_spec("ImageReward"):
        pytest.skip("image-reward is not installed (it wants transformers before 5)")
    package = importlib.import_module("ImageReward")
    blip = importlib.import_module("ImageReward.models.BLIP.blip_pretrain")
    eyes = importlib.import_module("ImageReward.models.BLIP.vit").VisionTransformer
    words = [
        *[
            "[PAD]",
            "[UNK]",
            "[CLS]",
            "[SEP]",
            "[MASK]",
            "[DEC]",
            "[ENC]",
            "a",
            "red",
            "cat",
            "dog",
            "on",
            "the",
            "roof",
            "w1",
        ]
    ]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    monkeypatch.setattr(
        blip,
        "create_vit",
        lambda *_: (eyes(img_size=224, patch_size=32, embed_dim=32, depth=2, num_heads=4), 32),
    )
    monkeypatch.setattr(
        blip,
        "init_tokenizer",
        lambda: transformers.BertTokenizer(str(tmp_path / "vocab.txt"), enc_token_id=6),
    )
    sizes = {"hidden_size": 768, "num_attention_heads": 4, "num_hidden_layers": 1, "intermediate_size": 8}
    more = {
        "vocab_size": len(words),
        "encoder_width": 32,
        "add_cross_attention": True,
        "max_position_embeddings": 64,
    }
    (tmp_path / "med_config.json").write_text(json.dumps(sizes | more))
    torch.manual_seed(3)
    made = importlib.import_module("ImageReward.ImageReward").ImageReward(str(tmp_path / "med_config.json"))
    state = {name: held + 0.2 * torch.randn(held.shape) if held.is_floating_point() else held
             for name, held in made.state_dict().items()}  # fmt: skip
    torch.save(state, tmp_path / "ImageReward.pt")
    ours = load_judge(make.card(tmp_path, **REWARD))
    theirs = package.load(
        str(tmp_path / "ImageReward.pt"), device="cpu", med_config=str(tmp_path / "med_config.json")
    )
    shown = make.stimuli()
    wanted = [theirs.score(entry.prompt, Image.fromarray(entry.image)) for entry in shown]
    assert make.overall(ours.score(shown)) == pytest.approx(wanted, abs=1e-5)
    assert len({round(value, 3) for value in wanted}) > 3
    assert any("CenterCrop" in step for step in ours.card.preprocessing["steps"])


@pytest.mark.filterwarnings("ignore")
def test_the_real_hpsv3_scores_as_it_does_by_itself(torch, transformers, tmp_path, make):
    if not find_spec("hpsv3"):
        pytest.skip("hpsv3 is not installed (it wants transformers 4.45.2)")
    import yaml
    from safetensors.torch import save_file

    package = importlib.import_module("hpsv3.inference")
    little_qwen(transformers, tmp_path / "base")
    told = yaml.safe_load(
        (Path(package.__file__).parent / "config" / "HPSv3_7B.yaml").read_text(encoding="utf-8")
    )
    told |= {"model_name_or_path": str(tmp_path / "base"), "bf16": False, "torch_dtype": "float32"}
    told |= {"eval_strategy": "no", "report_to": "none", "disable_flash_attn2": True}
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump(told))
    settings = package.parse_args_with_yaml(
        (package.DataConfig, package.TrainingConfig, package.ModelConfig, package.PEFTLoraConfig),
        str(tmp_path / "ours.yaml"),
        is_train=False,
    )[0]
    torch.manual_seed(4)
    model, _, _ = package.create_model_and_processor(settings[2], settings[3], settings[1])
    save_file(
        {name: held.clone() for name, held in model.state_dict().items()}, tmp_path / "HPSv3.safetensors"
    )
    ours = load_judge(make.card(tmp_path, **HPS, config="ours.yaml", dimensions=["overall", "unsure"]))
    theirs = package.HPSv3RewardInferencer(
        str(tmp_path / "ours.yaml"), str(tmp_path / "HPSv3.safetensors"), device="cpu"
    )
    shown = make.stimuli()[:3]
    for entry, reply in zip(shown, ours.score(shown), strict=True):
        with torch.no_grad():
            wanted = theirs.reward([Image.fromarray(entry.image)], [entry.prompt])[0].tolist()
        assert list(reply.scores.values()) == pytest.approx(wanted, abs=1e-5)
    assert ours.card.preprocessing["dtype"] == "float32"


def little_qwen(transformers, folder):
    """A Qwen2-VL of one layer, with its processor and sixty words."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"]
    special += ["<|image_pad|>", "<|video_pad|>"]
    words = [
        *special,
        "<unk>",
        *["rate", "this", "picture", "a", "red", "cat", "dog", "on", "the", "roof", "overall"],
    ]
    held = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="<unk>"))
    held.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.Qwen2TokenizerFast(
        tokenizer_object=held,
        unk_token="<unk>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=special[1:],
    )
    seen = "<|vision_start|> <|image_pad|> <|vision_end|>"
    template = (
        "{% for m in messages %}<|im_start|> {{ m['role'] }} {% for c in m['content'] %}"
        "{% if c['type'] == 'image' %}"
        + seen
        + " {% else %}{{ c['text'] }} {% endif %}{% endfor %}<|im_end|> "
        "{% endfor %}{% if add_generation_prompt %}<|im_start|> assistant{% endif %}"
    )
    pictures = transformers.Qwen2VLImageProcessor(min_pixels=4 * 784, max_pixels=16 * 784)
    transformers.Qwen2VLProcessor(pictures, tokenizer, chat_template=template).save_pretrained(folder)
    numbers = {f"{name}_token_id": words.index(f"<|{name}|>") for name in ("vision_start", "vision_end")}
    numbers |= {f"{name}_token_id": words.index(f"<|{name}_pad|>") for name in ("image", "video")}
    eyes = {"depth": 1, "embed_dim": 32, "hidden_size": 16, "num_heads": 2, "mlp_ratio": 2}
    config = transformers.Qwen2VLConfig(
        **numbers,
        vision_config=eyes,
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=4096,
        rope_scaling={"type": "mrope", "mrope_section": [1, 1, 2]},
    )
    transformers.Qwen2VLForConditionalGeneration(config).save_pretrained(folder)
