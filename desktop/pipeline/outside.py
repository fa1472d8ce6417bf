"""Whose words come back from a call: those from outside are known before whoever made the call reads them (R-WEB-3).

No tool marks anything itself. What counts follows from what its declaration says it gives (``ToolSpec.gives``), from
what its result says (``ToolResult.outside``), from whether the call had the network, and from the calls made inside.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.runs.middleware import CallNext
from desktop.domain.text.outside import MAX_KEPT, OUTSIDE, OutsideText, OutsideTexts, plain_names, result_as_read
from desktop.domain.text.words import arguments_words, plain_line
from desktop.domain.tools import ToolResult, ToolSpec
from desktop.pipeline.context import CallAttempt, CallContext, Invocation

ABOUT = 300
"""Characters of what a text was."""
UNCONFINED = "a command that nothing keeps from the network"
EARLIER = "kept from an earlier call"
NETWORKED = "a command with the network"
_RUNS = frozenset({"command", "argv", "outcome"})


class WhoseWords:
    """Around the middleware of skills and the call itself, inside the journal: what is kept of a result keeps whose
    words it holds, also where a layer gave the result, or made another one of it."""

    name = "whose words come back"

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        """Put the names into the result."""
        await call_next()
        if context.result is not None:
            context.result = replace(context.result, outside=_names(context, context.result, ran=True))


def heard(texts: OutsideTexts | None, at: Invocation, read: Iterable[OutsideText]) -> None:
    """What is made at ``at`` reads these: it and all that are above it count as having read them."""
    found = [one for one in read if one.whose]
    if not found:
        return
    if texts is not None:
        texts.heard(at.meta.run_id, found)
    note_above(at, [one.whose for one in found])


def earlier_words(texts: OutsideTexts | None, at: Invocation, names: Iterable[str]) -> None:
    """Words of an earlier call that come before this one now, by whose they are."""
    heard(texts, at, [OutsideText(name, EARLIER, at=time.time()) for name in plain_names(list(names))])


def note_above(at: Invocation | None, names: Iterable[str]) -> None:
    """The calls around a place hold these words, too."""
    every = list(names)
    while at is not None and every:
        at.heard.update(dict.fromkeys(every))
        at = at.parent


def with_names(attempt: CallAttempt, result: ToolResult) -> ToolResult:
    """The result that a call ends with, as it has it whose words it holds, whatever the way there was."""
    call, tool = attempt.call, attempt.tool
    if call is not None:
        names = _names(call, result, ran=call.ran or not (attempt.refused or call.settled))
    else:
        names = plain_names(result.outside)
        if attempt.given and not names and tool is not None and tool.spec.gives == "outside":
            names = plain_names([_whose(tool.spec)])
    facts = {key: value for key, value in result.facts.items() if key != OUTSIDE}
    return replace(result, outside=names, facts={**facts, OUTSIDE: list(names)} if names else facts)


def read_now(attempt: CallAttempt, result: ToolResult, about: Mapping[str, Any]) -> list[OutsideText]:
    """What is read with a result; texts that were read inside the call are known already."""
    inside = attempt.call.invocation.heard if attempt.call is not None else {}
    fresh = [name for name in result.outside if name not in inside]
    if not fresh:
        return []
    text = result_as_read(result.text, result.facts, attempt.request.block.call_id)
    what = plain_line(str(result.facts.get("url") or arguments_words(about)), ABOUT)
    spec = attempt.tool.spec if attempt.tool is not None else None
    said = what if spec is None or result.facts.get("url") else f"{spec.provider_name} {what}".strip()
    return [OutsideText(name, said, text[:MAX_KEPT], len(text), time.time()) for name in fresh]


def _names(call: CallContext, result: ToolResult, *, ran: bool) -> tuple[str, ...]:
    spec, names = call.target.spec, list(plain_names([*result.outside, *call.gave, *call.invocation.heard]))
    if call.ran:
        names += _of_network(call)
    if ran and spec.gives == "outside" and not names:
        names.append(_whose(spec))
    return plain_names(names)


def _whose(spec: ToolSpec) -> str:
    return spec.whose or f"the tool {spec.name}"


def _of_network(call: CallContext) -> list[str]:
    """What runs as a process and had the network, or nothing to keep it from that, may give anybody's words."""
    check, decision = call.check, call.decision
    shown = check.preview if check is not None else {}
    if shown.get("kind") not in _RUNS:
        return []
    if decision is not None and decision.gives_network(shown):
        hosts = shown.get("hosts")
        return [str(host) for host in hosts] if isinstance(hosts, (list, tuple)) and hosts else [NETWORKED]
    return [UNCONFINED] if shown.get("confined_by") == "none" else []
