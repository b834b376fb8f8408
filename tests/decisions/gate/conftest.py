from __future__ import annotations

import shutil

import pytest
from gate_lake import night, whole_lake

from judge_audit.audits.stages.gate import approve_candidate, gate
from judge_audit.decisions.gate.approvals import Approver
from judge_audit.lake import Lake


@pytest.fixture(scope="session")
def lake_once(tmp_path_factory):
    return whole_lake(tmp_path_factory.mktemp("gate") / "lake")


@pytest.fixture
def lake(lake_once, tmp_path):
    """One judge, one complete audit, nothing approved."""
    return Lake.open(shutil.copytree(lake_once.url, tmp_path / "lake"))


@pytest.fixture(scope="session")
def approved_once(lake_once, tmp_path_factory):
    folder = tmp_path_factory.mktemp("approved") / "lake"
    lake = Lake.open(shutil.copytree(lake_once.url, folder))
    approver = Approver("Ada", "ada", "first of its kind", first=True)
    approve_candidate(lake, candidate="first", use="filtering", approver=approver, now=night(1))
    return lake


@pytest.fixture
def approved(approved_once, tmp_path):
    """The same with the audit approved for filtering."""
    return Lake.open(shutil.copytree(approved_once.url, tmp_path / "approved"))


@pytest.fixture
def ask():
    def asked(lake, **question):
        return gate(lake, **{"now": night(9), **question})

    return asked
