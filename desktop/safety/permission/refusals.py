"""Decisions that say no, and why."""

from __future__ import annotations

from dataclasses import replace

from desktop.domain.approval.permission import DecidedBy, Decision, PermissionRequest
from desktop.domain.approval.rule_book import RuleMatch


def deny(request: PermissionRequest, by: DecidedBy, reason: str) -> Decision:
    """No, for this request."""
    return Decision("deny", request.digest, by=by, reason=reason)


def deny_by(rule: RuleMatch, request: PermissionRequest, reason: str = "") -> Decision:
    """No, because a rule says so."""
    return replace(deny(request, "rule", reason or rule.reason), rule={"pattern": rule.pattern})


def unconsented(request: PermissionRequest) -> str:
    """Why a call that reads what is closed needs a person, or ""."""
    consent = request.consent
    return f"it {consent.sentence}, and nobody has agreed to that yet" if consent is not None else ""
