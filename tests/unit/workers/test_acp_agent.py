"""The program between an editor and Assent: what is told in which order, and when an editor is left."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from acp import RequestError, schema

from desktop.domain.errors import KnownError, NotFound
from desktop.workers.acp_agent.agent import WAITING_MAX, EditorAgent

OPENED: dict[str, Any] = {
    "thread": "t",
    "options": [],
    "modes": [{"id": "ask", "name": "Ask", "description": ""}],
    "mode": "ask",
    "commands": [],
}


class SlowEditor:
    """Takes an update whenever it is let to."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.reads = asyncio.Event()
        self.asked = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        await self.reads.wait()
        self.told.append(f"{session_id} {update.session_update}")

    async def request_permission(self, *_: Any, **__: Any) -> schema.RequestPermissionResponse:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


class Assent:
    """The other side of the door."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.called: list[str] = []

    async def call(self, method: str, _params: Mapping[str, Any]) -> Any:
        self.called.append(method)
        if isinstance(self.answer, Exception):
            raise self.answer
        return {"stop": "end_turn"} if method == "prompt" else OPENED


class Bench:
    def __init__(self, assent: Assent) -> None:
        self.assent, self.editor = assent, SlowEditor()
        self.left: list[bool] = []
        self.withdrawn: list[str] = []
        self.agent = EditorAgent(self.reach, "1", lambda: self.left.append(True))
        self.agent.on_connect(self.editor)
        self.agent.withdraws_by(self.withdraw)

    async def reach(self, _name: str, _version: str) -> Assent:
        return self.assent

    async def withdraw(self, call: str) -> None:
        self.withdrawn.append(call)


@asynccontextmanager
async def bench(answer: Any = None) -> AsyncIterator[Bench]:
    made = Bench(Assent(answer))
    telling = asyncio.create_task(made.agent.tell())
    await made.agent.initialize(protocol_version=1)
    try:
        yield made
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


def text(words: str) -> dict[str, Any]:
    return {"thread": "t", "kind": "text", "message": "m", "text": words}


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.spec("R-ACP-3")
async def test_nothing_is_told_of_a_session_before_the_editor_has_its_id() -> None:
    async with bench() as b:
        b.editor.reads.set()
        b.agent.hear("update", text("early"))
        await b.agent.new_session(cwd="/")
        await turns()
        assert b.editor.told == []
        b.agent.sent({"id": 1, "result": {"sessionId": "other"}})
        b.agent.sent({"id": 2, "result": {"sessionId": "t"}})
        await turns()
        assert b.editor.told == ["t agent_message_chunk", "t available_commands_update"]


@pytest.mark.spec("R-ACP-3")
async def test_a_prompt_ends_after_all_that_was_said_in_it() -> None:
    async with bench() as b:
        await b.agent.load_session(cwd="/", session_id="t")
        b.agent.hear("update", text("the last word"))
        ending = asyncio.create_task(b.agent.prompt("t", []))
        await turns()
        assert b.assent.called == ["load", "prompt"]
        assert not ending.done()
        b.editor.reads.set()
        assert (await ending).stop_reason == "end_turn"
        assert b.editor.told[-1] == "t agent_message_chunk"


async def test_a_question_that_is_taken_back_is_cancelled_in_the_editor_by_its_call() -> None:
    async with bench() as b:
        b.editor.reads.set()
        asking = asyncio.create_task(
            b.agent.answer("ask", {"thread": "t", "call": {"call": "c.2"}, "digest": "d", "options": []})
        )
        await b.editor.asked.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert b.withdrawn == ["c.2"]


async def test_an_editor_that_does_not_read_is_left_before_it_costs_the_memory() -> None:
    async with bench() as b:
        await b.agent.load_session(cwd="/", session_id="t")
        piece = "x" * 1_000_000
        for _ in range(WAITING_MAX // len(piece) - 1):
            b.agent.hear("update", text(piece))
        assert b.left == []
        for _ in range(3):
            b.agent.hear("update", text(piece))
        assert b.left


@pytest.mark.parametrize(
    ("error", "code"), [(NotFound("No such thread."), -32002), (KnownError("No.", next_step="Then so."), -32603)]
)
async def test_what_assent_refuses_is_an_error_with_its_words(error: KnownError, code: int) -> None:
    async with bench(error) as b:
        with pytest.raises(RequestError) as raised:
            await b.agent.load_session(cwd="/", session_id="t")
        assert (raised.value.code, str(raised.value)) == (code, error.advice)


async def test_what_assent_tells_in_a_form_that_is_unknown_is_left_out() -> None:
    async with bench() as b:
        b.editor.reads.set()
        await b.agent.load_session(cwd="/", session_id="t")
        b.agent.hear("update", {"thread": "t", "kind": "hologram"})
        b.agent.hear("other", text("x"))
        b.agent.hear("update", {"thread": "t", "kind": "call", "call": "c", "title": "T", "tool_kind": "invented"})
        await turns()
        assert b.editor.told == ["t available_commands_update", "t tool_call"]
