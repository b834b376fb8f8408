from datetime import datetime, timedelta, timezone

from judge_audit.core.formatting import minute


def test_a_time_of_any_zone_is_written_in_utc():
    berlin = timezone(timedelta(hours=2))
    assert minute(datetime(2026, 7, 1, 0, 30, 59, tzinfo=berlin)) == "2026-06-30 22:30 UTC"
    assert minute("2026-07-01T00:30:00+02:00") == "2026-06-30 22:30 UTC"
