"""`python -m chatapp.standalone run|test`: inside .venv, after the bootstrap."""

from __future__ import annotations

import sys

from chatapp.standalone.steps import SetupError, fail


def main(arguments: list[str]) -> int:
    match arguments:
        case ["run"]:
            from chatapp.standalone.run import run

            return run()
        case ["test", *rest]:
            from chatapp.standalone.test_run import run_tests

            return run_tests(rest)
    return fail(SetupError("Say what to do: `python -m chatapp.standalone run`, or `test` with pytest's arguments."))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
