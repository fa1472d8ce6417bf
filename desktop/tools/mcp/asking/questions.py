"""Questions of servers on their way to a person and back (R-MCP-4).

A question counts only while a call of one of the server's tools is under way, and goes away with it. It is judged first
(form.py); a person sees it, or it is refused: no model ever answers, and nobody answers for a person. While it waits
the time limits of its call stand still. That it was asked, and whether it was answered, stands in the activity log;
what was typed stands nowhere.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any
from urllib.parse import urlsplit

from desktop.domain.approval.permission import AuditEntry
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.servers.questions import PersonAnswer, ServerQuestion
from desktop.tools.mcp.asking.form import Refused, answers, fields_of, page_of, refuse_secrets, words_of
from desktop.tools.mcp.definitions import McpDefinition
from desktop.tools.mcp.offered import plain

OF_A_CALL = 20
"""Questions of one call; more are refused."""
NOBODY = "Nobody is here to be asked: no window of Assent is open."
_SUMMARY = 300

WriteDown = Callable[[AuditEntry], Awaitable[int | None]]


@dataclass(slots=True)
class CallUnderWay:
    """A call of one of a server's tools, for the questions that it brings."""

    chain: tuple[str, ...]
    """Who makes it: agent, skill, tool."""
    tool: str
    """Our name of the tool."""
    run_id: str
    """Its run."""
    thread_id: str
    """Its thread."""
    call_id: str
    """The call."""
    pause: Callable[[], Callable[[], None]]
    """Stops its time limits; what it returns lets them run on."""
    tell: Callable[[str], None]
    """Shows a line on its card."""
    stop: Callable[[], None] = lambda: None
    """Ends it, for a person."""
    key: str = field(default_factory=new_id)
    """How the MCP host calls it."""
    asked: int = 0
    """How many questions it brought."""


@dataclass(slots=True)
class _OpenQuestion:
    question: ServerQuestion
    answer: asyncio.Future[PersonAnswer]


class PersonQuestions:
    """What waits for a person, in the order in which it came. All calls belong to the loop's thread."""

    def __init__(self, write_down: WriteDown) -> None:
        self._write_down = write_down
        self._open: dict[str, _OpenQuestion] = {}
        self._listeners: list[Callable[[], None]] = []

    # -- for the window -----------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> tuple[ServerQuestion, ...]:
        """The oldest first, without those that are answered: they do not come back before their calls have gone on."""
        return tuple(one.question for one in self._open.values() if not one.answer.done())

    def attend(self, listener: Callable[[], None]) -> Callable[[], None]:
        """A person is here from now on: ``listener`` is called after every change of ``waiting``. Returns what takes
        that back; what waits then is refused."""
        self._listeners.append(listener)

        def leave() -> None:
            self._listeners.remove(listener)
            if not self._listeners:
                self.refuse_all()

        return leave

    def answer(self, question_id: str, answer: PersonAnswer) -> bool:
        """Pass on a person's answer; False, and nothing happens, where the question is gone or the values do not fit
        it."""
        found = self._open.get(question_id)
        if found is None or found.answer.done():
            return False
        if answer.action == "accept":
            try:
                answer = replace(answer, content=answers(found.question.fields, answer.content))
            except ValueError:
                return False
        found.answer.set_result(answer)
        return True

    def refuse_all(self) -> None:
        """Nobody is here any more."""
        for one in list(self._open.values()):
            if not one.answer.done():
                one.answer.set_result(PersonAnswer("cancel"))

    # -- for servers --------------------------------------------------------------------------------------------------

    async def ask(
        self,
        definition: McpDefinition,
        payload: Mapping[str, Any],
        calls: Iterable[CallUnderWay],
        note: Callable[[str], None],
    ) -> dict[str, Any]:
        """The answer for the server. ``calls`` are those that the question may belong to, ``note`` writes to the
        server's log. Cancelled, the question is withdrawn."""
        under_way = tuple(calls)
        if not under_way:
            note("It asked a question while none of its tools was at work, which was refused.")
            return {"action": "cancel"}
        for call in under_way:
            call.asked += 1
        try:
            question = _question(definition, payload, under_way)
            if min(call.asked for call in under_way) > OF_A_CALL:
                raise Refused(f"It asked more than {OF_A_CALL} questions during one call.")
            if not self._listeners:
                raise Refused(NOBODY)
        except Refused as refused:
            await self._refuse(definition, payload, under_way, note, refused)
            return {"action": "decline"}
        return await self._asked(question, under_way, note)

    async def _asked(
        self, question: ServerQuestion, under_way: tuple[CallUnderWay, ...], note: Callable[[str], None]
    ) -> dict[str, Any]:
        found = _OpenQuestion(question, asyncio.get_running_loop().create_future())
        resumes = [call.pause() for call in under_way]
        began, answer = time.monotonic(), PersonAnswer("cancel")
        self._open[question.question_id] = found
        self._changed()
        try:
            answer = await found.answer
        finally:
            for resume in resumes:
                resume()
            del self._open[question.question_id]
            self._changed()
            word = "stop" if answer.stops else {"accept": "answered", "decline": "declined"}.get(answer.action, "")
            waited = time.monotonic() - began
            entry = _entry(under_way[0], question.server, question.message, word or "unanswered", waited)
            await asyncio.shield(self._write_down(entry))
        note({"answered": "You answered its question.", "": "Its question was not answered."}.get(word, "You refused."))
        if answer.stops:
            for call in under_way:
                call.stop()
        if answer.action == "accept":
            return {"action": "accept", **({} if question.url else {"content": dict(answer.content)})}
        return {"action": answer.action}

    async def _refuse(
        self,
        definition: McpDefinition,
        payload: Mapping[str, Any],
        under_way: tuple[CallUnderWay, ...],
        note: Callable[[str], None],
        refused: Refused,
    ) -> None:
        """Nobody is asked: the person sees why on the card and in the server's log, the server is told that it was
        refused."""
        words = f"A question of {definition.name} was refused: {refused}"
        note(words)
        for call in under_way:
            call.tell(f"{words}\n")
        message = plain(payload.get("message"), _SUMMARY)
        entry = _entry(under_way[0], definition.name, message, "refused", 0.0)
        await self._write_down(replace(entry, by="form", extra={"reason": str(refused)}))

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()


