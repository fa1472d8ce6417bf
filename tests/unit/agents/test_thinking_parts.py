"""Thinking in an answer that is put together, and what of it a window keeps."""

from desktop.agents.loop.answer import Assembly
from desktop.agents.loop.shrink import clean_message
from desktop.domain.estimates import estimate
from desktop.domain.messages import ChatMessage, ReasoningBlock, TextBlock, ThinkingFacts, ToolCallBlock, thinking_facts
from desktop.domain.models import (
    Finished,
    ModelRef,
    ModelRequest,
    ReasoningDelta,
    ReasoningSealed,
    StreamItem,
    TextDelta,
    ToolCallProgress,
)

REQUEST = ModelRequest(ModelRef("c", "m"), ())
CALL = ToolCallBlock("c1", "read_file", {"path": "a"})
MAKER = "c anthropic m"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def built(*items: StreamItem | float, maker: str = MAKER) -> ChatMessage:
    """The message of a stream; a number lets so many seconds pass."""
    clock = Clock()
    build = Assembly(REQUEST, clock)
    for item in items:
        if isinstance(item, float):
            clock.now += item
        else:
            build.add(item)
    build.add(Finished("tool_calls", (CALL,), maker=maker))
    return build.message("tool_calls")


def test_thinking_ends_with_its_seal_and_what_is_not_shown_stands_for_itself() -> None:
    message = built(
        ReasoningDelta("One "),
        ReasoningDelta("thought."),
        ReasoningSealed("s1"),
        ReasoningDelta("Another."),
        ReasoningSealed("s2"),
        ReasoningSealed("hidden", alone=True),
        TextDelta("So."),
    )
    assert message.blocks == (
        ReasoningBlock("One thought.", "s1", MAKER),
        ReasoningBlock("Another.", "s2", MAKER),
        ReasoningBlock("", "hidden", MAKER),
        TextBlock("So."),
        CALL,
    )


def test_a_seal_without_text_never_joins_a_text_that_it_does_not_belong_to() -> None:
    message = built(ReasoningDelta("Plain."), ReasoningSealed("hidden", alone=True), TextDelta("So."))
    assert [getattr(block, "sealed", None) for block in message.blocks[:2]] == ["", "hidden"]
    after = built(TextDelta("So."), ReasoningSealed("late"))
    assert after.blocks[:2] == (TextBlock("So."), ReasoningBlock("", "late", MAKER))


def test_it_takes_its_time_from_the_request_to_what_comes_next() -> None:
    message = built(
        3.0, ReasoningDelta("a"), 9.0, TextDelta("b"), 5.0, ReasoningDelta("c"), 2.0, ToolCallProgress(0, "t", 1), 7.0
    )
    assert [block.seconds for block in message.blocks if isinstance(block, ReasoningBlock)] == [12.0, 2.0]
    hidden = built(4.0, ReasoningSealed("hidden", alone=True), 8.0)
    assert [block.seconds for block in hidden.blocks if isinstance(block, ReasoningBlock)] == [4.0]


def test_thinking_of_a_stream_that_broke_off_goes_back_to_nobody() -> None:
    build = Assembly(REQUEST)
    build.add(ReasoningDelta("Half a"))
    build.add(ReasoningSealed("s"))
    (block,) = build.message("cut").blocks
    assert isinstance(block, ReasoningBlock)
    assert not block.goes_back


def test_a_window_keeps_thinking_with_calls_alone_and_counts_it() -> None:
    thought = ReasoningBlock("t" * 400, "s" * 4_000, MAKER)
    with_call = ChatMessage("assistant", (thought, CALL))
    assert clean_message(with_call) is with_call
    assert clean_message(ChatMessage("assistant", (thought, TextBlock("x")))).blocks == (TextBlock("x"),)
    nobodys = ChatMessage("assistant", (ReasoningBlock("t", "s"), CALL))
    assert clean_message(nobodys).blocks == (CALL,)
    assert estimate(with_call) == estimate(ChatMessage("assistant", (CALL,))) + 100
    hidden = ChatMessage("assistant", (ReasoningBlock("", "s" * 4_000, MAKER), CALL))
    assert estimate(hidden) == estimate(ChatMessage("assistant", (CALL,))) + 1_000


def test_what_a_person_reads_of_it_names_who_keeps_it_where_there_are_calls_alone() -> None:
    thought = ReasoningBlock("t", "s", MAKER, 12.0)
    assert thinking_facts((thought, CALL), None) == ThinkingFacts(12.0, 0, "m")
    assert thinking_facts((thought, TextBlock("x")), None) == ThinkingFacts(12.0, 0, "")
    assert thinking_facts((ReasoningBlock("t"), CALL), None) == ThinkingFacts(0.0, 0, "")
