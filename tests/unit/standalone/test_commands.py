"""The two commands: what they take, and what they say when they cannot go on."""

from __future__ import annotations

import sys

import pytest

from chatapp.standalone.__main__ import main
from chatapp.standalone.bootstrap import run_quietly
from chatapp.standalone.steps import SetupError, step
from chatapp.standalone.test_run import needs_engine


def test_an_unknown_command_is_told_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fly"]) == 1
    assert "run`, or `test`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        ([], True),
        (["-q"], True),
        (["tests/engine"], True),
        (["tests/unit", "tests/acceptance"], True),
        (["tests/unit"], False),
        (["-q", "tests/unit/standalone/test_commands.py::test_x", "tests/architecture"], False),
        (["--no-engine"], False),
        (["tests/engine", "--no-engine"], False),
    ],
)
def test_the_engine_is_started_only_for_tests_that_may_ask_it(arguments: list[str], needed: bool) -> None:
    assert needs_engine(arguments) is needed


def test_a_command_that_fails_tells_its_last_word() -> None:
    with pytest.raises(SetupError, match=r"`a try` failed: the last word"):
        run_quietly([sys.executable, "-c", "print('first'); print('the last word'); exit(3)"], label="a try")


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(SetupError, match="`npm ci` cannot be run"):
        run_quietly(["/nowhere/npm", "ci"], label="npm ci")


def test_a_step_is_told_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    with step("Doing it"):
        pass
    assert capsys.readouterr().out.startswith("  Doing it … 0.")


def test_a_failed_step_is_told_as_failed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SetupError), step("Doing it"):
        raise SetupError("no")
    assert capsys.readouterr().out == "  Doing it … failed\n"
