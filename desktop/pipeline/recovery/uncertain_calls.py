"""Calls like one that nobody knows the end of: whoever makes them and whatever allows them, a person is asked first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.middleware import CallNext
from desktop.domain.tools import ToolResult
from desktop.pipeline.context import CallContext
from desktop.pipeline.gates import UNKNOWN

LIKE_ONE = "A call just like this had begun when Assent ended, and nobody knows whether it was done."


class UncertainCallGate:
    """Right before a person is asked; a gate that refuses nothing. What does nothing itself but make calls is left to
    these (``ToolSpec.nests``)."""

    async def process(self, context: CallContext, call_next: CallNext) -> None:
        """Ask, unless something is asked already."""
        request, spec, uncertain = context.request, context.target.spec, context.meta.uncertain
        own = uncertain is not None and request.counted and request.serves is None and not spec.nests
        if uncertain is not None and own and not request.again and uncertain.has(spec.name, _asked(context)):
            context.request = replace(request, again=LIKE_ONE)
        await call_next()


def told(call: CallContext | None, result: ToolResult) -> None:
    """What came of a call that a person was asked about like that: it counts for all that this run still makes."""
    uncertain = call.meta.uncertain if call is not None else None
    if call is None or uncertain is None or not call.request.again or call.target.spec.nests:
        return
    if result.code == UNKNOWN or not result.is_error:
        for arguments in (_asked(call), call.original):
            if arguments is not None:
                uncertain.answered(call.target.spec.name, arguments, unknown=result.code == UNKNOWN)


def _asked(call: CallContext) -> Mapping[str, Any]:
    return call.frozen or call.arguments or {}
