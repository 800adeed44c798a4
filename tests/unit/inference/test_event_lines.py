from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.engines.event_lines import MAX_LINE_BYTES, EventLines

# Anything but the ends of lines, which JSON escapes, and what `strip` takes off around a value.
values = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1)
noise = st.sampled_from([b"", b": ping\n", b"event: message\n", b"id: 7\n", b"retry: 3\n", b"\n"])


@given(st.lists(st.tuples(noise, values)), st.sampled_from([b"\n", b"\r\n"]), st.data())
def test_the_values_come_out_whole_wherever_the_bytes_are_cut(
    events: list[tuple[bytes, str]], end: bytes, data: st.DataObject
) -> None:
    stream = b"".join(before + b"data: " + value.encode() + end + end for before, value in events)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    lines = EventLines()
    found = [value for start, stop in pairwise([0, *cuts, len(stream)]) for value in lines.feed(stream[start:stop])]
    assert found == [value.encode() for _, value in events]


def test_a_line_without_an_end_is_refused() -> None:
    lines = EventLines()
    with pytest.raises(ValueError, match="does not end"):
        list(lines.feed(b"data: " + b"x" * MAX_LINE_BYTES))