def _question(
    definition: McpDefinition, payload: Mapping[str, Any], under_way: tuple[CallUnderWay, ...]
) -> ServerQuestion:
    """The question as a person is shown it. Raises Refused."""
    mode = payload.get("mode", "form")
    if mode not in ("form", "url"):
        raise Refused("It asked in a way that is not known.")
    message = words_of(payload.get("message"))
    fields = fields_of(payload.get("requestedSchema")) if mode == "form" else ()
    refuse_secrets(message, fields)
    chains = [call.chain for call in under_way]
    shared = chains[0] if all(chain == chains[0] for chain in chains) else ()
    callers = shared or tuple(dict.fromkeys(chain[0] for chain in chains if chain))
    threads = {call.thread_id for call in under_way}
    return ServerQuestion(
        question_id=new_id(),
        server=definition.name,
        where=place_of(definition),
        asked_by=callers,
        tool=" and ".join(dict.fromkeys(call.tool for call in under_way)),
        thread_id=threads.pop() if len(threads) == 1 else "",
        message=message,
        fields=fields,
        url=page_of(payload.get("url")) if mode == "url" else "",
        asked_at=time.time(),
    )


def place_of(definition: McpDefinition) -> str:
    """Where what is typed goes: the host of a server at an address, or the program on this computer."""
    if not definition.url:
        return definition.command
    try:
        return urlsplit(definition.url).hostname or definition.url
    except ValueError:
        return definition.url


def _entry(call: CallUnderWay, server: str, message: str, decision: str, waited: float) -> AuditEntry:
    came = {"answered": "answered", "declined": "denied", "stop": "aborted", "refused": "denied"}
    return AuditEntry(
        at=time.time(),
        run_id=call.run_id,
        thread_id=call.thread_id,
        call_id=call.call_id,
        chain=call.chain,
        tool=call.tool,
        category="read",
        decision=decision,
        by="user" if decision in ("answered", "declined", "stop") else "cancelled",
        digest="",
        summary=f"{server} asked: {message[:_SUMMARY]}",
        outcome=came.get(decision, "aborted"),
        extra={"waited_s": round(waited, 3), "question": True},
    )
