"""What an agent of another maker asks a person for, and says that it did: two tools that no model calls.

``acp-asks`` is its request for permission, as a call of ours: rules, the person, the activity log and the run's end
treat it like any other. Where it says exactly which file it would write or which command it would run, the question is
that call's own (its difference, its real path, its refusals), and a yes holds for that very call, once. ``acp-did``
puts down what it says that it did by itself, inside its confinement, so that a card and the log show it. Where nothing
confines it, each of both says that.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BoundaryViolation
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import Access, Confinement, PathPolicy
from desktop.domain.tools import PreCheck, StandsFor, ToolCallContext, ToolResult, ToolSpec

ASKS, DID = "acp-asks", "acp-did"
"""The tools' names."""
PLAN = "plan"
"""The kind under which the plan of a turn is put down, as the agent left it."""
MAX_OPEN = 200
_KIND = {"type": "string", "maxLength": 20}
_SAID = {
    "agent": {"type": "string", "maxLength": 100, "description": "The agent."},
    "says": {"type": "string", "maxLength": 400, "description": "What it says that it does, in its own words."},
    "kind": {**_KIND, "description": "What kind of work that is, by its own word."},
    "paths": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 4096}},
    "given": {"type": "string", "maxLength": 10_000, "description": "What it says that its tool was given."},
}
_OF_FILES = frozenset({"read", "think", "edit", "delete", "move"})
"""Kinds of work that bring no text from outside, by what the agent says; any other one may have."""
_READING = frozenset({"read", "search", "think"})
_WRITING = frozenset({"edit", "delete", "move"})
"""Kinds of work by the protocol. Every other one, and one that is not known, is as grave as can be."""

ASKS_SPEC = ToolSpec(
    name=ASKS,
    description="Asks a person whether an agent of another maker may do by itself what it says.",
    params={
        "type": "object",
        "properties": {
            **_SAID,
            "request": {"type": "string", "maxLength": 100, "description": "Names the request."},
            "tool": {"type": "string", "maxLength": 64, "description": "The tool whose call it announces, if it does."},
            "arguments": {"type": "object", "description": "What that would be called with."},
            "before": {"type": "string", "description": "The text of the file that its change begins with."},
        },
        "required": ["agent", "says", "kind", "request"],
        "additionalProperties": False,
    },
    category=Category.READ,
    visibility="hidden",
    tags=("meta-internal",),
    lengthy=("given", "arguments", "before"),
    gives="local",
)
DID_SPEC = ToolSpec(
    name=DID,
    description="Puts down what an agent of another maker says that it did by itself.",
    params={
        "type": "object",
        "properties": {
            **_SAID,
            "state": {"enum": ["completed", "failed"], "description": "How it says that it ended."},
            "text": {"type": "string", "maxLength": 10_000, "description": "What it says that came of it."},
        },
        "required": ["agent", "says", "kind", "state"],
        "additionalProperties": False,
    },
    category=Category.READ,
    visibility="hidden",
    tags=("meta-internal",),
    lengthy=("given", "text"),
    gives="local",
)

Judge = Callable[[str, Mapping[str, Any], WorkPlace], Awaitable[StandsFor | None]]
"""How a tool would judge a call that is made there; None: there is no such tool."""


