"""What runs the tasks: what can be asked for, what cannot hold, and how calls are spread over workers."""

from __future__ import annotations

import pytest
from judge_audit_flows.runtime import task_runners as runners
from judge_audit_flows.runtime.task_runners import check_runner, is_here, lanes_of
from judge_audit_flows.runtime.worker_failures import died, server_told

from judge_audit.core.configuration import Configuration, resolve
from judge_audit.core.errors import InputError, MachineryError, UsageError


def configured(folder, text, **overrides):
    (folder / "audit.yaml").write_text(f"items: items.csv\n{text}\n")
    return resolve(folder / "audit.yaml", overrides)


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(runners, "find_spec", lambda name: object())
    monkeypatch.setenv("PREFECT_API_URL", "http://prefect.example:4200/api")


@pytest.mark.parametrize("workers", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("concurrency", [1, 2, 8, 32])
@pytest.mark.parametrize("runner", ["processes", "dask", "ray"])
def test_workers_together_keep_to_what_the_card_allows(runner, workers, concurrency):
    lanes = lanes_of(runner, workers, concurrency)
    assert 1 <= lanes.tasks <= workers
    assert lanes.requests >= 1
    assert lanes.tasks * lanes.requests <= concurrency


def test_threads_share_one_judge_which_keeps_to_its_card_by_itself():
    assert lanes_of("threads", 4, 1) == runners.Lanes(4, 0)


def test_a_runner_is_a_name_or_a_block_and_the_command_line_wins(tmp_path):
    plain = configured(tmp_path, "runner: processes\nworkers: 3")
    assert (plain.runner, plain.workers, plain.runner_address) == ("processes", 3, "")
    text = "runner: {kind: dask, address: 'tcp://there:8786', workers: 8}"
    block = configured(tmp_path, text)
    assert (block.runner, block.workers, block.runner_address) == ("dask", 8, "tcp://there:8786")
    assert Configuration.from_json(block.as_json()) == block
    assert configured(tmp_path, text, workers=2).workers == 2
    other = configured(tmp_path, text, runner="threads")
    assert (other.runner, other.runner_address) == ("threads", "")
    assert configured(tmp_path, text, runner="dask") == block


@pytest.mark.parametrize(
    "text", ["runner: rockets", "runner: {workers: 3}", "runner: {kind: dask, port: 3}", "runner: 3"]
)
def test_a_runner_that_is_none_is_refused_with_its_line(tmp_path, text):
    with pytest.raises(InputError, match="line 2, key runner"):
        configured(tmp_path, text)


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_a_missing_extra_is_told_with_what_to_install(monkeypatch, name):
    monkeypatch.setattr(runners, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=rf"pip install 'image-judge-audit\[{name}\]'"):
        check_runner(Configuration(runner=name))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"max_calls": 5}, "counted on one machine"),
        ({"max_cost": 5.0}, "counted on one machine"),
        ({"workers": 0}, "say by workers"),
        ({"runner_options": {"n_workers": 3}}, "options cannot change it"),
    ],
)
def test_what_cannot_hold_on_several_machines_is_refused(installed, given, told):
    whole = {"runner": "dask", "runner_address": "tcp://there:8786", "workers": 8}
    check_runner(Configuration(**whole))
    with pytest.raises(UsageError, match=told):
        check_runner(Configuration(**{**whole, **given}))


def test_a_cluster_elsewhere_needs_a_server_that_it_reaches(installed, monkeypatch):
    there = Configuration(runner="ray", runner_address="ray://there:10001", workers=8)
    for address in ("", "http://127.0.0.1:4200/api", "http://localhost:4200/api"):
        monkeypatch.setenv("PREFECT_API_URL", address)
        with pytest.raises(UsageError, match="Set PREFECT_API_URL"):
            check_runner(there)
        check_runner(
            Configuration(runner="ray", runner_address="ray://127.0.0.1:10001", workers=8, max_calls=3)
        )


def test_threads_have_no_address(installed):
    with pytest.raises(UsageError, match="no address"):
        check_runner(Configuration(runner="threads", runner_address="tcp://there:1", workers=2))


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("tcp://127.0.0.1:8786", True),
        ("127.0.0.1:8786", True),
        ("ray://[::1]:10001", True),
        ("localhost:1", True),
        ("tcp://10.0.0.3:8786", False),
        ("scheduler:8786", False),
    ],
)
def test_addresses_of_this_machine_are_known(address, here):
    assert is_here(address) is here


def test_the_death_of_a_worker_is_known_by_name_whatever_wraps_it():
    from concurrent.futures.process import BrokenProcessPool

    class KilledWorker(Exception):  # noqa: N818 - as Dask calls it
        pass

    assert died(BrokenProcessPool("gone"))
    assert died(KilledWorker("task"))
    assert died(RuntimeError("Crash details: ray.exceptions.WorkerCrashedError: gone"))
    assert not died(ValueError("no"))


def test_faults_of_an_input_stay_whole_between_processes():
    import pickle

    from judge_audit.core.errors import Fault

    error = InputError([Fault("f", 2, "c", "bad"), Fault("f", 1, "c", "worse")], "Mend it.")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_server_that_is_gone_is_told_and_other_errors_are_left_alone():
    import httpx

    with (
        pytest.raises(
            MachineryError, match=r"Prefect's server stopped answering (?s:.*)Nothing committed is lost"
        ),
        server_told(),
    ):
        raise httpx.ConnectError("Connection refused")
    with pytest.raises(ZeroDivisionError), server_told():
        raise ZeroDivisionError
