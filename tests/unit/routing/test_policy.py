"""Which route answers, and the sentence that says why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.errors import NoRouteAvailable, RuleError
from routing.features import extract_features
from routing.policy import Policy, RouteDecision, RouteOption, decide
from routing.rules import MAX_RULES, parse_rules
from routing.scorers import FeatureScorer

POLICY = Policy(version=3, threshold=0.5)
LOCAL = RouteOption("local", "local", enabled=True, ready=True)
FLAGSHIP = RouteOption("openai", "flagship", enabled=True, ready=True)
NO_KEY = replace(FLAGSHIP, ready=False, why_not_ready="OPENAI_API_KEY is not set.")


def choose(score: float, *routes: RouteOption, policy: Policy = POLICY, question: str = "Hello?") -> RouteDecision:
    features = extract_features(question, history_length=0)
    return decide(policy, routes, features, score, scorer="test", question=question)


@pytest.mark.parametrize(("score", "route"), [(0.9, "local"), (0.5, "local"), (0.49, "openai"), (0.0, "openai")])
def test_the_threshold_decides(score: float, route: str) -> None:
    decision = choose(score, LOCAL, FLAGSHIP)
    assert decision.route == route
    assert f"{score:.2f}" in decision.reason
    assert decision.policy_version == 3


def test_without_a_flagship_everything_is_local_and_the_reason_says_so() -> None:
    decision = choose(0.1, LOCAL, NO_KEY)
    assert decision.route == "local"
    assert decision.reason == "No flagship model is configured: everything goes to the local model."


def test_a_disabled_route_is_never_chosen_and_the_reason_names_it() -> None:
    decision = choose(0.9, replace(LOCAL, enabled=False), FLAGSHIP)
    assert decision.route == "openai"
    assert "local is disabled" in decision.reason


def test_a_route_that_is_not_ready_tells_why() -> None:
    decision = choose(0.9, replace(LOCAL, ready=False, why_not_ready="It is down."), FLAGSHIP)
    assert "It is down." in decision.reason


def test_no_route_at_all_is_an_error_with_the_reasons() -> None:
    with pytest.raises(NoRouteAvailable) as caught:
        choose(0.9, replace(LOCAL, enabled=False), NO_KEY)
    assert caught.value.reasons == ("local is disabled.", "openai: OPENAI_API_KEY is not set.")


def test_a_rule_comes_before_the_score() -> None:
    policy = replace(POLICY, rules=parse_rules("contains: refund -> flagship"))
    decision = choose(0.99, LOCAL, FLAGSHIP, policy=policy, question="Where is my Refund?")
    assert decision.route == "openai"
    assert decision.rule == "contains: refund"
    assert decision.reason.startswith("Rule 1")


def test_the_first_rule_that_matches_wins() -> None:
    policy = replace(POLICY, rules=parse_rules("starts with: translate -> local\ncontains: poem -> flagship"))
    assert choose(0.0, LOCAL, FLAGSHIP, policy=policy, question="Translate this poem").route == "local"


def test_switched_off_everything_is_local() -> None:
    decision = choose(0.0, LOCAL, FLAGSHIP, policy=replace(POLICY, routing_enabled=False))
    assert (decision.route, "switched off" in decision.reason) == ("local", True)


def test_the_other_routes_are_the_fallbacks_in_the_order_that_was_set() -> None:
    other = replace(FLAGSHIP, name="anthropic")
    policy = replace(POLICY, fallback_order=("anthropic", "openai"))
    assert choose(0.9, LOCAL, FLAGSHIP, other, policy=policy).fallbacks == ("anthropic", "openai")
    assert choose(0.1, LOCAL, FLAGSHIP, other, policy=policy).route == "anthropic"
    assert choose(0.9, LOCAL, FLAGSHIP, policy=replace(policy, fallback_enabled=False)).fallbacks == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("contains: a", "Line 1"),
        ("\ncontains: a -> cloud", "Line 2"),
        ("shouts -> local", "no condition"),
        ("contains: , -> local", "needs a value"),
        ("has code: yes -> local", "has no value"),
        ("longer than: many -> local", "number"),
        ("has code -> local\n" * (MAX_RULES + 1), "at most"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused_with_a_sentence(text: str, told: str) -> None:
    with pytest.raises(RuleError, match=told):
        parse_rules(text)


@pytest.mark.parametrize(
    ("rule", "question", "matches"),
    [
        ("contains: art -> local", "modern art?", True),
        ("contains: art -> local", "how do I start?", False),
        ("contains: cash back -> local", "Get CASH BACK now", True),
        ("longer than: 5 -> local", "123456", True),
        ("longer than: 5 -> local", "12345", False),
        ("has code -> local", "```py\nx\n```", True),
        ("has maths -> local", "what is 3 + 4", True),
        ("# a note", "anything", False),
    ],
)
def test_a_rule_matches_what_it_says(rule: str, question: str, matches: bool) -> None:
    features = extract_features(question, history_length=0)
    assert any(found.matches(question, features) for found in parse_rules(rule)) is matches


def score(question: str, history_length: int = 0) -> float:
    return FeatureScorer().score(extract_features(question, history_length=history_length))


def test_a_short_plain_question_is_for_the_local_model() -> None:
    assert score("What is the capital of France?") == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize(
    "harder",
    [
        "Why? Prove it and compare both.",
        "```python\nprint(1)\n```\nfix this",
        "What is 17 * 23 - 4?",
        "One? Two? Three?",
        "word " * 400,
        "Как это работает?",
    ],
)
def test_what_makes_a_question_harder_lowers_its_score(harder: str) -> None:
    assert score(harder) < score("What is the capital of France?") - 0.05


@given(st.text(max_size=2_000), st.integers(0, 1_000))
def test_any_text_has_a_score(question: str, history_length: int) -> None:
    assert 0 <= score(question, history_length) <= 1
