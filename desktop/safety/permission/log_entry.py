"""The line of the activity log that a decision about a call becomes, without secrets (R-PRM-13)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from desktop.domain.approval.permission import UNANSWERED, AuditEntry, Decision, PermissionRequest
from desktop.domain.safety import Redactor

ASKED_AGAIN = "asked again"
"""The outcome of a decision that a later one of the same call replaced."""
_SUMMARY = 500
_READ = 20_000
"""Characters of an argument in which known secrets are sought before it is cut to ``_SUMMARY``."""


def entry_of(request: PermissionRequest, decision: Decision, redactor: Redactor | None, at: float) -> AuditEntry:
    """The line of a decision made at ``at``."""
    return AuditEntry(
        at=at,
        run_id=request.run_id,
        thread_id=request.thread_id,
        call_id=request.call_id,
        chain=request.chain,
        tool=request.tool,
        category=request.category.value,
        decision=decision.choice if decision.answered else UNANSWERED,
        by=decision.by,
        digest=request.digest,
        summary=summary_of(request.arguments, redactor),
        paths=request.paths,
        outcome=_known_outcome(decision),
        extra=_extra_of(request, decision, redactor),
    )


def summary_of(arguments: Mapping[str, Any], redactor: Redactor | None) -> str:
    """Arguments for the activity log: as JSON, short and without secrets."""
    if redactor is None:
        return json.dumps({key: _shortened(value) for key, value in arguments.items()}, default=str)[:_SUMMARY]
    # Known values go before anything is cut, so that no half of one is left.
    masked = {str(key): _shortened(redactor.mask_data(_shortened(value, _READ))) for key, value in arguments.items()}
    return json.dumps(redactor.redact_data(masked), ensure_ascii=False, default=str)[:_SUMMARY]


def _extra_of(request: PermissionRequest, decision: Decision, redactor: Redactor | None) -> dict[str, Any]:
    """What the activity log keeps beside the call itself."""
    extra: dict[str, Any] = {"waited_s": round(decision.waited_s, 3)}
    if decision.reason:
        extra["reason"] = decision.reason[:_SUMMARY]
    if decision.via:
        extra["via"] = decision.via[:_SUMMARY]
    if decision.rule:
        extra["rule"] = dict(decision.rule)
    if (bounds := decision.bounds) is not None:
        extra["granted"] = {"calls": bounds.calls, "until": bounds.until, "most_bytes": bounds.most_bytes}
    for name, said in (("follows", request.follows), ("raised_because", request.raised_because)):
        extra |= {name: said[:_SUMMARY]} if said else {}
    if decision.allowed and "network" in request.preview:
        extra["network"] = decision.gives_network(request.preview)
        extra |= {"hosts": list(hosts)} if (hosts := request.preview.get("hosts")) else {}
    if request.is_outcome:
        extra["in_copy"] = True
        extra |= {"taken": len(decision.taken)} if decision.allowed and decision.taken is not None else {}
    if request.original is not None:
        extra["original"] = summary_of(request.original, redactor)
    if decision.edited_arguments is not None:
        extra["edited"] = summary_of(decision.edited_arguments, redactor)
    return extra


def _known_outcome(decision: Decision) -> str:
    """What comes of the call, as far as the decision itself says."""
    if decision.choice == "done":
        return ""
    if decision.choice == "again":
        return ASKED_AGAIN
    if not decision.allowed:
        return "denied" if decision.answered else "aborted"
    return "" if decision.edited_arguments is None else ASKED_AGAIN


def _shortened(value: Any, length: int = _SUMMARY) -> Any:
    return value[:length] if isinstance(value, str) else value
