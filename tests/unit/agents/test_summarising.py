"""A summary as it is asked for and kept: bounded by the window, with the files that were really read and written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from desktop.agents.loop.answer import ModelAnswer
from desktop.agents.loop.summarising import MAX_FILES, ContextKeeper, MemoryKeeper, renewed, summarise
from desktop.agents.loop.window import PromptWindow
from desktop.domain.context import MAX_SUMMARY, Overlay
from desktop.domain.errors import BudgetExhausted, CancellationError, KnownError, ModelContextTooLong
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, ToolResultBlock, user_message
from desktop.domain.models import ModelRef, ModelRequest

MODEL = ModelRef("test", "scripted")


class Model:
    """Answers every request for a summary with one text."""

    def __init__(self, text: str = "In short.", reason: Any = "end", error: Exception | None = None) -> None:
        self.answer = ModelAnswer(ChatMessage("assistant", (TextBlock(text),), reason), error)
        self.requests: list[ModelRequest] = []

    async def __call__(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        return self.answer


def wrote(path: str) -> ChatMessage:
    return ChatMessage("assistant", (ToolCallBlock("c", "write_file", {"path": path}),))


@pytest.mark.spec("R-CTX-6")
@pytest.mark.parametrize("window", [None, 200_000, 8_000, 2_000])
async def test_neither_a_summary_nor_the_request_for_it_outgrows_the_window(window: int | None) -> None:
    model, maximum = Model("s" * 100_000), min(MAX_SUMMARY, (window or 60_000))
    messages = [wrote(f"{n}/" + "p" * 290) for n in range(200)]
    text = await summarise(model, MODEL, messages, "e" * 24_000, window)
    assert len(text) <= maximum
    assert "199/" in text
    assert " 0/" not in text
    assert text.count("p" * 290) <= MAX_FILES
    asked = model.requests[0]
    assert len(asked.messages[0].text) <= (window or 60_000) * 4 * 0.8
    again = await summarise(model, MODEL, [wrote("new.txt")], text, window)
    assert "new.txt" in again
    assert "199/" in again


@pytest.mark.spec("S-CTX-2")
async def test_a_summary_lists_the_files_that_were_read_and_written_also_before_the_one_that_it_renews() -> None:
    looks = (("read_file", "a.txt"), ("list_directory", "docs"), ("search", "elsewhere"))
    read = ChatMessage("assistant", tuple(ToolCallBlock(tool, tool, {"path": path}) for tool, path in looks))
    first = await summarise(Model(), MODEL, [read, wrote("b.txt")], "")
    assert first.splitlines()[-2:] == ["Files read: a.txt, docs", "Files written: b.txt"]
    again = await summarise(Model(), MODEL, [wrote("c.txt"), wrote("b.txt")], first)
    assert again.splitlines()[-2:] == ["Files read: a.txt, docs", "Files written: b.txt, c.txt"]


@pytest.mark.spec("R-CTX-7")
@pytest.mark.parametrize(
    ("model", "raised"),
    [
        (Model(""), "gave no s"),
        (Model("half", "cut"), "gave no s"),
        (Model("half", "aborted"), "gave no s"),
        (Model("", "error", ModelContextTooLong("too long")), "too long"),
        (Model("", "error", OSError("bug")), "gave no s"),
    ],
)
async def test_what_is_no_whole_answer_is_no_summary_and_the_oldest_messages_are_dropped(
    model: Model, raised: str
) -> None:
    with pytest.raises(KnownError, match=raised):
        await summarise(model, MODEL, [user_message("a")], "")
    model.requests.clear()
    messages = [replace(user_message(f"{n} " + "x" * 4_000), source_id=f"m{n}") for n in range(20)]
    window, before = PromptWindow(context_window=9_000), Overlay(summary="Earlier.", upto="m0", summarised=1)
    keeper = ContextKeeper(kept=MemoryKeeper(), overlay=before, allowed=lambda: True)
    overlay = await keeper.current(messages, window, model, MODEL, 9_000)
    assert (overlay, len(model.requests)) == (before, 1)
    view = window.view(messages, overlay)
    kept = [message.source_id for message in view.messages if message.source_id]
    assert 0 < len(kept) < 19
    assert kept == [f"m{n}" for n in range(20)][-len(kept) :]
    await keeper.current(messages, window, model, MODEL, 9_000)
    assert len(model.requests) == 1, "and it is not asked again at once"


@pytest.mark.spec("R-SUP-7", "R-CTX-7")
async def test_a_budget_that_is_used_up_ends_the_run_where_a_summary_was_to_be_made() -> None:
    async def ask(_request: ModelRequest) -> ModelAnswer:
        raise BudgetExhausted("The budget is used up.", limit="max_rounds 1")

    messages = [replace(user_message(f"{n} " + "x" * 4_000), source_id=f"m{n}") for n in range(20)]
    keeper = ContextKeeper(kept=MemoryKeeper(), overlay=Overlay(), allowed=lambda: True)
    with pytest.raises(BudgetExhausted):
        await keeper.current(messages, PromptWindow(context_window=9_000), ask, MODEL, 9_000)


@pytest.mark.spec("R-CAN-10")
async def test_a_summary_that_is_stopped_is_stopped_and_no_failure() -> None:
    with pytest.raises(CancellationError):
        await summarise(Model("", "aborted", CancellationError("stop")), MODEL, [user_message("a")], "")


@pytest.mark.spec("R-CTX-5")
async def test_results_without_an_id_of_their_own_go_into_the_summary_with_their_call() -> None:
    messages = []
    for n in range(9):
        call = ToolCallBlock(f"c{n}", "look", {})
        messages.append(ChatMessage("assistant", (call,), source_id=f"m{n}"))
        messages.append(ChatMessage("tool", (ToolResultBlock(f"c{n}", "look", f"seen {n} " + "x" * 4_000),)))
    model, window = Model(), PromptWindow(context_window=9_000)
    made = await renewed(window, messages, Overlay(), model, MODEL, 9_000)
    assert made is not None
    last = int(made.upto[1:])
    assert f"seen {last} " in model.requests[0].messages[0].text
    assert made.summarised == 2 * (last + 1)
    sent = window.view(messages, made).messages
    assert [m.role for m in sent[1:3]] == ["assistant", "tool"]
    assert sent[1].source_id == f"m{last + 1}"
