"""A program as a judge: real programs in Python that answer, crash, hang, babble and lie."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from little_vlm import pictures, stimuli

from judge_audit.core.errors import InputError, UsageError
from judge_audit.judges import load_judge
from judge_audit.judges.protocol import Stimulus, Unanswered

HONEST = """
import json, sys
import numpy as np
from PIL import Image
for line in sys.stdin:
    asked = json.loads(line)
    if "hello" in asked:
        answer = {}
    else:
        answer = ANSWER(np.asarray(Image.open(asked["image"])), asked["prompt"])
    print(json.dumps({"id": asked["id"], **answer}))
"""
MEAN = 'lambda pixels, prompt: {"score": float(pixels.mean())}'
ALIVE = """
import os
def pid_file():
    open(os.environ["PIDS"], "a").write(f"{os.getpid()}\\n")
"""


@pytest.fixture
def judge_of(tmp_path, monkeypatch):
    """Make a judge of a program's answers or of its whole text; it is ended after the test."""
    made = []
    monkeypatch.setenv("PIDS", str(tmp_path / "pids"))

    def make(answer=MEAN, *, program="", **more):
        text = program or HONEST.replace("ANSWER", f"({answer})")
        (tmp_path / "score.py").write_text(f"{ALIVE}\npid_file()\n{text}", encoding="utf-8")
        fields = {
            "kind": "command",
            "name": "program",
            "command": [sys.executable, "score.py"],
            "timeout": 20,
        }
        (tmp_path / "card.yaml").write_text(yaml.safe_dump({**fields, **more}), encoding="utf-8")
        made.append(load_judge(str(tmp_path / "card.yaml")))
        return made[-1]

    yield make
    for judge in made:
        judge.close()


def started(folder):
    return (folder / "pids").read_text().split()


def alive(pid):
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def replies_of(judge, shown):
    try:
        return judge.score(shown)
    except Unanswered as unanswered:
        return unanswered.replies


def test_a_program_sees_the_very_pixels_and_stays_running(judge_of, tmp_path):
    judge, shown = judge_of(), stimuli(5)
    for _ in range(3):
        replies = judge.score(shown)
        assert [reply.scores["overall"] for reply in replies] == [float(one.image.mean()) for one in shown]
    assert len(started(tmp_path)) == 1


def test_the_pictures_are_gone_when_the_batch_is_answered(judge_of, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    judge = judge_of('lambda pixels, prompt: {"text": f"Score: {len(prompt)}"}')
    assert judge.score([Stimulus(pictures(1)[0], "ünïcode\n\"{}'$(rm)")])[0].scores == {"overall": 17.0}
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("answer", "state", "raw"),
    [
        ('{"score": 7}', "ok", ""),
        ('{"scores": {"overall": 2.5, "other": 1}}', "ok", ""),
        ('{"text": "Score: 7/10"}', "ok", "Score: 7/10"),
        ('{"text": "I\'m sorry, I can\'t rate this."}', "refused", "sorry"),
        ('{"refused": "too rude"}', "refused", "too rude"),
        ('{"error": "cannot read it"}', "failed", "cannot read it"),
        ('{"score": None}', "empty", "null"),
        ('{"score": "7"}', "unparsable", "7"),
        ('{"score": [7]}', "unparsable", "7"),
        ('{"score": float("nan")}', "unparsable", "nan"),
        ('{"score": True}', "unparsable", "true"),
        ('{"score": 10**400}', "unparsable", "1000"),
        ("{}", "empty", "{}"),
    ],
)
def test_every_answer_is_a_value_or_a_named_state(judge_of, answer, state, raw):
    judge = judge_of(f"lambda pixels, prompt: {answer}", scale_low=0, scale_high=10)
    (reply,) = replies_of(judge, stimuli(1))
    assert reply.state == state
    assert raw in reply.raw
    assert bool(reply.scores) == (state == "ok")


CRASHES = """lambda pixels, prompt: (
    {"score": 1} if pixels.shape[1] != 26 else (sys.stderr.write("out of memory\\n"), os._exit(3))
)"""
HANGS = """lambda pixels, prompt: (
    {"score": 1} if pixels.shape[1] != 26 else __import__("time").sleep(60)
)"""


@pytest.mark.parametrize(
    ("answer", "why"),
    [(CRASHES, "exit code 3. It wrote to stderr: out of memory"), (HANGS, "no answer within 1.5 s")],
)
def test_a_picture_that_breaks_the_program_fails_alone(judge_of, answer, why):
    judge = judge_of(answer, timeout=1.5)
    for _ in range(2):
        with pytest.raises(Unanswered, match=why) as caught:
            judge.score(stimuli(6))
        assert [reply.state for reply in caught.value.replies] == ["ok", "ok", "failed", "ok", "ok", "ok"]
        assert why in caught.value.replies[2].raw


def test_a_program_that_always_breaks_is_given_up(judge_of, tmp_path):
    judge = judge_of("lambda pixels, prompt: os._exit(9)")
    replies = replies_of(judge, stimuli(20))
    assert {reply.state for reply in replies} == {"failed"}
    assert sum(reply.attempts == 0 for reply in replies) == 12
    assert len(started(tmp_path)) == 9


