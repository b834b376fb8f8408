"""Generative judges run by transformers, beside the models' own forward and generate."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from judge_audit.core.vocabulary import State
from judge_audit.judges import load_judge
from judge_audit.judges.protocol import Stimulus

pytest_plugins = ["tiny_models"]

VOCABULARY = [
    "<s>",
    "</s>",
    "<unk>",
    "<pad>",
    "<image>",
    "<boi>",
    "<eoi>",
    "USER:",
    "ASSISTANT:",
    "Yes",
    "No",
]
VOCABULARY += ["1", "2", "3", "4", "5", "a", "red", "cat", "dog", "Rate"] + [f"w{at}" for at in range(20)]
CHAT = (
    "{% for m in messages %}{{ 'USER: ' if m['role'] == 'user' else '' }}{% for c in m['content'] %}"
    "{% if c['type'] == 'image' %}PICTURE {% else %}{{ c['text'] }} {% endif %}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
SIZES = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 2, "num_attention_heads": 4}
VISION = {**SIZES, "image_size": 32, "patch_size": 8}
TEXT = {
    **SIZES,
    "num_key_value_heads": 4,
    "head_dim": 8,
    "vocab_size": len(VOCABULARY),
    "max_position_embeddings": 128,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 3,
}
QUESTION = {"kind": "generative", "prompt_template": "Rate {prompt}"}


def tokenizer_of(transformers, **special):
    from tokenizers import Tokenizer, models, pre_tokenizers

    held = Tokenizer(models.WordLevel({word: at for at, word in enumerate(VOCABULARY)}, unk_token="<unk>"))
    held.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=held,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        model_input_names=["input_ids", "attention_mask"],
        **special,
    )


def pillow_class(transformers, name):
    """The processor that needs no torchvision, by its name in transformers 5 or 4."""
    newer = int(transformers.__version__.split(".")[0]) >= 5
    return getattr(transformers, f"{name}Pil" if newer else name)


@pytest.fixture(scope="module")
def llava(torch, transformers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("llava")
    special = {"additional_special_tokens": ["<image>"]}
    processor = transformers.LlavaProcessor(
        image_processor=pillow_class(transformers, "CLIPImageProcessor")(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
        ),
        tokenizer=tokenizer_of(transformers, **special),
        patch_size=8,
        vision_feature_select_strategy="default",
        chat_template=CHAT.replace("PICTURE", "<image>"),
        image_token="<image>",
        num_additional_image_tokens=1,
    )
    config = transformers.LlavaConfig(
        vision_config={"model_type": "clip_vision_model", **VISION},
        text_config={"model_type": "llama", **TEXT},
        image_token_index=4,
        image_seq_length=16,
        vision_feature_layer=-1,
    )
    torch.manual_seed(5)
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture
def favouring(torch, transformers, llava, tmp_path):
    """A copy that writes one of two words and then ends: both lie where its hidden state points, a little apart."""

    def made(one, other):
        folder = tmp_path / "model"
        shutil.copytree(llava, folder)
        model = transformers.AutoModelForImageTextToText.from_pretrained(folder)
        numbers = [VOCABULARY.index(word) for word in (one, other)]
        given = inputs(transformers, folder, shown()[0], template="<image>")
        head = model.get_output_embeddings().weight
        apart = torch.randn(head.shape[1], generator=torch.Generator().manual_seed(6))
        with torch.no_grad():
            state = model(**given, output_hidden_states=True).hidden_states[-1][0, -1]
            head.zero_()
            head[numbers[0]] = 9 * state / (state @ state)
            head[numbers[1]] = head[numbers[0]] + apart
        model.generation_config.eos_token_id = [1, *numbers]
        model.save_pretrained(folder)
        return folder

    return made


def inputs(transformers, folder, stimulus, *, template, ask=True):
    """What the processor makes of the message, by its own other way in."""
    newer = int(transformers.__version__.split(".")[0]) >= 5
    pillow = {"backend": "pil"} if newer else {"use_fast": False}
    processor = transformers.AutoProcessor.from_pretrained(folder)
    processor.image_processor = transformers.AutoImageProcessor.from_pretrained(folder, **pillow)
    text = f"USER: {template} Rate {stimulus.prompt} {'ASSISTANT:' if ask else ''}"
    return processor(images=[Image.fromarray(stimulus.image)], text=[text], return_tensors="pt")


def shown():
    draw = np.random.default_rng(8)
    prompts = ["a cat", "red dog", "a red w3"]
    return [
        Stimulus(draw.integers(0, 256, (40, 50 + 9 * at, 3), np.uint8), text)
        for at, text in enumerate(prompts)
    ]


def test_the_probability_of_yes_is_the_models_own(torch, transformers, favouring, tmp_path, make):
    folder = favouring("Yes", "No")
    judge = load_judge(make.card(tmp_path, **QUESTION, model="model", answer="yes_probability"))
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    wanted = []
    for stimulus in shown():
        with torch.no_grad():
            logits = model(**inputs(transformers, folder, stimulus, template="<image>")).logits[0, -1]
        wanted.append(float(torch.softmax(logits, -1)[VOCABULARY.index("Yes")]))
    assert make.overall(judge.score(shown())) == pytest.approx(wanted, abs=1e-5)
    assert len({round(value, 4) for value in wanted}) == 3
    assert (judge.card.scale_low, judge.card.scale_high) == (0, 1)


def test_the_expectation_over_score_tokens_is_the_models_own(torch, transformers, favouring, tmp_path, make):
    folder = favouring("2", "5")
    fields = {"model": "model", "answer": "expected", "scale_low": 1, "scale_high": 5}
    judge = load_judge(make.card(tmp_path, **QUESTION, **fields))
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    digits = [VOCABULARY.index(str(level)) for level in range(1, 6)]
    wanted = []
    for stimulus in shown():
        with torch.no_grad():
            logits = model(**inputs(transformers, folder, stimulus, template="<image>")).logits[0, -1]
        mass = torch.softmax(logits.double(), -1)[digits]
        wanted.append(float((mass * torch.arange(1, 6)).sum() / mass.sum()))
    assert make.overall(judge.score(shown())) == pytest.approx(wanted, abs=1e-5)


def test_a_text_is_what_the_model_generates_read_by_the_parser(
    torch, transformers, favouring, tmp_path, make
):
    folder = favouring("2", "5")
    judge = load_judge(make.card(tmp_path, **QUESTION, model="model", scale_low=1, scale_high=5))
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    wanted = []
    for stimulus in shown():
        given = inputs(transformers, folder, stimulus, template="<image>")
        made = model.generate(**given, do_sample=False, max_new_tokens=5)[0, given["input_ids"].shape[1] :]
        assert len(made) == 1
        wanted.append(float(VOCABULARY[made[0]]))
    replies = judge.score(shown())
    assert make.overall(replies) == wanted
    assert judge.card.needs_prompt
    assert all(reply.tokens > 16 for reply in replies)


def test_prose_is_no_score(llava, tmp_path, make):
    judge = load_judge(make.card(tmp_path, **QUESTION, model=str(llava), decoding={"max_tokens": 3}))
    replies = judge.score(shown())
    assert {reply.state for reply in replies} <= {State.UNPARSABLE, State.EMPTY}
    assert all(not reply.scores for reply in replies)


@pytest.fixture(scope="module")
def gemma(torch, transformers, tmp_path_factory):
    """A head of two numbers on a language model that sees: [μ, σ]."""
    folder = tmp_path_factory.mktemp("gemma")
    special = {"image_token": "<image>", "boi_token": "<boi>", "eoi_token": "<eoi>"}
    processor = transformers.Gemma3Processor(
        image_processor=pillow_class(transformers, "Gemma3ImageProcessor")(size={"height": 32, "width": 32}),
        tokenizer=tokenizer_of(transformers, extra_special_tokens=special),
        chat_template=CHAT.replace("PICTURE", "<boi>"),
        image_seq_length=4,
    )
    config = transformers.Gemma3Config(
        vision_config={"model_type": "siglip_vision_model", **VISION, "vision_use_head": False},
        text_config={"model_type": "gemma3_text", **TEXT},
        mm_tokens_per_image=4,
        image_token_index=4,
        boi_token_index=5,
        eoi_token_index=6,
        num_labels=2,
    )
    if not hasattr(transformers, "Gemma3ForSequenceClassification"):
        pytest.skip("this transformers has no classifier that sees")
    torch.manual_seed(7)
    model = transformers.Gemma3ForSequenceClassification(config)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim > 1:
                weights.normal_(0, 0.3)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def test_of_a_mean_and_a_spread_the_mean_is_the_score(torch, transformers, gemma, tmp_path, make):
    fields = {**QUESTION, "model": str(gemma), "answer": "reward"}
    judge = load_judge(make.card(tmp_path, **fields))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(gemma).eval()
    wanted = []
    for stimulus in shown():
        with torch.no_grad():
            given = inputs(transformers, gemma, stimulus, template="<boi>", ask=False)
            wanted.append(model(**given).logits[0].tolist())
    replies = judge.score(shown())
    assert make.overall(replies) == pytest.approx([mean for mean, _ in wanted], abs=1e-5)
    assert "spread" in replies[0].raw
    both = load_judge(make.card(tmp_path, **fields, dimensions=["overall", "spread"]))
    assert [reply.scores["spread"] for reply in both.score(shown())] == pytest.approx(
        [spread for _, spread in wanted], abs=1e-5
    )
    said = make.faults(make.card(tmp_path, **fields, dimensions=["a", "b", "c"]))["dimensions"]
    assert "2 numbers and 3 dimensions" in said


def test_whatever_changes_the_answer_changes_the_judge_and_nothing_else_does(llava, tmp_path, make):
    def judge_id(name="model", **fields):
        told = {**QUESTION, "model": name, "decoding": {"max_tokens": 3}, **fields}
        return load_judge(make.card(tmp_path, **told)).card.judge_id

    shutil.copytree(llava, tmp_path / "model")
    shutil.copytree(llava, tmp_path / "moved")
    assert len({judge_id(), judge_id("moved"), judge_id(batch_size=2, description="other")}) == 1
    found = [
        judge_id(),
        judge_id(dtype="bfloat16"),
        judge_id(prompt_template="Rate a {prompt}"),
        judge_id(system="Rate"),
        judge_id(decoding={"max_tokens": 4}),
        judge_id(decoding={"max_tokens": 3, "temperature": 1}),
        judge_id(picture={"most_side": 64}),
        judge_id(picture={"place": "after"}),
    ]
    template = tmp_path / "moved" / "chat_template.jinja"
    template.write_text(template.read_text(encoding="utf-8").replace("USER:", "a"), encoding="utf-8")
    found.append(judge_id("moved"))
    told = tmp_path / "model" / "processor_config.json"
    name = told if told.exists() and "image_processor" in told.read_text(encoding="utf-8") else None
    name = name or tmp_path / "model" / "preprocessor_config.json"
    name.write_text(
        name.read_text(encoding="utf-8").replace('"resample": 3', '"resample": 2'), encoding="utf-8"
    )
    found.append(judge_id())
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("fields", "column", "words"),
    [
        ({"prompt_template": ""}, "prompt_file", "{prompt}"),
        ({"answer": "json"}, "answer", "yes_probability"),
        ({"answer": "expected"}, "tokens", "scale_low: 1"),
        ({"model": "nowhere/at-all"}, "model", "the hub gave none"),
        ({"decoding": {"max_tokens": 0}}, "decoding.max_tokens", "decoding.max_tokens: 300"),
    ],
)
def test_every_wrong_field_is_named_with_a_right_value(llava, tmp_path, make, fields, column, words):
    assert words in make.faults(make.card(tmp_path, **{**QUESTION, "model": str(llava), **fields}))[column]


def test_a_model_without_a_chat_template_or_without_eyes_is_refused(llava, clip_folder, tmp_path, make):
    shutil.copytree(llava, tmp_path / "model")
    (tmp_path / "model" / "chat_template.jinja").unlink()
    assert "chat template" in make.faults(make.card(tmp_path, **QUESTION, model="model"))["model"]
    assert "cannot load it" in make.faults(make.card(tmp_path, **QUESTION, model=str(clip_folder)))["model"]


def test_the_settings_of_the_card_are_told_in_its_identity(llava, tmp_path, make):
    card = load_judge(make.card(tmp_path, **QUESTION, model=str(llava))).card
    told = json.loads(card.as_json())
    assert told["decoding"]["fields"] == {"temperature": 0, "max_tokens": 512}
    assert told["preprocessing"]["backend"] == "pillow"
    assert told["prompt_template"] == "Rate {prompt}"
