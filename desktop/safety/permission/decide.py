"""What becomes of a judged call before anybody is asked: the one place for real calls, for the simulator and for what
the settings show of a folder's reach."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.rule_book import RuleMatch
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import SafetySettings
from desktop.domain.servers.mcp_names import named_on_server
from desktop.domain.tools import PreCheck, ToolSpec
from desktop.safety.boundary.paths import is_within
from desktop.safety.boundary.policy import workspace_of

CONFINED = ("bubblewrap", "landlock", "sandbox-exec")
Because = Literal["rule", "category", "remembered", "setting", "edge", "grant"]


@dataclass(frozen=True, slots=True)
class AutoDecision:
    """``what`` comes of the call and ``because`` of what; "category": as its category has it without any rule."""

    what: Literal["passes", "asks", "denied"]
    because: Because


_ASKS = AutoDecision("asks", "category")


def answer(
    category: Category,
    rule: RuleMatch | None,
    *,
    edited: bool = False,
    stale: bool = False,
    remembered: bool = False,
    setting: bool = False,
    edge: bool = False,
    granted: bool = False,
    asks: bool = False,
) -> AutoDecision:
    """``edited``: a person changed the arguments and sees the call again whatever rules say; ``stale``: it changed
    since it was approved; ``remembered``: allowed for the rest of the run; ``setting``: an opt-in covers it;
    ``edge``: its thread works up to the edge, and the call stays within; ``granted``: a bounded grant does, which is
    used only where nothing else lets the call pass; ``asks``: although it only reads, it asks until a rule or an answer
    names what it is about, also at the edge, for it goes to other computers.

    Admin is never passed by a rule, and only a rule that names its tool passes more than reading (R-PRM-3, R-PRM-11).
    """
    policy = rule.policy if rule is not None else ""
    if rule is not None and policy == "deny":
        return AutoDecision("denied", "rule")
    if edited:
        return _ASKS
    if category is Category.READ and not asks:
        asks = rule is not None and policy == "ask" and not rule.bare
        return AutoDecision("asks" if asks else "passes", "rule" if asks or policy == "allow" else "category")
    if category is Category.ADMIN or stale:
        return _ASKS
    if rule is not None and policy == "allow" and rule.specific:
        return AutoDecision("passes", "rule")
    if policy == "ask":
        return AutoDecision("asks", "rule")
    if remembered:
        return AutoDecision("passes", "remembered")
    if setting:
        return AutoDecision("passes", "setting")
    if edge and not asks:
        return AutoDecision("passes", "edge")
    return AutoDecision("passes", "grant") if granted else _ASKS


def call_facts(
    spec: ToolSpec, arguments: Mapping[str, Any], check: PreCheck, category: Category, thread_id: str
) -> CallFacts:
    """What rules and memory compare. Without a constraint of its own, a call is only like itself, byte by byte."""
    constraint = check.constraint or json.dumps(arguments, sort_keys=True, default=str)
    return CallFacts(
        spec.name,
        category,
        constraint,
        spec.tags,
        arguments,
        spec.source,
        check.parts,
        check.resolved,
        thread_id,
        network=check.preview.get("network_asked") is True,
        asks=bool(check.asks),
        also=spec.bound_by or named_on_server(spec.name, spec.on_server, arguments),
    )


def facts_of_other(check: PreCheck, meta: RunMeta) -> CallFacts | None:
    """What rules compare of the call that a question stands for; None: it stands for none."""
    about = check.stands_for
    if about is None:
        return None
    facts = call_facts(about.spec, about.arguments, about.check, about.check.category, meta.thread_id)
    return replace(facts, above=meta.above, project=meta.project) if meta.above or meta.project else facts


def passes_by_setting(
    settings: SafetySettings, paths: Sequence[str], preview: Mapping[str, Any], judgements: Sequence[object] = ()
) -> bool:
    """The opt-in settings: writes of file tools whose every path is in the workspace (C-28), and commands that only
    read, where something confines them. What another shell command writes is only read off its text, so it asks."""
    if preview.get("kind") == "command":
        reads = preview.get("reads_only") is True and preview.get("confined_by") in CONFINED
        return reads and settings.auto_approve_reading_commands
    if not settings.auto_approve_workspace_writes or not paths or judgements or preview.get("kind") != "diff":
        return False
    return all(is_within(path, workspace_of(settings)) for path in paths)
