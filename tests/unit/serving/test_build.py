"""When a model counts as built: only whole, and only from this very source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inference.serving.build import STAMP, fingerprint_source, is_built


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "model.safetensors").write_bytes(b"12345")
    (tmp_path / STAMP).write_text(json.dumps({"fingerprint": "abc", "sizes": {"model.safetensors": 5}}))
    return tmp_path


def test_a_whole_build_from_the_same_source_is_kept(built: Path) -> None:
    assert is_built(built, "abc")


def test_another_source_is_built_anew(built: Path) -> None:
    assert not is_built(built, "def")


def test_a_cut_off_file_is_built_anew(built: Path) -> None:
    (built / "model.safetensors").write_bytes(b"123")
    assert not is_built(built, "abc")


def test_a_missing_file_is_built_anew(built: Path) -> None:
    (built / "model.safetensors").unlink()
    assert not is_built(built, "abc")


@pytest.mark.parametrize("stamp", ["", "{", "[]", "{}", '{"sizes": {}}', '{"sizes": 3}'])
def test_a_spoiled_stamp_is_no_build(built: Path, stamp: str) -> None:
    (built / STAMP).write_text(stamp)
    assert not is_built(built, "abc")


def test_a_folder_that_is_not_there_is_no_build(tmp_path: Path) -> None:
    assert not is_built(tmp_path / "nowhere", "abc")


def test_the_fingerprint_follows_the_content(tmp_path: Path) -> None:
    source = tmp_path / "model.gguf"
    source.write_bytes(b"one")
    first = fingerprint_source(source)
    assert fingerprint_source(source) == first
    source.write_bytes(b"two")
    assert fingerprint_source(source) != first


def test_the_fingerprint_of_a_folder_follows_each_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    before = fingerprint_source(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"1")
    assert fingerprint_source(tmp_path) != before
