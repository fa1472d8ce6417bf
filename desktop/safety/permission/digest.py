"""What an answer holds for: exactly the call that was shown, or for a run calls like it (R-PRM-3, R-PRM-5)."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.tools import PreCheck

MAX_RUNS = 1000

_SHOWN = (
    "argv",
    "command",
    "confined_by",
    "cwd",
    "environment",
    "hosts",
    "kind",
    "network",
    "network_asked",
    "network_offered",
    "opened",
    "outcome",
    "path",
    "program",
    "server",
    "source",
    "tool",
    "where",
)
"""Of what a request shows, the part that says how and where the call would run; ``identity`` has the files."""


def shown_of(check: PreCheck) -> dict[str, Any]:
    """How and where a call would run, as the request says it."""
    return {key: check.preview[key] for key in _SHOWN if key in check.preview}


def digest_of(tool: str, arguments: Mapping[str, Any], category: Category, check: PreCheck, version: str = "") -> str:
    """What an approval is bound to: exactly these arguments to this version of the tool, run as shown, on exactly this
    state of the files (R-PRM-5)."""
    bound = {
        "tool": tool,
        "arguments": arguments,
        "category": category.value,
        "version": version,
        "paths": list(check.paths),
        "identity": dict(check.identity),
        "shown": shown_of(check),
    }
    text = json.dumps(bound, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


CallSignature = tuple[str, str, str, str]
"""Calls for which one "for this run" counts: tool, where that comes from, its object, and how it would run."""

_IDENTIFYING = ("confined_by", "cwd", "environment", "network", "opened", "program", "server", "source", "where")
_DECLARED = ("argv", "mcp")
"""Kinds of calls whose object does not say what was declared; that of a skill names its file's content."""


def signature_of(facts: CallFacts, check: PreCheck, version: str) -> CallSignature:
    """The same tool from the same place, as it is declared now, on the same object, run in the same way (R-PRM-3)."""
    how = {key: check.preview[key] for key in _IDENTIFYING if key in check.preview}
    declared = version if check.preview.get("kind") in _DECLARED else ""
    run = json.dumps([declared, how], sort_keys=True, default=str)
    return (facts.tool, facts.source, facts.constraint, run)


def how_of(signature: CallSignature) -> str:
    """How a call of this signature would run, whatever it is about: what a grant is bound to beside its pattern."""
    _tool, source, _constraint, run = signature
    return hashlib.sha256(f"{source}\n{run}".encode()).hexdigest()


def size_of(check: PreCheck) -> int | None:
    """Bytes that the call writes, where its request says exactly that; else None."""
    size = check.preview.get("size") if check.preview.get("kind") == "diff" else None
    return size if type(size) is int and size >= 0 else None


class RunMemory:
    """What was decided for the rest of a run. Bounded: the oldest runs are forgotten, which only means asking again."""

    def __init__(self) -> None:
        self._allowed: OrderedDict[str, dict[CallSignature, bool]] = OrderedDict()
        self._denied: OrderedDict[str, None] = OrderedDict()
        self._pledged: OrderedDict[tuple[str, str], bool] = OrderedDict()

    def pledge(self, run_id: str, digest: str, *, with_network: bool = False) -> None:
        """A person has allowed the call of this digest ahead of it: once, and no other."""
        self._pledged[run_id, digest] = with_network
        while len(self._pledged) > MAX_RUNS:
            self._pledged.popitem(last=False)

    def redeem(self, run_id: str, digest: str) -> bool | None:
        """Use up what was allowed ahead of exactly this call: whether with the network; None: nothing was."""
        return self._pledged.pop((run_id, digest), None)

    def pledged(self, run_id: str, digest: str) -> bool:
        """Whether exactly this call was allowed ahead; it stays so."""
        return (run_id, digest) in self._pledged

    def allow(self, run_id: str, signature: CallSignature, *, with_network: bool = False) -> None:
        """Calls like this one, until the run is over; with the network if the person gave it."""
        self._allowed.setdefault(run_id, {})[signature] = with_network
        self._allowed.move_to_end(run_id)
        while len(self._allowed) > MAX_RUNS:
            self._allowed.popitem(last=False)

    def allows(self, run_id: str, signature: CallSignature) -> bool:
        """Whether it was allowed for this run."""
        return signature in self._allowed.get(run_id, ())

    def with_network(self, run_id: str, signature: CallSignature) -> bool:
        """Whether it was allowed for this run with the network."""
        return self._allowed.get(run_id, {}).get(signature, False)

    def deny(self, run_id: str) -> None:
        """Deny everything that a run asks from now on."""
        self._denied[run_id] = None
        self._allowed.pop(run_id, None)
        for key in [key for key in self._pledged if key[0] == run_id]:
            del self._pledged[key]

    def denied(self, run_id: str) -> bool:
        """Whether everything of this run is denied."""
        return run_id in self._denied

    def forget(self, run_id: str) -> None:
        """Forget all answers for a run that is over."""
        with contextlib.suppress(KeyError):
            del self._denied[run_id]
        self._allowed.pop(run_id, None)
        for key in [key for key in self._pledged if key[0] == run_id]:
            del self._pledged[key]
