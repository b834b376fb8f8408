"""Runs whose processes were killed free the next night: minutes of waiting, on a real server with real workers."""

from __future__ import annotations

import signal

import pytest
from deployed_project import end, make_project, wait_for, worker, worker_process

pytest.importorskip("prefect")
pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
POOL = "judge-audit-test"
FREED_SECONDS = 180.0


def nightly(client):
    return client.read_deployment_by_name("judge-audit-nightly/nightly")


def asked_more_than(folder, calls):
    log = folder / "project" / "asked.log"
    return lambda: log.exists() and log.stat().st_size > calls


def heartbeat_of(client, run):
    from prefect.events.filters import EventFilter, EventNameFilter, EventResourceFilter

    wanted = EventFilter(
        event=EventNameFilter(name=["prefect.flow-run.heartbeat"]),
        resource=EventResourceFilter(id=[f"prefect.flow-run.{run.id}"]),
    )
    return lambda: client.read_events(wanted, limit=5).events


def next_night_completes(client, folder):
    """Run a next night with a new worker, whose judge is quick."""
    make_project(folder / "project", pause=0.0)
    run = client.create_flow_run_from_deployment(nightly(client).id, parameters={"gate": False})
    with worker(POOL, folder):
        done = wait_for(lambda: (found := client.read_flow_run(run.id)).state.is_final() and found, 300)
    assert done.state.type.value == "COMPLETED", done.state


def test_a_worker_killed_with_its_run_does_not_keep_the_next_night(tmp_path):
    from judge_audit_flows.runtime.server import exported, lasting_server

    audit = make_project(tmp_path / "project", pause=0.5)
    with lasting_server(tmp_path / "server", port=0) as (url, _):
        from judge_audit_flows.deployment.deploy import run_deploy
        from prefect.client.orchestration import get_client

        with exported({"PREFECT_API_URL": url}), get_client(sync_client=True) as client:
            run_deploy(audit=str(audit), pool=POOL)
            run = client.create_flow_run_from_deployment(nightly(client).id)
            killed = worker_process(POOL, tmp_path)
            try:
                wait_for(asked_more_than(tmp_path, 10), 120)
                wait_for(heartbeat_of(client, run), 60)
            finally:
                end(killed)
            assert client.read_flow_run(run.id).state.type.value == "RUNNING"
            crashed = wait_for(
                lambda: (found := client.read_flow_run(run.id)).state.is_crashed() and found, FREED_SECONDS
            )
            print(
                "freed after",
                (crashed.state.timestamp - crashed.start_time).total_seconds(),
                "s of its start",
            )
            assert crashed.state.message.startswith("No sign of life for 90 s")
            next_night_completes(client, tmp_path)


def test_server_worker_and_run_killed_at_once_do_not_keep_the_next_night(tmp_path):
    from judge_audit_flows.runtime.server import exported, lasting_server

    audit = make_project(tmp_path / "project", pause=0.5)
    with lasting_server(tmp_path / "server", port=0) as (url, server):
        from judge_audit_flows.deployment.deploy import run_deploy
        from judge_audit_flows.runtime.stale_runs import Patience, tidied
        from prefect.client.orchestration import get_client

        with exported({"PREFECT_API_URL": url}), get_client(sync_client=True) as client:
            run_deploy(audit=str(audit), pool=POOL)
            run = client.create_flow_run_from_deployment(nightly(client).id)
            killed = worker_process(POOL, tmp_path)
            try:
                wait_for(asked_more_than(tmp_path, 10), 120)
            finally:
                server.send_signal(signal.SIGKILL)
                end(killed)
    with (
        lasting_server(tmp_path / "server", port=0) as (url, _),
        exported({"PREFECT_API_URL": url}),
        get_client(sync_client=True) as client,
    ):
        assert client.read_flow_run(run.id).state.type.value == "RUNNING"

        def freed():
            tidied(Patience(silent_seconds=90))
            found = client.read_flow_run(run.id)
            return found if found.state.is_crashed() else None

        print(wait_for(freed, FREED_SECONDS, pause=5).state.message)
        limit = nightly(client).global_concurrency_limit.name
        assert client.read_global_concurrency_limit_by_name(limit).active_slots == 0
        next_night_completes(client, tmp_path)
