"""Real servers and a small project for tests of registered models: MLflow's registry, Prefect, tiny ONNX judges."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import numpy as np
from PIL import Image

START_SECONDS = 120

AUDIT = """
items: items.csv
axes: [blur]
ladder_items: 6
pairs_per_kind: 0
lake: lake
report: report
registry:
  uri: {uri}
  models: [tiny*]
  card: cards/registered.yaml
  alias: audited
  most: {most}
"""
CARD = """
kind: onnx
name: "{name}"
version: "{version}"
model: artifacts/tiny.onnx
weights: ""
preprocessing: {resize: none, scale: 1}
head: {kind: linear, weights: artifacts/head.npz, normalise: false}
"""


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


def answers(address):
    try:
        with build_opener(ProxyHandler({})).open(address, timeout=5) as answer:
            return answer.status == 200
    except (URLError, OSError):
        return False


def wait_for(what, seconds=START_SECONDS, every=0.2):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(every)
    raise AssertionError(f"not within {seconds} s: {what}")


@contextmanager
def process(words, log, **environment):
    """Run a process in a group of its own, which is ended whole."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    with Path(log).open("ab") as stream:
        started = subprocess.Popen(
            words,
            stdout=stream,
            stderr=stream,
            stdin=subprocess.DEVNULL,
            env={**inherited, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", **environment},
            start_new_session=True,
        )
    try:
        yield started
    finally:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(started.pid, sign)
            except ProcessLookupError:
                break
            try:
                started.wait(5)
            except subprocess.TimeoutExpired:
                continue


@contextmanager
def mlflow_server(folder, port=None, *, wait=True):
    """Run MLflow's own server; JUDGE_AUDIT_MLFLOW names another installation's `mlflow`."""
    folder.mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    program = shlex.split(os.environ.get("JUDGE_AUDIT_MLFLOW", f"{sys.executable} -m mlflow"))
    words = [*program, "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    words += ["--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"]
    words += ["--artifacts-destination", str(folder / "artifacts")]
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "1"}
    with process(words, folder / "mlflow.log", **quiet):
        uri = f"http://127.0.0.1:{port}"
        if wait:
            wait_for(lambda: answers(f"{uri}/health"))
        yield uri


@contextmanager
def prefect_server(folder, *, wait=True):
    """Run a Prefect server with all of its services."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    settings = {
        "PREFECT_HOME": str(folder),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_UI_ENABLED": "false",
    }
    words = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with process([*words, "--no-ui"], folder / "prefect.log", **settings):
        url = f"http://127.0.0.1:{port}/api"
        if wait:
            wait_for(lambda: answers(f"{url}/health"))
        yield url


def write_project(folder, uri, *, most=5, card=CARD, items=24):
    """Write a project whose judge is whatever is registered."""
    (folder / "cards").mkdir(parents=True, exist_ok=True)
    lines = ["item_id,source,prompt,image"]
    for number in range(items):
        rng = np.random.default_rng(number)
        pixels = np.clip(rng.normal(60 + number, 20 + number / 2, (32, 32, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
        lines.append(f"i{number:02d},{'xy'[number % 2]},a picture,{number}.png")
    (folder / "items.csv").write_text("\n".join(lines))
    (folder / "cards" / "registered.yaml").write_text(card)
    (folder / "audit.yaml").write_text(AUDIT.format(uri=uri, most=most))
    return folder / "audit.yaml"


def write_model(folder, weight=1.0):
    """Write a tiny model: the mean of each channel, and a linear head."""
    import onnx
    from onnx import TensorProto, helper

    folder.mkdir(parents=True, exist_ok=True)
    node = helper.make_node("ReduceMean", ["pixels"], ["means"], axes=[2, 3], keepdims=0)
    shown = helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ("n", 3, "h", "w"))
    given = helper.make_tensor_value_info("means", TensorProto.FLOAT, ("n", 3))
    graph = helper.make_graph([node], "tiny", [shown], [given])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, folder / "tiny.onnx")
    np.savez(folder / "head.npz", weight=np.array([[weight, 1.0, -0.5]], np.float32))
    return folder


def client_of(uri):
    """Connect to a registry as a person does who registers models."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    from mlflow import MlflowClient

    return MlflowClient(uri, uri)


def register(client, name, folder):
    """Log files in a run and register them as the next version of a model."""
    from mlflow.exceptions import MlflowException

    try:
        client.create_registered_model(name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    run = client.create_run("0")
    client.log_artifacts(run.info.run_id, str(folder), "model")
    client.set_terminated(run.info.run_id)
    source = f"{run.info.artifact_uri}/model"
    return client.create_model_version(name, source, run.info.run_id).version


def tags_of(client, name, version):
    """Read what a version was told."""
    tags = client.get_model_version(name, str(version)).tags
    return {key.partition(".")[2]: value for key, value in tags.items() if key.startswith("judge_audit.")}


def complete_audits(lake):
    """Count the complete audits of a lake, by the version their judge's card names."""
    found = []
    for row in lake.read("audits", status="complete").to_pylist():
        labels = lake.read("judge_labels", judge_id=row["judge_id"]).to_pylist()
        found += [f"{label['name']} {label['version']}" for label in labels]
    return sorted(found)
