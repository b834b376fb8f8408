from __future__ import annotations

import json
import sys
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from judge_audit.core.configuration import resolve
from judge_audit.core.errors import InputError, UsageError
from judge_audit.lake import Lake
from judge_audit.operations.notifications import EVENTS, GATE_SHUT, STALE, TRIAL, hook_of, notify
from judge_audit.operations.notifications.hook import hook_from

KEEP = "import pathlib, sys; pathlib.Path('told.json').write_bytes(sys.stdin.buffer.read())"
DOCUMENT = {"run_id": "r1", "judge": "taste", "audit_id": "a1", "text": "It is so."}


@pytest.fixture
def lake(tmp_path):
    return Lake.open(tmp_path / "lake")


def send(hook, lake, event=GATE_SHUT):
    said = []
    return notify(hook, event, DOCUMENT, lake=lake, tell=said.append), said


def test_a_command_is_given_the_notice_on_its_input_in_the_projects_folder(lake, tmp_path):
    hook = hook_from({"command": [sys.executable, "-c", KEEP]}, str(tmp_path))
    found, said = send(hook, lake)
    assert [entry.delivered for entry in found] == [True]
    assert said == []
    told = json.loads((tmp_path / "told.json").read_bytes())
    assert (told["event"], told["judge"], told["lake"]) == (GATE_SHUT, "taste", lake.url)
    schema = json.loads((files("judge_audit_schemas") / "notices" / "notice.schema.json").read_text())
    Draft202012Validator(schema).validate(told)
    (row,) = lake.read("notices").to_pylist()
    assert (row["run_id"], row["event"], row["delivered"], row["attempts"]) == ("r1", GATE_SHUT, True, 1)


def test_no_shell_reads_the_command(lake, tmp_path):
    words = [
        sys.executable,
        "-c",
        "import sys; sys.exit(sys.argv[1] != '$(touch made); *')",
        "$(touch made); *",
    ]
    found, _ = send(hook_from({"command": words}, str(tmp_path)), lake)
    assert found[0].delivered
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([sys.executable, "-c", "raise SystemExit(7)"], "it ended with code 7"),
        (["no-such-program-anywhere", "--key=secret-in-an-argument"], "it cannot be started"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], "it had not ended after 0.5 s"),
    ],
)
def test_a_command_that_fails_is_said_and_put_down_without_its_arguments(lake, words, said):
    found, lines = send(hook_from({"command": words, "timeout": 0.5}), lake)
    assert not found[0].delivered
    assert said in lines[0]
    (row,) = lake.read("notices").to_pylist()
    assert said in row["reason"]
    assert "secret-in-an-argument" not in f"{lines}{row}"


def test_a_webhook_is_posted_json_with_the_header_of_the_environment(lake, listener, monkeypatch):
    monkeypatch.setenv("HOOK_KEY", "Bearer s3cret-key-of-mine")
    monkeypatch.setenv("HOOK_URL", listener.url + "/services/T00/path-that-is-secret")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # not for this machine's own
    webhook = {"url_env": "HOOK_URL", "header": "Authorization", "header_env": "HOOK_KEY"}
    found, said = send(hook_from({"webhook": webhook}), lake)
    assert (found[0].delivered, said) == (True, [])
    ((path, headers, body),) = listener.told
    assert path == "/services/T00/path-that-is-secret"
    assert headers["Authorization"] == "Bearer s3cret-key-of-mine"
    assert headers["Content-Type"].startswith("application/json")
    assert json.loads(body)["text"] == "It is so."
    kept = str(lake.read("notices").to_pylist())
    assert f"webhook {listener.url}" in kept
    assert "secret" not in kept
    assert "s3cret" not in kept


def test_a_webhook_is_tried_again_only_where_that_may_help(lake, listener):
    hook = hook_from({"webhook": {"url": listener.url}})
    listener.answers = [503, 429, 204]
    assert send(hook, lake)[0][0].attempts == 3
    listener.answers = [500, 500, 500, 204]
    found, said = send(hook, None)
    assert (found[0].delivered, found[0].attempts) == (False, 3)
    assert "it answered 500" in said[0]
    listener.answers = [403, 204]
    found, _ = send(hook, None)
    assert (found[0].delivered, found[0].attempts) == (False, 1)


