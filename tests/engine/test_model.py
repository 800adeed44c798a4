"""What the server serves is the model that the set-up built: 8-bit weights, checked against those they came from."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from inference.serving.build import PERPLEXITY_MAX_RATIO, STAMP, is_built
from tests.engine.conftest import ServedModel

pytestmark = pytest.mark.engine


@pytest.fixture
def folder(served_model: ServedModel) -> Path:
    if not (served_model.folder / STAMP).exists():
        pytest.skip(f"the engine serves {served_model.folder}, which `inference.serving.build` did not build")
    return served_model.folder


def read_tensors(path: Path) -> dict[str, dict[str, Any]]:
    """A safetensors file begins with the length of its header, eight bytes, and the header in JSON."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header: dict[str, dict[str, Any]] = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return header


def test_the_projections_are_8_bit_integers_with_a_scale_for_each_row(folder: Path) -> None:
    tensors = read_tensors(folder / "model.safetensors")
    projections = {name: told for name, told in tensors.items() if name.endswith("_proj.weight")}
    assert len(projections) == 30 * 7
    assert {told["dtype"] for told in projections.values()} == {"I8"}
    for name, told in projections.items():
        assert tensors[f"{name}_scale"]["shape"] == [told["shape"][0], 1]


def test_the_embeddings_and_norms_keep_their_precision(folder: Path) -> None:
    tensors = read_tensors(folder / "model.safetensors")
    kept = {told["dtype"] for name, told in tensors.items() if "_proj." not in name}
    assert kept == {"BF16"}


def test_rounding_cost_less_perplexity_than_is_allowed(folder: Path) -> None:
    stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    assert 1 < stamp["perplexity_after"] <= stamp["perplexity_before"] * PERPLEXITY_MAX_RATIO


def test_the_folder_is_taken_for_built_and_not_built_again(folder: Path) -> None:
    stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    assert is_built(folder, stamp["fingerprint"])
    assert not is_built(folder, "another source")
