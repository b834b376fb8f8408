"""New models are audited: a real MLflow registry, a real Prefect server, runs in processes of their own."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from registered_world import (
    answers,
    client_of,
    complete_audits,
    mlflow_server,
    prefect_server,
    process,
    register,
    tags_of,
    wait_for,
    write_model,
    write_project,
)

from judge_audit.lake import Lake

pytest.importorskip("mlflow")
pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]

SERVE = """
import sys
from prefect import serve
from judge_audit_flows.registry import audit_registered, submit_registered, trigger
audit = {"audit": sys.argv[1]}
serve(
    audit_registered.to_deployment("registered", parameters=audit),
    submit_registered.to_deployment("submit", parameters=audit, triggers=[trigger()]),
)
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Servers, a project, and a process that serves its deployments."""
    folder = tmp_path_factory.mktemp("world")
    with ExitStack() as stack:
        uri = stack.enter_context(mlflow_server(folder / "mlflow", wait=False))
        url = stack.enter_context(prefect_server(folder / "prefect", wait=False))
        wait_for(lambda: answers(f"{url}/health") and answers(f"{uri}/health"))
        audit = write_project(folder / "project", uri)
        yield SimpleNamespace(
            folder=folder,
            audit=str(audit),
            uri=uri,
            url=url,
            client=client_of(uri),
            lake=Lake.open(folder / "project" / "lake"),
        )


@pytest.fixture(scope="module")
def served(world):
    """The deployments, served."""
    words = [sys.executable, "-c", SERVE, world.audit]
    settings = {"PREFECT_API_URL": world.url, "PREFECT_HOME": str(world.folder / "served")}
    with process(words, world.folder / "served.log", **settings):
        with called(world):
            wait_for(lambda: deployments() >= {"registered", "submit"})
        yield world


def called(world):
    """Have this process's calls go to the world's server."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    return temporary_settings({PREFECT_API_URL: world.url})


def deployments():
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        return {entry.name for entry in client.read_deployments()}


def poll(world):
    from judge_audit_flows.registry import poll_registry

    with called(world):
        return poll_registry(world.audit, return_state=True)


def emit(world, name, version):
    from judge_audit_flows.registry import REGISTERED
    from prefect.events import emit_event
    from prefect.events.worker import EventsWorker

    with called(world):
        resource = {"prefect.resource.id": f"registry.{name}.{version}"}
        emit_event(REGISTERED, resource=resource, payload={"name": name, "version": version})
        EventsWorker.drain_all(timeout=10)


def runs(world):
    from prefect.client.orchestration import get_client

    with called(world), get_client(sync_client=True) as client:
        return [(run.name, run.state.name) for run in client.read_flow_runs() if "judge-audit" in run.tags]


def new_version(world, weight=1.0):
    return register(world.client, world.name, write_model(world.folder / "model", weight))


def test_an_open_gate_gives_the_alias_and_an_older_version_does_not_take_it(
    world, capsys, tmp_path, monkeypatch
):
    from judge_audit.audits.stages.gate import approve_candidate
    from judge_audit.cli import run_command
    from judge_audit.decisions.gate.approvals import Approver

    monkeypatch.setenv("PREFECT_API_URL", world.url)
    name, audit = "gated", write_project(tmp_path, world.uri)
    lake = Lake.open(tmp_path / "lake")
    world = SimpleNamespace(**{**vars(world), "name": name, "audit": str(audit), "lake": lake})
    new_version(world)
    assert run_command(["submit", world.name, "1", world.audit, "--here"]) == 1
    approver = Approver("Ada", "a", "a start", first=True)
    approve_candidate(world.lake, candidate=None, use=None, approver=approver)
    new_version(world)  # the same weights: nothing changed
    capsys.readouterr()
    assert run_command(["submit", world.name, "2", world.audit, "--here", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gate"] == "open"
    told = tags_of(world.client, world.name, 2)
    assert (told["gate"], told["reasons"]) == ("open", "")
    assert world.client.get_registered_model(world.name).aliases == {"audited": "2"}
    # version 1 would pass now; an answer that comes late moves no alias back
    assert run_command(["submit", world.name, "1", world.audit, "--here", "--again"]) == 0
    assert world.client.get_registered_model(world.name).aliases == {"audited": "2"}
    assert complete_audits(world.lake).count(f"{world.name} 1") >= 2
    # each asked once more without --again is answered from the ledger
    assert run_command(["submit", world.name, "2", world.audit, "--here"]) == 0
    assert world.lake.read("audits", status="complete").num_rows == 3


def test_versions_are_audited_once_each_however_they_are_announced(served):
    world = served
    # registered while nobody looked
    for weight in (1.0, -1.0):
        register(world.client, "tiny", write_model(world.folder / f"m{weight}", weight))
    register(world.client, "other", write_model(world.folder / "other"))
    first = poll(world)
    assert first.is_completed(), first.message
    assert (
        first.message == "2 versions in the registry: 2 submitted now, 0 under way, 0 wait for the next look."
    )
    # late, twice, and in the wrong order; and one whose name is no name
    for version in ("2", "1", "2"):
        emit(world, "tiny", version)
    hostile = "tiny {{ 7*7 }} <b>'\"; {source} *&!! %s"
    register(world.client, hostile, write_model(world.folder / "m3.0", 3.0))
    emit(world, hostile, "1")
    emit(world, "other", "1")
    wait_for(lambda: tags_of(world.client, hostile, 1), 600, 1)
    assert "0 submitted now" in poll(world).message
    wait_for(lambda: all(tags_of(world.client, "tiny", version) for version in (1, 2)), 600, 1)
    assert "0 submitted now, 0 under way" in poll(world).message
    assert complete_audits(world.lake) == ["tiny 1", "tiny 2", f"{hostile} 1"]
    for version in (1, 2):
        told = tags_of(world.client, "tiny", version)
        assert told["gate"] in {"shut", "cannot be asked"}, told
        assert "No judge is approved for screening yet" in told["reasons"]
        audits = world.lake.read("audits", audit_id=told["audit_id"], status="complete")
        assert audits.num_rows == 1
        assert told["position"]
    assert world.client.get_registered_model("tiny").aliases == {}
    assert tags_of(world.client, "other", 1) == {}
    assert sum(name == "tiny 1" for name, _ in runs(world)) == 1
