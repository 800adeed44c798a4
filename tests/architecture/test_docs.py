"""Docs that cannot rot: every setting has a heading, every frame an example that passes through the real code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from chatapp.conversations.failures import FAILURE_SENTENCES
from chatapp.sockets.frames import ERROR_SENTENCES, PARSERS, parse_frame

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")


def read_examples(kind: str) -> list[dict[str, Any]]:
    return [json.loads(found) for found in re.findall(rf"```json {kind}\n(.*?)\n```", PROTOCOL, re.DOTALL)]


def test_every_setting_has_a_heading() -> None:
    code = (ROOT / "chatapp" / "settings.py").read_text(encoding="utf-8")
    settings = set(re.findall(r'read_(?:text|bool|int|list)\(\s*"([A-Z_]+)"', code))
    headings = set(re.findall(r"^## ([A-Z_]+)$", (ROOT / "docs" / "settings.md").read_text(encoding="utf-8"), re.M))
    assert settings
    assert settings - headings == set()


@pytest.mark.parametrize("example", read_examples("client"), ids=lambda example: example["type"])
def test_the_parser_takes_the_example(example: dict[str, Any]) -> None:
    assert parse_frame(json.dumps(example), question_max_characters=1_000)


def test_every_frame_of_a_browser_has_an_example() -> None:
    assert {example["type"] for example in read_examples("client")} == {*PARSERS, "ping"}


def test_every_frame_of_the_server_has_an_example() -> None:
    wanted = {"ready", "notice", "accepted", "waiting", "routed", "delta", "finished", "stopped", "failed", "gap"}
    assert {example["type"] for example in read_examples("server")} == wanted | {"error", "heartbeat", "pong"}


def test_every_code_is_listed() -> None:
    assert {code for code in (*ERROR_SENTENCES, *FAILURE_SENTENCES) if f"`{code}`" not in PROTOCOL} == set()
