"""Thinking in a chat: stored with its seal, there again in the next rounds, after a crash, in branches and exports."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.messages import ChatMessage, ReasoningBlock
from desktop.domain.models import ModelRequest
from desktop.domain.runs.events import MessageClosed, ToolCallStarted
from desktop.models.scripted import MAKER, ScriptedModel, calls, says
from tests.harness.store import copy_database
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import world

SEAL, HIDDEN = "seal-of-the-thinking", "what-is-not-shown"
THINKS = [
    {"reasoning": "Let me "},
    {"reasoning": "look."},
    {"sealed": SEAL},
    {"sealed": HIDDEN, "alone": True},
    {"usage": {"input": 10, "output": 5, "reasoning": 1900}},
]
KEPT = (ReasoningBlock("Let me look.", SEAL, MAKER), ReasoningBlock("", HIDDEN, MAKER))


def looks() -> list[Any]:
    return [*THINKS, *calls("read_file", {"path": "a"}, text="I look.")]


def thoughts(messages: tuple[ChatMessage, ...]) -> list[ReasoningBlock]:
    return [block for message in messages for block in message.blocks if isinstance(block, ReasoningBlock)]


def asked(model: ScriptedModel, number: int = -1) -> list[ReasoningBlock]:
    request: ModelRequest = model.requests[number]
    return thoughts(request.messages)


@pytest.mark.spec("R-MOD-4")
async def test_a_tool_round_and_every_later_request_has_the_thinking_of_its_calls_and_no_other(tmp_path: Path) -> None:
    answer = [{"reasoning": "Now I know."}, {"sealed": "not needed"}, *says("Done.")]
    model = ScriptedModel([looks(), answer, says("You are welcome."), says("Again.")])
    async with world(tmp_path, model, FakeTool()) as w:
        thread = await w.thread()
        messages = await w.ask(thread, "read a")
        assert messages[1].blocks[:2] == KEPT
        assert asked(model) == list(KEPT)
        await w.ask(thread, "thanks")
        assert asked(model) == list(KEPT)
        await w.service.edit(messages[0].message_id, "read it anew")
        await w.settled(thread)
        assert asked(model) == []


@pytest.mark.spec("R-MOD-4")
async def test_another_answer_after_the_calls_still_has_their_thinking(tmp_path: Path) -> None:
    model = ScriptedModel([looks(), says("Done."), says("More."), says("Other.")])
    async with world(tmp_path, model, FakeTool()) as w:
        thread = await w.thread()
        await w.ask(thread, "read a")
        thanks = (await w.ask(thread, "and then?"))[-2]
        await w.service.edit(thanks.message_id, "and before?")
        await w.settled(thread)
        assert asked(model) == list(KEPT)


@pytest.mark.spec("R-MOD-4", "R-JRN-2")
async def test_after_a_crash_amid_a_call_the_run_goes_on_with_the_thinking_that_led_to_it(tmp_path: Path) -> None:
    async def forever(*_: Any) -> str:
        await asyncio.sleep(3600)
        return "never"

    crash = tmp_path / "crash"
    crash.mkdir()
    async with world(tmp_path, ScriptedModel([looks()]), FakeTool(body=forever)) as w:
        thread = await w.thread()
        await w.service.send(thread, "read a")
        await w.until(ToolCallStarted)
        await copy_database(w.store, crash / "assent.db")
    model = ScriptedModel([says("Done.")])
    async with world(crash, model, FakeTool(), supervised=True) as w:
        await w.service.continue_answer(thread)
        messages = await w.settled(thread)
        assert messages[-1].text == "Done."
        assert asked(model) == list(KEPT)


async def test_its_time_and_who_keeps_it_are_stored_and_told_to_those_who_watch(tmp_path: Path) -> None:
    model = ScriptedModel([[{"wait": 1.1}, *looks()], says("Done.")])
    async with world(tmp_path, model, FakeTool()) as w:
        messages = await w.ask(await w.thread(), "read a")
        stored = messages[1].blocks[0]
        assert isinstance(stored, ReasoningBlock)
        assert stored.seconds >= 1
        told = next(event for event in w.events if isinstance(event, MessageClosed) and event.thinking is not None)
        assert told.thinking is not None
        assert (told.thinking.tokens, told.thinking.kept_for) == (1900, "scripted")
        assert told.thinking.seconds >= stored.seconds
        assert told.amended is None


@pytest.mark.parametrize("kind", ["md", "html"])
async def test_an_export_has_the_thinking_and_never_its_seal(tmp_path: Path, kind: str) -> None:
    async with world(tmp_path, ScriptedModel([looks(), says("Done.")]), FakeTool()) as w:
        thread = await w.thread()
        await w.ask(thread, "read a")
        text = (await w.service.export(thread, kind)).decode()
        assert "Let me look." in text
        assert "Thinking, not shown by the model" in text
        assert SEAL not in text
        assert HIDDEN not in text
        assert SEAL in (await w.service.export(thread, "json")).decode()
