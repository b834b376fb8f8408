"""New models are audited once each: a real MLflow registry and a real Prefect server, whose runs this process makes.

`tests/long/test_registered_models_served.py` has the same with events and runs in processes of their own.
"""

from __future__ import annotations

import re
import threading
from contextlib import ExitStack
from contextvars import copy_context
from pathlib import Path
from types import SimpleNamespace

import pytest
from registered_world import (
    answers,
    client_of,
    complete_audits,
    free_port,
    mlflow_server,
    prefect_server,
    register,
    tags_of,
    wait_for,
    write_model,
    write_project,
)

from judge_audit.lake import Lake

pytest.importorskip("mlflow")
pytestmark = [pytest.mark.parts, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        uri = stack.enter_context(mlflow_server(folder / "mlflow", wait=False))
        url = stack.enter_context(prefect_server(folder / "prefect", wait=False))
        wait_for(lambda: answers(f"{url}/health") and answers(f"{uri}/health"))
        from prefect.settings import PREFECT_API_URL, PREFECT_HOME, temporary_settings

        home = folder / "here"
        stack.enter_context(temporary_settings({PREFECT_API_URL: url, PREFECT_HOME: home}))
        stack.enter_context(environment("PREFECT_API_URL", url))
        from judge_audit_flows.registry import audit_registered

        audit_registered.to_deployment("registered").apply()
        yield SimpleNamespace(uri=uri, url=url, client=client_of(uri))


def environment(name, value):
    patch = pytest.MonkeyPatch()
    stack = ExitStack()
    stack.callback(patch.undo)
    patch.setenv(name, value)
    return stack


@pytest.fixture
def world(servers, tmp_path, request):
    """A project of its own beside the servers, and models of its own among theirs."""
    name = f"tiny-{request.node.name[:20]}"
    audit = write_project(tmp_path, servers.uri)
    audit.write_text(audit.read_text().replace("tiny*", f"{name}*"))
    lake = Lake.open(tmp_path / "lake")
    return SimpleNamespace(folder=tmp_path, audit=str(audit), name=name, lake=lake, **vars(servers))


def new_version(world, weight=1.0, name=""):
    return register(world.client, name or world.name, write_model(world.folder / "model", weight))


def look(world):
    from judge_audit_flows.registry import looked
    from judge_audit_flows.runtime.registry_runs import through_deployment

    return looked(world.audit, through_deployment(world.audit))


def runs(world):
    """The runs that were asked for in this project, the oldest first."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        found = [run for run in client.read_flow_runs() if run.parameters.get("audit") == world.audit]
    return sorted((run for run in found if run.idempotency_key), key=lambda run: run.created)


def work(world):
    """Do what a worker does with the runs that wait."""
    from judge_audit_flows.registry import audit_registered
    from prefect.client.orchestration import get_client
    from prefect.states import Completed

    for run in runs(world):
        if not run.state.is_final():
            state = audit_registered(**run.parameters, return_state=True)
            with get_client(sync_client=True) as client:
                client.set_flow_run_state(run.id, Completed(message=state.message), force=True)


def ledger(world):
    rows = world.lake.read("registrations").to_pylist()
    return sorted((row["model_version"], row["round"], row["status"]) for row in rows)


HOSTILE = " {{ 7*7 }} <b>'\"; {source} *&!! %s"


def test_what_was_registered_while_nobody_looked_is_audited_once_and_the_registry_told(world):
    hostile = world.name + HOSTILE
    tags = {"judge_audit.gate": "open", "name": "{{ name }}"}
    world.client.create_registered_model(hostile, tags, "kind: callable\ntarget: os:system")
    for weight, name in ((1.0, world.name), (-1.0, hostile)):
        new_version(world, weight, name)
        world.client.set_model_version_tag(name, "1", "judge_audit.gate", "open")
        world.client.update_model_version(name, "1", "{project}\nname: other")
    looks = []
    # Prefect's settings go with the context
    both = [copy_context() for _ in range(2)]
    threads = [threading.Thread(target=each.run, args=(lambda: looks.append(look(world)),)) for each in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [seen.problems for seen in looks] == [[], []]
    assert sum(seen.submitted for seen in looks) == 2
    assert sorted(run.parameters["name"] for run in runs(world)) == [world.name, hostile]
    work(world)
    assert look(world).submitted == 0
    assert len(runs(world)) == 2
    assert complete_audits(world.lake) == [f"{world.name} 1", f"{hostile} 1"]
    for name in (world.name, hostile):
        told = tags_of(world.client, name, 1)
        assert told["gate"] == "shut"
        assert "No judge is approved for screening yet" in told["reasons"]
        assert world.lake.read("audits", audit_id=told["audit_id"], status="complete").num_rows == 1
        assert told["position"]
        assert world.client.get_registered_model(name).aliases == {}
    assert ledger(world) == sorted(
        [("1", 1, name) for name in ("requested", "started", "complete", "told")] * 2
    )
    for path in (world.folder / "lake" / "registered").iterdir():
        assert re.fullmatch(r"tiny-[A-Za-z0-9._-]+", path.name)


def test_the_newest_come_first_and_the_others_with_the_next_look(world):
    for _ in range(3):
        new_version(world)
    audit = Path(world.audit)
    audit.write_text(audit.read_text().replace("most: 5", "most: 2"))
    seen = look(world)
    assert (seen.versions, seen.submitted, seen.left) == (3, 2, 1)
    assert {run.parameters["version"] for run in runs(world)} == {"2", "3"}
    seen = look(world)
    assert (seen.submitted, seen.under_way, seen.left) == (1, 2, 0)
    assert len(runs(world)) == 3


def test_the_alias_goes_to_the_newest_open_version_and_is_taken_from_a_shut_one(world):
    from judge_audit.core.configuration import resolve
    from judge_audit.operations.registry import settings_of
    from judge_audit.operations.registry.mlflow_client import connect

    registry = connect(settings_of(resolve(world.audit)))
    for _ in range(2):
        new_version(world)
    long = "x" * 9000
    answers_ = [("1", True, "1"), ("2", True, "2"), ("1", True, "2"), ("1", False, "2"), ("2", False, None)]
    for version, bears, holder in answers_:
        found = registry.version(world.name, version)
        registry.tell(found, {"judge_audit.reasons": long}, alias="audited", bears=bears)
        assert world.client.get_registered_model(world.name).aliases.get("audited") == holder
    assert len(tags_of(world.client, world.name, 1)["reasons"]) == 4000


def test_lost_runs_and_an_emptied_server_lose_no_version_and_double_none(world):
    from judge_audit_flows.registry import audit_registered
    from prefect.client.orchestration import get_client
    from prefect.states import Crashed

    from judge_audit.core.configuration import resolve
    from judge_audit.operations.registry import Ledger, settings_of
    from judge_audit.operations.registry.audit_version import close
    from judge_audit.operations.registry.mlflow_client import connect

    new_version(world)
    assert look(world).submitted == 1
    with get_client(sync_client=True) as client:
        client.set_flow_run_state(runs(world)[0].id, Crashed(message="the machine died"), force=True)
    assert look(world).submitted == 1
    assert len(runs(world)) == 2
    assert ("1", 1, "lost") in ledger(world)
    with get_client(sync_client=True) as client:
        for run in runs(world):
            client.delete_flow_run(run.id)
    look(world)
    assert len(runs(world)) == 1
    # as an audit leaves it
    registry = connect(settings_of(resolve(world.audit)))
    entries = Ledger(world.lake)
    version = registry.version(world.name, "1")
    close(entries, version, 1, {"candidate": "a1", "gate_id": "g1", "state": "shut"})
    with get_client(sync_client=True) as client:
        for run in runs(world):
            client.delete_flow_run(run.id)
    assert tags_of(world.client, world.name, 1) == {}
    # it died before it told the registry, and the server was emptied once more
    assert (look(world).told, look(world).told) == (1, 0)
    told = tags_of(world.client, world.name, 1)
    assert (told["gate"], told["audit_id"]) == ("shut", "a1")
    assert runs(world) == []
    again = audit_registered(world.name, "1", world.audit, return_state=True)
    assert "audited already" in again.message
    assert world.lake.read("audits").num_rows == 0


def test_a_registry_that_does_not_answer_is_told_in_plain_words_and_nothing_is_recorded(world, tmp_path):
    from judge_audit_flows.registry import poll_registry

    port = free_port()
    audit = write_project(tmp_path / "late", f"http://127.0.0.1:{port}")
    state = poll_registry(str(audit), return_state=True)
    assert state.is_failed()
    assert state.message.startswith(
        f"the machinery failed: the registry at http://127.0.0.1:{port} does not answer"
    )
    assert "Nothing was recorded" in state.message
    assert Lake.open(tmp_path / "late" / "lake").read("registrations").num_rows == 0


def test_a_version_that_is_no_judge_is_told_so_and_left_until_again(world):
    (world.folder / "text").mkdir()
    (world.folder / "text" / "readme.txt").write_text("no model")
    register(world.client, world.name, world.folder / "text")
    look(world)
    work(world)
    told = tags_of(world.client, world.name, 1)
    assert told["gate"] == "not audited"
    assert "there is no such file" in told["reasons"]
    seen = look(world)
    assert (seen.submitted, seen.under_way) == (0, 0)
    assert ledger(world) == [("1", 1, status) for status in ("failed", "requested", "started", "told")]


def test_what_is_shipped_deploys_what_a_submission_asks_for(servers, tmp_path):
    from judge_audit_flows.deployment.prefect_file import read_entries
    from judge_audit_flows.registry import trigger
    from judge_audit_flows.runtime.registry_runs import DEPLOYMENT

    (tmp_path / "audit.yaml").write_text("registry: {uri: http://mlflow.example}", encoding="utf-8")
    entries = read_entries(audit=str(tmp_path / "audit.yaml"))
    found = {f"{entry.flow.name}/{entry.name}": entry for entry in entries}
    assert DEPLOYMENT in found
    assert {"judge-audit-look/look", "judge-audit-submit/submit"} <= set(found)
    (shipped,) = found["judge-audit-submit/submit"].triggers()
    assert (shipped.expect, shipped.parameters) == (trigger().expect, trigger().parameters)
    assert all(schedule.active for schedule in found["judge-audit-look/look"].schedules)
