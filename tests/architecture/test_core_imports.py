"""The core stays free of the framework: seen in a fresh process, where nothing else has imported it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = [
    "chatapp.turns.pipeline",
    "chatapp.turns.ports",
    "chatapp.turns.events",
    "chatapp.turns.stopwatch",
    "chatapp.turns.fakes",
    "inference.engines.vllm",
    "inference.engines.openai_compatible",
    "inference.engines.anthropic",
    "inference.embedder",
    "inference.compressor",
    "routing.policy",
    "routing.scorers",
    "routing.rules",
]


@pytest.mark.parametrize("module", CORE)
def test_it_brings_in_neither_django_nor_celery(module: str) -> None:
    code = f"import sys, {module}; print(sorted({{'django', 'celery', 'channels'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_package_file_is_empty() -> None:
    found = [
        path
        for top in ("chatapp", "inference", "routing")
        for path in (ROOT / top).rglob("__init__.py")
        if path.read_text(encoding="utf-8")
    ]
    assert found == []
