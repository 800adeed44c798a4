"""How surprised a model is by a fixed text of our own: what a quantization cost is seen here before it is served."""

from __future__ import annotations

import math
from typing import Any

import torch

# Plain prose on several subjects, so that one strange token decides nothing.
TEXT = """
A cache keeps what was expensive to find, so that the next person who asks does not have to wait. The hard part
is not keeping it but knowing when it still holds: an answer that was right yesterday may be wrong today, and a
question that looks the same may mean something else. Good caches are careful about the second kind of mistake.

Rivers carry more than water. In spring, when the snow melts, they pick up sand and stones in the mountains and
put them down again where the land is flat. Over many years this builds a plain of rich soil, and people have
always liked to live there, although the river sometimes comes back to claim its ground.

To bake a simple loaf of bread, mix flour, water, salt and yeast, knead the dough until it is smooth, and let it
rise for two hours in a warm place. Shape it, wait until it has risen once more, and bake it in a hot oven for
about forty minutes. The loaf is done when it sounds hollow if you knock on its bottom.

When two computers talk to each other over a network, each message is cut into small packets. Every packet finds
its own way, some arrive late and some are lost, and the receiver puts them back in order and asks for the
missing ones again. From the outside it looks like one steady stream.
""".strip()


@torch.inference_mode()
def measure_perplexity(model: Any, tokenizer: Any) -> float:
    """exp of the mean negative log-likelihood of each token of TEXT given those before it."""
    ids = tokenizer(TEXT, return_tensors="pt").input_ids
    return math.exp(float(model(ids, labels=ids).loss))
