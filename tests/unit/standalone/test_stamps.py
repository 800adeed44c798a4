"""What was done is not done again, unless what it was done from has changed."""

from __future__ import annotations

from pathlib import Path

from chatapp.standalone.stamps import digest_files, is_done, mark_done


def test_what_was_marked_is_done(tmp_path: Path) -> None:
    mark_done(tmp_path / "stamp", "abc")
    assert is_done(tmp_path / "stamp", "abc")


def test_another_content_is_not_done(tmp_path: Path) -> None:
    mark_done(tmp_path / "stamp", "abc")
    assert not is_done(tmp_path / "stamp", "abd")


def test_nothing_is_done_before_the_first_time(tmp_path: Path) -> None:
    assert not is_done(tmp_path / "nowhere" / "stamp", "abc")


def test_the_digest_follows_contents_and_names_but_not_the_order(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    digest = digest_files([one, two])
    assert digest_files([two, one]) == digest
    one.write_text("3")
    assert digest_files([one, two]) != digest


def test_moving_text_from_one_file_to_the_next_changes_the_digest(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("ab")
    two.write_text("c")
    digest = digest_files([one, two])
    one.write_text("a")
    two.write_text("bc")
    assert digest_files([one, two]) != digest
