"""A debate's turn that the end of the process cut off goes on where it stood."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.messages import Block, StopReason, TextBlock, ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.runs.effects import EffectRecord, call_key
from desktop.domain.threads import MessageRecord, RunRecord
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.recovery.resume import conclude_settled
from desktop.recovery.words import SAID_DONE
from tests.unit.agents.script import Script
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.debates.kit import DebateWorld, answering, debate_world, setup
from tests.unit.services.kit import MODEL

RUN, WRITE = "run-0", "write-file"
SPENT = Usage(10, 5, 0, 0, 0.5)


def call(name: str, tool: str = WRITE) -> ToolCallBlock:
    return ToolCallBlock(name, tool, {"path": name})


def line(number: int, name: str, phase: str, text: str = "") -> EffectRecord:
    value = json.dumps({"text": text}) if phase == "completed" else ""
    return EffectRecord(
        RUN,
        number,
        call_key("said-1", name),
        1,
        "tool",
        WRITE,
        "d",
        phase,
        1.0,
        value,  # type: ignore[arg-type]
        f"{WRITE} {name}" if phase == "begun" else "",
    )


async def cut_off(
    w: DebateWorld, *messages: Sequence[Block], lines: Sequence[EffectRecord] = (), **changes: Any
) -> str:
    """A debate as kill -9 leaves it in A's first turn: its messages, and the run's log without an end."""
    thread = await w.debates.create(setup(**{"max_turns": 2, **changes}))
    await w.store.runs.start(record=RunRecord(RUN, thread, 1.0, "debate", MODEL))
    parent = (await w.store.debates.get(thread_id=thread)).head
    for number, blocks in enumerate(messages, 1):
        answer = not isinstance(blocks[0], ToolResultBlock)
        reason: StopReason | None = None
        if answer:
            reason = "tool_calls" if any(isinstance(block, ToolCallBlock) for block in blocks) else "end"
        await w.store.messages.add(
            record=MessageRecord(
                f"said-{number}",
                thread,
                parent,
                "assistant" if answer else "tool",
                tuple(blocks),
                1.0 + number,
                side="a",
                author="Pro",
                run_id=RUN,
                stop_reason=reason,
                usage=SPENT if answer else None,
            )
        )
        parent = f"said-{number}"
    await w.store.effects.append([*lines, EffectRecord(RUN, 90, "0.1", 9, "llm", MODEL, "d", "begun", 2.0)])
    await w.store.runs.end(run_id=RUN, reason="interrupted", at=9.0)
    await w.store.debates.set_status(thread_id=thread, status="paused", end_reason="interrupted")
    await w.store.debates.rewind(thread_id=thread)
    return thread


def results(path: Sequence[MessageRecord]) -> dict[str, str]:
    return {b.call_id: b.text for m in path for b in m.blocks if isinstance(b, ToolResultBlock)}


@pytest.mark.spec("R-JRN-2", "R-JRN-5", "R-SES-18")
async def test_what_was_done_in_a_turn_is_not_done_again_and_the_turn_counts_as_one(tmp_path: Path) -> None:
    model, write = Script(speaks("a1"), speaks("b1")), FakeTool(WRITE, Category.WRITE)
    person = Person("done", "allow_once")
    async with debate_world(tmp_path, model, write, person=person, allowed=WRITE) as w:
        lines = [
            line(1, "c1", "begun"),
            line(2, "c1", "completed", "stored before"),
            line(3, "c2", "begun"),
            line(4, "c2", "completed", "only in the log"),
            line(5, "c3", "begun"),
        ]
        asked = [TextBlock("I write."), *(call(f"c{number}") for number in range(1, 5))]
        stored = [ToolResultBlock("c1", WRITE, "stored before")]
        thread = await cut_off(w, asked, stored, lines=lines)
        assert await conclude_settled(w.store) == [RUN]
        await w.debates.speak(thread, "be brief")
        state = await w.go_on(thread)
        assert (state.end_reason, await w.outcomes(thread)) == ("max_session_turns", ["a1", "b1"])
        assert write.calls == [{"path": "c4"}]
        assert ["nobody knows" in request.unknown for request in person.asked] == [True, False]
        path = await w.store.messages.path(thread_id=thread)
        assert results(path) == {
            "c1": "stored before",
            "c2": "only in the log",
            "c3": SAID_DONE,
            "c4": "did write-file",
        }
        assert [m.role for m in model.requests[0].messages] == ["user", "assistant", *["tool"] * 4]
        assert path[-2].text == "be brief", "what the moderator said meanwhile comes after the turn"
        first = (await w.debates.turns(thread))[0]
        assert (first.first_message_id, first.rounds, first.calls, first.started_at) == ("said-1", 2, 4, 2.0)
        told = [m.usage.output_tokens for m in path if m.usage is not None]
        used = await w.store.debates.used(thread_id=thread)
        assert (len(told), first.usage.output_tokens) == (3, told[0] + told[1])
        assert used.output_tokens == sum(told), "nothing is counted twice"
        assert await w.store.effects.unfinished() == []


@pytest.mark.spec("R-JRN-2", "R-SES-9")
async def test_a_stop_tool_that_had_been_called_ends_the_turn_without_another_request(tmp_path: Path) -> None:
    model = ScriptedModel([says("b1")])
    async with debate_world(tmp_path, model, answering("classify"), allowed="classify") as w:
        asked, stored = [call("c1", "classify")], [ToolResultBlock("c1", "classify", "ok", False, {"intent": "buy"})]
        side = {"stop_tool": "classify", "stop_property": "intent"}
        thread = await cut_off(w, asked, stored, a=side)
        await w.go_on(thread)
        assert [(t.outcome, t.ended_by) for t in await w.debates.turns(thread)] == [
            ("buy", "stop_tool"),
            ("b1", "response"),
        ]
        assert len(model.requests) == 1
        assert [m.message_id for m in await w.store.messages.path(thread_id=thread)][1:3] == ["said-1", "said-2"]


@pytest.mark.spec("R-JRN-2", "R-SES-15")
async def test_a_final_text_that_was_stored_is_the_outcome_and_is_not_asked_for_again(tmp_path: Path) -> None:
    model = ScriptedModel([says("b1")])
    async with debate_world(tmp_path, model) as w:
        thread = await cut_off(w, [TextBlock("a1 as it stands")])
        await w.go_on(thread)
        assert await w.outcomes(thread) == ["a1 as it stands", "b1"]


@pytest.mark.spec("R-JRN-2", "R-JRN-5")
async def test_at_the_start_the_log_of_a_turn_that_broke_off_in_its_first_call_is_kept(tmp_path: Path) -> None:
    async with debate_world(tmp_path, ScriptedModel([]), answering(WRITE), allowed=WRITE) as w:
        await cut_off(w, [call("c1")], lines=[line(1, "c1", "begun")])
        assert await conclude_settled(w.store) == [RUN]


@pytest.mark.spec("R-LIM-1", "R-SES-13")
async def test_a_turn_that_goes_on_has_only_the_rounds_that_are_left_of_it(tmp_path: Path) -> None:
    write = FakeTool(WRITE, Category.WRITE)
    model = ScriptedModel([calls("write_file", {"path": "x"}), says("b1")])
    async with debate_world(tmp_path, model, write, person=Person("allow_once"), allowed=WRITE) as w:
        two = [[call("c1")], [ToolResultBlock("c1", WRITE, "one")], [call("c2")], [ToolResultBlock("c2", WRITE, "two")]]
        thread = await cut_off(w, *two, a={"max_rounds": 3})
        await w.go_on(thread)
        first = (await w.debates.turns(thread))[0]
        assert (first.rounds, first.calls, first.ended_by) == (3, 3, "max_steps")
        assert write.calls == [{"path": "x"}]


@pytest.mark.spec("R-SES-18", "R-JRN-5")
async def test_where_nothing_stands_of_a_turn_it_is_taken_anew_and_the_log_of_its_run_ends(tmp_path: Path) -> None:
    model = ScriptedModel([says("a1"), says("b1")])
    async with debate_world(tmp_path, model) as w:
        thread = await cut_off(w)
        await w.go_on(thread)
        assert await w.outcomes(thread) == ["a1", "b1"]
        assert await w.store.effects.unfinished() == []
