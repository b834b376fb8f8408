from judge_audit.core.files import grab


def test_a_lock_is_held_by_one_file_at_a_time_and_let_go_when_it_is_closed(tmp_path):
    path = tmp_path / "lock"
    with path.open("w") as first, path.open("w") as second:
        assert grab(first.fileno()) is True
        assert grab(second.fileno()) is False
    with path.open("w") as third:
        assert grab(third.fileno()) is True


def test_a_handle_that_cannot_be_locked_is_unknown_and_not_held_by_another(tmp_path):
    with (tmp_path / "lock").open("w") as file:
        handle = file.fileno()
    assert grab(handle) is None
