"""What runs the tasks of an audit: threads, processes, Dask or Ray, chosen by `runner`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judge_audit_flows.runtime.parent_watch import die_with_parent
from judge_audit_flows.runtime.server import or_chosen

from judge_audit.core.errors import UsageError
from judge_audit.core.network import is_loopback

if TYPE_CHECKING:
    from judge_audit.core.configuration import Configuration

THREADS, PROCESSES, DASK, RAY = "threads", "processes", "dask", "ray"

NEEDED = {DASK: ("prefect_dask", "distributed"), RAY: ("prefect_ray", "ray")}
"""What has to be installed for a runner that is an extra of ours."""

RAY_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
"""No telemetry, no lines that break a progress bar, and graphics cards stay visible to tasks that claim none."""

DASK_SETTINGS = {"DASK_LOGGING__DISTRIBUTED": "critical", "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "False"}
"""No lines that break a progress bar."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """How the calls of a judge are spread over workers.

    Attributes:
        tasks: Tasks under way at a time.
        requests: Requests that one worker process may have under way; 0 for what the card says.
    """

    tasks: int
    requests: int = 0


def workers_of(configuration: Configuration) -> int:
    """Say how many tasks run at a time."""
    return configuration.workers or os.cpu_count() or 1


def lanes_of(runner: str, workers: int, concurrency: int) -> Lanes:
    """Spread a card's `concurrency` over workers, so that all of them together keep to it.

    Threads share one judge, which keeps to it by itself. Processes have one each: no more of them are at work than
    the card allows requests, and each is given its share.

    Args:
        runner: Its name.
        workers: Tasks at a time.
        concurrency: What the card says.
    """
    if runner == THREADS:
        return Lanes(workers)
    tasks = max(1, min(workers, concurrency))
    return Lanes(tasks, max(1, concurrency // tasks))


def check_runner(configuration: Configuration) -> None:
    """See that a runner can be used, before anything is started for it.

    Raises:
        UsageError: If a package is missing, or what is asked for cannot hold; says what to do.
    """
    name, address = configuration.runner, configuration.runner_address
    missing = [module for module in NEEDED.get(name, ()) if find_spec(module) is None]
    if missing:
        raise UsageError(
            f"the runner {name} needs packages that are not installed ({', '.join(missing)}): "
            f"pip install 'image-judge-audit[{name}]'"
        )
    if name not in NEEDED and (address or configuration.runner_options):
        raise UsageError(
            f"runner: {name} has no address and no options; they are for dask and ray, which may run elsewhere."
        )
    if address:
        _check_address(configuration)


def _check_address(configuration: Configuration) -> None:
    """See that what holds on one machine holds on those of a cluster too."""
    name, address = configuration.runner, configuration.runner_address
    if configuration.runner_options:
        raise UsageError(f"runner: {name} at {address} was started by others; options cannot change it.")
    if not configuration.workers:
        raise UsageError(
            f"runner: {name} at {address}: say by workers: how many tasks it may run at a time, for example "
            f"runner: {{kind: {name}, address: {address}, workers: 8}}."
        )
    if is_here(address):
        return
    if configuration.max_calls is not None or configuration.max_cost is not None:
        raise UsageError(
            f"runner: {name} at {address}: max_calls and max_cost are counted on one machine and cannot hold on "
            "several. Leave them out, or run on this machine alone (runner: threads or processes)."
        )
    if is_here(os.environ.get("PREFECT_API_URL", "")):
        raise UsageError(
            f"runner: {name} at {address}: its workers report to Prefect's server, and a server of this machine "
            "alone cannot be reached from there. Set PREFECT_API_URL to one that all of them reach."
        )


def is_here(address: str) -> bool:
    """Tell whether an address is of this machine alone; none is."""
    host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
    return not host or is_loopback(host)


def task_runner(configuration: Configuration) -> Any:  # noqa: ANN401 - Prefect's runners share no useful type
    """Make Prefect's task runner; called after the server's address is exported."""
    workers = workers_of(configuration)
    if configuration.runner == DASK:
        return _dask(configuration, workers)
    if configuration.runner == RAY:
        return _ray(configuration, workers)
    from prefect.task_runners import ProcessPoolTaskRunner, ThreadPoolTaskRunner  # noqa: PLC0415

    if configuration.runner == PROCESSES:
        # What a worker that died leaves behind is cleared up without a word.
        os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
        # A worker whose flow was killed would go on asking to the end of its task.
        return ProcessPoolTaskRunner(max_workers=workers, initializer=die_with_parent)
    return ThreadPoolTaskRunner(max_workers=workers)


def _dask(configuration: Configuration, workers: int) -> Any:  # noqa: ANN401
    """Connect to a Dask scheduler, or start one with its workers here, each a process with one thread."""
    os.environ.update(or_chosen(DASK_SETTINGS))
    from prefect_dask.task_runners import DaskTaskRunner  # noqa: PLC0415 - an extra

    if configuration.runner_address:
        return DaskTaskRunner(address=configuration.runner_address)
    usual = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "dashboard_address": None,
        # A worker that holds a large model is not to be ended for it.
        "memory_limit": 0,
        "silence_logs": "CRITICAL",
    }
    return DaskTaskRunner(cluster_kwargs={**usual, **configuration.runner_options})


def _ray(configuration: Configuration, workers: int) -> Any:  # noqa: ANN401
    """Connect to a Ray cluster, or start one here, with a worker process for each task at a time."""
    os.environ.update(or_chosen(RAY_SETTINGS))
    from prefect_ray import RayTaskRunner  # noqa: PLC0415 - an extra

    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    if configuration.runner_address:
        return RayTaskRunner(address=configuration.runner_address, init_kwargs=quiet)
    usual = {"num_cpus": workers, "include_dashboard": False}
    return RayTaskRunner(address="local", init_kwargs={**quiet, **usual, **configuration.runner_options})
