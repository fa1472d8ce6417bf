"""A thread is the history of its agents: appended to, read in parts, cleared, and never overwritten."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.agents.loop.window import PromptWindow
from desktop.domain.agent import HistoryProvider
from desktop.domain.errors import NotFound
from desktop.domain.ids import AgentId
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, ToolResultBlock, user_message
from desktop.domain.threads import ThreadRecord
from desktop.services.threads.thread_history import ThreadHistory
from desktop.store import Store

ME, OTHER = AgentId("me", "t"), AgentId("other", "t")


def said(text: str) -> ChatMessage:
    return ChatMessage("assistant", (TextBlock(text),))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = Store(tmp_path / "assent.db")
    await made.open()
    for thread_id in ("t", "u"):
        await made.threads.create(record=ThreadRecord(thread_id, "", 1.0, 1.0))
    yield made
    await made.close()


@pytest.mark.spec("R-CTX-4", "R-CTX-11", "R-SUP-12")
async def test_messages_are_kept_by_agent_and_thread_and_read_in_parts(store: Store) -> None:
    history: HistoryProvider = ThreadHistory(store)
    call = ChatMessage("assistant", (ToolCallBlock("c", "read_file", {"path": "a"}),))
    result = ChatMessage("tool", (ToolResultBlock("c", "read_file", "text"),))
    await history.append(ME, "t", user_message("one"), "run-1")
    await history.append_many(ME, "t", (call, result, said("two")), "run-1")
    await history.append(OTHER, "t", said("another's"), "run-2")
    assert [m.role for m in await history.read(ME, "t")] == ["user", "assistant", "tool", "assistant"]
    assert [m.text for m in await history.read(OTHER, "t")] == ["one", "another's"]
    assert (await history.read(ME, "t"))[2].blocks == result.blocks
    assert [m.role for m in await history.read(ME, "t", limit=2, offset=1)] == ["assistant", "tool"]
    assert await history.read(ME, "t", offset=99) == []
    assert (await history.count(ME, "t"), await history.count(ME, "u")) == (4, 0)
    with pytest.raises(NotFound):
        await history.read(ME, "nowhere")


@pytest.mark.spec("R-CTX-4", "R-CTX-3")
async def test_a_run_or_a_thread_is_cleared_and_the_messages_stay_in_the_tree(store: Store) -> None:
    history = ThreadHistory(store)
    for run, texts in (("run-1", ("a", "b")), ("run-2", ("c", "d")), ("run-3", ("e",))):
        await history.append_many(ME, "t", [said(text) for text in texts], run)
    last = (await store.messages.path(thread_id="t"))[-1].message_id
    await history.clear_run(ME, "t", "run-2")
    await history.clear_run(ME, "t", "no such run")
    assert [m.text for m in await history.read(ME, "t")] == ["a", "b", "e"]
    await history.clear_run(ME, "t", "run-1")
    assert [m.text for m in await history.read(ME, "t")] == ["e"]
    await history.clear(ME, "t")
    assert await history.count(ME, "t") == 0
    assert "".join(m.text for m in await store.messages.path_to(message_id=last)) == "abcde"
    await history.append(ME, "t", user_message("new"), "run-4")
    assert [m.text for m in await history.read(ME, "t")] == ["new"]


@pytest.mark.spec("R-CTX-1", "R-CTX-2", "R-CTX-3")
async def test_an_agents_window_over_its_thread_leaves_the_thread_as_it_is(store: Store) -> None:
    history = ThreadHistory(store)
    await history.append_many(ME, "t", [user_message("go"), *(said(f"{n}") for n in range(9))], "run-1")
    window = PromptWindow(ME, history, last=3)
    assert [m.text for m in await window.get_prompt_window("t")] == ["go", "6", "7", "8"]
    assert await history.count(ME, "t") == 10