def test_a_program_that_does_not_start_is_told_with_what_it_wrote(judge_of):
    with pytest.raises(
        UsageError, match=r"(?s)exit code 1.*ModuleNotFoundError: No module named 'no_such_module'"
    ):
        judge_of(program="import no_such_module").score(stimuli(1))
    with pytest.raises(UsageError, match=r"no answer within 0\.5 s"):
        judge_of(program="import time; time.sleep(30)", start_timeout=0.5).score(stimuli(1))


def test_lines_that_are_no_answers_are_passed_over(judge_of):
    program = HONEST.replace("ANSWER", f"({MEAN})").replace(
        "    print(json",
        '    print("loading 50 %"); print("{}"); print(\'{"id": 99}\'); print(\'{"id": "1"}\')\n    print(json',
    )
    assert judge_of(program=program).score(stimuli(2))[0].state == "ok"


def test_babble_without_end_is_no_hang(judge_of):
    program = (
        'import sys\nsys.stdin.readline(); print(\'{"id": 0}\', flush=True)\nwhile True: print("x" * 50)'
    )
    with pytest.raises(Unanswered, match="lines that are no answers"):
        judge_of(program=program).score(stimuli(1))


def test_a_program_that_reads_nothing_and_a_line_without_end_do_not_block(judge_of):
    program = "import sys, time\nprint('{\"id\": 0}', flush=True)\nsys.stdout.write('y' * 5_000_000); time.sleep(60)"
    shown = [Stimulus(image, "p" * 200_000) for image in pictures(3)]
    replies = replies_of(judge_of(program=program, timeout=0.5), shown)
    assert {reply.state for reply in replies} == {"failed"}


def test_each_worker_has_a_program_of_its_own(judge_of, tmp_path):
    judge = judge_of('lambda pixels, prompt: (__import__("time").sleep(0.3), {"score": 1})[1]', concurrency=2)
    workers = [threading.Thread(target=judge.score, args=(stimuli(3),)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(started(tmp_path)) == 2


def test_no_program_outlives_its_judge(judge_of, tmp_path):
    (tmp_path / "child.py").write_text(f"{ALIVE}\npid_file()\nimport time; time.sleep(90)")
    child = "import subprocess, sys\nsubprocess.Popen([sys.executable, 'child.py'])\n"
    judge = judge_of(program=child + HONEST.replace("ANSWER", f"({MEAN})"))
    judge.score(stimuli(1))
    while len(started(tmp_path)) < 2:
        time.sleep(0.05)
    judge.close()
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in started(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in started(tmp_path))


def test_secrets_in_the_environment_stay_out_of_messages(judge_of, monkeypatch):
    monkeypatch.setenv("SERVICE_API_KEY", "sk-planted-abcdef")
    program = "import os, sys; sys.exit('cannot log in with ' + os.environ['SERVICE_API_KEY'])"
    with pytest.raises(UsageError, match=r"cannot log in with \[key\]"):
        judge_of(program=program).score(stimuli(1))


def test_a_changed_program_argument_or_file_is_another_judge(judge_of, tmp_path):
    (tmp_path / "weights.bin").write_bytes(b"1")
    more = {"files": ["weights.bin"]}
    ids = {judge_of(**more).card.judge_id}
    ids.add(judge_of(MEAN.replace("mean", "std"), **more).card.judge_id)
    ids.add(judge_of(command=[sys.executable, "score.py", "--fast"], **more).card.judge_id)
    (tmp_path / "weights.bin").write_bytes(b"2")
    ids.add(judge_of(**more).card.judge_id)
    assert len(ids) == 4
    assert judge_of(**more).card.judge_id == judge_of(name="other", timeout=3, **more).card.judge_id
    assert judge_of(**more).card.pinned


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"command": ["python3", "-m", "something"]},
            "nothing tells one version of this program from another",
        ),
        (
            {"command": [sys.executable, "-m", "something"]},
            "nothing tells one version of this program from another",
        ),
        ({"command": ["no_such_program_here", "score.py"]}, "no program no_such_program_here"),
        ({"command": ["./score.py"]}, "no program ./score.py"),
        ({"command": "python3 score.py"}, 'command: ["python3", "score.py"]'),
        ({"command": ["python3", "score.py", "models"]}, "models is a folder"),
        ({"files": ["none.bin"]}, "none.bin: there is no such file"),
        ({"prompt_template": "x {prompt}"}, "its own business"),
    ],
)
def test_what_is_ambiguous_or_wrong_is_refused(judge_of, tmp_path, change, words):
    (tmp_path / "models").mkdir()
    with pytest.raises(InputError) as caught:
        judge_of(**change)
    assert words in str(caught.value)


def test_a_declared_version_stands_for_what_cannot_be_digested(judge_of, tmp_path):
    (tmp_path / "models").mkdir()
    told = {"command": [sys.executable, "score.py", "models"]}
    one, other = judge_of(weights="v1", **told), judge_of(weights="v2", **told)
    assert one.card.judge_id != other.card.judge_id
    assert not one.card.pinned
    assert np.isfinite(one.score(stimuli(1))[0].scores["overall"])
