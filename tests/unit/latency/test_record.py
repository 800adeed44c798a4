"""What is logged of a turn, and what the log's table has room for."""

from __future__ import annotations

from dataclasses import MISSING, fields

from chatapp.latency.models import TurnLatency
from chatapp.latency.store import REASON_MAX_CHARACTERS, RULE_MAX_CHARACTERS, TurnRecord

# The database's own to fill: the moment of writing, and what no turn has yet.
NOT_RECORDED = {"created_at", "experiment_arm"}


def test_a_record_has_every_column_of_the_log() -> None:
    columns = {field.attname for field in TurnLatency._meta.concrete_fields}
    assert {field.name for field in fields(TurnRecord)} == columns - NOT_RECORDED


def test_what_was_not_measured_is_none_and_never_zero() -> None:
    measured = [field for field in fields(TurnRecord) if field.name.endswith(("_ms", "_tokens", "_per_s"))]
    assert {"ttft_ms", "prompt_tokens", "tokens_per_s"} <= {field.name for field in measured}
    assert all(field.default in (None, MISSING) for field in measured)


def test_every_measure_may_be_null_in_the_log() -> None:
    measures = [field for field in TurnLatency._meta.concrete_fields if field.name.endswith(("_ms", "_tokens"))]
    assert all(field.null and not field.has_default() for field in measures)


def test_long_texts_are_cut_to_what_their_columns_hold() -> None:
    assert TurnLatency._meta.get_field("reason").max_length == REASON_MAX_CHARACTERS
    assert TurnLatency._meta.get_field("rule").max_length == RULE_MAX_CHARACTERS


def test_no_column_could_hold_a_question_or_an_answer() -> None:
    names = {field.name for field in TurnLatency._meta.concrete_fields}
    assert names.isdisjoint({"question", "answer", "prompt", "text", "title"})
