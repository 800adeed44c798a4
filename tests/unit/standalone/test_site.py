"""Where one site keeps its things."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from chatapp.standalone.bootstrap import has_leftovers
from chatapp.standalone.postgres import forget_stale_pid, is_postgres_running
from chatapp.standalone.site import Site, lock_site, open_site, read_secret_key
from chatapp.standalone.steps import SetupError


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_is_made_and_not_to_be_listed_by_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "a" / "b"))
    assert mode_of(open_site().data_dir) == 0o711


def test_a_data_dir_that_is_a_file_gets_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(SetupError, match="cannot be used"):
        open_site()


def test_a_second_supervisor_on_one_folder_is_refused(tmp_path: Path) -> None:
    with lock_site(Site(tmp_path)), pytest.raises(SetupError, match="already runs on"):
        lock_site(Site(tmp_path))


def test_the_folder_is_free_again_when_the_first_has_ended(tmp_path: Path) -> None:
    lock_site(Site(tmp_path)).close()
    lock_site(Site(tmp_path)).close()


def test_the_secret_key_is_made_once_and_its_owners_only(tmp_path: Path) -> None:
    key = read_secret_key(Site(tmp_path))
    assert len(key) > 50
    assert read_secret_key(Site(tmp_path)) == key
    assert mode_of(tmp_path / "secret-key") == 0o600


def test_two_sites_have_two_keys(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert read_secret_key(Site(tmp_path / "one")) != read_secret_key(Site(tmp_path / "two"))


def test_a_pid_file_that_names_another_process_is_no_running_postgres(tmp_path: Path) -> None:
    (tmp_path / "postmaster.pid").write_text("1\n/somewhere\n")
    assert not is_postgres_running(tmp_path)
    forget_stale_pid(tmp_path)
    assert not (tmp_path / "postmaster.pid").exists()


@pytest.mark.parametrize("text", ["", "x\n", "-5\n", "999999999\n"])
def test_a_spoiled_pid_file_is_forgotten(tmp_path: Path, text: str) -> None:
    (tmp_path / "postmaster.pid").write_text(text)
    forget_stale_pid(tmp_path)
    assert not (tmp_path / "postmaster.pid").exists()


def test_a_killed_run_is_known_by_what_it_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    assert not has_leftovers()
    (tmp_path / "pids").mkdir()
    (tmp_path / "pids" / "web.json").write_text("{}")
    assert has_leftovers()
