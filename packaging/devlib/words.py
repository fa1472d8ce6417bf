"""How the developer command speaks: one progress line a step, one sentence and the next step for an error."""

import sys
from typing import NoReturn


class Stop(Exception):
    """The command cannot go on. The text is one sentence for a person; `step` says what to do next."""

    def __init__(self, problem: str, step: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.step = step


def say(text: str) -> None:
    """Prints one progress line to stderr, so that stdout stays the command's own output."""
    print(f"assent: {text}", file=sys.stderr, flush=True)


def fail(stop: Stop) -> NoReturn:
    """Ends the process with the problem, the next step and exit code 2."""
    print(f"assent: {stop.problem}\n  next: {stop.step}", file=sys.stderr, flush=True)
    raise SystemExit(2)
