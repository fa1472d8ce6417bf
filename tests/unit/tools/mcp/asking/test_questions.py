"""What a server asks while its tool works, to a person and back: real servers, the real host."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.servers.questions import PersonAnswer, ServerQuestion
from desktop.pipeline.context import CallResult
from tests.servers.mcp import FOLDER
from tests.unit.tools.mcp.kit import Lent, McpBench

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.spec("R-MCP-4")]
FORM = {
    "type": "object",
    "properties": {"quay": {"type": "string"}, "boats": {"type": "integer", "minimum": 1}},
    "required": ["quay"],
}


def form(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


QUESTION = {"message": "Where is it?", "requestedSchema": FORM}
GOOD = {"quay": "Quay 3, 4711"}


class Desk:
    """A person at the window, who answers what they are asked."""

    def __init__(self, bench: McpBench) -> None:
        self.bench = bench
        self.answers: list[PersonAnswer] = []
        self.asked: list[ServerQuestion] = []
        self.most = 0
        self._leave: Callable[[], None] | None = bench.questions.attend(self._look)

    def _look(self) -> None:
        waiting = self.bench.questions.waiting
        self.most = max(self.most, len(waiting))
        if waiting and self.answers and waiting[0] not in self.asked:
            self.asked.append(waiting[0])
            asyncio.get_running_loop().call_soon(self._answer, waiting[0].question_id, self.answers.pop(0))

    def _answer(self, question_id: str, answer: PersonAnswer) -> None:
        assert self.bench.questions.answer(question_id, answer)

    def leave(self) -> None:
        if self._leave is not None:
            self._leave()
            self._leave = None

    async def one(self) -> ServerQuestion:
        await self.bench.until(lambda: self.bench.questions.waiting, "a question")
        return self.bench.questions.waiting[0]

    async def call(self, *questions: dict[str, Any], token: CancellationToken | None = None, **more: Any) -> CallResult:
        return await self.bench.call("asking_ask", token=token, questions=list(questions), **more)


def answers(result: CallResult) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.result.text)
    return found


@pytest_asyncio.fixture(loop_scope="session")
async def desk(tmp_path: Path, lent: Lent) -> AsyncIterator[Desk]:
    bench = McpBench(tmp_path, host=lent)
    command = [sys.executable, "-I", "-S", str(FOLDER / "asking.py")]
    await bench.ready("asking", command, category="read", timeout=2)
    made = Desk(bench)
    yield made
    made.leave()
    await bench.end()


async def test_a_person_answers_and_the_values_go_to_the_server_alone(desk: Desk) -> None:
    desk.answers = [PersonAnswer("accept", GOOD)]
    result = await desk.call(QUESTION)
    assert answers(result)["q0"] == {"action": "accept", "content": GOOD}
    [asked] = desk.asked
    assert (asked.server, asked.tool, asked.thread_id, asked.asked_by) == (
        "asking",
        "asking-ask",
        "thread",
        ("Workbench",),
    )
    assert asked.where == sys.executable
    assert [one.label for one in asked.fields] == ["quay", "boats"]
    [line] = [one for one in desk.bench.audit if one.decision == "answered"]
    assert (line.by, line.tool, line.outcome) == ("user", "asking-ask", "answered")
    assert "Where is it?" in line.summary
    assert "4711" not in repr(desk.bench.audit)
    assert "4711" not in repr(desk.bench.servers.state)


async def test_a_refusal_is_one_and_the_call_goes_on(desk: Desk) -> None:
    desk.answers = [PersonAnswer("decline")]
    assert answers(await desk.call(QUESTION))["q0"] == {"action": "decline"}


async def test_a_person_can_stop_the_call_that_asks(desk: Desk) -> None:
    desk.answers = [PersonAnswer("cancel", stops=True)]
    result = await desk.call(QUESTION)
    assert result.state == "aborted"


async def test_the_time_of_the_call_stands_still_while_a_person_thinks(desk: Desk) -> None:
    asking = asyncio.ensure_future(desk.call(QUESTION))
    question = await desk.one()
    past = time.monotonic() + 2.6  # longer than its limit, and than what comes on top of that in the MCP host
    await desk.bench.until(lambda: time.monotonic() > past, "past its limit")
    assert not asking.done()
    assert desk.bench.questions.answer(question.question_id, PersonAnswer("accept", GOOD))
    assert answers(await asking)["q0"]["action"] == "accept"


async def test_two_questions_at_once_wait_for_one_another(desk: Desk) -> None:
    desk.answers = [PersonAnswer("accept", GOOD), PersonAnswer("decline")]
    found = answers(await desk.call(QUESTION, {**QUESTION, "message": "And when?"}))
    assert [found[key]["action"] for key in ("q0", "q1")] == ["accept", "decline"]
    assert [one.message for one in desk.asked] == ["Where is it?", "And when?"]


async def test_a_question_whose_call_ended_is_withdrawn(desk: Desk) -> None:
    result = await desk.call(QUESTION, wait=False)
    assert result.result.text == "did not wait"
    await desk.bench.until(lambda: not desk.bench.questions.waiting, "withdrawn")
    token = CancellationToken()
    asking = asyncio.ensure_future(desk.call(QUESTION, token=token))
    await desk.one()
    token.cancel("the person stopped the run")
    assert (await asking).state == "aborted"
    await desk.bench.until(lambda: not desk.bench.questions.waiting, "withdrawn")
    assert not desk.asked


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({**QUESTION, "requestedSchema": form(password={"type": "string"})}, "password"),
        ({"message": "Type your password.", "requestedSchema": form(a={"type": "string"})}, "password"),
        ({**QUESTION, "requestedSchema": form(a={"type": "object"})}, "not plain"),
        ({**QUESTION, "message": "x" * 5_000}, "5,000 characters"),
        ({"message": "x"}, "no form"),
        ({"mode": "url", "message": "x", "url": "file:///etc/shadow", "elicitationId": "1"}, "not protected"),
        ({"mode": "url", "message": "x", "url": "http://evil.example/", "elicitationId": "1"}, "not protected"),
    ],
)
async def test_what_no_person_should_be_asked_is_refused_said_and_written_down(
    desk: Desk, question: dict[str, Any], words: str
) -> None:
    assert answers(await desk.call(question))["q0"] == {"action": "decline"}
    assert not desk.most
    assert any(words in line for line in desk.bench.server("asking").log)
    assert any(words in line for line in desk.bench.output)
    [line] = [one for one in desk.bench.audit if one.decision == "refused"]
    assert (line.by, words in str(line.extra["reason"])) == ("form", True)


async def test_a_page_to_open_is_asked_about_with_its_address(desk: Desk) -> None:
    desk.answers = [PersonAnswer("accept")]
    page = {"mode": "url", "message": "Confirm it.", "url": "https://visits.example/1", "elicitationId": "1"}
    assert answers(await desk.call(page))["q0"] == {"action": "accept"}
    assert desk.asked[0].url == "https://visits.example/1"


PAGE = {"mode": "url", "message": "Confirm it.", "url": "https://visits.example/1", "elicitationId": "1"}


async def test_a_page_that_is_wanted_before_an_answer_is_opened_and_the_call_is_made_again(desk: Desk) -> None:
    desk.answers = [PersonAnswer("accept")] * 2
    result = await desk.call(first=[PAGE, {**PAGE, "url": "https://visits.example/2", "elicitationId": "2"}])
    assert result.result.text == "seen"
    assert [one.url for one in desk.asked] == ["https://visits.example/1", "https://visits.example/2"]
    assert [one.tool for one in desk.asked] == ["asking-ask"] * 2


async def test_a_page_on_which_the_person_is_not_done_in_time_is_told_and_not_shown_twice(desk: Desk) -> None:
    desk.answers = [PersonAnswer("accept")] * 2
    result = await desk.call(first=[PAGE], done=False)
    assert result.result.is_error
    assert "not done there yet" in result.result.text
    assert len(desk.asked) == 1


@pytest.mark.parametrize(
    ("page", "answer", "asked"),
    [
        (PAGE, "decline", 1),
        ({**PAGE, "url": "file:///etc/shadow"}, "accept", 0),
        ({**PAGE, "mode": "form", "requestedSchema": FORM, "url": None}, "accept", 0),
    ],
)
async def test_a_page_that_is_not_opened_ends_the_call(
    desk: Desk, page: dict[str, Any], answer: Any, asked: int
) -> None:
    desk.answers = [PersonAnswer(answer)]
    result = await desk.call(first=[page])
    assert result.result.is_error
    assert "page" in result.result.text
    assert len(desk.asked) == asked


async def test_an_error_that_names_no_pages_is_an_error_and_too_many_pages_are_none(desk: Desk) -> None:
    many = [{**PAGE, "elicitationId": str(at)} for at in range(10)]
    assert "more at once" in (await desk.call(first=many)).result.text
    assert not desk.most


async def test_nobody_is_asked_where_no_window_is(desk: Desk) -> None:
    desk.leave()
    assert answers(await desk.call(QUESTION))["q0"] == {"action": "decline"}
    assert any("Nobody is here to be asked" in line for line in desk.bench.server("asking").log)


async def test_a_window_that_closes_takes_its_questions_with_it(desk: Desk) -> None:
    asking = asyncio.ensure_future(desk.call(QUESTION))
    await desk.one()
    desk.leave()
    assert answers(await asking)["q0"] == {"action": "cancel"}


async def test_values_that_do_not_fit_are_not_sent(desk: Desk) -> None:
    asking = asyncio.ensure_future(desk.call(QUESTION))
    question = await desk.one()
    for bad in ({}, {"quay": 1}, {"quay": "a", "boats": 0}, {"quay": "a", "more": 1}):
        assert not desk.bench.questions.answer(question.question_id, PersonAnswer("accept", bad))
    assert desk.bench.questions.answer(question.question_id, PersonAnswer("decline"))
    assert not desk.bench.questions.answer(question.question_id, PersonAnswer("accept", GOOD))
    assert answers(await asking)["q0"] == {"action": "decline"}


async def test_a_server_that_asks_without_end_is_refused_in_time(desk: Desk) -> None:
    desk.answers = [PersonAnswer("accept", GOOD)] * 30
    result = await desk.call(QUESTION, times=25)
    assert result.result.text.split() == ["accept"] * 20 + ["decline"] * 5
    assert len(desk.asked) == 20
    found = answers(await desk.call(*[QUESTION] * 8))
    assert {one["action"] for one in found.values()} == {"accept", "cancel"}
    assert desk.most <= 4


async def test_input_required_of_the_newer_revision_is_the_same_question(tmp_path: Path, lent: Lent) -> None:
    bench = McpBench(tmp_path, host=lent)
    try:
        await bench.ready("inputs", [sys.executable, str(FOLDER / "inputs.py")], category="read")
        assert bench.server("inputs").about.protocol == "2026-07-28"
        desk = Desk(bench)
        desk.answers = [PersonAnswer("accept", {"quay": "q3", "boats": 2}), PersonAnswer("decline")]
        assert (await bench.call("inputs_book", where="Bergen")).result.text == "accept Visit(quay='q3', boats=2)"
        assert (await bench.call("inputs_book", where="Oslo")).result.text.startswith("decline")
        assert [one.message for one in desk.asked] == ["Which quay in Bergen?", "Which quay in Oslo?"]
        assert desk.asked[0].fields[1].high == 5
        desk.leave()
    finally:
        await bench.end()
