"""Runs, inside its own process, the one skill that the process was started for, and carries its calls to the app."""

from __future__ import annotations

import asyncio
import errno
import inspect
import json
import sys
import traceback
import types
from collections.abc import Mapping
from typing import Any

from desktop.systems import limits
from desktop.workers.frames import BadFrame
from desktop.workers.inside import CallError, ChildServer, WorkerCall, pipes, run
from desktop.workers.python_skill.proxy import ProxyContext, ProxyEnvelope, ProxyManager, Run, SkillError
from desktop.workers.python_skill.run_context import RunContext, run_agent

SERVICE = "skill-worker"
VERSION = "1"
MEMORY_LIMIT = 2 << 30
MAX_TRACE = 1500
MAX_CAUSES = 20
_REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)
_SAID = ("read-only file system", "readonly database", "permission denied", "operation not permitted")


class SkillHost:
    """One skill, one call."""

    def __init__(self) -> None:
        self._manager: ProxyManager | None = None

    async def run(self, call: WorkerCall) -> Any:
        """``parts`` is the source in pieces; the items of the stream are the skill's own calls."""
        function = _loaded("".join(call.parts), str(call.params["path"]), str(call.params["entry"]))
        manager, ctx = self._context(call)
        self._manager = manager
        try:
            given = call.params.get("agent")
            if given is not None:
                own = RunContext(ctx, manager.invoke, str(given["id"]), str(given["ref"]), (SkillError,))
                value = await run_agent(function, own, given["inbox"])
            else:
                value = await _called(function, ctx, dict(call.params["args"]))
        except BaseException as error:  # the skill's own code: whatever it raises is the call's failure
            if _is_ended_from_outside(error):
                raise
            if manager.failed is not None:
                raise CallError("skill.failed", manager.failed) from error
            said = {"code": str(getattr(error, "code", ""))[:64], "kept_out": _kept_out(error)}
            raise CallError("skill.raised", _told(error), said) from error
        if manager.finished:
            value = manager.value
        return {"value": _plain(value), "finished": manager.finished, "locals": _plain_or_none(ctx.locals)}

    async def answer(self, call: WorkerCall) -> None:
        """The app's answer to one of the skill's calls."""
        if self._manager is not None:
            told = json.loads("".join(call.parts)) if call.parts else {}
            self._manager.locals.update(told.get("locals") or {})
            self._manager.answered(
                int(call.params["number"]), told.get("value"), str(call.params["error"]), str(call.params["code"])
            )

    @staticmethod
    def _context(call: WorkerCall) -> tuple[ProxyManager, ProxyContext]:
        given: Mapping[str, Any] = call.params["context"]

        async def send(message: Mapping[str, Any]) -> None:
            try:
                json.dumps(message)
            except (TypeError, ValueError) as error:
                raise TypeError("arguments and nonlocals must be JSON values") from error
            try:
                await call.emit(message)
            except BadFrame as error:
                raise SkillError(f"The arguments of one call may have 1 MB: {error}.", "skill.too_large") from error

        ctx = _view(given)
        manager = ProxyManager(send, ctx.nonlocals, ctx.locals)
        ctx.manager = manager
        ctx.envelope.target = _view(given["target"]) if given.get("target") else ctx
        ctx.trigger, ctx.wraps = str(given.get("trigger", "")), str(given.get("wraps", ""))
        return manager, ctx


def _view(given: Mapping[str, Any]) -> ProxyContext:
    made = Run(given["tool"], given["origin"], given["frontmatter"])
    return ProxyContext(
        types.MappingProxyType(given["args"]),
        made,
        dict(given["locals"]),
        dict(given["nonlocals"]),
        ProxyEnvelope(given["id"]),
    )


def _loaded(source: str, path: str, entry: str) -> Any:
    """Run the skill's file for the first time and return its entry function."""
    module = types.ModuleType("skill")
    module.__file__ = path
    sys.modules["skill"] = module
    try:
        exec(compile(source, path, "exec"), module.__dict__)  # this process exists for it
    except BaseException as error:  # the skill's own code
        said = {"kept_out": _kept_out(error)}
        raise CallError("skill.raised", f"The file could not be loaded. {_told(error)}", said) from error
    function = getattr(module, entry, None)
    if not callable(function):
        raise CallError("skill.raised", f"There is no function {entry}(ctx, args).")
    return function


async def _called(function: Any, ctx: ProxyContext, args: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(ctx, args)
    value = await asyncio.to_thread(function, ctx, args)
    return await value if inspect.isawaitable(value) else value


def _is_ended_from_outside(error: BaseException) -> bool:
    """Whether the app ended the call; the code itself may raise a CancelledError too."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _told(error: BaseException) -> str:
    """What it raised and where in the skill's own file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "desktop/workers" not in frame.filename]
    where = f" (line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}"[:MAX_TRACE] + where


def _kept_out(error: BaseException) -> bool:
    """Whether the sandbox may be why: something was not permitted, or what was written on cannot be. Libraries and
    programs only say so in their texts."""
    seen: BaseException | None = error
    for _ in range(MAX_CAUSES):
        if seen is None:
            return False
        output = getattr(seen, "stderr", None)
        words = f"{seen} {output!r:.2000}".casefold()
        if getattr(seen, "errno", None) in _REFUSED or any(said in words for said in _SAID):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def _plain(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise CallError("skill.raised", f"It returned something that is not JSON: {type(value).__name__}.") from error


def _plain_or_none(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return None


def _limited() -> None:
    """What the sandbox does not hold: memory, and core files. Not on every system."""
    limits.bound("DATA", MEMORY_LIMIT)
    limits.no_core_files(for_good=True)


def main() -> None:
    """Serve until the app closes the pipe."""
    _limited()

    async def serve() -> None:
        host = SkillHost()
        server = ChildServer(SERVICE, VERSION, {"run": host.run, "answer": host.answer})
        await server.serve(*(await pipes()))

    run(serve, SERVICE)
