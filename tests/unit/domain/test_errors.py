"""What an error says to a person."""

from desktop.domain.errors import BugError, KnownError


def test_an_error_says_what_happened_and_then_what_can_be_done() -> None:
    assert KnownError("The disk is full.", next_step="Free some space.").advice == "The disk is full. Free some space."
    assert KnownError("The disk is full.").advice == "The disk is full."
    assert BugError("two owners").advice == "two owners"
