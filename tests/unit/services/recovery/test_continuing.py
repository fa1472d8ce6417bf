"""Going on after the process died: what is done stays done, what may be done is asked about, the rest is done."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from desktop.domain.approval.permission import Decision
from desktop.domain.messages import NoticeBlock
from desktop.domain.runs.events import ToolCallFinished
from desktop.domain.threads import RunRecord
from desktop.models.scripted import ScriptedModel, says
from desktop.recovery.resume import conclude_settled
from desktop.recovery.words import SAID_DONE, SKIPPED
from tests.harness.timeouts import until
from tests.unit.pipeline.kit import Person
from tests.unit.services.cut_off import ANSWER, READ, RUN, WRITE, cut_off, line, results, tools
from tests.unit.services.kit import MODEL, world


@pytest.mark.spec("R-JRN-2", "R-JRN-5")
async def test_what_was_done_is_not_done_again_and_what_never_began_is_done_now(tmp_path: Path) -> None:
    model, person, (write, read) = ScriptedModel([says("all done")]), Person("allow_once"), tools()
    async with world(tmp_path, model, write, read, person=person, supervised=True) as w:
        lines = [
            line(1, "c1", WRITE, "begun"),
            line(2, "c1", WRITE, "completed", text="stored before"),
            line(3, "c2", WRITE, "begun"),
            line(4, "c2", WRITE, "completed", text="only in the journal"),
            line(5, "c3", READ, "begun"),
        ]
        calls = [("c1", WRITE), ("c2", WRITE), ("c3", READ), ("c4", WRITE)]
        thread = await cut_off(w, calls, lines, done="c1")
        assert await w.store.effects.unfinished() == [RUN]
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        assert write.calls == [{"path": "c4"}]
        assert read.calls == [{"path": "c3"}]
        assert [request.unknown for request in person.asked] == [""]
        assert results(path) == {
            "c1": "stored before",
            "c2": "only in the journal",
            "c3": "did read-file",
            "c4": "did write-file",
        }
        assert path[-1].text == "all done"
        assert [m.text for m in path if m.role == "user"] == ["go"]
        assert await w.store.effects.unfinished() == []
        card = next(e for e in w.events if isinstance(e, ToolCallFinished) and e.call_id == "c2")
        assert (card.state, card.is_error, card.message_id) == ("done", False, ANSWER)


@pytest.mark.spec("R-JRN-2", "R-PRM-4")
@pytest.mark.parametrize(
    ("answer", "made", "text"), [("allow_once", 1, "did write-file"), ("done", 0, SAID_DONE), ("deny", 0, SKIPPED)]
)
async def test_a_write_that_may_have_been_done_is_asked_about(
    tmp_path: Path, answer: str, made: int, text: str
) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person(answer), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [line(1, "c1", WRITE, "begun")])
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        (request,) = person.asked
        assert "nobody knows whether it was done" in request.unknown
        assert (request.arguments, request.choices) == ({"path": "c1"}, ("deny", "done", "allow_once", "stop"))
        assert len(write.calls) == made
        assert results(path) == {"c1": text}
        assert w.ends()[-1].reason == "response"


@pytest.mark.spec("R-JRN-2", "R-CAN-10")
async def test_the_person_may_end_the_run_instead_and_is_asked_again_the_next_time(tmp_path: Path) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person("stop", "done"), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [line(1, "c1", WRITE, "begun")])
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        assert (results(path), w.ends()[-1].reason, write.calls) == ({}, "cancelled", [])
        await w.service.continue_answer(thread)
        assert results(await w.settled(thread)) == {"c1": SAID_DONE}
        assert len(person.asked) == 2
        assert not [b for m in path for b in m.blocks if isinstance(b, NoticeBlock)]


@pytest.mark.spec("R-PRM-9")
async def test_a_question_that_is_stopped_is_no_answer(tmp_path: Path) -> None:
    (write, _), model = tools(), ScriptedModel([says("ok")])
    person = Person(lambda request: Decision("deny", "digest", by="cancelled"), wait=0.05)
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [line(1, "c1", WRITE, "begun")])
        await w.service.continue_answer(thread)
        await until(lambda: bool(person.asked))
        await w.service.stop(thread)
        assert results(await w.settled(thread)) == {}
        assert write.calls == []
        assert w.ends()[-1].reason == "cancelled"


@pytest.mark.spec("R-JRN-2")
async def test_a_read_in_which_a_write_had_begun_is_asked_about_even_after_a_second_crash(tmp_path: Path) -> None:
    (write, read), model, person = tools(), ScriptedModel([says("ok")]), Person("deny")
    async with world(tmp_path, model, write, read, person=person, supervised=True) as w:
        lines = [line(1, "c1", READ, "begun"), line(2, "below", WRITE, "begun")]
        thread = await cut_off(w, [("c1", READ)], lines)
        await w.store.runs.start(record=RunRecord("run-1", thread, time.time(), "assistant", MODEL))
        await w.store.effects.append([line(1, "c1", READ, "begun", run="run-1")])
        await w.store.runs.end(run_id="run-1", reason="interrupted", at=time.time())
        await w.service.continue_answer(thread)
        assert results(await w.settled(thread)) == {"c1": SKIPPED}
        assert "Inside it: write-file p (nobody knows whether it was done)." in person.asked[0].unknown
        assert read.calls == []
        assert await w.store.effects.unfinished() == []


@pytest.mark.spec("R-JRN-2")
async def test_what_the_first_attempt_to_go_on_did_is_not_done_by_the_second(tmp_path: Path) -> None:
    (write, _), model, person = tools(), ScriptedModel([says("ok")]), Person()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [])
        await w.store.runs.start(record=RunRecord("run-1", thread, time.time(), "assistant", MODEL))
        again = [
            line(1, "c1", WRITE, "begun", run="run-1"),
            line(2, "c1", WRITE, "completed", run="run-1", text="made then"),
        ]
        await w.store.effects.append(again)
        await w.store.runs.end(run_id="run-1", reason="interrupted", at=time.time())
        await w.service.continue_answer(thread)
        assert results(await w.settled(thread)) == {"c1": "made then"}
        assert (write.calls, person.asked) == ([], [])


@pytest.mark.spec("R-JRN-2", "R-PRM-6")
async def test_where_nobody_is_it_is_skipped(tmp_path: Path) -> None:
    (write, _), model = tools(), ScriptedModel([says("ok")])
    async with world(tmp_path, model, write, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [line(1, "c1", WRITE, "begun")])
        await w.service.continue_answer(thread)
        assert results(await w.settled(thread)) == {"c1": SKIPPED}
        assert write.calls == []


@pytest.mark.spec("R-JRN-5")
async def test_at_the_start_journals_end_of_runs_that_nobody_can_go_on_with(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([says("ok")]), supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [line(1, "c1", WRITE, "begun")])
        assert await conclude_settled(w.store) == [RUN]
        await w.ask(thread, "something else")
        assert await conclude_settled(w.store) == []
        assert await w.store.effects.unfinished() == []
        assert [one.phase for one in await w.store.effects.load(RUN)] == ["begun", "cancelled"]
