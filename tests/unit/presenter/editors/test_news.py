"""What an editor is told in one go."""

from desktop.domain.runs.events import Event, ReasoningArrived, RunEnded, TextArrived
from desktop.presenter.editors.news import merged


def text(message: str, words: str) -> TextArrived:
    return TextArrived(thread_id="t", run_id="r", message_id=message, text=words)


def test_text_that_came_in_pieces_is_told_as_one_and_nothing_changes_its_place() -> None:
    thought = ReasoningArrived(thread_id="t", run_id="r", message_id="m", text="hm")
    end = RunEnded(thread_id="t", run_id="r", reason="response")
    events: list[Event] = [text("m", "a"), text("m", "b"), thought, text("m", "c"), text("n", "d"), end, text("n", "e")]
    assert list(merged(events)) == [text("m", "ab"), thought, text("m", "c"), text("n", "d"), end, text("n", "e")]
    assert list(merged([])) == []


def test_a_long_answer_is_put_together_without_copying_it_at_each_piece() -> None:
    (whole,) = merged([text("m", "x" * 10)] * 50_000)
    assert isinstance(whole, TextArrived)
    assert len(whole.text) == 500_000
