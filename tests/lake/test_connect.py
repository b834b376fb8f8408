from __future__ import annotations

import duckdb
import pytest

from judge_audit.core.errors import MachineryError
from judge_audit.core.tables import TABLES, from_rows, schema
from judge_audit.lake import Lake
from judge_audit.lake.connect import View, connect, in_order, parse_view, relations, shipped_views, views_sql


def rows(lake, query):
    with connect(lake) as connection:
        return connection.execute(query).fetchall()


def test_an_empty_lake_has_every_table_typed_and_every_view(lake):
    with connect(lake) as connection:
        for name in TABLES:
            found = connection.sql(f"SELECT * FROM {name}").to_arrow_table()
            assert found.schema.names == schema(name).names
            assert found.cast(schema(name)).num_rows == 0
            texts = [field.name for field in schema(name) if str(field.type) == "string"]
            assert all(str(found.schema.field(text).type) == "string" for text in texts)
        for name in shipped_views():
            assert connection.execute(f"SELECT * FROM {name}").fetchall() == []


def test_tables_show_controls_and_peoples_views_do_not(small_lake):
    assert rows(small_lake, "SELECT DISTINCT judge_id FROM scores ORDER BY 1") == [("fake",), ("real",)]
    assert rows(small_lake, "SELECT DISTINCT judge_id FROM responses") == [("real",)]
    assert rows(small_lake, "SELECT DISTINCT judge_id FROM all_responses ORDER BY 1") == [
        ("fake",),
        ("real",),
    ]
    for name in ("verdicts_latest", "positions", "covariate_verdicts", "percentiles", "worst_movers"):
        assert rows(small_lake, f"SELECT DISTINCT judge FROM {name}") == [("the real 1",)]


def test_a_response_stands_beside_its_original(small_lake):
    found = rows(
        small_lake,
        "SELECT probe_id, value, original_value, change, state, source FROM responses "
        "WHERE item_id = 'i0' ORDER BY probe_id",
    )
    assert found == [
        ("b1", 3.0, 1.0, 2.0, "ok", "s"),
        ("b2", 0.5, 1.0, -0.5, "ok", "s"),
        ("b3", None, None, None, "inert", "s"),
        ("o0", 1.0, 1.0, 0.0, "ok", "s"),
    ]


def test_the_latest_audit_is_the_one_that_ended_last(small_lake):
    assert rows(small_lake, "SELECT audit_id, judge FROM latest_audit") == [("late", "the real 1")]
    assert {audit for (audit,) in rows(small_lake, "SELECT audit_id FROM verdicts_latest")} == {"late"}
    assert rows(small_lake, "SELECT position, audit_id FROM positions") == [
        ("screening", "late"),
        ("screening", "early"),
    ]


def test_verdicts_come_faults_first(small_lake):
    assert rows(small_lake, "SELECT axis, verdict, finding FROM covariate_verdicts ORDER BY axis") == [
        ("blur", "pass", None),
        ("crop", "fail", "climbs"),
    ]
    assert rows(small_lake, "SELECT axis FROM verdicts_latest") == [("crop",), ("blur",)]
    assert rows(small_lake, "SELECT measure, value, verdict FROM scale_summary") == [("pile", 0.5, None)]


def test_a_percentile_counts_half_of_the_ties(small_lake):
    found = rows(small_lake, "SELECT value, percentile, ties, n FROM percentiles ORDER BY value")
    assert found == [(1.0, 12.5, 1, 4), (2.0, 50.0, 2, 4), (4.0, 87.5, 1, 4)]


def test_a_ranker_has_places_and_percentiles_but_no_average(small_lake):
    found = rows(small_lake, "SELECT item_id, place, percentile, n FROM ranks ORDER BY place, item_id")
    assert [place for _, place, _, _ in found] == [1, 2, 2, 4]
    assert [percentile for _, _, percentile, _ in found] == [87.5, 50.0, 50.0, 12.5]
    assert rows(small_lake, "SELECT n, average, refused FROM score_averages") == [
        (4, None, "Averages and thresholds are refused: Whether the scale is absolute was not examined.")
    ]


