"""The body of the provider ``agent-acp``: the turn of an agent runs in the program of another maker (R-ACP-1).

It sends the prompt, tells ``hookRef`` what the agent says as it says it, and makes what it asks for a call through
``invokeRef`` (R-ACP-2). Rounds are counted as far as they can be seen: a new one begins where the agent speaks again
after it has done something.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from desktop.agents.acp.acts import Act, Acts
from desktop.agents.acp.calls import CalledFiles, CalledTerminals, Made, Refusal
from desktop.agents.acp.prompt import prompt_blocks
from desktop.agents.skill.host import HOST, Host
from desktop.agents.skill.persistence import thread_context
from desktop.agents.skill.provider import Hook
from desktop.domain.errors import CancellationError, ConfigurationError, KnownError, ToolAborted, ToolFailure
from desktop.domain.ids import new_id
from desktop.domain.messages import MAX_COST_USD
from desktop.domain.text.outside import OutsideText
from desktop.pipeline.context import CallContext
from desktop.pipeline.skill_context import Context
from desktop.tools.acp.asks import ASKS, DID, PLAN
from desktop.tools.acp.sessions import AcpSession, AcpSessions, Gone
from desktop.tools.builtin.shell import BASH

AGENT = "agent"
MAX_TEXT = 1_000_000
"""Characters of a round that count as its text."""
MAX_DID = 400
"""What an agent did by itself in one turn, one by one; of more only the number is said."""
ROUND_CALLS = 40
"""Calls after which a round is over, whether the agent speaks or not."""
_log = logging.getLogger(__name__)


async def run_acp(ctx: Context, args: Mapping[str, Any]) -> Any:
    """The result of the hook's stop directive, or the agent's text. Raises ToolFailure when it cannot be started, or
    ended by itself."""
    host, call = ctx.nonlocals.get(HOST), ctx.call
    if not isinstance(host, Host) or not isinstance(call, CallContext) or host.others is None:
        raise ToolFailure("There are no agents of other makers here.")
    config = args.get("config")
    name = config.get("acp") if isinstance(config, Mapping) else None
    if not isinstance(name, str) or not name:
        raise ConfigurationError(
            "model.acp does not say which agent works here.",
            next_step="Name one of those under Settings, Other agents.",
        )
    sessions: AcpSessions = host.others
    place = _place(ctx, call)
    key = place or f"{call.meta.thread_id} {new_id()}"
    history = [row for row in args.get("history") or () if isinstance(row, Mapping)]
    grants, project = call.meta.unattended is None, call.meta.project
    session, knows = await sessions.of(key, name, history, _tools(args), grants=grants, project=project)
    if session.row.terms.network:
        by_itself = f"{session.state.title}'s own reading (not seen here)"
        host.pipeline.heard(call.invocation, [OutsideText(by_itself, at=time.time())])
    turn = _Turn(ctx, args, session, sessions)
    try:
        return await turn.done(history, knows, key if place else "")
    finally:
        if not place:
            await sessions.end(key)


def _place(ctx: Context, call: CallContext) -> str:
    """The chat whose agent this is; "" for the agent of a skill that was called, which has none."""
    scope, thread = ctx.nonlocals.get(AGENT), call.meta.thread_id
    context = scope.get("contextId") if isinstance(scope, Mapping) else None
    return str(context) if thread and context in (thread_context(thread, "a"), thread_context(thread, "b")) else ""


def _tools(args: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What it is offered of ours."""
    found = args.get("tools")
    rows = [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
    return [one for one in rows if str(one.get("name", "")).replace("_", "-") not in (ASKS, DID)]


class _Turn:
    """One invocation of the provider."""

    def __init__(self, ctx: Context, args: Mapping[str, Any], session: AcpSession, sessions: AcpSessions) -> None:
        self._ctx = ctx
        self._args = args
        self._session = session
        self._sessions = sessions
        spawn = self._spawn = session.agents.services.spawn
        self._hook = Hook(ctx, args.get("hookRef"), spawn)
        self._ref = str(args.get("invokeRef") or "")
        self._acts = Acts()
        self._files = CalledFiles(self._call, self._acts.made.append, self._may_have_written)
        self._requests = session.agents.services.requests
        folder = session.state.folder
        self._terminals = CalledTerminals(self._run, self._acts.made.append, folder, spawn, self._requests)
        self._asked: dict[int, tuple[str, asyncio.Task[None]]] = {}
        self._round = 0
        self._calls = 0
        self._did = 0
        self._text = ""
        self._since = ""
        self._waiting: list[str] = []
        self._being_stopped = False
        self._usd = session.state.usd or 0.0
        self._stopped: Mapping[str, Any] | None = None
        self._served: Mapping[str, Callable[[Mapping[str, Any]], Awaitable[Any]]] = {
            "fs/read_text_file": self._files.read,
            "fs/write_text_file": self._files.write,
            "terminal/create": self._terminals.create,
            "terminal/output": self._terminals.output,
            "terminal/wait_for_exit": self._terminals.wait,
            "terminal/kill": self._terminals.kill,
            "terminal/release": self._terminals.release,
            "tools/call": self._tool,
        }

    async def done(self, history: Sequence[Mapping[str, Any]], knows: bool, place: str) -> Any:
        """Prompt after prompt, until nothing more is said to the agent."""
        said = str(self._args.get("userMessage") or "Execute the task.")
        prompt = prompt_blocks(self._args, history, knows=knows, images=self._session.state.images)
        talked = [*history, {"role": "user", "text": said}]
        try:
            while True:
                directive = await self._prompted(prompt)
                talked.append({"role": "assistant", "text": self._since})
                await self._sessions.keep(place, self._session, talked)
                if self._stopped is not None:
                    return self._stopped.get("result", self._since)
                more = [*self._waiting, *([str(directive["message"])] if directive.get("message") else [])]
                if not more and "continue" not in directive:
                    return self._since
                self._waiting, self._since = [], ""
                asked = "\n\n".join(more) or "Continue."
                talked.append({"role": "user", "text": asked})
                prompt = [{"type": "text", "text": asked}]
        finally:
            await self._hook.close()

    async def _prompted(self, prompt: Sequence[Any]) -> Mapping[str, Any]:
        """One prompt, to its end; what follows from it."""
        await self._begin_round()
        queue = await self._session.begin_turn(prompt, _tools(self._args))
        self._session.on_taken_back = self._withdrawn
        try:
            event: Mapping[str, Any] = {}
            while event.get("event") != "done":
                found = await queue.get()
                if isinstance(found, Gone):
                    raise found.error
                event = found
                await self._take(event)
                if self._stopped is not None:
                    await self._stop()
                    return {}
            await self._settled()
            return await self._end_round(str(event.get("reason") or "end"), event.get("tokens"), calls=0)
        except BaseException:
            self._give_up()
            raise
        finally:
            if not self._being_stopped:
                self._session.end_turn()

    async def _stop(self) -> None:
        """A limit or a directive ends it in the middle."""
        self._terminals.stop()
        for _, task in list(self._asked.values()):
            task.cancel()
        await self._session.cancel_turn()

    def _give_up(self) -> None:
        """The turn was stopped: the agent is told, in the background, and ended where it does not heed that."""
        self._terminals.stop()
        for name, task in list(self._asked.values()):
            self._requests.end(name)
            task.cancel()
        if self._session.at_work and self._session.gone is None:
            self._being_stopped = True
            self._spawn(self._session.cancel_turn(), "stop an agent of another maker")

    async def _settled(self) -> None:
        """Its turn ends after its calls."""
        if self._did > MAX_DID:
            more = f"{self._did - MAX_DID} more things that are not shown one by one"
            self._did = 0
            await self._call(
                DID, {"agent": self._session.state.title, "says": more, "kind": "other", "state": "completed"}
            )
        await self._put_down_plan()
        await self._terminals.over()
        tasks = [task for _, task in self._asked.values()]
        if tasks:
            await asyncio.wait(tasks)

    async def _put_down_plan(self) -> None:
        """Its plan, as it left it, stands in the chat from now on."""
        plan, words = self._session.state.plan, {"completed": "done", "in_progress": "now"}
        if not plan.entries:
            return
        steps = "\n".join(f"{words.get(one.status, 'next')}: {one.text}" for one in plan.entries)
        more = f"\n{plan.more} more" if plan.more else ""
        about = {"agent": self._session.state.title, "says": plan.said, "kind": PLAN, "state": "completed"}
        await self._call(DID, {**about, "text": f"{steps[:9_000]}{more}"})

    # -- what it tells ------------------------------------------------------------------------------------------------

    async def _take(self, event: Mapping[str, Any]) -> None:
        match event.get("event"):
            case "text":
                await self._speaks()
                text = self._session.agents.services.clean(str(event.get("text", "")))
                if len(self._text) < MAX_TEXT:
                    self._text += text
                self._hook.later({"type": "message", "text": text, "delta": True})
            case "thought":
                await self._speaks()
                text = self._session.agents.services.clean(str(event.get("text", "")))
                self._hook.later({"type": "reasoning", "text": text, "delta": True})
            case "act":
                act = self._acts.take(event)
                await self._acts.heard()
                await self._acted(act)
            case "ask":
                self._ask(event)
            case "failed":
                raise self._session.failed(event)

    async def _speaks(self) -> None:
        """It speaks again after it has done something: another round, as far as can be seen."""
        if self._calls:
            await self._next_round()

    async def _next_round(self) -> None:
        directive = await self._end_round("tool_calls", None, calls=self._calls)
        if "stop" in directive:
            self._stopped = directive
            return
        if "continue" in directive and directive.get("message"):
            self._waiting.append(str(directive["message"]))  # it hears that when it has answered
        await self._begin_round()

    async def _begin_round(self) -> None:
        self._round += 1
        self._calls, self._text = 0, ""
        await self._hook.ask({"type": "turn-start", "turnNumber": self._round})

    async def _end_round(self, reason: str, tokens: Any, *, calls: int) -> Mapping[str, Any]:
        self._since = f"{self._since}\n\n{self._text}".strip() if self._text else self._since
        event: dict[str, Any] = {
            "type": "turn-end",
            "result": self._since,
            "turnNumber": self._round,
            "stopReason": reason,
            "toolCalls": calls,
        }
        usage = self._used(tokens)
        if usage:
            event["usage"] = usage
        said = await self._hook.ask(event)
        self._text = ""
        return said

    def _used(self, tokens: Any) -> dict[str, Any]:
        """What it says that it has used since the last time."""
        found = tokens if isinstance(tokens, Mapping) else {}
        usage: dict[str, Any] = {"inputTokens": found.get("input", 0), "outputTokens": found.get("output", 0)}
        usd = self._session.state.usd
        if usd is not None:
            usage["costUsd"] = min(max(0.0, usd - self._usd), MAX_COST_USD)
            self._usd = max(usd, self._usd)
        return usage if any(usage.values()) else {}

    async def _acted(self, act: Act) -> None:
        if not self._acts.to_tell(act):
            return
        self._did += 1
        if self._did > MAX_DID:
            return
        state = "completed" if act.status == "completed" else "failed"
        about = {**act.said, "agent": self._session.state.title, "state": state}
        await self._call(DID, {**about, **({"text": act.text} if act.text else {})})

    # -- what it asks for ---------------------------------------------------------------------------------------------

    def _ask(self, event: Mapping[str, Any]) -> None:
        """Serve a request of the agent beside what it tells; it is answered when that is done."""
        number, method = event.get("id"), str(event.get("method"))
        params = event.get("params")
        if not isinstance(number, int) or number in self._session.taken_back:
            return
        given: Mapping[str, Any] = params if isinstance(params, Mapping) else {}
        name = f"{self._session.state.session}-{new_id()}"
        if method == "session/request_permission":
            self._requests.begin(name)
            work: Awaitable[Any] = self._permission(given, name)
        else:
            serve = self._served.get(method)
            work = serve(given) if serve is not None else _unknown(method)
        task = self._spawn(self._answered(number, work), "a request of another agent")
        self._asked[number] = (name, task)
        task.add_done_callback(lambda _: self._asked.pop(number, None))

    async def _answered(self, number: int, work: Awaitable[Any]) -> None:
        try:
            value = await work
        except Refusal as refusal:
            await self._session.answer(number, error=str(refusal) or "Refused.", code=refusal.code)
        except (KnownError, CancellationError) as error:
            await self._session.answer(number, error=str(error) or "Refused.")
        else:
            await self._session.answer(number, value)

    def _withdrawn(self, number: Any) -> None:
        """It takes a request back: an open question closes. What was begun for it ends by itself."""
        found = self._asked.get(number) if isinstance(number, int) else None
        if found is not None:
            self._requests.end(found[0])

    async def _permission(self, params: Mapping[str, Any], name: str) -> dict[str, Any]:
        """A request for permission is a call of ours; "always" is never taken: that is a rule of the person's own."""
        told = params.get("act")
        act = self._acts.take(told if isinstance(told, Mapping) else {})
        options = params.get("options")
        offered = [one for one in options if isinstance(one, Mapping)] if isinstance(options, list) else []
        about = {**act.said, **act.announces(), "agent": self._session.state.title, "request": name}
        act.asked = True
        try:
            answer = await self._call(ASKS, about)
        finally:
            self._requests.end(name)
        if answer.get("ok") is True:
            self._acts.allow(act)
        kind = "allow_once" if answer.get("ok") is True else "reject_once"
        chosen = next((str(one.get("id")) for one in offered if one.get("kind") == kind), "")
        return {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}

    async def _may_have_written(self, path: str, content: str) -> bool:
        """Whether it may write by itself, and was allowed exactly this: then it may be done already."""
        return self._session.state.writes and await self._acts.may_be_done(path, content)

    async def _tool(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """One of our tools that it was offered."""
        tool, given = str(params.get("name")), params.get("arguments")
        self._acts.made.append(Made("tool", tool))
        answer = await self._call(tool, given if isinstance(given, Mapping) else {})
        return {"text": str(answer.get("text", "")), "isError": answer.get("ok") is not True}

    async def _run(self, command: str, ends: str) -> Mapping[str, Any]:
        """A command, which the agent can end under that name."""
        return await self._call(BASH.name, {"command": command}, ends)

    async def _call(self, tool: str, arguments: Mapping[str, Any], ends: str = "") -> Mapping[str, Any]:
        """One call through every gate, unless the policy denies it; what came of it."""
        if not self._ref:
            return {"ok": False, "text": "There are no tools here."}
        self._calls += 1
        told = {"tool": tool, "args": dict(arguments), "callId": new_id()}
        said = await self._hook.ask({"type": "tool-call", **told})
        if "deny" in said or "stop" in said:
            answer: Mapping[str, Any] = {"ok": False, "text": str(said.get("deny") or "denied")}
        else:
            try:
                found = await self._ctx.manager.invoke(self._ref, {**told, "ends": ends} if ends else told)
            except ToolFailure as failure:
                if failure.code == ToolAborted.code:
                    raise CancellationError("stopped") from failure
                raise
            answer = found if isinstance(found, Mapping) else {"ok": True, "text": str(found)}
        result = {"result": str(answer.get("text", "")), "isError": answer.get("ok") is not True}
        await self._hook.ask({"type": "tool-result", **told, **result})
        return answer


async def _unknown(method: str) -> Any:
    raise Refusal(f"{method[:80]} is not offered.", -32_601)
