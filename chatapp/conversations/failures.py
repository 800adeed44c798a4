"""What a person is told when a turn fails: one sentence for each stable code of docs/protocol.md."""

from __future__ import annotations

FAILURE_SENTENCES = {
    "no_engine": "No model can answer right now. Your question is kept: try again in a moment.",
    "engine_unreachable": "The model cannot be reached right now. Your question is kept: try again in a moment.",
    "engine_timed_out": "The model took too long. Your question is kept: try again in a moment.",
    "engine_overloaded": "The model is busy. Your question is kept: try again in a moment.",
    "engine_refused_key": "The provider refused our key. Your question is kept; an admin must look at the route.",
    "engine_rejected_request": "The model did not take this request. Try a shorter question or a new conversation.",
    "engine_broke": "The model broke off. Your question is kept: try again.",
    "engine_spoke_nonsense": "The model's answer could not be read. Your question is kept: try again.",
    "prompt_too_long": "This question is too long for the model. Shorten it and ask again.",
    "producer_lost": "The server was interrupted while answering. What was said is kept: ask again.",
    "internal": "Something went wrong on our side. Your question is kept: try again.",
}
_UNKNOWN_FAILURE = FAILURE_SENTENCES["internal"]


def failure_sentence(code: str) -> str:
    return FAILURE_SENTENCES.get(code, _UNKNOWN_FAILURE)