@pytest.mark.parametrize(
    ("verdicts", "average", "refused"),
    [
        ({"overall": "pass"}, 2.25, None),
        (
            {"overall": "pass", "look": "missing"},
            None,
            "Averages and thresholds are refused: Because of look.",
        ),
    ],
)
def test_averages_are_given_only_where_every_scale_is_absolute(small_lake, verdicts, average, refused):
    told_rows = [
        {"audit_id": "late", "subject": "real", "check": "scale", "measure": "absolute", "dimension": name}
        | {"verdict": verdict, "reason": f"Because of {name}.", "provisional": False}
        for name, verdict in verdicts.items()
    ]
    small_lake.commit({"verdicts": from_rows("verdicts", told_rows)})
    assert rows(small_lake, "SELECT average, refused FROM score_averages") == [(average, refused)]


def test_the_worst_mover_is_told_by_the_untouched_items_it_overtakes(small_lake):
    found = rows(small_lake, "SELECT item_id, axis, rung, place, lift FROM worst_movers")
    assert found == [("i0", "blur", 1, 1, pytest.approx(2 / 3))]


def test_the_self_proof_lists_what_each_control_was_convicted_of(small_lake):
    found = rows(small_lake, "SELECT control, convicted_of, passed FROM controls_caught")
    assert found == [("the fake 1", ["premature blur"], 1)]


def test_the_printed_views_serve_plain_duckdb(small_lake, tmp_path):
    script = tmp_path / "views.sql"
    script.write_text(views_sql(small_lake))
    with duckdb.connect() as plain:
        plain.execute(script.read_text())
        assert plain.execute("SELECT count(*) FROM responses").fetchall() == [(7,)]
        assert plain.execute("SELECT count(*) FROM calls").fetchall() == [(14,)]


def test_the_list_of_tables_counts_rows_and_says_what_one_is(small_lake):
    for count, views_rows in ((False, None), (True, 7)):
        listed = {entry.name: entry for entry in relations(small_lake, count=count)}
        assert set(listed) == {*TABLES, *shipped_views()}
        assert (listed["calls"].rows, listed["calls"].kind) == (14, "table")
        assert (listed["responses"].rows, listed["responses"].kind) == (views_rows, "view")
        assert all(entry.meaning for entry in listed.values())


def test_a_folder_with_a_quote_in_its_name_is_read(tmp_path):
    lake = Lake.open(tmp_path / "o'hara's lake; --")
    assert rows(lake, "SELECT count(*) FROM calls") == [(0,)]


def test_every_shipped_view_says_what_it_tells():
    views = shipped_views()
    assert {
        "responses",
        "latest_audit",
        "positions",
        "verdicts_latest",
        "covariate_verdicts",
        "scale_summary",
        "percentiles",
        "worst_movers",
        "controls_caught",
    } <= set(views)
    assert all(view.meaning.endswith((".", ")")) for view in views.values())


@pytest.mark.parametrize(
    ("name", "text"),
    [("x.sql", "SELECT 1"), ("x.sql", "-- only a comment\n"), ("calls.sql", "-- a\nSELECT 1")],
)
def test_a_malformed_view_is_refused_by_name(name, text):
    with pytest.raises(MachineryError, match=name):
        parse_view(name, text)


def test_views_follow_the_views_they_read_from():
    views = {
        name: View(name, "", query) for name, query in (("a", "FROM b"), ("b", "FROM c"), ("c", "SELECT 1"))
    }
    assert [view.name for view in in_order(views)] == ["c", "b", "a"]
    with pytest.raises(MachineryError, match="circle"):
        in_order({"a": View("a", "", "FROM b"), "b": View("b", "", "FROM a")})