class OpenRequests:
    """What agents have asked for and can take back, by the names that it is asked under: requests for permission, and
    commands."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[str, CancellationToken] = OrderedDict()

    def begin(self, name: str) -> None:
        """A request is about to be asked."""
        self._tokens[name] = CancellationToken()
        while len(self._tokens) > MAX_OPEN:
            self._tokens.popitem(last=False)

    def end(self, name: str) -> None:
        """It is answered, or taken back: a question that is still open closes."""
        token = self._tokens.pop(name, None)
        if token is not None:
            token.cancel("it was taken back")

    def token(self, name: str) -> CancellationToken | None:
        """What ends its question; None: it is not open."""
        return self._tokens.get(name)


class AgentAsks:
    """The tool ``acp-asks``."""

    spec = ASKS_SPEC

    def __init__(self, policy: PathPolicy, confinement: Confinement, judge: Judge, requests: OpenRequests) -> None:
        self._policy = policy
        self._confinement = confinement
        self._judge = judge
        self._requests = requests

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Judge what it says that it wants, the graver the less is known of that."""
        until, free = self._requests.token(args["request"]), await asyncio.to_thread(_free, self._confinement)
        about = await self._about(args, place)
        if about is not None:
            check = about.check
            return PreCheck(
                check.category,
                check.raised_because,
                check.paths,
                check.judgements,
                {**check.preview, "said_by": args["agent"], **free},
                check.identity,
                check.denied,
                stands_for=about,
                until=until,
            )
        paths = [self._path(path) for path in args.get("paths", ())]
        policy, access = self._policy.within(place), _access(args["kind"])
        judged = await asyncio.to_thread(lambda: [policy.explain(path, access) for path in paths])
        refused = next((one for one in judged if not one.allowed), None)
        kind = args["kind"]
        return PreCheck(
            Category.READ if kind in _READING else Category.WRITE if kind in _WRITING else Category.ADMIN,
            "" if kind in _READING else "an agent of another maker would do it by itself",
            tuple(one.resolved for one in judged if one.resolved),
            preview={"kind": "said", "said_by": args["agent"], **free},
            denied=BoundaryViolation(refused.sentence) if refused is not None else None,
            until=until,
        )

    def _path(self, path: str) -> str:
        return os.path.expanduser(path)

    async def _about(self, args: Mapping[str, Any], place: WorkPlace) -> StandsFor | None:
        tool, arguments, before = args.get("tool"), args.get("arguments"), args.get("before")
        if not isinstance(tool, str) or not isinstance(arguments, Mapping):
            return None
        about = await self._judge(tool, arguments, place)
        if about is None or not isinstance(before, str) or about.check.denied is not None:
            return about
        present = str(about.check.preview.get("before", ""))
        if present == before:
            return about
        if about.check.preview.get("notes") or not before or present.count(before) != 1:
            return None  # a part of the file that cannot be placed in it
        whole = present.replace(before, str(arguments.get("content", "")))
        return await self._judge(tool, {**arguments, "content": whole}, place)

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """It was allowed: that is all there is to it."""
        context.meta.cancellation.check()
        self._requests.end(args["request"])
        return ToolResult("Allowed once.", structured={"allowed": True})


def _free(confinement: Confinement) -> dict[str, Any]:
    """What a request shows where nothing holds the agent to what it asks for. Blocks."""
    report = confinement.probe()
    return {"confinement": report.sentence, "confined_by": report.kind} if report.kind == "none" else {}


def _access(kind: str) -> Access:
    return Access.WRITE if kind in _WRITING else Access.READ


class AgentDid:
    """The tool ``acp-did``."""

    spec = DID_SPEC

    def __init__(self, confinement: Confinement) -> None:
        self._confinement = confinement

    async def precheck(self, _args: Mapping[str, Any], _place: WorkPlace) -> PreCheck:
        """It is over already, inside a confinement that held it where there is one: there is nothing to judge."""
        return PreCheck(Category.READ)

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """The agent's own words, as such."""
        context.meta.cancellation.check()
        if args["kind"] == PLAN:
            return ToolResult(args.get("text", ""), facts={"plan_of": args["agent"]})
        done = args["state"] == "completed"
        words = f"{args['agent']} says that it is done." if done else f"{args['agent']} says that it failed."
        text = args.get("text", "")
        free = await asyncio.to_thread(_free, self._confinement)
        facts = {"by_itself": args["agent"], "said": args["state"], **({"confined_by": "none"} if free else {})}
        outside = () if args["kind"] in _OF_FILES else (args["agent"],)
        return ToolResult(f"{words}\n{text}".strip(), facts=facts, outside=outside)
