"""What came of each call, for the activity log: decided ones get their outcome, all others a line (R-PRM-13).

The gate writes its decisions down itself, before anything runs. Here come the calls that it never saw, because an
earlier gate refused them, and those that nobody has to be asked about.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Protocol

from desktop.domain.approval.permission import AuditEntry, with_message
from desktop.domain.safety import Redactor
from desktop.domain.tools import PreCheck
from desktop.pipeline.context import CallContext, CallRequest, CallResult
from desktop.safety.permission.digest import digest_of
from desktop.safety.permission.log_entry import ASKED_AGAIN, summary_of

REFUSED = "refused"
MAX_REASON = 500
_GATES = {
    "denied.allowed_tools": "allowed tools",
    "denied.visibility": "visibility",
    "denied.untrusted_ref": "visibility",
    "denied.boundary": "boundary",
    "denied.blocklist": "blocklist",
    "denied.limit": "limit",
    "tool.validation": "schema",
    "tool.unknown": "unknown tool",
    "not_found": "unknown tool",
    "tool.aborted": "cancelled",
}


class ActivityLines(Protocol):
    """The log, written without waiting; what cannot be written is its owner's to report."""

    def note(self, *, entry: AuditEntry) -> None:
        """Add one line to the activity log."""
        ...

    def settle(self, *, number: int, outcome: str) -> None:
        """Write down what came of the call that an earlier line is about."""
        ...


class ActivityJournal:
    """Writes the calls of a pipeline into the activity log. Implements the pipeline's ``Journal``."""

    def __init__(self, lines: ActivityLines, redactor: Redactor) -> None:
        self._lines = lines
        self._redactor = redactor

    def __call__(self, request: CallRequest, call: CallContext | None, outcome: CallResult) -> None:
        """Write the line of a call that is over."""
        words = outcome_words(outcome)
        if call is None or not call.logged:
            self._lines.note(entry=self._entry(request, call, outcome, words))
            return
        for number in call.logged[:-1]:
            self._lines.settle(number=number, outcome=ASKED_AGAIN)
        self._lines.settle(number=call.logged[-1], outcome=words)

    def _entry(self, request: CallRequest, call: CallContext | None, outcome: CallResult, words: str) -> AuditEntry:
        meta = request.parent.meta
        arguments = _arguments(request, call)
        decision, by = _decided(call, outcome)
        tool = call.target.spec.name if call is not None else request.block.tool[:64]
        refused = {"reason": self._redactor.redact_text(outcome.result.text)[:MAX_REASON]} if by in _BY_GATE else {}
        return AuditEntry(
            at=time.time(),
            run_id=meta.run_id,
            thread_id=meta.thread_id,
            call_id=request.block.call_id,
            chain=request.caller.chain,
            tool=tool,
            category=call.category.value if call is not None else "",
            decision=decision,
            by=by,
            digest=_digest(tool, arguments, call),
            summary=summary_of(arguments, self._redactor),
            paths=call.check.paths if call is not None and call.check is not None else (),
            outcome=words,
            extra=refused,
        )


_BY_GATE = frozenset((*_GATES.values(), "pipeline"))


def _decided(call: CallContext | None, outcome: CallResult) -> tuple[str, str]:
    """What was decided and who did; calls that no gate let through are refused by that gate."""
    if call is not None and call.decision is not None:
        return call.decision.choice, call.decision.by
    return REFUSED, _GATES.get(outcome.result.code, "pipeline")


def _arguments(request: CallRequest, call: CallContext | None) -> Mapping[str, Any]:
    """The arguments as far as the call came: frozen ones, else those that the model wrote."""
    request = call.request if call is not None else request
    if call is not None and call.frozen and call.original is None:
        return with_message(call.frozen, request.said)
    if call is not None and call.arguments:
        return with_message(dict(call.arguments), request.said)
    return with_message(request.block.arguments or {}, request.said)


def _digest(tool: str, arguments: Mapping[str, Any], call: CallContext | None) -> str:
    if call is None:
        return ""
    return digest_of(tool, arguments, call.category, call.check or PreCheck(call.category))


def outcome_words(outcome: CallResult) -> str:
    """``done``, ``failed, exit code 7``, ``failed, tool.timeout``, ``denied``, ``aborted``."""
    code = outcome.facts.get("exit_code")
    if code not in (None, 0):
        return f"{outcome.state}, exit code {code}"
    plain = ("", "tool.failed", "tool.exit", "tool.aborted")
    if outcome.state == "failed" and outcome.result.code not in plain:
        return f"{outcome.state}, {outcome.result.code}"
    return outcome.state