def test_no_redirect_is_followed(listener):
    hook = hook_from({"webhook": {"url": listener.url}})
    listener.answers, listener.headers = [307], {"Location": listener.url + "/elsewhere"}
    found, said = send(hook, None)
    assert not found[0].delivered
    assert "redirects are not followed" in said[0]
    assert len(listener.told) == 1


@pytest.mark.timeout(45)
def test_a_webhook_that_hangs_or_is_not_there_costs_its_time_and_no_more(listener):
    hook = hook_from({"webhook": {"url": listener.url}, "timeout": 0.3})
    listener.answers = ["hang", "hang", "hang"]
    found, _ = send(hook, None)
    assert (found[0].delivered, found[0].attempts) == (False, 3)
    nobody = hook_from({"webhook": {"url": "http://127.0.0.1:1/x"}})
    found, said = send(nobody, None)
    assert not found[0].delivered
    assert "cannot be reached" in said[0]


def test_a_variable_that_is_not_set_is_named(lake):
    webhook = {"url": "https://example.org/x", "header": "X-Key", "header_env": "NO_SUCH_HOOK_KEY"}
    found, said = send(hook_from({"webhook": webhook}), lake)
    assert (found[0].delivered, found[0].attempts) == (False, 0)
    assert "NO_SUCH_HOOK_KEY is not set" in said[0]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://example.org/x", "http may only be spoken to this machine"),
        ("http://localhost.example.org/x", "http may only"),
        ("ftp://example.org/x", "not https"),
        ("https://me:pass@example.org/x", "holds a name or password"),
        ("https://exa mple.org/x", "no address"),
        ("https://", "no address"),
        ("https://[::1", "no address"),
        ("http://[::1]:8080/x", ""),
        ("http://127.0.0.1/x", ""),
    ],
)
def test_only_https_and_this_machine_are_told(url, said):
    if not said:
        assert hook_from({"webhook": {"url": url}}).webhook.url == url
        return
    with pytest.raises(UsageError, match=said) as refused:
        hook_from({"webhook": {"url": url}})
    if url != "https://":
        assert url not in str(refused.value)


def test_an_address_from_the_environment_is_held_to_the_same(monkeypatch):
    monkeypatch.setenv("HOOK_URL", "http://example.org/secret-path")
    found, said = send(hook_from({"webhook": {"url_env": "HOOK_URL"}}), None)
    assert not found[0].delivered
    assert "HOOK_URL" in said[0]
    assert "secret-path" not in said[0]


def test_only_what_the_team_chose_is_told_and_a_trial_always():
    hook = hook_from({"command": ["x"], "events": [STALE]})
    assert [event for event in (*EVENTS, TRIAL) if hook.wants(event)] == [STALE, TRIAL]
    assert send(hook, None) == ([], [])


@pytest.mark.parametrize(
    "notice",
    [
        "{}",
        "3",
        "{command: tell.py}",
        "{command: []}",
        "{webhook: {url: 'https://example.org', header: Authorization}}",
        "{webhook: {url: 'https://example.org', url_env: A}}",
        "{webhook: {url: 'https://example.org', header: A, header_env: 'Bearer very-secret'}}",
        "{webhook: {url: 'https://example.org/very-secret'}, events: [moon]}",
        "{webhook: {url: 'https://example.org'}, very_secret: 1}",
    ],
)
def test_a_faulty_hook_is_refused_where_it_stands_and_repeats_nothing(tmp_path, notice):
    path = tmp_path / "audit.yaml"
    path.write_text(f"items: items.csv\nnotify: {notice}\n")
    with pytest.raises(InputError, match=r"audit\.yaml, line 2, key notify") as refused:
        resolve(path)
    assert "very-secret" not in str(refused.value)


def test_the_hook_goes_into_no_recorded_configuration(tmp_path):
    path = tmp_path / "audit.yaml"
    path.write_text("items: items.csv\nnotify: {webhook: {url: 'https://example.org/very-secret'}}\n")
    configuration = resolve(path)
    assert hook_of(configuration).folder == str(tmp_path)
    assert "very-secret" not in str(configuration.as_json())
