"""The JSON Schemas that ship are those of the models."""

from __future__ import annotations

from importlib.resources import files

import pytest

from judge_audit.core.json_schemas import schema_text
from judge_audit.inputs.derived_schemas import DERIVED


@pytest.mark.parametrize("name", DERIVED)
def test_a_shipped_schema_is_the_one_that_make_schemas_writes(name):
    shipped = files("judge_audit_schemas").joinpath(name).read_text(encoding="utf-8")
    assert shipped == schema_text(DERIVED[name]()), "run `make schemas`"
