"""The prompt window: what is kept, what is dropped, and that no call loses its result."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from desktop.agents.loop.context import ShrinkResults, TurnContext
from desktop.agents.loop.shrink import NO_RESULT, shrink_results
from desktop.agents.loop.window import NOTHING, PromptWindow
from desktop.domain.context import Overlay
from desktop.domain.errors import ModelContextTooLong, ToolFailure
from desktop.domain.estimates import estimate
from desktop.domain.ids import AgentId
from desktop.domain.messages import (
    ChatMessage,
    ImageBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    user_message,
)
from desktop.domain.runs.agent import CompactionStrategy
from tests.unit.agents.test_rounds import valid


def answer(text: str) -> ChatMessage:
    return ChatMessage("assistant", (TextBlock(text),))


def round_of(number: int, result: str = "r", calls: int = 1) -> list[ChatMessage]:
    ids = [f"{number}.{place}" for place in range(calls)]
    asked = ChatMessage("assistant", tuple(ToolCallBlock(i, "read_file", {}) for i in ids))
    return [asked, *(ChatMessage("tool", (ToolResultBlock(i, "read_file", result),)) for i in ids)]


@pytest.mark.spec("R-CTX-3", "R-CTX-6")
def test_a_short_conversation_is_sent_whole_and_the_list_is_not_touched() -> None:
    messages = [user_message("a"), *round_of(1), answer("b")]
    before = list(messages)
    view = PromptWindow().view(messages)
    assert list(view.messages) == before
    assert not view.compacted
    assert messages == before


@pytest.mark.spec("R-CTX-5", "R-CTX-6")
def test_in_a_long_tool_loop_the_window_keeps_what_the_person_asked_and_whole_rounds() -> None:
    messages = [user_message("the task"), *(m for n in range(200) for m in round_of(n))]
    view = PromptWindow().view(messages)
    assert view.messages[0].text == "the task"
    assert len(view.messages) <= 101
    assert valid(view.messages)
    assert view.messages[-1] is messages[-1]
    assert view.compacted


@pytest.mark.spec("R-CTX-8")
def test_a_token_is_four_characters_and_an_image_a_thousand() -> None:
    assert estimate(user_message("x" * 400)) == 104
    asked, result = round_of(1, "y" * 800)
    assert estimate(result) == 204
    assert 4 < estimate(asked) < 10
    assert estimate(ChatMessage("user", (ImageBlock("image/png", "aGVsbG8="),))) == 1_004


@pytest.mark.spec("R-CTX-5", "R-LOOP-10")
def test_a_call_left_unanswered_by_a_crash_is_answered_and_an_orphan_result_left_out() -> None:
    orphan = ChatMessage("tool", (ToolResultBlock("x", "t", "nobody asked"),))
    crashed = round_of(1)[:1]
    view = PromptWindow().view([orphan, user_message("a"), *crashed, user_message("b")])
    assert [m.role for m in view.messages] == ["user", "assistant", "tool", "user"]
    assert view.messages[2].blocks[0].text == NO_RESULT


@pytest.mark.spec("R-CTX-10")
def test_thinking_and_notices_are_never_sent_and_an_answer_of_only_those_is_left_out() -> None:
    mixed = ChatMessage("assistant", (ReasoningBlock("hm"), TextBlock("so"), NoticeBlock("cut")))
    empty = ChatMessage("assistant", (NoticeBlock("no network"),))
    view = PromptWindow().view([user_message("a"), empty, user_message("b"), mixed])
    assert [[b.kind for b in m.blocks] for m in view.messages] == [["text"], ["text"], ["text"]]


@pytest.mark.spec("R-CTX-7", "R-CTX-8")
def test_what_does_not_fit_loses_its_oldest_first_then_long_results_are_shortened() -> None:
    messages = [user_message("old " * 200), answer("older " * 200), user_message("now"), *round_of(1, "y" * 3000)]
    view = PromptWindow(context_window=400).view(messages)
    assert [m.role for m in view.messages] == ["user", "assistant", "tool"]
    assert view.compacted
    assert "characters left out" in view.messages[2].blocks[0].text
    assert view.tokens <= 300


@pytest.mark.spec("R-CTX-7", "R-CTX-8")
def test_what_just_fits_is_sent_as_it_is_and_one_token_less_costs_the_oldest_then_the_results() -> None:
    old, recent = answer("older " * 200), [user_message("now"), *round_of(1, "y" * 3000)]
    size = sum(map(estimate, recent))

    def seen(room: int) -> list[ChatMessage]:
        window = PromptWindow(context_window=next(n for n in range(2 * room) if n - n // 4 == room))
        assert window.room == room
        return list(window.view([old, *recent]).messages)

    whole = size + estimate(old)
    assert seen(whole) == [old, *recent]
    assert seen(whole - 1) == recent
    assert seen(size) == recent
    shorter = seen(size - 1)
    least = sum(map(estimate, shorter))
    assert "characters left out" in shorter[-1].blocks[0].text
    assert seen(least) == shorter
    with pytest.raises(ModelContextTooLong):
        seen(least - 1)


@pytest.mark.spec("R-CTX-6")
@pytest.mark.parametrize(("size", "is_error", "left"), [(500, False, 500), (501, False, 450), (3_900, True, 3_900)])
def test_long_results_are_shortened_and_errors_stay_whole(size: int, is_error: bool, left: int) -> None:
    result = ToolResultBlock("c1", "read_file", "y" * size, is_error)
    (shorter,) = shrink_results([ChatMessage("tool", (result,))])
    block = shorter.blocks[0]
    assert isinstance(block, ToolResultBlock)
    assert (block.text.count("y"), block.is_error) == (left, is_error)


@pytest.mark.spec("R-CTX-6", "R-CTX-7")
def test_only_an_error_that_nobody_would_read_whole_is_cut_where_else_nothing_fits() -> None:
    (shorter,) = shrink_results([ChatMessage("tool", (ToolResultBlock("c1", "bash", "y" * 90_000, True),))])
    block = shorter.blocks[0]
    assert isinstance(block, ToolResultBlock)
    assert "characters left out" in block.text
    assert 3_500 < len(block.text) < 4_200


@pytest.mark.spec("R-CTX-7")
def test_when_even_the_last_message_does_not_fit_the_model_is_not_asked() -> None:
    with pytest.raises(ModelContextTooLong) as caught:
        PromptWindow(context_window=1000).view([user_message("z" * 50_000)])
    assert caught.value.next_step


ME = AgentId("assistant", "t")


class Numbered:
    async def read(self, agent_id: AgentId, session_id: str) -> list[ChatMessage]:
        return [user_message(f"in {session_id} {n}") for n in range(300)]


async def no_overlay(_messages: Sequence[ChatMessage]) -> Overlay:
    return NOTHING


def context_of(window: PromptWindow, *strategies: CompactionStrategy) -> TurnContext:
    return TurnContext(ME, Numbered(), window, strategies, no_overlay)


class Shout:
    name = "shouting"

    async def compact(self, messages: Sequence[ChatMessage], budget_tokens: int | None) -> list[ChatMessage]:
        return [user_message(message.text.upper()) for message in messages]


class Odd:
    """Keeps each second message."""

    name = "odd"

    async def compact(self, messages: Sequence[ChatMessage], budget_tokens: int | None) -> list[ChatMessage]:
        return list(messages[1::2])


class Fails:
    name = "fails"

    async def compact(self, messages: Sequence[ChatMessage], budget_tokens: int | None) -> list[ChatMessage]:
        raise ToolFailure("no idea")


@pytest.mark.spec("R-CTX-1", "R-CTX-2")
async def test_the_window_of_a_thread_is_its_history_then_compaction() -> None:
    context = context_of(PromptWindow(ME, last=10), Shout())
    messages = await context.get_prompt_window("thread-1")
    assert context.agent_id is ME
    assert [m.text for m in messages] == [f"IN THREAD-1 {n}" for n in range(290, 300)]


@pytest.mark.spec("R-CTX-2", "R-CTX-3", "R-CTX-6")
async def test_a_strategy_is_asked_only_where_something_has_to_be_left_out_and_what_it_leaves_out_is_counted() -> None:
    whole = context_of(PromptWindow(ME, last=300), Odd())
    assert len(await whole.get_prompt_window("t")) == 300
    half = context_of(PromptWindow(ME, last=200), Odd())
    assert [m.text for m in await half.get_prompt_window("t")][:2] == ["in t 1", "in t 3"]
    assert (half.view.account.kept, half.view.account.dropped) == (150, 150)


@pytest.mark.spec("R-CTX-5")
async def test_what_no_window_leaves_out_stays_whatever_a_strategy_says() -> None:
    class Nothing:
        name = "nothing"

        async def compact(self, messages: Sequence[ChatMessage], budget_tokens: int | None) -> list[ChatMessage]:
            return []

    context = context_of(PromptWindow(ME, last=10), Nothing())
    assert [m.text for m in await context.get_prompt_window("t")] == ["in t 299"], "the person's latest message"


@pytest.mark.spec("R-CTX-7")
@pytest.mark.expects_log("fails could not condense")
async def test_where_a_strategy_fails_the_next_one_and_the_window_go_on() -> None:
    context = context_of(PromptWindow(ME, last=200), Fails(), Odd())
    assert len(await context.get_prompt_window("t")) == 150
    alone = context_of(PromptWindow(ME, last=200), Fails())
    assert [m.text for m in await alone.get_prompt_window("t")] == [f"in t {n}" for n in range(100, 300)]


@pytest.mark.spec("R-CTX-6")
async def test_long_results_are_shortened_before_anything_is_left_out_but_for_those_of_the_last_round() -> None:
    def round_of(number: int) -> list[ChatMessage]:
        call = ToolCallBlock(f"c{number}", "look", {})
        result = ToolResultBlock(f"c{number}", "look", "x" * 5_000)
        return [ChatMessage("assistant", (call,)), ChatMessage("tool", (result,))]

    class Rounds:
        async def read(self, agent_id: AgentId, session_id: str) -> list[ChatMessage]:
            return [user_message("go"), *(message for number in range(6) for message in round_of(number))]

    window = PromptWindow(ME, context_window=8_000)
    messages = await TurnContext(ME, Rounds(), window, (ShrinkResults(),), no_overlay).get_prompt_window("t")
    sizes = [len(m.blocks[0].text) for m in messages if m.role == "tool"]
    assert len(sizes) == 6, "nothing was left out"
    assert sizes[-1] == 5_000
    assert all(size < 600 for size in sizes[:-1])


@pytest.mark.spec("R-MOD-3", "R-CTX-6")
def test_a_window_over_more_messages_than_it_takes_begins_alike_for_a_quarter_of_them() -> None:
    messages = [user_message(f"message {number}") for number in range(200)]
    begins = []
    for count in range(1, 200):
        window = PromptWindow(last=40)
        window.older = 7
        view = window.view(messages[:count])
        assert 0 < len(view.messages) <= 40
        begins.append(view.messages[0].text)
    assert len(set(begins)) <= 1 + 200 // 10
    assert begins == sorted(begins, key=lambda text: int(text.split()[1]))


@pytest.mark.spec("R-MOD-3", "R-CTX-7")
def test_a_window_that_is_too_small_leaves_out_a_quarter_more_so_that_the_next_rounds_begin_alike() -> None:
    window = PromptWindow(context_window=8_000)
    messages, begins = [], []
    for number in range(60):
        messages.append(user_message(f"{number} " + "word " * 300))
        view = window.view(messages)
        assert view.tokens <= 8_000
        begins.append(view.messages[0].text[:8])
    moves = sum(a != b for a, b in pairwise(begins))
    assert 0 < moves < 60 // 3
