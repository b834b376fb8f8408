"""What lies in deployments/: every part of it fits the others, and what it names is there."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deployments"
KINDS = ("process", "docker", "kubernetes")


def placeholders(value):
    if isinstance(value, dict):
        return {name for held in value.values() for name in placeholders(held)}
    if isinstance(value, list):
        return {name for held in value for name in placeholders(held)}
    return set(re.findall(r"\{\{ (\w+) \}\}", value)) if isinstance(value, str) else set()


@pytest.fixture(scope="module")
def deployments():
    return yaml.safe_load((FOLDER / "prefect.yaml").read_text())["deployments"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_work_pool_fills_every_place_and_its_own_values_are_what_it_says_they_must_be(kind):
    template = json.loads((FOLDER / "pools" / f"{kind}.json").read_text())
    variables = template["variables"]
    Draft202012Validator.check_schema(variables)
    assert placeholders(template["job_configuration"]) == set(variables["properties"])
    defaults = {name: told["default"] for name, told in variables["properties"].items() if "default" in told}
    Draft202012Validator(variables).validate(defaults)
    assert all(told["title"] and told["description"] for told in variables["properties"].values())


def test_every_deployment_names_a_flow_that_is_there_and_parameters_it_takes(deployments):
    for told in deployments:
        package, module, name = told["entrypoint"].split(".")
        assert package == "judge_audit_flows"
        tree = ast.parse((ROOT / "flows" / f"{module}.py").read_text())
        functions = {
            node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert name in functions, told["entrypoint"]
        assert set(told.get("parameters", {})) <= {argument.arg for argument in functions[name].args.args}
        assert "judge-audit" in told["tags"], "the automations go by it"


def test_every_time_has_a_zone_and_a_name_and_every_limit_says_what_becomes_of_one_more(deployments):
    for told in deployments:
        for schedule in told.get("schedules", []):
            assert schedule["timezone"]
            assert schedule["slug"]
        if limit := told.get("concurrency_limit"):
            assert limit["collision_strategy"] in {"CANCEL_NEW", "ENQUEUE"}


def test_every_deployed_run_gives_a_sign_of_life_often_enough_and_logs_its_progress(deployments):
    for told in deployments:
        environment = told["work_pool"]["job_variables"]["env"]
        assert environment["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] == "30"
        assert environment["PREFECT_LOGGING_LEVEL"] == "INFO"
        assert all(isinstance(value, str) for value in environment.values())


def test_whatever_the_container_file_names_is_there():
    text = (FOLDER / "Containerfile").read_text()
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [word for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE) for word in line.split()[:-1]]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    assert set(copied) == set(kept)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = set(project["tool"]["setuptools"]["package-dir"].values())
    assert packages <= set(copied)
    assert {project["project"]["readme"], *project["project"]["license-files"]} <= set(copied)
    extras = re.search(r"^ARG EXTRAS=(\S+)$", text, re.MULTILINE).group(1).split(",")
    assert set(extras) <= set(project["project"]["optional-dependencies"])


def test_the_container_runs_under_the_number_that_the_cluster_asks_for_and_pins_what_it_installs():
    text = (FOLDER / "Containerfile").read_text()
    job = json.loads((FOLDER / "pools" / "kubernetes.json").read_text())["job_configuration"]["job_manifest"]
    inside = job["spec"]["template"]["spec"]
    number = str(inside["securityContext"]["runAsUser"])
    assert f"--uid {number} " in text
    assert f"USER {number}" in text
    assert inside["securityContext"]["runAsNonRoot"]
    installs = re.findall(r"pip install [^\\\n&]+", text)
    assert installs
    assert all("--constraint constraints.txt" in line for line in installs)
    assert inside["containers"][0]["volumeMounts"][0]["mountPath"] == "/project"
    assert "WORKDIR /project" in text
