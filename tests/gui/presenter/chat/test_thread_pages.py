"""A thread is read from its end: what is shown first is never nothing, however long the last run was."""

import pytest

from desktop.domain.messages import TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.threads import MessageRecord
from desktop.presenter.chat.thread_pages import FIRST_PAGE, PAGE, pages


def long_run(rounds: int) -> list[MessageRecord]:
    """A question, rounds of one call and its result, and a last text."""
    path = [MessageRecord("u", "t", None, "user", (TextBlock("look around"),), 0.0)]
    for number in range(rounds):
        call = ToolCallBlock(f"c{number}", "read_file", {"path": f"{number}.txt"})
        path.append(MessageRecord(f"a{number}", "t", None, "assistant", (call,), 0.0, side="a"))
        result = ToolResultBlock(f"c{number}", "read_file", "x")
        path.append(MessageRecord(f"r{number}", "t", None, "tool", (result,), 0.0, side="a"))
    return [*path, MessageRecord("end", "t", None, "assistant", (TextBlock("Seen."),), 0.0, side="a")]


async def read(path: list[MessageRecord]) -> list[tuple]:
    async def window(before, limit):
        end = len(path) if before is None else [m.message_id for m in path].index(before)
        return path[max(0, end - limit) : end]

    async def siblings(ids):
        return {}

    return [page async for page in pages(window, siblings, {})]


@pytest.mark.spec("R-UI-1")
@pytest.mark.parametrize("rounds", [FIRST_PAGE, PAGE])
async def test_a_thread_that_ends_in_a_long_run_shows_that_run_first_and_whole(rounds):
    (only,) = await read(long_run(rounds))
    assert [item.side for item in only] == ["human", "a"]
    assert only[1].parts[-1].markdown == "Seen."


async def test_what_was_said_before_a_long_run_comes_in_a_page_of_its_own():
    earlier = MessageRecord("first", "t", None, "user", (TextBlock("hello"),), 0.0)
    answer = MessageRecord("answer", "t", None, "assistant", (TextBlock("hi"),), 0.0, side="a")
    found = await read([earlier, answer, *long_run(FIRST_PAGE * 8)])
    assert all(found), "no page is empty"
    assert [item.message_id for page in reversed(found) for item in page] == ["first", "answer", "u", "a0"]


async def test_an_empty_thread_is_one_empty_page():
    assert await read([]) == [()]
