"""The order in which tools are offered, kept from message to message: what a request begins with stays the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from desktop.domain.tools import Tool

MAX_THREADS = 256
MAX_NAMES = 2_000


class OfferedOrder:
    """Of the threads that were asked lately. Tools that are new come last, in their own order, so that a server that
    comes, or a document that is attached, leaves the beginning of the list as it was (R-MOD-3)."""

    def __init__(self) -> None:
        self._names: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def of(self, key: str, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        """The tools as they were offered last under ``key``, those that are new behind them."""
        before = self._names.pop(key, ())
        known = {tool.spec.name: tool for tool in tools}
        names = tuple(dict.fromkeys((*before, *known)))  # one that is away for a while has its place again
        self._names[key] = names[-MAX_NAMES:]
        while len(self._names) > MAX_THREADS:
            self._names.popitem(last=False)
        return tuple(known[name] for name in names if name in known)
