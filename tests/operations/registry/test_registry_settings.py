"""What audit.yaml says of a registry, and what it may not say."""

from __future__ import annotations

import pytest

from judge_audit.cli import run_command
from judge_audit.core.configuration import Configuration, resolve
from judge_audit.core.errors import InputError, UsageError
from judge_audit.core.progress import Progress
from judge_audit.operations.registry import settings_of

TEXT = """
items: items.csv
registry: {{uri: "{uri}", models: [aesthetic-*, clip], card: cards/registered.yaml, since: 2026-11-01}}
"""


def project(tmp_path, uri="http://mlflow.example:5000/", text=TEXT):
    (tmp_path / "cards").mkdir(exist_ok=True)
    (tmp_path / "cards" / "registered.yaml").write_text("kind: onnx")
    path = tmp_path / "audit.yaml"
    path.write_text(text.format(uri=uri))
    return path


def test_the_choices_are_read_and_survive_the_way_to_a_worker(tmp_path):
    configuration = resolve(project(tmp_path))
    for same in (configuration, Configuration.from_json(configuration.as_json())):
        told = settings_of(same)
        assert (told.uri, told.name) == ("http://mlflow.example:5000", "http://mlflow.example:5000")
        assert told.template == tmp_path / "cards" / "registered.yaml"
        assert told.since.isoformat() == "2026-11-01T00:00:00+00:00"
        assert [told.wants(name) for name in ("aesthetic-v2", "clip", "clip2", "Clip")] == [
            True,
            True,
            False,
            False,
        ]


@pytest.mark.parametrize(
    "uri", ["http://ada:hunter2@h", "https://hunter2@h/x", "http://h?token=hunter2", "sqlite:///h"]
)
def test_an_address_with_a_password_is_refused_and_not_repeated(tmp_path, uri):
    with pytest.raises(InputError, match="MLFLOW_TRACKING_USERNAME") as caught:
        resolve(project(tmp_path, uri))
    assert "hunter2" not in str(caught.value)
    assert "registry.uri" in str(caught.value)


def test_without_a_registry_or_a_template_it_is_said_what_to_write(tmp_path):
    with pytest.raises(UsageError, match="names no model registry"):
        settings_of(Configuration(items="x"))
    path = project(tmp_path)
    (tmp_path / "cards" / "registered.yaml").unlink()
    with pytest.raises(UsageError, match="there is no card template"):
        settings_of(resolve(path))


@pytest.mark.parametrize(
    "words", [["a"], ["a", "1", "x", "y"], ["--new", "a", "b"], ["--new", "--again"], [" ", "1"]]
)
def test_the_command_says_what_it_takes(words, capsys):
    assert run_command(["submit", *words]) == 2
    assert "VERSION" in capsys.readouterr().err


def test_without_a_server_it_is_said_how_to_go_on(tmp_path, monkeypatch):
    from judge_audit_flows.submission import run_submission

    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with pytest.raises(UsageError, match="PREFECT_API_URL, or add --here"):
        run_submission("clip", "1", str(project(tmp_path)), Progress())
