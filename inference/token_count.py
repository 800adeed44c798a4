"""How many tokens a text will be, without asking the model: cheap, and rather too many than too few."""

from __future__ import annotations

import math
import string

# Byte-pair vocabularies hold 3.5 to 4.5 letters of running text a token, spaces included; the low end is taken.
LETTERS_PER_TOKEN = 3.5
# Digits and punctuation often stand alone (SmolLM2 and Llama split numbers into digits).
# A code point outside ASCII is 2 to 4 bytes and, in a vocabulary made for English, nearly as many tokens.
TOKENS_PER_FOREIGN_BYTE = 0.75

_LETTERS_AND_SPACES = (string.ascii_letters + string.whitespace).encode()
_OTHER_ASCII = bytes(set(range(128)) - set(_LETTERS_AND_SPACES))


def count_tokens(text: str) -> int:
    """An estimate for any model: three passes over the bytes, 0.3 ms for 100 kB."""
    encoded = text.encode(errors="replace")
    without_letters = encoded.translate(None, _LETTERS_AND_SPACES)
    foreign = len(without_letters.translate(None, _OTHER_ASCII))
    letters = len(encoded) - len(without_letters)
    others = len(without_letters) - foreign
    return math.ceil(letters / LETTERS_PER_TOKEN + others + foreign * TOKENS_PER_FOREIGN_BYTE)
