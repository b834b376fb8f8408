from __future__ import annotations

import importlib
import json
import subprocess
import sys

import numpy as np
import pytest

from judge_audit.audits.context import context_of
from judge_audit.audits.plugins import (
    find_axes,
    find_checks,
    find_kinds,
    find_uses,
    find_views,
    part_digests,
    select_axes,
)
from judge_audit.core.configuration import Configuration
from judge_audit.core.digests import file_digest
from judge_audit.core.errors import AuditError, UsageError
from judge_audit.judges.protocol import Stimulus
from judge_audit.lake import Lake
from judge_audit.lake.sql import run_sql
from judge_audit.stimuli.axes import builtin_axes

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
        f"from judge_audit.audits.plugins import find_axes\nfind_axes({str(project)!r})\n"
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


KIND = """
from judge_audit.judges.protocol import Reply
KIND = "height"
class Height:
    def __init__(self, card):
        self.card = card
    def score(self, stimuli):
        return [Reply({"overall": float(entry.image.shape[0])}) for entry in stimuli]
def build(card, *, project=None):
    return Height(card)
"""
USE = """
use: thumbnails
step: filter and rank
question: May it choose thumbnails?
requires:
  - {check: scale, measure: capability, missing: "No scores.", remedy: "Score more."}
"""
VIEW = "-- How many judges there are.\nSELECT count(*) AS judges FROM judges;\n"


@pytest.fixture
def whole_project(project):
    files = {"judges/height.py": KIND, "uses/thumbnails.yaml": USE, "views/how_many.sql": VIEW}
    files["cards/tall.yaml"] = "kind: height\nname: tall\nweights: h1\n"
    for name, text in files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    return project


def test_a_project_s_kind_and_card_make_a_judge_by_name(whole_project):
    configuration = Configuration(items="x", judge="tall", project=str(whole_project))
    (reply,) = context_of(configuration).judge.score([Stimulus(np.zeros((7, 3, 3), np.uint8), "")])
    assert reply.scores == {"overall": 7.0}


def test_a_project_s_use_and_view_are_found_with_origin_and_digest(whole_project):
    use = find_uses(str(whole_project))["thumbnails"]
    assert use.thing.question == "May it choose thumbnails?"
    assert use.origin.endswith("thumbnails.yaml")
    assert find_views(str(whole_project))["how_many"].thing.meaning == "How many judges there are."
    digests = part_digests(Configuration(items="x", project=str(whole_project)))
    assert {path.rpartition("/")[2] for path in digests} == {"height.py", "thumbnails.yaml", "how_many.sql"}


def test_a_project_s_view_answers_beside_the_shipped_ones(whole_project):
    lake = Lake.open(whole_project / "lake")
    views = {name: part.thing for name, part in find_views(str(whole_project)).items()}
    assert json.loads(run_sql(lake, "SELECT * FROM how_many", "json", views=views)) == [{"judges": 0}]
    assert run_sql(lake, "SELECT count(*) AS n FROM verdicts_latest", "csv", views=views).split() == [
        "n",
        "0",
    ]


@pytest.mark.parametrize(
    ("name", "text", "find"),
    [
        ("judges/brisque.py", KIND.replace("height", "brisque"), find_kinds),
        ("uses/reward.yaml", USE.replace("thumbnails", "reward"), find_uses),
        ("views/percentiles.sql", VIEW, find_views),
    ],
)
def test_a_name_of_the_package_s_own_is_refused_in_every_folder(project, name, text, find):
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="stands twice"):
        find(str(project))


@pytest.mark.parametrize(
    ("name", "text", "find"),
    [
        ("judges/hollow.py", "KIND = 3", find_kinds),
        ("uses/hollow.yaml", "use: x", find_uses),
        ("uses/broken.yaml", "use: [", find_uses),
        ("views/silent.sql", "SELECT 1", find_views),
    ],
)
def test_a_malformed_part_is_refused_by_its_path_as_the_team_s_own_fault(project, name, text, find):
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=name.rpartition("/")[2]):
        find(str(project))


def test_an_installed_package_s_parts_are_found_by_their_entry_points(tmp_path, monkeypatch):
    (tmp_path / "team_axes.py").write_text(AXIS.format(name="sparkle"), encoding="utf-8")
    record = tmp_path / "team_parts-1.2.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: team-parts\nVersion: 1.2\n")
    (record / "entry_points.txt").write_text("[judge_audit.axes]\nsparkle = team_axes\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    part = find_axes("")["sparkle"]
    assert "entry point sparkle (team_axes)" in part.origin
    assert part.digest
    (tmp_path / "team_axes.py").write_text(AXIS.format(name="blur"), encoding="utf-8")
    monkeypatch.delitem(sys.modules, "team_axes")
    importlib.invalidate_caches()
    with pytest.raises(UsageError, match=r"“blur” stands twice, in the package and in the installed"):
        find_axes("")
