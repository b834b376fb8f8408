"""A version's files are fetched whole, within bounds, and from nowhere they should not come from."""

from __future__ import annotations

import os

import pytest

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.operations.registry import artifacts
from judge_audit.operations.registry.artifacts import Listed, bounded, fetch


def nothing(_uri):
    raise AssertionError("nobody asked the registry's server")


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    (folder / "deep").mkdir(parents=True)
    (folder / "tiny.onnx").write_bytes(b"abc")
    (folder / "deep" / "head.npz").write_bytes(b"defg")
    return folder


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_a_folder_is_copied_and_digested_by_paths_and_contents(tmp_path, model, form):
    found = fetch(form.format(model), tmp_path / "to" / "artifacts", nothing)
    assert (found.files, found.size) == (2, 7)
    assert (found.folder / "deep" / "head.npz").read_bytes() == b"defg"
    assert fetch(str(model), tmp_path / "again", nothing).digest == found.digest
    (model / "tiny.onnx").rename(model / "other.onnx")
    assert fetch(str(model), tmp_path / "again", nothing).digest != found.digest
    assert not (tmp_path / "again" / "tiny.onnx").exists()


@pytest.mark.parametrize("link", ["file", "folder", "pipe"])
def test_links_and_pipes_are_refused_and_nothing_is_left(tmp_path, model, link):
    target = tmp_path / "secret"
    if link == "pipe":
        os.mkfifo(model / "odd")
    elif link == "folder":
        target.mkdir()
        (model / "odd").symlink_to(target)
    else:
        target.write_text("secret")
        (model / "odd").symlink_to(target)
    with pytest.raises(UsageError, match="a link or no file"):
        fetch(str(model), tmp_path / "to" / "artifacts", nothing)
    assert list((tmp_path / "to").iterdir()) == []


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a\\b", "c:x", " ", "a\0b"])
def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_fetched(tmp_path, name):
    def listing(_uri):
        return Listed(((name, 1),), lambda _folder: pytest.fail("it was fetched"))

    with pytest.raises(UsageError, match="leads elsewhere"):
        fetch("mlflow-artifacts:/1/m", tmp_path / "artifacts", listing)


def test_too_much_is_refused_before_anything_is_fetched(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="more than"):
        bounded([("a", artifacts.MOST_BYTES + 1)], tmp_path)
    with pytest.raises(UsageError, match="more than"):
        bounded([(str(at), 0) for at in range(artifacts.MOST_FILES + 1)], tmp_path)
    free = artifacts.shutil.disk_usage(tmp_path).free
    if free < artifacts.MOST_BYTES:
        with pytest.raises(MachineryError, match="Make room"):
            bounded([("a", free + (1 << 30))], tmp_path)


def test_what_the_registry_s_server_holds_is_fetched_through_it(tmp_path):
    def listing(uri):
        assert uri == "mlflow-artifacts:/1/m"
        return Listed((("a", 3), ("b", None)), lambda folder: (folder / "a").write_bytes(b"abc"))

    found = fetch("mlflow-artifacts:/1/m", tmp_path / "artifacts", listing)
    assert (found.folder / "a").read_bytes() == b"abc"


def test_an_object_store_is_read_through_fsspec(tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe({"/models/9/tiny.onnx": b"abc", "/models/9/deep/head.npz": b"defg"})
    monkeypatch.setattr(artifacts, "REMOTE", ("memory",))
    found = fetch("memory://models/9", tmp_path / "artifacts", nothing)
    assert (found.files, found.size) == (2, 7)
    assert (found.folder / "deep" / "head.npz").read_bytes() == b"defg"


@pytest.mark.parametrize(
    "uri",
    [
        "http://h/model.zip",
        "https://user:hunter2@h/model?token=hunter2",
        "ftp://h/m",
        "dbfs:/models/1",
        "data:,abc",
        "here/model",
        "simplecache::s3://b/m",
        "s3://b/m::file:///etc",
        "models:/m/1",
    ],
)
def test_other_addresses_are_refused_in_words_that_hold_no_secret(tmp_path, uri):
    with pytest.raises(UsageError, match="from nowhere else") as caught:
        fetch(uri, tmp_path / "artifacts", nothing)
    assert "hunter2" not in str(caught.value)


def test_files_that_are_not_on_this_machine_say_so(tmp_path):
    with pytest.raises(MachineryError, match="nothing of that name on this machine"):
        fetch(str(tmp_path / "gone"), tmp_path / "artifacts", nothing)


def test_a_version_without_files_is_no_judge(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no files"):
        fetch(str(tmp_path / "empty"), tmp_path / "artifacts", nothing)
