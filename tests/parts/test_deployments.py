"""What is deployed, on a real Prefect server with a real worker."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from deployed_project import make_project, wait_for, worker

from judge_audit.core.errors import MachineryError, UsageError

pytest.importorskip("prefect")
pytestmark = [pytest.mark.parts, pytest.mark.timeout(600)]
POOL = "judge-audit-test"
WORKERS = {
    "process": ("prefect.workers.process", "ProcessWorker"),
    "docker": ("prefect_docker.worker", "DockerWorker"),
    "kubernetes": ("prefect_kubernetes.worker", "KubernetesWorker"),
}
GIVEN = {
    "env": {"PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30"},
    "name": "a-run",
    "command": "prefect flow-run execute",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A server, the deployments registered at it, and a client."""
    from judge_audit_flows.runtime.server import exported, lasting_server

    folder = tmp_path_factory.mktemp("deployed")
    audit = make_project(folder / "project")
    with lasting_server(folder / "server", port=0) as (url, _):
        from judge_audit_flows.deployment.deploy import run_deploy
        from prefect.client.orchestration import get_client

        with exported({"PREFECT_API_URL": url}):
            told = run_deploy(audit=str(audit), pool=POOL, cron="30 4 * * *", timezone="America/New_York")
            with get_client(sync_client=True) as client:
                yield {"told": told, "client": client, "audit": audit, "folder": folder}


def of(client, name):
    return client.read_deployment_by_name(f"judge-audit-{name}/{name}")


def runs_of(client, name):
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterDeploymentId

    wanted = FlowRunFilter(deployment_id=FlowRunFilterDeploymentId(any_=[of(client, name).id]))
    return client.read_flow_runs(flow_run_filter=wanted)


def ended(client, name, **parameters):
    """Give a run that has ended and was started with such parameters."""
    for run in runs_of(client, name):
        if run.state.is_final() and parameters.items() <= run.parameters.items():
            return run
    return None


def test_twice_registered_is_once_registered_and_what_a_person_paused_stays_paused(world):
    from judge_audit_flows.deployment.deploy import run_deploy

    client = world["client"]
    first = {one["name"]: one["id"] for one in world["told"].document["deployments"]}
    client.pause_deployment(UUID(first["judge-audit-tidy/tidy"]))
    again = run_deploy(audit=str(world["audit"]), pool=POOL, cron="30 4 * * *", timezone="America/New_York")
    assert {one["name"]: one["id"] for one in again.document["deployments"]} == first
    assert set(again.document["automations"].values()) == {"unchanged"}
    assert "there already" in again.document["pool"]["state"]
    assert of(client, "tidy").paused
    assert len(of(client, "nightly").schedules) == 1
    names = [automation.name for automation in client.read_automations()]
    assert len(names) == len(set(names))
    client.resume_deployment(UUID(first["judge-audit-tidy/tidy"]))


def test_every_parameter_can_be_filled_in_on_the_page_and_is_described_there(world):
    for name in ("nightly", "ad-hoc", "release-gate", "compaction", "tidy"):
        schema = of(world["client"], name).parameter_openapi_schema
        assert schema["properties"]
        for told in (*schema["properties"].values(), *schema["definitions"].values()):
            assert told["title"]
            assert told["description"]
        assert not schema.get("required")


def test_the_next_night_is_planned_in_its_time_zone(world):
    client = world["client"]
    planned = wait_for(lambda: runs_of(client, "nightly"), 180)
    zone = ZoneInfo("America/New_York")
    times = sorted(run.expected_start_time for run in planned)
    assert {(time.astimezone(zone).hour, time.astimezone(zone).minute) for time in times} == {(4, 30)}
    assert timedelta(0) < times[0] - datetime.now(UTC) <= timedelta(days=1, hours=1)


def test_a_run_whose_process_is_gone_is_ended_and_its_slot_is_free_again(world):
    from judge_audit_flows.runtime.stale_runs import tidied
    from prefect.client.schemas.actions import GlobalConcurrencyLimitUpdate
    from prefect.states import Pending, Running

    client = world["client"]
    assert tidied() == []
    dead, never = (
        client.create_flow_run_from_deployment(of(client, name).id) for name in ("nightly", "ad-hoc")
    )
    for run in (dead, never):
        client.set_flow_run_state(run.id, Pending())
    client.set_flow_run_state(dead.id, Running())
    limit = of(client, "nightly").global_concurrency_limit.name
    assert client.read_global_concurrency_limit_by_name(limit).active_slots == 1
    assert tidied() == []
    told = tidied(now=datetime.now(UTC) + timedelta(hours=1))
    assert len(told) == 2
    assert client.read_flow_run(dead.id).state.message.startswith("its process gives no sign of life for 3")
    assert client.read_flow_run(never.id).state.message.startswith(
        "it was handed to a worker and never started for 3"
    )
    assert client.read_global_concurrency_limit_by_name(limit).active_slots == 0
    client.update_global_concurrency_limit(limit, GlobalConcurrencyLimitUpdate(active_slots=1))
    assert tidied() == ["Deployment nightly counted 1 runs where 0 are alive; it is counted anew."]
    assert client.read_global_concurrency_limit_by_name(limit).active_slots == 0


