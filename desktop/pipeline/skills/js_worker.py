"""JavaScript skills (``*.skill.js``): one session of the code sandbox a call, ``ctx`` by messages (R-SK-14, C-1).

The sandbox gets the text that was approved, its exports taken away (there is no module loader), and calls the entry
point with ``ctx`` and the arguments. Its limits are those of code (R-COD-15). It is trusted as Python skills are: it
may call by any reference, and its own list of allowed tools governs its calls (R-INV-3).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from desktop.domain.code import CodeCall, CodeEngine, CodeFailure, CodeLimits, CodeOutcome
from desktop.domain.errors import Denied, ToolFailure
from desktop.domain.skills import SkillDef
from desktop.domain.text.places import FormatError
from desktop.pipeline.skill_context import Context
from desktop.pipeline.skills.outside import AGENT, SourceOf, approved, plain, view_of, without_app_values
from desktop.skills.formats.js_module import Runnable, runnable

NONLOCALS = "$nonlocals"
"""The option in which each call brings what the skill wrote into ``ctx.nonlocals``."""

MAX_TRACE = 64_000
"""Characters of an agent's trace that code is told of: a message to the sandbox holds little more."""

_HEAD = "const $entry = await (async () => { 'use strict'; "
_TAIL = (
    "\n; return typeof {entry} === 'function' ? {entry} : null; }})();"
    "const $view = (g) => ({{ args: Object.freeze(g.args), run: Object.freeze({{ tool: g.tool, origin: g.origin,"
    " frontmatter: g.frontmatter }}), locals: g.locals, nonlocals: g.nonlocals, globals: {{}}, trigger: g.trigger,"
    " wraps: g.wraps, envelope: {{ id: g.id, parent: null, target: null }} }});"
    "const $ctx = $view(args.view), $m = ctx.manager, $more = (o) => ({{ ...o, {nonlocals}: $ctx.nonlocals }});"
    "$ctx.envelope.target = args.view.target ? $view(args.view.target) : $ctx;"
    "$ctx.isMiddleware = $ctx.envelope.target !== $ctx;"
    "const $got = (told) => {{ if (told.agent !== undefined) $ctx.locals.agent = told.agent; return told.value; }};"
    "$ctx.manager = Object.freeze({{ invoke: async (ref, given, o) => $got(await $m.invoke(ref, given, $more(o))),"
    " next: async () => $got(await $m.next($more())),"
    " finish: (value) => $m.finish(value), fail: (reason) => $m.fail(reason) }});"
    "if ($entry === null) throw new TypeError({missing});"
    "const $value = await $entry($ctx, args.given);"
    "if ($value !== undefined && JSON.stringify($value) === undefined)"
    " throw new TypeError('it returned something that is no JSON: ' + typeof $value);"
    "let $locals = null; try {{ $locals = JSON.parse(JSON.stringify($ctx.locals)) }} catch {{}}"
    "return {{ value: $value === undefined ? null : $value, locals: $locals }}"
)


class JavaScriptWorker:
    """Runs skills in JavaScript in the code sandbox. ``source`` reads the file of a skill."""

    def __init__(self, engine: CodeEngine, source: SourceOf) -> None:
        self._engine = engine
        self._source = source
        self._limits = CodeLimits()

    async def held(self) -> bool:
        """Whether the system itself holds what runs them."""
        return await self._engine.held()

    async def run(self, definition: SkillDef, context: Context, args: Mapping[str, Any]) -> Any:
        """The value it returned. Raises ToolFailure for whatever the code did wrong."""
        code = await asyncio.to_thread(self._code, definition, context)
        given = {"given": plain(dict(args)), "view": view_of(context, target=context.envelope.target)}
        call = _JavaScriptCall(definition, context, self._limits.calls)
        session = self._engine.session()
        try:
            return call.ended(await session.run(code, call.serve, args=given), code)
        finally:
            await session.close()

    def _code(self, definition: SkillDef, context: Context) -> str:
        """The JavaScript to run for a skill. Blocks; raises ToolFailure."""
        source = approved(self._source, definition, context)
        try:
            return _as_code(runnable(source), definition)
        except FormatError as problem:
            raise ToolFailure(f"{definition.path}, line {problem.line}: {problem}.", code="skill.raised") from problem


def _as_code(module: Runnable, definition: SkillDef) -> str:
    name = definition.entry or "run"
    entry = module.exports.get(name)
    missing = json.dumps(f"There is no exported function {name}(ctx, args).")
    return _HEAD + module.body + _TAIL.format(entry=entry or "null", nonlocals=NONLOCALS, missing=missing)


class _JavaScriptCall:
    """One call under way."""

    def __init__(self, definition: SkillDef, context: Context, calls: int) -> None:
        self._definition = definition
        self._context = context
        self._maximum = calls
        self._calls = 0
        self._traced = context.locals.get(AGENT)
        self._told: Any = None

    async def serve(self, call: CodeCall) -> Any:
        """One of the skill's own calls, through the pipeline like any other (R-INV-2)."""
        manager = self._context.manager
        if call.op == "finish":
            manager.finish(call.value)
            return None
        if call.op == "fail":
            manager.fail(str(call.value))
        self._calls += not manager.calls_back(call.ref)
        if self._calls > self._maximum:
            raise Denied(f"{self._definition.name} made more than {self._maximum} calls.", code="denied.limit")
        options = dict(call.options or {})
        written = options.pop(NONLOCALS, None)
        if isinstance(written, Mapping):
            self._context.nonlocals.update(without_app_values(written))
        if call.op == "next":
            value = await manager.next()
        else:
            value = await manager.invoke(call.ref, call.args, options)
        before, self._traced = self._traced, self._context.locals.get(AGENT)
        if self._traced is before:
            return {"value": value}
        self._told = _latest(self._traced)
        return {"value": value, "agent": self._told}

    def ended(self, outcome: CodeOutcome, code: str) -> Any:
        """The value, or what went wrong as ToolFailure."""
        if outcome.failure is not None:
            raise self._failed(outcome.failure, code.count("\n"))
        value = outcome.value if isinstance(outcome.value, Mapping) else {}
        own = value.get("locals")
        if isinstance(own, Mapping):
            taken = without_app_values(own)
            if taken.get(AGENT) == self._told:  # what it was told of a trace may be less than there is
                taken.pop(AGENT, None)
            self._context.locals.update(taken)
        return value.get("value")

    def _failed(self, failure: CodeFailure, lines: int) -> ToolFailure:
        name = self._definition.name
        if failure.code == "code.died":
            return ToolFailure(f"The process of {name} ended: {failure.message}", code="skill.died")
        where = f" (line {failure.line})" if 0 < failure.line <= lines else ""
        code = "tool.timeout" if failure.code == "code.time" else "skill.raised"
        return ToolFailure(f"{name} failed: {failure.name}: {failure.message}{where}", code=code)


def _latest(agent: Any) -> Any:
    """What an agent left, as data, its trace cut to the latest entries that fit; ``omitted`` says how many do not."""
    trace = agent.get("trace") if isinstance(agent, Mapping) else None
    if not isinstance(trace, list):
        found = plain({AGENT: agent})[AGENT]
        return found if len(json.dumps(found)) <= MAX_TRACE else None
    kept: list[Any] = []
    room = MAX_TRACE
    for entry in reversed(trace):
        one = plain({AGENT: entry})[AGENT]
        room -= len(json.dumps(one))
        if room < 0:
            break
        kept.append(one)
    kept.reverse()
    return {"trace": kept, **({"omitted": len(trace) - len(kept)} if len(kept) < len(trace) else {})}
