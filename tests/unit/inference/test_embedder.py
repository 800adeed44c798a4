"""The real embedder on its real weights."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference import embedder as module
from inference.embedder import DIMENSIONS, Embedder, EmbedderBroken
from inference.fakes import FakeEmbedder

STRANGE = ["", " ", "\0", "\ud800", "\u202eשלום\u200b", "[CLS] [SEP] [MASK]"]
LONG = ["a" * 100_000, "word " * 20_000, "🇫🇷" * 30_000]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


def assert_it_is_a_unit_vector(vector: np.ndarray) -> None:
    assert vector.shape == (DIMENSIONS,)
    assert vector.dtype == np.float32
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("text", [*STRANGE, *LONG], ids=range(len(STRANGE) + len(LONG)))
def test_strange_and_long_text_has_a_vector_of_length_one(embedder: Embedder, text: str) -> None:
    assert_it_is_a_unit_vector(embedder.embed(text))


@settings(max_examples=50, deadline=None)
@given(text=st.text(st.characters()))
def test_any_text_has_a_vector_of_length_one(embedder: Embedder, text: str) -> None:
    assert_it_is_a_unit_vector(embedder.embed(text))


def test_a_paraphrase_is_nearer_than_another_subject(embedder: Embedder) -> None:
    question = embedder.embed("How do I reset my password?")
    paraphrase = embedder.embed("I forgot my password, how can I change it?")
    other = embedder.embed("What is the weather like in Lisbon?")
    assert question @ paraphrase > 0.7 > 0.3 > question @ other


def test_a_text_has_the_same_vector_alone_and_in_company(embedder: Embedder) -> None:
    texts = ["Hello", "How do I reset my password?", "word " * 300]
    together = embedder.embed_many(texts)
    alone = np.stack([embedder.embed(text) for text in texts])
    # int8 activations are scaled by the batch: the same up to rounding.
    assert (together * alone).sum(axis=1).min() > 0.98


def test_no_text_gives_no_vector(embedder: Embedder) -> None:
    assert embedder.embed_many([]).shape == (0, DIMENSIONS)


def test_many_threads_get_the_vectors_that_one_gets(embedder: Embedder) -> None:
    texts = [f"question number {number}" for number in range(40)]
    expected = [embedder.embed(text) for text in texts]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(embedder.embed, texts))
    assert np.array_equal(found, expected)


def test_an_embedder_that_gives_every_text_one_vector_is_refused() -> None:
    same = np.full((2, DIMENSIONS), DIMENSIONS**-0.5, dtype=np.float32)
    with patch.object(Embedder, "embed_many", return_value=same), pytest.raises(EmbedderBroken):
        Embedder()


def test_a_model_file_that_was_tampered_with_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MODEL_SHA256", "0" * 64)
    with pytest.raises(EmbedderBroken, match="published"):
        Embedder()


def test_the_fake_keeps_the_contract_of_the_real_one() -> None:
    fake = FakeEmbedder()
    assert fake.dimensions == Embedder.dimensions
    for text in ("Hello", "", "\ud800"):
        assert_it_is_a_unit_vector(fake.embed(text))
    assert fake.embed("Hello") @ fake.embed("Hello") == pytest.approx(1.0)
    assert abs(fake.embed("Hello") @ fake.embed("Goodbye")) < 0.3
