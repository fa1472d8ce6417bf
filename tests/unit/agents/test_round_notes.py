"""What an agent is told, in one request alone, about the rounds that it has left."""

import pytest

from desktop.agents.loop.round_notes import is_near_limit, notes_text, rounds_note


@pytest.mark.spec("R-SES-16")
@pytest.mark.parametrize(
    ("limit", "number", "told", "says"),
    [
        (20, 16, False, ""),
        (20, 17, False, "4 rounds remain"),
        (20, 18, True, ""),
        (20, 20, True, "This is your last round"),
        (3, 1, False, ""),
        (3, 2, False, "2 rounds remain"),
        (1, 1, False, "This is your last round"),
    ],
)
def test_an_agent_hears_of_its_rounds_once_when_a_fifth_is_left_and_before_the_last(
    limit: int, number: int, told: bool, says: str
) -> None:
    note = rounds_note(limit, number, told)
    assert note.startswith(says)
    assert bool(note) is bool(says)
    assert not note or is_near_limit(limit, number)


@pytest.mark.spec("R-SES-16")
def test_notes_are_one_text_of_those_that_there_are() -> None:
    assert notes_text(["", ""]) == ""
    assert notes_text(["", "Two rounds.", "", "Last turn."]) == "\n# Note\n\n- Two rounds.\n- Last turn.\n"
