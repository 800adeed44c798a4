"""The stand-in as a process of its own, as the benchmarks start it."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    command = [sys.executable, "-m", "tests.providers.server", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().removeprefix("listening on ").strip()
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            yield client
        process.terminate()


@pytest.mark.parametrize("path", ["/health", "/v1/models"])
def test_it_is_up(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_the_bench_model_stamps_each_delta_with_the_time_it_was_sent_at(client: httpx.Client, path: str) -> None:
    client.post("/reset")
    client.post("/script", json={"model": "bench", "stamped": True, "deltas": 5, "token_delay_s": 0.001})
    before_ns = time.monotonic_ns()
    answer = client.post(path, json={"model": "bench", "messages": []})
    stamps = [int(stamp) for stamp in re.findall(r'" t(\d+)"', answer.text)]
    (seen,) = client.get("/log").json()
    assert len(stamps) == 5
    assert stamps == seen["sent_ns"] == sorted(stamps)
    assert before_ns < seen["received_ns"] < stamps[0]
    assert seen["is_finished"]
    assert seen["closed_by_client_ns"] is None


def test_it_notes_that_the_client_closed_the_stream(client: httpx.Client) -> None:
    client.post("/reset")
    client.post("/script", json={"model": "patient", "stall_after": 1})
    with client.stream("POST", "/v1/chat/completions", json={"model": "patient"}) as answer:
        parts = answer.iter_bytes()
        next(parts)
        began_ns = time.monotonic_ns()
    seen = client.get("/log").json()[0]
    while seen["closed_by_client_ns"] is None:
        seen = client.get("/log").json()[0]
    assert seen["closed_by_client_ns"] > began_ns
    assert not seen["is_finished"]


def test_an_unknown_field_of_a_script_is_refused(client: httpx.Client) -> None:
    assert client.post("/script", json={"no_such_field": 1}).status_code == 400
    assert client.get("/health").status_code == 200
