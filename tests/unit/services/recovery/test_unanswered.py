"""A question that closes with its run is no answer: the call is not denied, and is asked about again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.permission import Decision
from desktop.domain.messages import ToolResultBlock
from desktop.domain.runs.events import ToolCallFinished
from desktop.domain.threads import ThreadEnd
from desktop.models.scripted import ScriptedModel, says
from desktop.pipeline.context import CallContext
from tests.harness.timeouts import until
from tests.unit.pipeline.kit import Person
from tests.unit.services.cut_off import results, tools
from tests.unit.services.kit import World, world

TWO = [{"call": {"tool": "write_file", "arguments": {"path": path}, "id": path}} for path in ("one", "two")]


class Leaves(Person):
    """Somebody who is asked, and does not answer before the run ends."""

    async def decide(self, call: CallContext, asking: Any) -> Decision:
        self.answers = [lambda request: Decision("deny", request.digest, by="cancelled")]
        decision = await super().decide(call, asking)
        await call.meta.cancellation.wait()
        return decision


async def _left_unanswered(w: World, person: Person, how: str) -> str:
    """A thread whose run ended while its first write was asked about."""
    thread = await w.thread()
    await w.service.send(thread, "go")
    await until(lambda: bool(person.asked))
    await (w.service.stop(thread) if how == "stop" else w.service.close())
    await w.settled(thread)
    return thread


@pytest.mark.spec("R-PRM-9", "R-JRN-2")
@pytest.mark.parametrize("how", ["stop", "quit"])
async def test_a_call_that_nobody_answered_is_asked_about_again_and_no_model_hears_of_a_no(
    tmp_path: Path, how: str
) -> None:
    (write, _), person = tools(), Leaves()
    async with world(tmp_path, ScriptedModel([TWO]), write, person=person, supervised=True) as w:
        thread = await _left_unanswered(w, person, how)
        (card, *_) = [event for event in w.events if isinstance(event, ToolCallFinished)]
        assert (card.state, "denied" in card.text) == ("aborted", False)
        assert results(await w.service.path(thread)) == {}
        assert await w.service.thread_end(thread) == ThreadEnd(frozenset(), stopped=how == "stop")
    (write, _), person, model = tools(), Person("allow_once", "deny"), ScriptedModel([says("ok")])
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        await w.service.continue_answer(thread)
        path = await w.settled(thread)
        assert [(request.arguments["path"], request.unknown) for request in person.asked] == [("one", ""), ("two", "")]
        assert write.calls == [{"path": "one"}]
        assert results(path) == {"one": "did write-file", "two": "Permission denied by user"}


@pytest.mark.spec("R-PRM-9")
async def test_who_writes_on_instead_of_answering_said_no_to_nothing(tmp_path: Path) -> None:
    (write, _), person, model = tools(), Leaves(), ScriptedModel([TWO, says("ok")])
    async with world(tmp_path, model, write, person=person, supervised=True) as w:
        thread = await _left_unanswered(w, person, "stop")
        await w.ask(thread, "something else")
        told = [b.text for m in model.requests[-1].messages for b in m.blocks if isinstance(b, ToolResultBlock)]
        assert len(told) == 2
        assert all("Nobody said no" in text for text in told)
        assert write.calls == []
