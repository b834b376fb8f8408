"""Label Studio itself: a project made of our files, answered through its API, exported and imported.

It runs in an environment of its own; JUDGE_AUDIT_LABEL_STUDIO names its command. Without one the test is skipped.
"""

from __future__ import annotations

import csv
import json
import os
import socket
import subprocess
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from judge_audit.cli import run_command
from judge_audit.lake import Lake

pytestmark = [pytest.mark.parts, pytest.mark.timeout(900)]

COMMAND = os.environ.get("JUDGE_AUDIT_LABEL_STUDIO", "")
TOKEN = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    if not COMMAND:
        pytest.skip("JUDGE_AUDIT_LABEL_STUDIO does not name a Label Studio")
    root = tmp_path_factory.mktemp("studio")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    settings = {
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT": str(root),
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "COLLECT_ANALYTICS": "false",
    }
    words = ["start", "--no-browser", "--port", str(port), "--internal-host", "127.0.0.1", "--data-dir",
             str(root / "data"), "--username", "ana@example.org", "--password", "a-secret-of-the-test",
             "--user-token", TOKEN]  # fmt: skip
    log = (root / "log").open("w")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    process = subprocess.Popen([COMMAND, *words], env={**environment, **settings}, stdout=log, stderr=log)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Token {TOKEN}"},
                          timeout=120) as client:  # fmt: skip
            _wait(client, process)
            yield root, client
    finally:
        process.terminate()
        process.wait()
        log.close()


def _wait(client, process):
    for _ in range(300):
        assert process.poll() is None, "Label Studio ended"
        try:
            if client.get("/api/projects").status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(1)
    raise AssertionError("Label Studio did not start")


def items_in(folder):
    folder.mkdir()
    rows = [["item_id", "source", "prompt", "image", "prompt_id"]]
    for number in range(4):
        rng = np.random.default_rng(number)
        Image.fromarray(rng.integers(0, 256, (24, 32, 3)).astype(np.uint8)).save(folder / f"{number}.png")
        rows.append([f"zebra-{number}", "quokka", "a bird", f"{number}.png", f"p{number // 2}"])
    with (folder / "items.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return folder / "items.csv"


def project_of(client, root, pack):
    """Make a project of a pack's own files, and give its id and tasks."""
    config, tasks = (root / pack / name for name in ("config.xml", "tasks.json"))
    made = client.post("/api/projects", json={"title": pack, "label_config": config.read_text()})
    assert made.status_code == 201, made.text
    project = made.json()["id"]
    storage = {"project": project, "path": str(root / pack), "use_blob_urls": True, "title": "pictures"}
    assert client.post("/api/storages/localfiles", json=storage).status_code == 201
    sent = client.post(f"/api/projects/{project}/import", json=json.loads(tasks.read_text()))
    assert sent.status_code == 201, sent.text
    listed = client.get("/api/tasks", params={"project": project, "fields": "all"}).json()["tasks"]
    return project, sorted(listed, key=lambda task: task["id"])


def exported(client, project, target):
    reply = client.get(
        f"/api/projects/{project}/export", params={"exportType": "JSON", "download_all_tasks": "true"}
    )
    assert reply.status_code == 200, reply.text
    target.write_bytes(reply.content)
    if keep := os.environ.get("JUDGE_AUDIT_KEEP_EXPORTS"):
        (Path(keep) / target.name).write_bytes(reply.content)
    return target


def test_labels_go_through_label_studio_and_back(studio, tmp_path, monkeypatch):
    root, client = studio
    monkeypatch.chdir(tmp_path)
    items = items_in(tmp_path / "art")
    words = ["study", "export", str(root / "rated"), "--for", "labels", "--items", str(items)]
    assert run_command([*words, "--dimensions", "semantic,overall"]) == 0
    project, tasks = project_of(client, root, "rated")
    shown = client.get(tasks[0]["data"]["picture"])
    assert shown.status_code == 200
    assert shown.headers["content-type"] == "image/png"
    for place, task in enumerate(tasks[:3]):
        result = [
            {"from_name": name, "to_name": "picture", "type": "rating", "value": {"rating": stars}}
            for name, stars in (("semantic", 1 + place), ("overall", 5))
        ]
        made = client.post(f"/api/tasks/{task['id']}/annotations/", json={"result": result, "lead_time": 4})
        assert made.status_code == 201, made.text
    skip = client.post(
        f"/api/tasks/{tasks[3]['id']}/annotations/", json={"result": [], "was_cancelled": True}
    )
    assert skip.status_code == 201
    file = exported(client, project, tmp_path / "labels.json")
    lake = str(tmp_path / "lake")
    back = ["import", "labels", str(file), "--from", "label-studio", "--key", str(root / "rated.key.json")]
    assert run_command([*back, "--lake", lake]) == 0
    rows = Lake.open(lake).read("labels").to_pylist()
    assert len(rows) == 6
    assert sorted(row["value"] for row in rows if row["dimension"] == "semantic") == [1, 2, 3]
    assert {row["item_id"] for row in rows} <= {f"zebra-{number}" for number in range(4)}
    assert all(row["annotator_id"] for row in rows)
    assert all(row["labelled_at"] for row in rows)


def test_choices_with_a_tie_go_through_label_studio_and_back(studio, tmp_path, monkeypatch):
    root, client = studio
    monkeypatch.chdir(tmp_path)
    items = items_in(tmp_path / "art")
    assert (
        run_command(["study", "export", str(root / "chosen"), "--for", "choices", "--items", str(items)]) == 0
    )
    project, tasks = project_of(client, root, "chosen")
    for task, letters in zip(tasks, (["B"], ["A", "B"]), strict=True):
        result = [{"from_name": "first", "to_name": "A", "type": "choices", "value": {"choices": letters}}]
        assert (
            client.post(f"/api/tasks/{task['id']}/annotations/", json={"result": result}).status_code == 201
        )
    file = exported(client, project, tmp_path / "choices.json")
    lake = str(tmp_path / "lake")
    back = ["import", "choices", str(file), "--from", "label-studio", "--key", str(root / "chosen.key.json")]
    assert run_command([*back, "--lake", lake]) == 0
    rows = Lake.open(lake).read("choices").to_pylist()
    assert sorted(len(row["tied"] or [row["item_id"]]) for row in rows) == [1, 2]
