"""One engine: one module makes the round loop, one begins and ends runs."""

import ast
from pathlib import Path

import pytest

from tests.architecture.rules import last_name, sources

ROOT = Path(__file__).resolve().parents[2]


def makers(name: str) -> set[str]:
    """The files of the app that call something of this name."""
    return {
        file.name
        for file in sources(ROOT, "desktop")
        for call in file.find(ast.Call)
        if isinstance(call, ast.Call) and last_name(call.func) == name
    }


@pytest.mark.spec("R-AG-1")
def test_only_the_turn_of_an_agent_makes_a_round_loop() -> None:
    assert makers("RoundLoop") == {"desktop/agents/turn.py"}


@pytest.mark.spec("R-SUP-2")
def test_only_the_frame_of_a_run_says_that_one_begins_and_ends() -> None:
    assert makers("RunStarted") == makers("RunEnded") == {"desktop/services/turns/run_frame.py"}
