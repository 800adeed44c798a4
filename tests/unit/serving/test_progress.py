"""The line between the build and the supervisor."""

from __future__ import annotations

import pytest

from inference.serving.progress import Progress, print_progress, read_progress


def test_what_is_printed_is_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    print_progress(0.45, "Measuring the model as it is")
    assert read_progress(capsys.readouterr().out) == Progress(0.45, "Measuring the model as it is")


@pytest.mark.parametrize(
    "line", ["", "\n", "Loading weights", "101% too far", "-3% back", "4.5% of it", "% nothing", "²% odd"]
)
def test_any_other_line_is_no_progress(line: str) -> None:
    assert read_progress(line) is None
