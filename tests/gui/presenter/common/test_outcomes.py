"""Every decision, whoever made it, and every ending has its words wherever it is told."""

from typing import get_args

import pytest

from desktop.domain.approval.permission import UNANSWERED, Choice, DecidedBy
from desktop.domain.runs.events import END_KINDS, EndReason, end_kind
from desktop.presenter.common.outcomes import DECIDED_BY, DECISIONS, ENDINGS
from desktop.presenter.transcript.items import CallState
from desktop.ui.theme.paint import STATES
from desktop.ui.transcript.pieces import tool_drawing


@pytest.mark.parametrize("choice", [*get_args(Choice), UNANSWERED])
def test_every_choice_is_told_on_the_card_in_the_trace_and_in_the_log(choice: str) -> None:
    words = DECISIONS[choice]
    assert all((words.trace, words.log))
    assert bool(words.card) == (choice != "allow_edited")  # a card says what was edited


@pytest.mark.parametrize("by", get_args(DecidedBy))
def test_whoever_decides_is_named_on_the_card_in_the_trace_and_in_the_log(by: str) -> None:
    assert all(DECIDED_BY[by])


def test_every_reason_for_which_a_run_ends_comes_to_something_and_an_unknown_one_to_a_failure() -> None:
    assert set(END_KINDS) == set(get_args(EndReason))
    assert end_kind("of a later version") == "failed"
    assert set(get_args(EndReason)) - set(ENDINGS) == {"stop_tool"}  # no run of a thread ends so for a person


def test_a_call_looks_alike_on_its_card_and_in_a_list_but_for_one_that_is_still_written() -> None:
    for state in get_args(CallState):
        look = STATES["queued" if state == "writing" else state]
        assert tool_drawing.STATES[state] == (look.icon, look.token, look.word)
