from __future__ import annotations

import subprocess
import sys

import pytest

from judge_audit.axes import builtin_axes
from judge_audit.digests import file_digest
from judge_audit.errors import AuditError, UsageError
from judge_audit.parts import find_axes, find_checks, part_digests, select_axes
from judge_audit.project import Configuration

AXIS = """
from judge_audit.axes.axis import Axis
AXES = (Axis(name={name!r}, unit="levels", description="Adds.", strengths=(1.0, 2.0), overdone=2.0,
    visibility=None, statistic=None, rises=True, recipe_version=1,
    draw=lambda image, strength, scratch: image),)
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "axes").mkdir()
    (tmp_path / "checks").mkdir()
    return tmp_path


def test_without_a_project_the_package_s_own_parts_are_found():
    assert set(find_axes("")) == set(builtin_axes())
    assert {"premature", "jitter", "top_response", "scale"} <= set(find_checks(""))


def test_a_file_in_the_project_is_a_part_with_its_origin_and_digest(project):
    file = project / "axes" / "glow.py"
    file.write_text(AXIS.format(name="glow"), encoding="utf-8")
    part = find_axes(str(project))["glow"]
    assert part.origin == str(file)
    assert part.digest == file_digest(file.read_bytes())
    configuration = Configuration(items="x", project=str(project))
    assert part_digests(configuration) == {str(file): part.digest}
    assert "glow" in select_axes(configuration)


def test_a_project_s_file_shadows_nothing(project):
    (project / "axes" / "json.py").write_text(AXIS.format(name="glow"), encoding="utf-8")
    script = (
        f"from judge_audit.parts import find_axes\nfind_axes({str(project)!r})\n"
        "import json\nassert json.loads('1') == 1\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_name_that_stands_twice_is_refused_with_both_places(project):
    (project / "axes" / "mine.py").write_text(AXIS.format(name="blur"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"“blur” stands twice, in the package and in .*mine\.py"):
        find_axes(str(project))


@pytest.mark.parametrize("text", ["", "AXES = 3", "import no_such_thing", "def broken("])
def test_a_malformed_file_is_refused_by_name(project, text):
    (project / "axes" / "odd.py").write_text(text, encoding="utf-8")
    with pytest.raises(AuditError, match=r"odd\.py"):
        find_axes(str(project))


def test_an_unknown_axis_is_refused_with_the_list():
    with pytest.raises(UsageError, match=r"there is no glow; the axes are .*blur"):
        select_axes(Configuration(items="x", axes=("glow",)))


def test_default_means_the_nine_and_the_team_s_own_and_all_means_all(project):
    (project / "axes" / "glow.py").write_text(AXIS.format(name="glow"), encoding="utf-8")

    def chosen(*axes):
        return list(select_axes(Configuration(items="x", project=str(project), axes=axes)))

    unasked = sorted(name for name, axis in builtin_axes().items() if axis.default)
    assert len(unasked) == 9
    assert chosen("default") == sorted([*unasked, "glow"])
    assert chosen("all") == sorted([*builtin_axes(), "glow"])
    assert chosen("noise", "default") == sorted([*unasked, "glow", "noise"])
    assert chosen("jpeg") == ["jpeg"]
