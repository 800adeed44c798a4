"""What real providers sent, recorded by others, through our engines: the recordings lie beside the repository."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from inference.errors import EngineError, EngineRejectedRequest
from tests.providers.scripted_provider import ScriptedProvider
from tests.unit.inference.answers import ask
from tests.unit.inference.conftest import BuildEngine

FOLDER = Path(__file__).parents[4] / "shared" / "data" / "sse_cassettes"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no recordings in {FOLDER}")


@dataclass(frozen=True, slots=True)
class Recording:
    name: str
    is_anthropic: bool
    status: int
    body: str

    def __str__(self) -> str:
        return self.name

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("anthropic",) if self.is_anthropic else ("vllm", "openai")

    def text(self) -> str:
        """The answer, read from the recording in the plainest way."""
        events = [json.loads(data) for data in re.findall(r"^data: (\{.*)$", self.body, re.MULTILINE)]
        return "".join(_texts(events))


def _texts(events: list[dict[str, Any]]) -> Iterator[str]:
    for event in events:
        yield event.get("delta", {}).get("text", "")
        for choice in event.get("choices", ()):
            content = choice["delta"].get("content") or ""
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            yield from (part["text"] for part in parts if part["type"] == "text")


def _read_recordings() -> Iterator[Recording]:
    for path in sorted(FOLDER.glob("*.yaml")):
        for number, interaction in enumerate(yaml.safe_load(path.read_text())["interactions"]):
            uri, response = interaction["request"]["uri"], interaction["response"]
            body = response["body"]["string"] if "body" in response else json.dumps(response["parsed_body"])
            if re.search(r"/(chat/completions|messages)($|[?#])", uri):
                name = f"{path.stem.removeprefix('test_')}-{number}"
                yield Recording(name, "anthropic.com" in uri, response["status"]["code"], body)


RECORDINGS = list(_read_recordings())
STREAMS = [(r, kind) for r in RECORDINGS if r.status == 200 and "data: " in r.body for kind in r.kinds]
REFUSALS = [(r, kind) for r in RECORDINGS if r.status != 200 for kind in r.kinds]


@pytest.mark.parametrize("chunk_bytes", [None, 5])
@pytest.mark.parametrize(("recording", "kind"), STREAMS, ids=str)
async def test_a_recorded_stream_gives_its_text_and_its_end(
    build_engine: BuildEngine, provider: ScriptedProvider, recording: Recording, kind: str, chunk_bytes: int | None
) -> None:
    provider.script(recording=recording.body, chunk_bytes=chunk_bytes)
    answer = await ask(build_engine(kind))
    assert answer.text == recording.text()
    assert answer.completed.finish_reason == "stop"
    assert answer.completed.usage.completion_tokens


@pytest.mark.parametrize(("recording", "kind"), REFUSALS, ids=str)
async def test_a_recorded_refusal_is_a_rejected_request(
    build_engine: BuildEngine, provider: ScriptedProvider, recording: Recording, kind: str
) -> None:
    provider.script(recording=recording.body, fail_status=recording.status)
    with pytest.raises(EngineError) as raised:
        await ask(build_engine(kind))
    assert type(raised.value) is EngineRejectedRequest
    assert json.loads(recording.body)["error"]["message"] not in str(raised.value)
