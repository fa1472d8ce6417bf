"""Going on with calls that a person had changed, that cannot be made any more, or whose journal cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop.domain.approval.permission import Decision
from desktop.domain.messages import ToolResultBlock
from desktop.domain.runs.effects import call_key
from desktop.domain.runs.events import ToolCallFinished
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.recovery.resume import conclude_settled
from desktop.recovery.words import DONE_BEFORE, SAID_DONE, SKIPPED
from tests.unit.pipeline.kit import Person
from tests.unit.services.cut_off import ANSWER, RUN, WRITE, cut_off, line, results, tools
from tests.unit.services.kit import world

NOTE = '[The person changed the arguments before allowing this call to: {"path": "good"}]\n'
EDITED = json.dumps({"arguments": {"path": "good"}})
MASKED = json.dumps({"masked": True, "arguments": {"path": "***"}})


@pytest.mark.spec("R-PRM-5", "R-JRN-2")
async def test_arguments_that_a_person_changed_are_in_the_journal_before_the_call_is_made(tmp_path: Path) -> None:
    def edits(request):
        return Decision("allow_edited", "digest", edited_arguments={"path": "good"})

    model = ScriptedModel([calls("write_file", {"path": "evil"}), says("ok")])
    write, _ = tools()
    async with world(tmp_path, model, write, person=Person(edits, "allow_once"), supervised=True) as w:
        seen = []

        async def body(args, context):
            (run_id,) = await w.store.effects.unfinished()
            seen.extend(one.value for one in await w.store.effects.load(run_id) if one.kind == "tool")
            return "wrote"

        write.body = body
        path = await w.ask(await w.thread(), "go")
        assert [json.loads(value) for value in seen] == [{"arguments": {"path": "good"}}]
        assert list(results(path).values()) == [NOTE + "wrote"]


@pytest.mark.spec("R-PRM-5", "R-JRN-2")
@pytest.mark.parametrize(
    ("answer", "made", "text"),
    [("allow_once", [{"path": "good"}], "did write-file"), ("done", [], SAID_DONE), ("deny", [], SKIPPED)],
)
async def test_the_question_is_about_what_the_person_had_made_of_the_call_and_so_is_what_is_made(
    tmp_path: Path, answer: str, made: list, text: str
) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person(answer), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await cut_off(w, [("evil", WRITE)], [line(1, "evil", WRITE, "begun", value=EDITED)])
        await w.service.continue_answer(thread)
        assert results(await w.settled(thread)) == {"evil": NOTE + text}
        (request,) = person.asked
        assert (request.arguments, request.original) == ({"path": "good"}, {"path": "evil"})
        assert write.calls == made


@pytest.mark.spec("R-PRM-5", "R-JRN-2")
async def test_of_a_changed_call_that_was_done_the_model_hears_what_was_changed(tmp_path: Path) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person(), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        lines = [line(1, "evil", WRITE, "begun", value=EDITED), line(2, "evil", WRITE, "completed", text="wrote")]
        thread = await cut_off(w, [("evil", WRITE)], lines)
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        assert results(path) == {"evil": NOTE + "wrote"}
        card = next(e for e in w.events if isinstance(e, ToolCallFinished))
        assert card.facts["edited"] == {"path": "good"}


@pytest.mark.spec("R-SEC-5", "R-JRN-6")
async def test_a_changed_call_whose_secret_is_not_kept_is_not_made_again_without_it(tmp_path: Path) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person("allow_once"), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await cut_off(w, [("evil", WRITE)], [line(1, "evil", WRITE, "begun", value=MASKED)])
        await w.service.continue_answer(thread)
        (text,) = results(await w.settled(thread)).values()
        assert SKIPPED in text
        assert "cannot be made again" in text
        assert (write.calls, person.asked[0].choices) == ([], ("deny", "done", "stop"))


@pytest.mark.spec("R-JRN-2", "R-PRM-6")
@pytest.mark.parametrize(("answer", "text"), [("done", SAID_DONE), ("deny", SKIPPED), ("allow_once", SKIPPED)])
async def test_a_call_whose_tool_is_gone_is_asked_about_and_not_said_to_be_refused(
    tmp_path: Path, answer: str, text: str
) -> None:
    model, person, (_, read) = ScriptedModel([says("ok")]), Person(answer), tools()
    async with world(tmp_path, model, read, person=person, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [line(1, "c1", WRITE, "begun")])
        await w.service.continue_answer(thread)
        (found,) = results(await w.settled(thread)).values()
        (request,) = person.asked
        assert (found.startswith(text), request.tool, request.arguments) == (True, WRITE, {"path": "c1"})
        assert request.choices == ("deny", "done", "stop")
        assert "no tool named 'write-file'" in request.unrepeatable


@pytest.mark.spec("R-JRN-2", "R-FS-3")
async def test_a_call_that_the_boundary_refuses_by_now_is_asked_about_too(tmp_path: Path) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person("stop", "deny"), tools()
    write.params = {**write.params, "required": ["path", "mode"]}
    write.__post_init__()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await cut_off(w, [("c1", WRITE)], [line(1, "c1", WRITE, "begun")])
        await w.service.continue_answer(thread)
        assert results(await w.settled(thread)) == {}
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        (block,) = (b for m in path for b in m.blocks if isinstance(b, ToolResultBlock))
        assert block.text.startswith(SKIPPED)
        assert "mode" in block.text
        assert block.facts["state"] == "unknown"


UNREADABLE = [
    ("completed", '{"text": "wr'),
    ("completed", "[1]"),
    ("completed", '{"text": "x", "new_in_v9": 1}'),
    ("completed", '{"text": 5}'),
    ("completed", '{"text": "x", "facts": 5}'),
    ("failed", '{"text"'),
    ("failed", '{"error": "E9", "text": "t", "fields": {"args": 5}}'),
    ("failed", '{"error": "E9", "text": "t", "fields": {"__class__": "x"}}'),
    ("failed", '{"fields": [1]}'),
]


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize(("phase", "value"), UNREADABLE)
@pytest.mark.expects_log("cannot be read")
async def test_an_outcome_that_cannot_be_read_is_one_that_nobody_knows(tmp_path: Path, phase: str, value: str) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person("done"), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        lines = [line(1, "c1", WRITE, "begun"), line(2, "c1", WRITE, phase, value=value)]
        thread = await cut_off(w, [("c1", WRITE)], lines)
        assert await conclude_settled(w.store) == [RUN]
        await w.service.continue_answer(thread)
        assert results(await w.settled(thread)) == {"c1": SAID_DONE}
        assert (len(person.asked), write.calls) == (1, [])


@pytest.mark.spec("R-JRN-2")
async def test_a_done_call_whose_value_was_dropped_is_known_to_be_done(tmp_path: Path) -> None:
    model, person, (write, _) = ScriptedModel([says("ok")]), Person(), tools()
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        lines = [line(1, "c1", WRITE, "begun"), line(2, "c1", WRITE, "completed", text="wrote")]
        thread = await cut_off(w, [("c1", WRITE)], lines)
        await w.store.effects.forget(RUN)
        await w.service.continue_answer(thread)
        assert results(await w.settled(thread)) == {"c1": DONE_BEFORE}
        assert (person.asked, write.calls) == ([], [])
        assert call_key(ANSWER, "c1") in {one.agent for one in await w.store.effects.load(RUN)}
