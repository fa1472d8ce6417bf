"""Python code skills that are not the library's: one confined process a call, ``ctx`` by messages (R-SK-14).

The process gets the source that was approved, over the pipe: it needs to see no skill folder, and a file that changed
after the approval does not run. Its environment is empty, the network off unless the skill asked and the person agreed.
A call that is judged to read runs without a question: its process writes in a temporary folder of its own alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import ChildDied, ProtocolViolation, ToolFailure, first_of
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.processes import ChildRefused
from desktop.domain.safety import Confinement, ProcessSpec
from desktop.domain.skills import SkillDef
from desktop.pipeline.skill_context import Context
from desktop.pipeline.skills.outside import AGENT, SourceOf, approved, plain, view_of, without_app_values
from desktop.skills.values.kinds import ValueProblem
from desktop.skills.values.scalars import clean
from desktop.skills.values.serialise import deserialize
from desktop.systems import current
from desktop.workers.child import ChildProcess, ChildSpec

SERVICE = "skill-worker"
MAX_CALLS = 1000
"""Of one run. Callbacks do not count, as a provider streams through them: who handed them out bounds them."""
MAX_AT_ONCE = 16
"""Calls of tools, and answers on their way."""
MAX_UNDER_WAY = 1000
"""What one run may wait for at once, callbacks, effects and children included."""
MAX_WORDS = 4000
"""Characters of what a process says that it failed with."""
WRITES_NOTHING = (
    "\nThis call counts as reading (category: read), so the skill can read the allowed folders and write in its "
    "temporary folder alone. If it has to change files, its category has to be write."
)
_PIECE = 16_000
_ROOT = Path(__file__).resolve().parents[3]


class PythonWorker:
    """``workspace`` is where the process starts where there is no project; ``source`` reads a skill's file (of a pinned
    one only what was seen); ``at_once`` is how much a run may wait for."""

    def __init__(
        self, confinement: Confinement, workspace: Callable[[], str], source: SourceOf, *, at_once: int = MAX_UNDER_WAY
    ) -> None:
        self._confinement = confinement
        self._source = source
        self._workspace = workspace
        self._at_once = at_once

    async def run(self, definition: SkillDef, context: Context, args: Mapping[str, Any]) -> Any:
        """The value it returned. Raises ToolFailure for whatever the code did wrong."""
        source = await asyncio.to_thread(approved, self._source, definition, context)
        spec = await asyncio.to_thread(self._spec, definition, context)
        child = ChildProcess(spec)
        try:
            return await _PythonCall(child, definition, context, self._at_once).go(source, args)
        except (ChildDied, ProtocolViolation) as error:
            raise ToolFailure(f"The process of {definition.name} ended: {error}", code="skill.died") from error
        finally:
            await child.stop()

    def refusal(self, definition: SkillDef) -> ToolFailure | None:
        """Why it cannot run on this computer, so that nobody is asked about it first. Blocks."""
        if self._confinement.probe().kind != "none":
            return None
        return ToolFailure(
            f"{definition.name} is Python code, and nothing on this computer can confine it.",
            code="denied.boundary",
            next_step="Install bubblewrap to run such skills." if current.LINUX else "",
        )

    def _spec(self, definition: SkillDef, context: Context) -> ChildSpec:
        """The command of the confined worker. Blocks. Raises ToolFailure where nothing on this machine can confine
        it."""
        if failure := self.refusal(definition):
            raise failure
        script = _ROOT / "desktop" / "workers" / "python_skill" / "__main__.py"
        argv = (sys.executable, "-I", "-S", "-B", "-X", "utf8", str(script))
        place = context.call.meta.work_place if context.call is not None else NOWHERE
        plain = ProcessSpec(argv, place.project or self._workspace(), {})
        wrapped = self._confinement.within(place).wrap(
            plain,
            narrow=_needed(sys.executable),
            network=definition.wants_network,
            writes=definition.role != "agent" and not _only_reads(context),
            grants=context.call is not None and context.call.meta.unattended is None,
        )
        return ChildSpec(SERVICE, wrapped.argv, wrapped.env, folder=wrapped.cwd, once=True, end_grace=0.2)


def _only_reads(context: Context) -> bool:
    """Whether the call was judged to read, so that nobody was asked: then its process writes nothing, either."""
    return context.call is None or context.call.category is Category.READ


def _needed(interpreter: str) -> tuple[str, ...]:
    """What Python needs to see to start, and our side of the protocol."""
    folders = [sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)]
    real = Path(os.path.realpath(interpreter))
    folders += [str(real.parent.parent), *(str(_ROOT / "desktop" / part) for part in ("workers", "domain", "systems"))]
    folders.append(str(_ROOT / "desktop" / "__init__.py"))
    folders += [str(_ROOT / "desktop" / "skills" / part) for part in ("__init__.py", "values")]  # import assent
    return tuple(dict.fromkeys(folders))


class _PythonCall:
    """One call under way."""

    def __init__(self, child: ChildProcess, definition: SkillDef, context: Context, at_once: int) -> None:
        self._child = child
        self._definition = definition
        self._context = context
        self._at_once = at_once
        self._room = asyncio.Semaphore(MAX_AT_ONCE)
        self._answering = asyncio.Semaphore(MAX_AT_ONCE)
        self._calls = 0

    async def go(self, source: str, args: Mapping[str, Any]) -> Any:
        definition, context = self._definition, self._context
        params = {
            "path": definition.path,
            "entry": definition.entry or "run",
            "args": plain(dict(args)),
            "context": view_of(context, target=context.envelope.target),
        }
        if context.hosted is not None:
            hosted = context.hosted
            params["agent"] = {"id": hosted.agent_id, "ref": hosted.ref, "inbox": plain(list(hosted.inbox))}
        stream = self._child.stream("run", params, parts=_pieces(source))
        under_way: dict[asyncio.Task[None], bool] = {}
        try:
            async with asyncio.TaskGroup() as group:
                async for item in stream:
                    asked = _checked(await asyncio.to_thread(_taken, item))
                    if len(under_way) >= self._at_once:
                        words = f"{definition.name} waits for more than {self._at_once} answers at once."
                        raise ToolFailure(words, code="denied.limit")
                    task = group.create_task(self._serve(asked))
                    under_way[task] = self._is_effect(asked)
                    task.add_done_callback(under_way.pop)
                for task, is_effect in under_way.items():
                    if is_effect:  # the code has ended: nobody is left who waits for it
                        task.cancel()
        except BaseExceptionGroup as group:
            raise self._failed(first_of(group)) from group
        finally:
            stream.cancel()
        return self._ended(await asyncio.to_thread(_taken, stream.value))

    def _failed(self, error: BaseException) -> BaseException:
        """What the code itself did wrong, in words; anything else as it is."""
        if not isinstance(error, ChildRefused):
            return error
        if error.code == "skill.failed":
            try:
                self._context.manager.fail(_said(error))
            except ToolFailure as failure:
                return failure
        why = WRITES_NOTHING if error.data.get("kept_out") is True and _only_reads(self._context) else ""
        return ToolFailure(f"{self._definition.name} failed: {_said(error)}{why}", code="skill.raised")

    def _ended(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ToolFailure(f"{self._definition.name} ended without a result.")
        own = value.get("locals")
        if isinstance(own, Mapping):
            self._context.locals.update(without_app_values(own))
        if value.get("finished") is True:
            self._context.manager.finish(value.get("value"))
            return None
        return value.get("value")

    def _is_effect(self, item: Mapping[str, Any]) -> bool:
        """Whether an agent in code asks for an effect or a child: who hosts it bounds these."""
        hosted = self._context.hosted
        return hosted is not None and item["op"] == "invoke" and item["ref"] == hosted.ref

    async def _serve(self, item: Mapping[str, Any]) -> None:
        """One of the skill's own calls, through the pipeline like any other (R-INV-2)."""
        manager = self._context.manager
        self._calls += item["op"] == "next" or not manager.calls_back(item["ref"])
        if self._calls > MAX_CALLS:
            raise ToolFailure(f"{self._definition.name} made more than {MAX_CALLS} calls.", code="denied.limit")
        self._context.nonlocals.update(without_app_values(item["nonlocals"]))
        place = nullcontext() if self._is_effect(item) else self._room  # what an agent waits for holds nothing else up
        async with place:
            answer, told = await self._answered(item)
        async with self._answering:  # until the answer is taken: the process takes only so many at once
            text = await asyncio.to_thread(_text_of, told)
            replied = self._child.stream("answer", answer, parts=_pieces(text), deadline_s=30)
            async for _ in replied:
                pass

    async def _answered(self, item: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What came of a call, and what is told with it: its value, and what an agent left in its context."""
        manager, value, error, code = self._context.manager, None, "", ""
        before = self._context.locals.get(AGENT)
        try:
            if item["op"] == "next":
                value = await manager.next()
            else:
                value = await manager.invoke(item["ref"], item["args"], item["options"])
        except ToolFailure as failure:
            error, code = str(failure) or "failed", failure.code
        agent = self._context.locals.get(AGENT)
        told = {"value": value, **({} if agent is before else {"locals": {AGENT: agent}})}
        return {"number": item["number"], "error": error, "code": code}, told


def _taken(value: Any) -> Any:
    """What the process said, as data that every other room can hold: no number that is none, no half a character.
    Raises ProtocolViolation for what is nested without end.
    A third of a second for 20,000 small mappings, so use a thread."""
    try:
        return deserialize(value)
    except ValueProblem as problem:
        raise ProtocolViolation(f"A skill's process sent something that is no value. {problem}") from problem


def _text_of(value: Any) -> str:
    """JSON text of a value for the worker process. Called in a thread, like ``_taken``."""
    return json.dumps(plain(value))


def _said(error: ChildRefused) -> str:
    """The words of a failure."""
    text = str(error)
    return clean(text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]}…")


def _checked(item: Any) -> Mapping[str, Any]:
    """A message of the worker, with the fields that it has to have. Raises ProtocolViolation."""
    shapes = {"number": int, "op": str, "nonlocals": dict}
    if isinstance(item, Mapping) and item.get("op") == "invoke":
        shapes |= {"ref": str, "args": dict, "options": dict}
    good = isinstance(item, Mapping) and all(type(item.get(key)) is shape for key, shape in shapes.items())
    if not good or item["op"] not in ("invoke", "next"):
        raise ProtocolViolation("A skill's process sent something that is no call.")
    checked: Mapping[str, Any] = item
    return checked


def _pieces(text: str) -> Iterator[str]:
    """Slices that the pipe takes."""
    for at in range(0, len(text), _PIECE):
        yield text[at : at + _PIECE]
