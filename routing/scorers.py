"""Scores a question: the probability that the local model's answer is good enough."""

from __future__ import annotations

import math

from routing.features import Features


class FeatureScorer:
    """A logistic over the features, its weights set by hand and stated here; nothing is fitted to any data.

    A short plain question scores 0.90. Each weight is the change in log-odds, so -2.2 alone brings 0.90 to 0.50.
    """

    name = "features-1"

    # log(0.90 / 0.10)
    BASE = 2.2
    # Several steps of thought are where small models fail first; two such words are enough to say so.
    REASONING_WORD, REASONING_WORDS_MAX = -1.2, 2
    # Code and maths are right or wrong: a small model is often nearly right.
    CODE = -1.6
    MATHS = -1.3
    # Each further question in one makes it likelier that one is missed.
    EXTRA_PART, EXTRA_PARTS_MAX = -0.5, 4
    # Each doubling of the length beyond a few sentences.
    LENGTH_DOUBLING, LENGTH_FROM_CHARACTERS = -0.6, 240
    # A text in another script, wholly.
    FOREIGN = -1.5
    # Long conversations ask for a memory that a small context does not have.
    HISTORY_DOUBLING, HISTORY_FROM_MESSAGES = -0.3, 8

    def score(self, features: Features) -> float:
        """0 to 1; falls with every feature, never rises."""
        log_odds = (
            self.BASE
            + self.REASONING_WORD * min(features.reasoning_words, self.REASONING_WORDS_MAX)
            + self.CODE * features.has_code
            + self.MATHS * features.has_maths
            + self.EXTRA_PART * min(features.parts - 1, self.EXTRA_PARTS_MAX)
            + self.LENGTH_DOUBLING * _doublings(features.characters, self.LENGTH_FROM_CHARACTERS)
            + self.FOREIGN * features.foreign_share
            + self.HISTORY_DOUBLING * _doublings(features.history_length, self.HISTORY_FROM_MESSAGES)
        )
        return 1 / (1 + math.exp(-log_odds))


def _doublings(value: int, start: int) -> float:
    return math.log2(value / start) if value > start else 0.0