def test_an_event_starts_an_audit_and_the_gate_is_kept_as_state_event_and_artifact(world):
    from prefect.client.schemas.filters import (
        ArtifactFilter,
        ArtifactFilterFlowRunId,
        LogFilter,
        LogFilterFlowRunId,
    )
    from prefect.events import emit_event
    from prefect.events.filters import EventFilter, EventNameFilter

    client = world["client"]
    asked = client.create_flow_run_from_deployment(of(client, "release-gate").id)
    with worker(POOL, world["folder"]):
        gate = wait_for(lambda: ended(client, "release-gate"), 240)
        emit_event(
            "judge-audit.wanted",
            {"prefect.resource.id": "judge-audit.judge.nobody"},
            payload={"judge": "nobody"},
        )
        refused = wait_for(lambda: ended(client, "ad-hoc", judge="nobody"), 240)
    assert gate.id == asked.id
    assert gate.state.type.value == "FAILED"
    assert gate.state.message.startswith("The gate is shut: ")
    assert "No judge is approved for screening yet" in gate.state.message
    kept = client.read_artifacts(
        artifact_filter=ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[gate.id]))
    )
    assert [one.key for one in kept] == ["judge-audit-gate-mine-score"]
    assert "The gate is shut" in kept[0].data
    told = wait_for(
        lambda: (
            client.read_events(
                EventFilter(event=EventNameFilter(prefix=["judge-audit.gate."])), limit=9
            ).events
        ),
        30,
    )
    assert [event.event for event in told] == ["judge-audit.gate.shut"]
    assert told[0].payload["judge"] == "mine:score"
    log = [
        line.message for line in client.read_logs(LogFilter(flow_run_id=LogFilterFlowRunId(any_=[gate.id])))
    ]
    assert any(line.startswith("asking the judge") for line in log)
    assert refused.state.message.startswith("wrong use or bad input: there is no judge “nobody”")


def test_a_deployed_compaction_puts_small_files_together_and_says_so(world):
    from judge_audit_flows.compaction import compaction

    from judge_audit.lake import Lake

    folder = world["audit"].parent
    before = len(Lake.open(folder / "lake", create=False).files("calls"))
    state = compaction(str(world["audit"]), return_state=True)
    assert state.is_completed(), state.message
    assert "files of rows became" in state.message
    assert len(Lake.open(folder / "lake", create=False).files("calls")) < before
    absent = compaction(str(folder / "absent.yaml"), return_state=True)
    assert absent.is_failed()
    assert absent.message.startswith("wrong use or bad input: ")


def test_registered_models_are_looked_for_where_a_registry_is_named_or_when_asked_to(tmp_path):
    from judge_audit_flows.deployment.prefect_file import read_entries
    from judge_audit_flows.registry import REGISTERED
    from judge_audit_flows.runtime.registry_runs import DEPLOYMENT

    audit = make_project(tmp_path)
    of_registries = {"registered", "submit", "look"}
    assert not of_registries & {entry.name for entry in read_entries(audit=str(audit))}
    named = read_entries(audit="/project/audit.yaml", only=tuple(of_registries))
    assert {entry.name for entry in named} == of_registries
    audit.write_text(
        audit.read_text() + "registry: {uri: 'http://127.0.0.1:5000', models: ['*'], card: a.yaml}\n"
    )
    entries = {entry.name: entry for entry in read_entries(audit=str(audit))}
    assert of_registries < set(entries)
    assert f"{entries['registered'].flow.name}/registered" == DEPLOYMENT
    (trigger,) = entries["submit"].triggers()
    assert trigger.expect == {REGISTERED}
    assert set(trigger.parameters) == set(entries["submit"].schema["required"])


def test_no_server_and_one_that_does_not_answer_are_told_apart():
    from judge_audit_flows.deployment.deploy import run_deploy
    from judge_audit_flows.runtime.server import exported
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings(restore_defaults={PREFECT_API_URL}):
        with pytest.raises(UsageError, match="no Prefect server is configured"):
            run_deploy(audit="/project/audit.yaml")
        with (
            exported({"PREFECT_API_URL": "http://127.0.0.1:9/api"}),
            pytest.raises(MachineryError, match="does not answer"),
        ):
            run_deploy(audit="/project/audit.yaml")


def test_what_is_wrong_is_told_before_anything_is_registered(world):
    from judge_audit_flows.deployment.deploy import run_deploy

    audit = str(world["audit"])
    with pytest.raises(UsageError, match="there is no such deployment; there are nightly, "):
        run_deploy(audit=audit, only=("weekly",))
    with pytest.raises(UsageError, match=r"deployment nightly: .*Atlantis"):
        run_deploy(audit=audit, timezone="Atlantis/Centre")
    with pytest.raises(UsageError, match=r"deployment nightly: .*cron"):
        run_deploy(audit=audit, cron="at night")
    with pytest.raises(UsageError, match="it is there already, as a process pool"):
        run_deploy(audit=audit, pool=POOL, kind="docker")
    with pytest.raises(UsageError, match="--kind nomad: there is no such work pool; there are process, "):
        run_deploy(audit=audit, kind="nomad")


@pytest.mark.parametrize("kind", WORKERS)
@pytest.mark.filterwarnings("ignore")  # those of the workers' own packages
def test_a_worker_understands_its_pool(world, kind):
    from judge_audit_flows.deployment.deploy import template

    module, name = WORKERS[kind]
    worker = getattr(pytest.importorskip(module), name)
    assert worker.type == kind
    given = template(kind)
    assert set(given["job_configuration"]) <= set(worker.get_default_base_job_template()["job_configuration"])
    made = asyncio.run(worker.job_configuration.from_template_and_values(given, GIVEN))
    assert made.env == GIVEN["env"]
    assert made.command == GIVEN["command"]
    if kind == "docker":
        assert made.image == "image-judge-audit:latest"
    if kind == "kubernetes":
        inside = made.job_manifest["spec"]["template"]["spec"]
        assert inside["containers"][0]["image"] == "image-judge-audit:latest"
        assert inside["volumes"][0]["persistentVolumeClaim"]["claimName"] == "judge-audit-project"
