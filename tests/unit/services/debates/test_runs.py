"""Two agents by turns: perspectives to the byte, every way a turn or a debate can end, and what the person can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.debates import NO_RESPONSE
from desktop.domain.errors import ConfigurationError, KnownError, ModelServerError
from desktop.domain.messages import ChatMessage, NoticeBlock, TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.models import Finished, ReasoningDelta, TextDelta
from desktop.domain.runs.events import (
    MessageOpened,
    RunEnded,
    RunStarted,
    SideTurnStarted,
    TextArrived,
    UserMessageDelivered,
)
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.supervision.tasks import RunSlots
from tests.unit.agents.script import USAGE, Hang, Script, call
from tests.unit.agents.script import calls as many
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.services.debates.kit import FREE, answering, debate_world, failing, prompt, setup, until


def plain(messages: Any) -> list[tuple[str, str]]:
    return [(m.role, m.text if m.role != "tool" else m.blocks[0].text) for m in messages]


@pytest.mark.spec("R-SES-3", "R-SES-4", "R-SES-6", "R-SES-7", "R-SES-14", "R-SES-18", "R-SES-21", "R-SES-24")
async def test_two_sides_alternate_and_each_sees_itself_as_the_assistant(tmp_path: Path) -> None:
    model = ScriptedModel([says("a1"), says("b1"), says("a2"), says("b2")])
    async with debate_world(tmp_path, model) as w:
        made = setup(b={"model": "other/second"})
        thread, state = await w.run(made)
        assert [plain(request.messages) for request in model.requests] == [
            [("user", "Tea or coffee?")],
            [("user", "Tea or coffee?"), ("user", "a1")],
            [("user", "Tea or coffee?"), ("assistant", "a1"), ("user", "b1")],
            [("user", "Tea or coffee?"), ("user", "a1"), ("assistant", "b1"), ("user", "a2")],
        ]
        assert [str(r.model) for r in model.requests] == ["test/scripted", "other/second"] * 2
        assert "You are pro." in model.requests[0].system
        assert "You are con." in model.requests[1].system
        for request in model.requests:
            words = request.system + "".join(m.text for m in request.messages)
            assert not any(word in words for word in ("another AI", "agent", "Pro", "Con", "side", "debate"))
        assert (state.status, state.end_reason, state.turn) == ("ended", "max_session_turns", 4)
        run = (await w.store.runs.of_thread(thread_id=thread))[0]
        assert run.end_reason == "max_session_turns"
        path = await w.store.messages.path(thread_id=thread)
        assert [(m.role, m.side, m.author) for m in path] == [
            ("user", "human", ""),
            *[("assistant", side, who) for side, who in (("a", "Pro"), ("b", "Con"))] * 2,
        ]
        assert await w.service.threads() == []


@pytest.mark.spec("R-SES-5", "R-SES-8", "R-CTX-10")
async def test_a_side_never_sees_the_others_calls_results_or_thinking(tmp_path: Path) -> None:
    own = call("c1", "look-up", what="tea")
    model = Script(
        [ReasoningDelta("secret plan"), TextDelta("let me look"), Finished("tool_calls", (own,), USAGE)],
        [ReasoningDelta("more"), *speaks("tea is old")],
        speaks("so is coffee"),
        speaks("end a"),
        speaks("end b"),
    )
    async with debate_world(tmp_path, model, answering("look-up", age=4000), allowed="look-up") as w:
        thread, _ = await w.run(setup())
        assert model.requests[2].messages == (
            ChatMessage("user", (TextBlock("Tea or coffee?"),)),
            ChatMessage("user", (TextBlock("tea is old"),)),
        )
        third = model.requests[3].messages
        assert [m.role for m in third] == ["user", "assistant", "tool", "assistant", "user"]
        assert third[1].blocks == (TextBlock("let me look"), ToolCallBlock("c1", "look-up", {"what": "tea"}, "{}"))
        assert isinstance(third[2].blocks[0], ToolResultBlock)
        assert third[2].blocks[0].text.startswith("did look-up")
        assert plain(third[3:]) == [("assistant", "tea is old"), ("user", "so is coffee")]
        system, seen = await w.debates.as_side(thread, "b")
        assert "secret" not in repr(seen)
        assert "look" not in repr(seen)
        assert "You are con." in system


@pytest.mark.spec("R-SES-4", "R-SES-5")
async def test_what_the_page_shows_as_a_sides_view_is_what_is_sent(tmp_path: Path) -> None:
    rounds = [calls("look_up", {"x": 1}, text="hm"), says("a1"), says("b1"), says("a2"), says("b2")]
    model = ScriptedModel(rounds)
    async with debate_world(tmp_path, model, answering("look-up"), allowed="look-up") as w:
        thread = await w.debates.create(setup())
        await w.debates.speak(thread, "be brief")
        for side in ("a", "b", "a", "b"):
            shown = await w.debates.as_side(thread, side)
            asked = len(model.requests)
            await w.debates.step(thread)
            await w.rest(thread)
            assert (model.requests[asked].instructions, model.requests[asked].messages) == shown
            await w.debates.speak(thread, f"said after request {asked}")
        waits = (await w.debates.as_side(thread, "a"))[1][-1]
        assert waits.text.endswith(f"said after request {asked}")


@pytest.mark.spec("R-SES-9", "R-SES-10")
@pytest.mark.parametrize(
    ("structured", "arguments", "outcome"),
    [
        ({"intent": "buy"}, {"intent": "sell"}, "buy"),
        ({"other": 1}, {"intent": "sell"}, "sell"),
        ({"intent": {"to": "buy"}}, {}, '{"to": "buy"}'),
        ({"intent": False}, {}, "false"),
        ({}, {"other": 1}, ""),
    ],
)
async def test_a_stop_tool_ends_the_turn_with_its_property(
    tmp_path: Path, structured: dict[str, Any], arguments: dict[str, Any], outcome: str
) -> None:
    model = ScriptedModel([calls("classify", arguments, text="I say"), says("b1")])
    async with debate_world(tmp_path, model, answering("classify", **structured), allowed="classify") as w:
        thread, state = await w.run(setup(a={"stop_tool": "classify", "stop_property": "intent"}, max_turns=2))
        turns = await w.debates.turns(thread)
        assert [(t.ended_by, t.outcome, t.rounds, t.calls) for t in turns] == [
            ("stop_tool", outcome, 1, 1),
            ("response", "b1", 1, 0),
        ]
        asked = [("user", "Tea or coffee?"), *([("user", outcome)] if outcome else [])]
        assert plain(model.requests[1].messages) == asked
        path = await w.store.messages.path(thread_id=thread)
        warned = [b for m in path for b in m.blocks if isinstance(b, NoticeBlock)]
        assert [b.code for b in warned] == ([] if outcome else ["debate.no_outcome"])
        assert state.end_reason == "max_session_turns"


@pytest.mark.spec("R-SES-11")
async def test_the_end_of_the_session_wins_over_the_stop_tool_and_all_calls_run(tmp_path: Path) -> None:
    tools = [answering("close"), answering("classify", intent="x"), answering("look-up")]
    model = Script(many(call("1", "close"), call("2", "classify"), call("3", "look-up"), text="bye"))
    async with debate_world(tmp_path, model, *tools, allowed="close classify look-up") as w:
        side = {"stop_tool": "classify", "stop_property": "intent", "end_session_tool": "close"}
        thread, state = await w.run(setup(a=side))
        assert [len(tool.calls) for tool in tools] == [1, 1, 1]
        assert (state.status, state.end_reason) == ("ended", "end_session_tool")
        assert "Pro" in state.end_detail
        assert [(t.ended_by, t.outcome) for t in await w.debates.turns(thread)] == [("end_session_tool", "bye")]
        with pytest.raises(KnownError, match="ended"):
            await w.debates.start(thread)


@pytest.mark.spec("R-SES-11")
async def test_either_side_can_end_it_and_two_ends_in_one_round_are_one(tmp_path: Path) -> None:
    model = ScriptedModel([says("a1"), calls("close", {})])
    async with debate_world(tmp_path, model, answering("close"), allowed="close") as w:
        _, state = await w.run(setup(b={"end_session_tool": "close", "max_rounds": 1}, max_turns=2))
        assert (state.end_reason, state.turn) == ("end_session_tool", 2)
        assert [e.reason for e in w.events if isinstance(e, RunEnded)] == ["end_session_tool"]


@pytest.mark.spec("R-SES-12")
async def test_an_error_result_stops_nothing(tmp_path: Path) -> None:
    model = ScriptedModel([calls("close", {}), calls("classify", {}), says("a1"), says("b1")])
    tools = (failing("close"), failing("classify"))
    async with debate_world(tmp_path, model, *tools, allowed="close classify") as w:
        side = {"stop_tool": "classify", "stop_property": "intent", "end_session_tool": "close"}
        thread, state = await w.run(setup(a=side, max_turns=2))
        assert await w.outcomes(thread) == ["a1", "b1"]
        assert model.requests[2].messages[-1].blocks[0].is_error
        assert state.end_reason == "max_session_turns"


@pytest.mark.spec("R-SES-13", "R-LOOP-8")
async def test_a_side_that_only_calls_tools_is_forced_to_stop(tmp_path: Path) -> None:
    model = Script(last=many(call("1", "look-up")))
    async with debate_world(tmp_path, model, answering("look-up"), allowed="look-up") as w:
        thread, state = await w.run(setup(a={"max_rounds": 2}, b={"max_rounds": 3}, max_turns=3))
        assert [(t.ended_by, t.outcome, t.rounds) for t in await w.debates.turns(thread)] == [
            ("max_steps", NO_RESPONSE, 2),
            ("max_steps", NO_RESPONSE, 3),
            ("max_steps", NO_RESPONSE, 2),
        ]
        assert plain(model.requests[2].messages) == [("user", "Tea or coffee?"), ("user", NO_RESPONSE)]
        assert not any("Stopped" in m.text for r in model.requests for m in r.messages)
        assert state.end_reason == "max_session_turns"


@pytest.mark.spec("R-SES-13", "R-SES-20", "C-17")
async def test_without_stop_on_response_a_side_goes_on_until_its_limit(tmp_path: Path) -> None:
    model = ScriptedModel([says("one"), says("two"), says("b1")])
    async with debate_world(tmp_path, model) as w:
        thread, _ = await w.run(setup(a={"stop_on_response": False, "max_rounds": 2}, max_turns=2))
        assert plain(model.requests[1].messages)[1:] == [("assistant", "one"), ("user", "Continue.")]
        assert [(t.ended_by, t.outcome) for t in await w.debates.turns(thread)] == [
            ("max_steps", "two"),
            ("response", "b1"),
        ]


@pytest.mark.spec("R-SES-15", "R-SES-18")
async def test_rounds_of_the_whole_run_are_bounded_and_a_new_run_goes_on(tmp_path: Path) -> None:
    model = Script(last=many(call("1", "look-up")))
    async with debate_world(tmp_path, model, answering("look-up"), allowed="look-up") as w:
        sides = {"max_rounds": 100}
        thread, state = await w.run(setup(a=sides, b=sides, max_turns=5))
        assert (state.status, state.end_reason) == ("ended", "global_limit")
        assert [t.rounds for t in await w.debates.turns(thread)] == [100, 100, 50]
        assert len(model.requests) == 250
        assert (await w.store.runs.of_thread(thread_id=thread))[0].end_reason == "global_limit"
        state = await w.go_on(thread)
        assert (state.end_reason, [t.rounds for t in await w.debates.turns(thread)][3:]) == (
            "max_session_turns",
            [100, 100],
        )


@pytest.mark.spec("R-SES-16", "R-SES-17")
async def test_sides_are_told_before_their_last_rounds_and_at_their_last_turn(tmp_path: Path) -> None:
    model = Script(last=many(call("1", "look-up")))
    async with debate_world(tmp_path, model, answering("look-up"), allowed="look-up") as w:
        await w.run(setup(a={"max_rounds": 15}, b={"max_rounds": 1}, max_turns=4))
        told = ["last round" in r.note for r in model.requests]
        few = ["3 rounds remain" in r.note for r in model.requests]
        last = ["last time that you speak" in r.note for r in model.requests]
        turn = [False] * 14 + [True]
        assert told == [*turn, True, *turn, True]
        assert few == [n == 12 for n in range(15)] + [False] + [n == 12 for n in range(15)] + [False]
        assert last == [False] * 16 + [True] * 16


@pytest.mark.spec("R-SES-18", "Q-10")
async def test_two_empty_turns_in_a_row_end_it_one_does_not(tmp_path: Path) -> None:
    model = ScriptedModel([says(""), says("b1"), says("  "), says("")])
    async with debate_world(tmp_path, model) as w:
        thread, state = await w.run(setup(max_turns=9))
        assert (state.status, state.end_reason, state.turn) == ("ended", "error", 4)
        assert "nothing" in state.end_detail
        assert [t.ended_by for t in await w.debates.turns(thread)] == ["empty", "response", "empty", "empty"]
        assert plain(model.requests[1].messages) == [("user", "Tea or coffee?")]
        assert plain(model.requests[3].messages)[-1] == ("user", "Continue.")


@pytest.mark.spec("R-SES-18", "R-SUP-7")
async def test_a_budget_ends_it_and_more_of_it_lets_it_go_on(tmp_path: Path) -> None:
    model = Script(last=speaks("words"))
    async with debate_world(tmp_path, model) as w:
        thread, state = await w.run(setup(max_turns=20, max_tokens=330))
        assert (state.status, state.end_reason, state.turn) == ("ended", "budget", 3)
        assert "max_tokens 330" in state.end_detail
        await w.debates.extend(thread, max_tokens=550)
        state = await w.go_on(thread)
        assert (state.end_reason, state.turn) == ("budget", 5)
        await w.debates.extend(thread, max_tokens=10_000, max_cost=0.0065)
        state = await w.go_on(thread)
        assert (state.end_reason, state.turn, state.end_detail.count("max_cost_usd")) == ("budget", 7, 1)
    async with debate_world(tmp_path / "prompts", model, budget=ExecutionBudget(max_rounds=1)) as w:
        _, state = await w.run(setup())
        assert (state.end_reason, state.turn) == ("global_limit", 1)


@pytest.mark.spec("R-SES-14")
async def test_more_turns_can_be_allowed_afterwards(tmp_path: Path) -> None:
    model = Script(last=speaks("words"))
    async with debate_world(tmp_path, model) as w:
        thread, state = await w.run(setup(max_turns=3))
        assert (state.end_reason, state.turn) == ("max_session_turns", 3)
        with pytest.raises(KnownError, match="All 3"):
            await w.debates.start(thread)
        with pytest.raises(ConfigurationError):
            await w.debates.extend(thread, max_turns=3)
        await w.debates.extend(thread, max_turns=5)
        assert (await w.debates.state(thread)).status == "paused"
        state = await w.go_on(thread)
        assert (state.end_reason, state.turn, [t.side for t in await w.debates.turns(thread)]) == (
            "max_session_turns",
            5,
            ["a", "b", "a", "b", "a"],
        )


@pytest.mark.spec("R-SES-22", "R-SES-15", "R-SES-18")
async def test_everything_is_told_live(tmp_path: Path) -> None:
    tool = answering("look-up")
    model = Script(many(call("1", "look-up")), speaks("a1"), speaks("b1"))
    async with debate_world(tmp_path, model, tool, allowed="look-up") as w:
        thread, state = await w.run(setup(a={"max_rounds": 7}, max_turns=2))
        begun = [e for e in w.events if isinstance(e, SideTurnStarted)]
        assert [(e.side, e.number, e.label, e.model) for e in begun] == [
            ("a", 1, "Pro", "test/scripted"),
            ("b", 2, "Con", "test/scripted"),
        ]
        assert [e.side for e in w.events if isinstance(e, MessageOpened)] == ["a", "a", "b"]
        assert w.ended() == await w.debates.turns(thread)
        rounds = [(s.meters["a"].round, s.meters["a"].round_limit) for s in w.told() if s.meters["a"].round]
        assert rounds[0] == (1, 7)
        assert rounds[-1] == (2, 7)
        a, b = state.meters["a"], state.meters["b"]
        assert (a.turns, a.rounds, a.calls, a.usage.input_tokens, a.usage.cost_usd) == (1, 2, 1, 200, 0.002)
        assert (b.turns, b.rounds, b.calls, b.usage.output_tokens) == (1, 1, 0, 10)
        assert w.told()[-1] == state
        assert isinstance(w.events[-1], RunEnded)
        assert any(isinstance(e, RunStarted) for e in w.events)


@pytest.mark.spec("R-SES-23", "R-SES-19")
async def test_pause_step_and_resume(tmp_path: Path) -> None:
    model = Script([TextDelta("a"), Hang()], last=speaks("words"))
    async with debate_world(tmp_path, model) as w:
        thread = await w.debates.create(setup(max_turns=6))
        assert (await w.debates.state(thread)).status == "ready"
        model.answers.clear()
        await w.debates.step(thread)
        state = await w.rest(thread)
        assert (state.status, state.turn, state.side, state.end_reason) == ("paused", 1, "b", "")
        await w.debates.start(thread)
        await w.debates.pause(thread)
        assert (await w.debates.state(thread)).status == "pausing"
        state = await w.rest(thread)
        assert (state.status, state.turn) == ("paused", 1 if len(model.requests) == 1 else 2)
        await w.debates.start(thread)
        await w.debates.pause(thread)
        await w.debates.start(thread)
        with pytest.raises(KnownError, match="running"):
            await w.debates.step(thread)
        state = await w.rest(thread)
        assert (state.status, state.end_reason, state.turn) == ("ended", "max_session_turns", 6)
        runs = await w.store.runs.of_thread(thread_id=thread)
        assert len(runs) == len([e for e in w.events if isinstance(e, RunStarted)]) == 3


@pytest.mark.spec("R-SES-18", "R-SES-23", "R-LOOP-10")
async def test_stop_is_at_once_and_what_was_said_is_kept_aside(tmp_path: Path) -> None:
    model = Script(speaks("a1"), [TextDelta("half"), Hang()], last=speaks("again"))
    async with debate_world(tmp_path, model) as w:
        thread = await w.debates.create(setup(max_turns=3))
        await w.debates.start(thread)
        await until(lambda: any(isinstance(e, TextArrived) and e.text == "half" for e in w.events))
        await w.debates.stop(thread)
        state = await w.rest(thread)
        assert (state.status, state.end_reason, state.turn) == ("ended", "cancelled", 1)
        path = await w.store.messages.path(thread_id=thread)
        assert [m.text for m in path] == ["Tea or coffee?", "a1", "half"]
        state = await w.go_on(thread)
        assert (state.end_reason, await w.outcomes(thread)) == ("max_session_turns", ["a1", "again", "again"])
        path = await w.store.messages.path(thread_id=thread)
        assert [m.text for m in path] == ["Tea or coffee?", "a1", "again", "again"]


@pytest.mark.spec("R-SES-19", "R-SES-23")
async def test_a_moderator_is_heard_by_both_before_the_next_turn_even_in_the_middle_of_a_stream(tmp_path: Path) -> None:
    model = Script([TextDelta("a1"), Hang()], last=speaks("x"))
    async with debate_world(tmp_path, model) as w:
        thread = await w.debates.create(setup(max_turns=2))
        await w.debates.speak(thread, "before")
        await w.debates.start(thread)
        await until(lambda: any(isinstance(e, TextArrived) for e in w.events))
        await w.debates.speak(thread, "  be kind ")
        await w.debates.speak(thread, "never mind")
        assert (await w.debates.state(thread)).waiting == ("be kind", "never mind")
        assert await w.debates.take_back(thread, "never mind")
        assert not await w.debates.take_back(thread, "before")
        await w.debates.stop(thread)
        await w.rest(thread)
        assert (await w.debates.state(thread)).waiting == ("be kind",)
        state = await w.go_on(thread)
        note = "A note from the moderator: "
        topic = ("user", "Tea or coffee?")
        said = [("user", f"{note}before"), ("user", f"{note}be kind")]
        assert plain(model.requests[0].messages) == [topic, said[0]]
        assert plain(model.requests[1].messages) == [topic, *said]
        assert plain(model.requests[2].messages) == [topic, *said, ("user", "x")]
        assert (state.waiting, len([e for e in w.events if isinstance(e, UserMessageDelivered)])) == ((), 2)
        with pytest.raises(KnownError, match="empty"):
            await w.debates.speak(thread, "  ")


@pytest.mark.spec("R-SES-18", "R-SES-19")
async def test_a_server_that_dies_in_bs_turn_pauses_it_and_nothing_is_lost(tmp_path: Path) -> None:
    model = Script(speaks("a1"), [TextDelta("half of b"), ModelServerError("The server is gone.")], last=speaks("ok"))
    async with debate_world(tmp_path, model) as w:
        thread, state = await w.run(setup(max_turns=2))
        assert (state.status, state.end_reason, state.turn) == ("paused", "error", 1)
        assert "The server is gone." in state.end_detail
        path = await w.store.messages.path(thread_id=thread)
        assert path[-1].text == "half of b"
        assert any(isinstance(b, NoticeBlock) and b.severity == "error" for b in path[-1].blocks)
        first = model.requests[1].messages
        state = await w.go_on(thread)
        assert (state.status, await w.outcomes(thread)) == ("ended", ["a1", "ok"])
        assert model.requests[2].messages == first
        assert [m.text for m in await w.store.messages.path(thread_id=thread)] == ["Tea or coffee?", "a1", "ok"]


@pytest.mark.spec("R-DEF-11")
async def test_a_prompt_that_is_deleted_while_it_runs_pauses_it_before_a_model_is_asked(tmp_path: Path) -> None:
    gone = []

    def remove(request: Any) -> Any:
        path = tmp_path / "prompts" / "con.skill.md"
        path.unlink()
        w.skills.fabric.invalidate_file(str(path), by_person=True)
        gone.append(path)
        return speaks("a1")

    model = Script(remove, last=speaks("ok"))
    async with debate_world(tmp_path, model) as w:
        thread, state = await w.run(setup(max_turns=2))
        assert (state.status, state.end_reason, len(model.requests)) == ("paused", "error", 1)
        assert "sideB.prompt" in state.end_detail
        with pytest.raises(ConfigurationError, match=r"sideB\.prompt"):
            await w.debates.start(thread)
        path = prompt(tmp_path / "prompts", "con")
        w.skills.fabric.invalidate_file(str(path), by_person=True)
        assert (await w.go_on(thread)).status == "ended"
        assert await w.outcomes(thread) == ["a1", "ok"]


@pytest.mark.spec("R-AAT-9", "R-PRM-2")
async def test_a_request_for_approval_says_which_side_asks(tmp_path: Path) -> None:
    seen: list[tuple[str, ...]] = []

    def writes(args: Any, context: Any) -> str:
        seen.append(context.chain)
        return "done"

    tool = FakeTool("write-file", Category.WRITE, params=FREE, body=writes)
    model = Script(speaks("a1"), many(call("1", "write-file")), speaks("b1"))
    person = Person("allow_once")
    async with debate_world(tmp_path, model, tool, allowed="write-file", person=person) as w:
        await w.run(setup(max_turns=2))
        assert seen == [("Con (side B)", "con", "write-file")]
        assert len(person.asked) == 1


@pytest.mark.spec("R-SUP-14")
async def test_debates_share_the_slots_turn_by_turn(tmp_path: Path) -> None:
    class Patient:
        """Answers once all three wait for their turn."""

        def __init__(self) -> None:
            self.asked: list[str] = []

        async def stream(self, request: Any, meta: Any) -> Any:
            self.asked.append(meta.thread_id)
            await until(lambda: sum(isinstance(e, SideTurnStarted) for e in w.events) >= 3)
            for item in speaks("x"):
                yield item

    model = Patient()
    async with debate_world(tmp_path, model, slots=RunSlots(1)) as w:
        threads = [await w.debates.create(setup(max_turns=4)) for _ in range(3)]
        for thread in threads:
            await w.debates.start(thread)
        assert set(w.debates.running()) == set(threads)
        for thread in threads:
            assert (await w.rest(thread)).end_reason == "max_session_turns"
        assert set(model.asked[:3]) == set(threads)


@pytest.mark.spec("R-SES-19")
async def test_closing_the_app_pauses_at_the_last_finished_turn(tmp_path: Path) -> None:
    model = Script(speaks("a1"), [TextDelta("half"), Hang()])
    async with debate_world(tmp_path, model) as w:
        thread = await w.debates.create(setup())
        await w.debates.start(thread)
        await until(lambda: any(isinstance(e, TextArrived) and e.text == "half" for e in w.events))
        assert await w.debates.close() == []
        with pytest.raises(KnownError, match="closing"):
            await w.debates.start(thread)
    async with debate_world(tmp_path, Script(last=speaks("later"))) as w:
        state = await w.debates.state(thread)
        assert (state.status, state.end_reason, state.turn) == ("paused", "interrupted", 1)
        assert [m.text for m in await w.store.messages.path(thread_id=thread)] == ["Tea or coffee?", "a1"]
        assert (await w.go_on(thread)).end_reason == "max_session_turns"
        assert await w.outcomes(thread) == ["a1", "later", "later", "later"]
