"""Calls that may have been done before Assent ended: what a gate refuses of them must not read as if they had not."""

from __future__ import annotations

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import Denied
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.events import ToolCallAnswered, ToolCallFinished, ToolCallStarted, ToolCallWaiting
from desktop.domain.tools import PreCheck
from desktop.pipeline.context import CallRequest, CallResult
from desktop.pipeline.names import Caller, ExactTools
from desktop.recovery.past import OUTCOME_UNKNOWN, VALUE_UNKNOWN, Unknown
from desktop.recovery.words import SAID_DONE, SKIPPED
from tests.unit.pipeline.kit import Bench, FakeTool, Person

ASKS = "Nobody knows whether this was done."


async def again(bench: Bench, *, caller: Caller | None = None, unrepeatable: str = "") -> CallResult:
    past = Unknown(ASKS, unrepeatable=unrepeatable)
    block = ToolCallBlock("c1", "write_file", {"path": "a"})
    request = CallRequest(block, caller or Caller(), bench.root, bench.events.append, past=past)
    return await bench.pipeline.invoke(request)


def writer(*checks: PreCheck) -> FakeTool:
    left = list(checks)
    return FakeTool("write-file", Category.WRITE, checks=lambda _args: left.pop(0))


FINE, REFUSED = PreCheck(Category.WRITE), PreCheck(Category.WRITE, denied=Denied("It is outside."))


@pytest.mark.spec("R-JRN-2", "R-INV-17")
@pytest.mark.parametrize("why", ["gone", "not allowed", "outside", "unrepeatable"])
@pytest.mark.parametrize(("answer", "text"), [("done", SAID_DONE), ("deny", SKIPPED), ("allow_once", SKIPPED)])
async def test_whatever_refuses_it_a_person_is_asked_who_cannot_have_it_made(why: str, answer: str, text: str) -> None:
    tool, person = writer(REFUSED if why == "outside" else FINE), Person(answer)
    bench = Bench(*(() if why == "gone" else (tool,)), person=person)
    caller = Caller(allowed=ExactTools(())) if why == "not allowed" else None
    outcome = await again(bench, caller=caller, unrepeatable="its key is not kept." if why == "unrepeatable" else "")
    (request,) = person.asked
    assert (request.tool, request.arguments, request.unknown) == ("write-file", {"path": "a"}, ASKS)
    assert request.unrepeatable.startswith("It cannot be made again: ")
    assert tool.calls == []
    assert outcome.result.text.startswith(text)
    assert outcome.state == ("done" if answer == "done" else "unknown")
    assert bench.names == [
        kind.__name__ for kind in (ToolCallStarted, ToolCallWaiting, ToolCallAnswered, ToolCallFinished)
    ]


@pytest.mark.spec("R-JRN-2", "R-PRM-5")
async def test_one_that_a_person_wanted_again_and_that_is_refused_then_is_still_unknown() -> None:
    tool, person = writer(FINE, REFUSED), Person("allow_once")
    outcome = await again(Bench(tool, person=person))
    assert (len(person.asked), tool.calls) == (1, [])
    assert outcome.result.text == f"{SKIPPED} It cannot be made again: It is outside."
    assert (outcome.result.code, outcome.state) == (OUTCOME_UNKNOWN, "unknown")


@pytest.mark.spec("R-PRM-6")
async def test_where_nobody_is_it_is_not_made_and_said_to_be_unknown() -> None:
    tool = writer(REFUSED)
    outcome = await again(Bench(tool))
    assert (outcome.state, tool.calls) == ("unknown", [])
    assert outcome.result.text.startswith(SKIPPED)


@pytest.mark.spec("R-JRN-2")
@pytest.mark.parametrize("origin", ["native", "code", "skill"])
async def test_a_model_reads_that_it_was_done_and_code_does_not_take_that_sentence_for_the_value(origin) -> None:
    tool, person = writer(FINE), Person("done")
    result = (await again(Bench(tool, person=person), caller=Caller(origin=origin))).result
    assert (result.is_error, tool.calls) == (False, []), "code that tries again after errors would make it twice"
    assert (result.text, result.code) == ((SAID_DONE, "") if origin == "native" else ("", VALUE_UNKNOWN))
