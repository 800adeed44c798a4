"""What the product adds to a turn: from the question's frame to the upstream request, from an upstream token to its
frame, against a scripted engine on loopback that stamps each token with its time of sending.

Embedding, cache lookup, routing and saving are all included; nothing is switched off. One clock (CLOCK_MONOTONIC)
serves all processes. The time that tokens are held on purpose to be joined (`batch_ms` in each frame) is not counted.

    python -m benchmarks.turn_overhead --json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import uuid4

import django
import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from benchmarks.figures import summarize_ms
from benchmarks.site import BenchSite, open_site

CONVERSATIONS = 50
SPREAD_S = 0.020
STAMP = re.compile(r" t(\d+)")

_subjects = ("a harbour", "the moon", "good bread", "old maps", "steam engines", "river deltas", "glass", "bees")
_verbs = ("describe", "praise", "question", "imagine", "remember", "draw", "explain", "compare")
_numbers = count(1)


@dataclass(slots=True)
class Turn:
    """One question and what was measured of it; nanoseconds on one clock."""

    question: str
    asked_ns: int = 0
    first_delta_ns: int = 0
    delta_ms: list[float] = field(default_factory=list)
    received_ns: int = 0
    first_sent_ns: int = 0

    @property
    def ask_ms(self) -> float:
        return (self.received_ns - self.asked_ns) / 1e6

    @property
    def added_ttft_ms(self) -> float:
        """Time to first token as the browser has it, less what the engine took."""
        return (self.first_delta_ns - self.asked_ns - (self.first_sent_ns - self.received_ns)) / 1e6


def make_question() -> str:
    """No two alike, so that the cache is looked into and never answers."""
    number = next(_numbers)
    return f"Please {_verbs[number % 8]} {_subjects[number // 8 % 8]} in the words of person number {number}."


async def open_socket(site: BenchSite, session: str) -> ClientConnection:
    cookie = {"Cookie": f"sessionid={session}"}
    socket = await connect(site.socket_url, origin=Origin(site.origin), additional_headers=cookie)
    await socket.recv()  # ready
    return socket


async def ask(socket: ClientConnection) -> Turn:
    turn = Turn(make_question())
    frame = {"type": "ask", "turn": str(uuid4()), "conversation": None, "text": turn.question, "cache": "use"}
    text = json.dumps(frame)
    turn.asked_ns = time.monotonic_ns()
    await socket.send(text)
    while True:
        received = await socket.recv()
        now_ns = time.monotonic_ns()
        record = json.loads(received)
        if record["type"] == "delta":
            turn.first_delta_ns = turn.first_delta_ns or now_ns
            oldest = STAMP.search(record["text"])
            assert oldest is not None
            turn.delta_ms.append((now_ns - int(oldest[1])) / 1e6 - record["batch_ms"])
        elif record["type"] == "finished":
            return turn
        elif record["type"] in {"failed", "error"}:
            raise RuntimeError(f"the turn failed: {record}")


async def ask_after(delay_s: float, socket: ClientConnection) -> Turn:
    await asyncio.sleep(delay_s)
    return await ask(socket)


async def script(site: BenchSite, *, deltas: int) -> None:
    async with httpx.AsyncClient() as client:
        await client.post(f"{site.provider_url}/reset")
        wanted = {"model": "bench", "stamped": True, "deltas": deltas, "token_delay_s": 0.02}
        (await client.post(f"{site.provider_url}/script", json=wanted)).raise_for_status()


async def read_upstream(site: BenchSite, turns: list[Turn]) -> list[Turn]:
    """Fill in when the engine got each question and sent its first token."""
    async with httpx.AsyncClient() as client:
        log = (await client.get(f"{site.provider_url}/log", timeout=60)).json()
    seen = {entry["body"]["messages"][-1]["content"]: entry for entry in log}
    for turn in turns:
        entry = seen[turn.question]
        turn.received_ns, turn.first_sent_ns = entry["received_ns"], entry["sent_ns"][0]
    return turns


async def measure(site: BenchSite, sessions: list[str], *, alone: int, rounds: int) -> dict[str, list[Turn]]:
    sockets = [await open_socket(site, session) for session in sessions]
    await script(site, deltas=10)
    for socket in sockets[:10]:  # what is loaded on first use is loaded
        await ask(socket)
    results: dict[str, list[Turn]] = {"1": [], "50": [], "50_at_once": []}
    await script(site, deltas=10)
    for _ in range(alone):
        results["1"].append(await ask(sockets[0]))
    await read_upstream(site, results["1"])
    for name, spread_s in (("50", SPREAD_S), ("50_at_once", 0.0)):
        for _ in range(rounds):
            await script(site, deltas=100)
            turns = await asyncio.gather(*(ask_after(i * spread_s, socket) for i, socket in enumerate(sockets)))
            results[name] += await read_upstream(site, list(turns))
    for socket in sockets:
        await socket.close()
    return results


def summarize(results: dict[str, list[Turn]]) -> dict[str, Any]:
    return {
        "ask_ms": {name: summarize_ms([turn.ask_ms for turn in turns]) for name, turns in results.items()},
        "delta_ms": {
            name: summarize_ms([ms for turn in turns for ms in turn.delta_ms]) for name, turns in results.items()
        },
        "added_ttft_ms": {
            name: summarize_ms([turn.added_ttft_ms for turn in turns]) for name, turns in results.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print only the JSON object")
    parser.add_argument("--alone", type=int, default=200, help="questions asked one after the other")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of 50 questions, spread and at one instant")
    parser.add_argument("--cached-answers", type=int, default=2_000, help="answers in the cache beforehand")
    arguments = parser.parse_args()
    with open_site() as site:
        django.setup()
        from benchmarks.people import fill_cache, make_sessions

        fill_cache(arguments.cached_answers)
        sessions = make_sessions(CONVERSATIONS)
        results = asyncio.run(measure(site, sessions, alone=arguments.alone, rounds=arguments.rounds))
        figures = summarize(results) | {"web_memory_mb": round(site.web_memory_mb())}
    if not arguments.json:
        for key in ("ask_ms", "delta_ms", "added_ttft_ms"):
            for name, values in figures[key].items():
                print(f"{key:14} {name:11} {values}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
