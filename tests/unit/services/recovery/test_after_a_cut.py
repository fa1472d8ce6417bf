"""What a person does besides Continue after the process died: try again, or just write on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from desktop.domain.messages import NoticeBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.threads import MessageRecord, RunRecord
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.recovery.effect_values import digest_of
from desktop.recovery.words import CUT_OFF, LOOK_FIRST, NOBODY_KNOWS, NOT_MADE, SAID_DONE, SKIPPED
from tests.harness.timeouts import WAIT_S, until
from tests.unit.pipeline.kit import Person
from tests.unit.services.cut_off import ANSWER, READ, RUN, WRITE, cut_off, line, results, tools
from tests.unit.services.kit import MODEL, World, world

ASKED = WRITE.replace("-", "_")
"""As a model calls it."""


def valid(path) -> bool:
    """Each call has its result right below it, notices apart."""
    waiting: list[str] = []
    for message in path:
        if message.role == "tool":
            waiting = [c for c in waiting if c not in {b.call_id for b in message.blocks}]
        elif any(not isinstance(block, NoticeBlock) for block in message.blocks):
            if waiting:
                return False
            waiting = [block.call_id for block in message.blocks if isinstance(block, ToolCallBlock)]
    return not waiting


async def fails_to_go_on(w: World, thread: str) -> None:
    """Continue, in a thread that has no model just then."""
    await w.service.set_model(thread, "")
    await w.service.continue_answer(thread)
    path = await w.settled(thread)
    assert [type(block) for block in path[-1].blocks] == [NoticeBlock]
    assert results(path) == {}
    await w.service.set_model(thread, MODEL)


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
@pytest.mark.parametrize("how", ["retry", "continue"])
async def test_the_question_survives_an_attempt_to_go_on_that_failed(tmp_path: Path, how: str) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person("done"), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [line(1, "c1", WRITE, "begun")])
        await fails_to_go_on(w, thread)
        await (w.service.retry(thread) if how == "retry" else w.service.continue_answer(thread))
        path = await w.settled(thread)
        assert (results(path), write.calls) == ({"c1": SAID_DONE}, [])
        assert (path[-1].text, valid(path)) == ("ok", True)
        assert [b.text for m in model.requests[0].messages for b in m.blocks if b.kind == "tool_result"] == [SAID_DONE]
        assert await w.store.effects.unfinished() == []


@pytest.mark.spec("R-JRN-2")
async def test_trying_again_right_after_the_cut_goes_on_with_the_calls(tmp_path: Path) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person("done"), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        lines = [line(1, "c1", WRITE, "begun"), line(2, "c1", WRITE, "completed", text="wrote")]
        thread = await cut_off(w, [("c1", WRITE), ("c2", WRITE)], [*lines, line(3, "c2", WRITE, "begun")])
        await w.service.retry(thread)
        path = await w.settled(thread)
        assert results(path) == {"c1": "wrote", "c2": SAID_DONE}
        assert [m.message_id for m in path][:2] == ["asked", ANSWER]


@pytest.mark.spec("R-JRN-2", "R-LOOP-10")
@pytest.mark.parametrize("failed_first", [False, True])
async def test_who_writes_on_instead_has_the_model_told_what_is_known_of_each_call(
    tmp_path: Path, failed_first: bool
) -> None:
    model, person, (write, read) = ScriptedModel([says("ok")]), Person(), tools()
    async with world(tmp_path, model, write, read, person=person, supervised=True) as w:
        lines = [
            line(1, "c1", WRITE, "begun"),
            line(2, "c1", WRITE, "completed", text="wrote"),
            line(3, "c2", WRITE, "begun"),
            line(4, "c3", READ, "begun"),
        ]
        thread = await cut_off(w, [("c1", WRITE), ("c2", WRITE), ("c3", READ), ("c4", WRITE)], lines)
        if failed_first:
            await fails_to_go_on(w, thread)
        path = await w.ask(thread, "and now?")
        told = {"c1": "wrote", "c2": f"{NOBODY_KNOWS} {LOOK_FIRST}", "c3": CUT_OFF, "c4": NOT_MADE}
        assert (results(path), valid(path)) == (told, True)
        assert (write.calls, read.calls, person.asked) == ([], [], [])
        sent = [b for m in model.requests[0].messages for b in m.blocks if isinstance(b, ToolResultBlock)]
        assert {b.call_id: b.text for b in sent} == told
        assert [b.facts["state"] for b in sent] == ["done", "unknown", "aborted", "aborted"]
        assert [one.phase for one in await w.store.effects.load(RUN)][-1] == "cancelled"


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
@pytest.mark.parametrize(("answer", "made"), [("done", 0), ("deny", 0), ("allow_once", 1), ("stop", 0)])
async def test_the_same_call_again_is_asked_about_whatever_was_allowed(tmp_path: Path, answer: str, made: int) -> None:
    """A model that is told that nobody knows may just try again, and a rule may allow that."""
    again = calls(ASKED, {"path": "c1"})
    model, (write, _) = ScriptedModel([again, again, says("ok")]), tools()
    person = Person(answer, "allow_once")
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [line(1, "c1", WRITE, "begun")])
        path = await w.ask(thread, "go on")
        unknown = [bool(request.unknown) for request in person.asked]
        if answer == "stop":
            assert (w.ends()[-1].reason, write.calls, unknown) == ("cancelled", [], [True])
            return
        doubtful = answer == "deny"
        assert unknown == [True, doubtful]
        texts = list(results(path).values())[1:]
        assert texts[0].startswith({"done": SAID_DONE, "deny": SKIPPED, "allow_once": "did write-file"}[answer])
        assert len(write.calls) == made + 1


@pytest.mark.spec("R-JRN-2", "R-CAN-10")
@pytest.mark.parametrize("answer", ["done", "allow_once"])
async def test_a_write_that_the_closing_app_cut_off_is_asked_about_at_the_next_start(
    tmp_path: Path, answer: str
) -> None:
    async def slow(*_: object) -> str:
        await asyncio.sleep(30)
        return "never"

    two = [{"call": {"tool": ASKED, "arguments": {"path": path}, "id": path}} for path in ("one", "two")]
    (write, _), model = tools(), ScriptedModel([two])
    write.body = slow
    async with world(tmp_path, model, write, person=Person("allow_once"), supervised=True) as w:
        thread = await w.thread()
        await w.service.send(thread, "go")
        await until(lambda: bool(write.calls))
        await w.service.close()
        assert results(await w.service.path(thread)) == {}
    (write, _), person = tools(), Person(answer, "allow_once")
    async with world(tmp_path, ScriptedModel([says("ok")]), write, person=person, supervised=True) as w:
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        assert results(path) == {"one": SAID_DONE if answer == "done" else "did write-file", "two": "did write-file"}
        assert [bool(request.unknown) for request in person.asked] == [True, False]


@pytest.mark.spec("R-LOOP-10", "R-CAN-10")
async def test_a_write_that_a_person_stopped_has_its_result_as_before(tmp_path: Path) -> None:
    async def slow(*_: object) -> str:
        await asyncio.sleep(30)
        return "never"

    (write, _), model = tools(), ScriptedModel([calls(ASKED, {"path": "one"})])
    write.body = slow
    async with world(tmp_path, model, write, person=Person("allow_once"), supervised=True) as w:
        thread = await w.thread()
        await w.service.send(thread, "go")
        await until(lambda: bool(write.calls))
        await w.service.stop(thread)
        assert list(results(await w.settled(thread)).values()) == ["Operation aborted"]


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
@pytest.mark.parametrize("kept", [False, True])
async def test_another_answer_asks_before_it_does_what_the_one_that_was_cut_off_may_have_done(
    tmp_path: Path, kept: bool
) -> None:
    model = ScriptedModel([calls(ASKED, {"path": "c1"}), calls(ASKED, {"path": "c2"}), says("ok")])
    person, (write, _) = Person("done", "allow_once"), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        first = line(1, "c1", WRITE, "begun")._replace(digest=digest_of(WRITE, {"path": "c1"}))
        done = [line(2, "c1", WRITE, "completed", text="wrote")] if kept else []
        await cut_off(w, [("c1", WRITE)], [first, *done])
        await w.service.regenerate(ANSWER)
        path = await w.settled((await w.service.threads())[0].thread_id)
        assert [bool(request.unknown) for request in person.asked] == [not kept, False]
        assert (path[1].message_id != ANSWER, path[-1].text) == (True, "ok")


@pytest.mark.spec("R-JRN-2")
async def test_after_a_hundred_runs_on_another_branch_what_was_done_is_still_known(tmp_path: Path) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person("done"), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        lines = [line(1, "c1", WRITE, "begun"), line(2, "c1", WRITE, "completed", text="wrote")]
        thread = await cut_off(w, [("c1", WRITE), ("c2", WRITE)], [*lines, line(3, "c2", WRITE, "begun")])
        for number in range(101):
            await w.store.runs.start(record=RunRecord(f"other-{number}", thread, 10.0 + number, "assistant", MODEL))
            await w.store.runs.end(run_id=f"other-{number}", reason="response", at=10.5 + number)
        await w.service.continue_answer(thread)
        assert results(await w.settled(thread)) == {"c1": "wrote", "c2": SAID_DONE}


@pytest.mark.spec("R-JRN-2", "R-AAT-2")
async def test_who_was_given_a_conversation_right_before_the_app_ended_answers_when_it_is_gone_on_with(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([says("It is mine now.")])
    async with world(tmp_path, model, supervised=True) as w:
        lines = [line(1, "c1", "other", "begun"), line(2, "c1", "other", "completed")]
        thread = await cut_off(w, [("c1", "other")], lines)
        facts = {"handoff": "transfer", "agent": "other", "state": "done"}
        given = ToolResultBlock("c1", "other", "Other has taken over.", facts=facts)
        await w.store.messages.add(record=MessageRecord("given", thread, ANSWER, "tool", (given,), 3.0, run_id=RUN))
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        assert [m.text for m in path if m.role == "assistant"][1:] == ["It is mine now."]


@pytest.mark.spec("R-JRN-2", "R-JRN-5")
async def test_a_run_that_was_stopped_before_all_was_settled_is_part_of_what_is_gone_on_with(tmp_path: Path) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person("stop", "done"), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [line(1, "c1", WRITE, "begun")])
        second = await w.service.continue_answer(thread)
        await w.settled(thread)
        assert RUN in await w.store.effects.unfinished()
        assert [one.kind for one in await w.store.effects.load(second) if one.kind == "end"] == []
        await w.service.continue_answer(thread)
        assert results(await w.settled(thread)) == {"c1": SAID_DONE}
        assert write.calls == []
        await until_none(w)


async def until_none(w: World) -> None:
    """The logs of all runs have their end."""
    async with asyncio.timeout(WAIT_S):
        while await w.store.effects.unfinished():
            await asyncio.sleep(0.01)
