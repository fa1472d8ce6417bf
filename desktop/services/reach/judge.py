"""What one path is to an agent: the boundary, its list of tools, the rules and the setting, asked as for a real call.

There is no judge of its own here. ``PathPolicy.explain`` and ``tools.files.judged`` make the pre-check, ``call_facts``
the facts, the rule book finds the rule, and ``answer`` says what comes of it, exactly as at gates 6, 9 and 10.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.reach import NodeKind, Reached, ReachRow, ReachState
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, ConfinementKind, PathVerdict, SafetySettings
from desktop.domain.tools import PreCheck, ToolSpec
from desktop.pipeline.names import AllowedTools
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.boundary.reach import kind_of
from desktop.safety.confinement.profile import SandboxProfile
from desktop.safety.permission.decide import answer, call_facts, passes_by_setting
from desktop.services.rules.trust import RuleSet
from desktop.tools.builtin.files import LIST_DIRECTORY, READ_FILE, WRITE_FILE, cannot_hold, judged

NEW_FILE = "assent-new-file"
"""A file in a folder about which nothing is known yet: what writing in the folder means."""
NOWHERE = "not reachable"
_STRICTNESS = ("passes", "asks", "denied")
_STATES: dict[str, tuple[ReachState, str]] = {
    "denied": ("denied", "denied"),
    "protected": ("protected", "protected"),
    "special": ("special", "special file"),
    "malformed": ("outside", "leads nowhere"),
}
_ACCESS = {READ_FILE.name: Access.READ, LIST_DIRECTORY.name: Access.LIST, WRITE_FILE.name: Access.WRITE}


@dataclass(frozen=True, slots=True)
class Judge:
    """Everything that decides, at one moment. ``allowed`` None: every tool. ``profile`` and ``kind`` are what confines
    commands. Blocks for some system calls a path."""

    policy: BoundaryPolicy
    settings: SafetySettings
    rules: RuleSet
    allowed: AllowedTools | None = None
    profile: SandboxProfile | None = None
    kind: ConfinementKind = "none"

    def row(self, path: str) -> ReachRow:
        """The judgement of one path. Never raises, whatever is there."""
        kind: NodeKind = kind_of(path) or "file"
        opens = kind == "dir" or (kind == "link" and os.path.isdir(path))
        first, reading = self._asked(LIST_DIRECTORY if opens else READ_FILE, path)
        inner = os.path.join(path, NEW_FILE) if opens else path
        second, writing = self._asked(WRITE_FILE, inner)
        if opens and first.allowed:
            reading = _stricter(reading, self._asked(READ_FILE, inner)[1])
        state, words = state_of(first, reading, second, writing)
        commands = self.profile.reach(first.resolved or path, self.kind) if self.profile is not None else None
        if state == "special" and opens:
            words = "devices and processes"
        elif commands is not None:
            words = _beside(state, words, commands)
        return ReachRow(
            path,
            kind,
            state,
            words,
            reading,
            writing,
            first.resolved,
            _target(path) if kind == "link" else "",
            opens,
            first.allowed,
            second.allowed,
            commands,
        )

    def verdicts(self, path: str) -> tuple[PathVerdict, PathVerdict]:
        """The folders' part alone, for reading and for writing."""
        opens = os.path.isdir(path)
        inner = os.path.join(path, NEW_FILE) if opens else path
        read = self.policy.explain(path, Access.LIST if opens else Access.READ)
        return read, self.policy.explain(inner, Access.WRITE)

    def _asked(self, spec: ToolSpec, path: str) -> tuple[PathVerdict, Reached]:
        """Judge one call of one tool as if it were made now: the boundary's verdict, and what the gates would do."""
        verdict = self.policy.explain(path, _ACCESS[spec.name])
        writes = spec.category is Category.WRITE
        check = judged(verdict, spec.category, preview={"kind": "diff"} if writes else None)
        if check.denied is not None:
            return verdict, Reached("denied", "boundary", _plain(verdict.sentence), verdict.rule)
        if writes and (why := cannot_hold(verdict.resolved)):
            return verdict, Reached("denied", "system", str(why))
        arguments = {"path": path}
        if self.allowed is not None and not self.allowed.permits(spec, arguments):
            return verdict, Reached("denied", "tools", f"This agent may not use {spec.name} here.", spec.name)
        category = max(spec.category, check.category, key=lambda found: found.rank)
        facts = call_facts(spec, arguments, check, category, "")
        rule = self.rules.match(replace(facts, project=self.settings.project))
        found = answer(category, rule, setting=passes_by_setting(self.settings, check.paths, check.preview))
        by_rule = rule is not None and found.because == "rule"
        pattern = rule.pattern if rule is not None and by_rule else verdict.rule
        admin = category is Category.ADMIN
        because = "rule" if by_rule else "setting" if found.because == "setting" else "category"
        sentence = check.raised_because if admin and check.raised_because else _plain(verdict.sentence)
        return verdict, Reached(found.what, because, _why(because, pattern, sentence, spec), pattern, admin)  # type: ignore[arg-type]  # one of its words

    def host(self, spec: ToolSpec, arguments: Mapping[str, Any], check: PreCheck) -> Reached:
        """What becomes of a call that goes to a host, as its tool has judged it."""
        if check.denied is not None:
            return Reached("denied", "boundary", str(check.denied))
        named = {**arguments, "host": check.constraint}
        if self.allowed is not None and not self.allowed.permits(spec, named):
            return Reached("denied", "tools", f"This agent may not use {spec.name} for {check.constraint}.", spec.name)
        facts = call_facts(spec, arguments, check, check.category, "")
        rule = self.rules.match(replace(facts, project=self.settings.project))
        found = answer(check.category, rule, asks=bool(check.asks))
        if rule is None or found.because != "rule":
            return Reached(found.what, "category", check.asks)
        return Reached(found.what, "rule", _why("rule", rule.pattern, "", spec), rule.pattern)


def _beside(state: ReachState, words: str, commands: tuple[bool, bool]) -> str:
    """What commands can do where file tools cannot."""
    if state not in ("outside", "denied", "protected") or not any(commands):
        return words
    said = "commands read and write" if commands[1] else "commands read"
    return said if words == NOWHERE else f"{words}, {said}"


def state_of(first: PathVerdict, read: Reached, second: PathVerdict, write: Reached) -> tuple[ReachState, str]:
    """The tint of a row, and its words."""
    if not first.allowed:
        return _STATES.get(first.rule.partition(" ")[0], ("outside", NOWHERE))
    if read.what == "passes":
        if write.what == "passes":
            return "rule", f"reads, writes by a {_by(write)}"
        if write.what == "asks":
            return "asks", f"reads, writes ask{' as admin' if write.admin else ''}"
        return "read_only", f"reads only{_only(second, write)}"
    if read.what == "denied" and write.what == "denied":
        return "denied", "no tool for it" if "tools" in (read.because, write.because) else "denied by a rule"
    reads = "reads ask" if read.what == "asks" else "no reading"
    writes = {"passes": f"writes by a {_by(write)}", "asks": "writes ask", "denied": "no writing"}[write.what]
    return "asks", f"{reads}, {writes}"


def _by(found: Reached) -> str:
    return "rule" if found.because == "rule" else "setting"


def _only(verdict: PathVerdict, write: Reached) -> str:
    """Why a place can be read and not written."""
    if write.because == "boundary":
        return ", protected" if verdict.rule.startswith("protected") else ""
    return {"tools": ", no tool", "rule": ", by a rule", "system": ", by the system"}.get(write.because, "")


def _why(because: str, pattern: str, sentence: str, spec: ToolSpec) -> str:
    if because == "rule":
        return f"The rule {pattern} decides about {spec.name}."
    if because == "setting":
        return "Settings, Approvals: writes in the workspace pass."
    return sentence[:1].upper() + sentence[1:]


def _plain(sentence: str) -> str:
    words = sentence.removeprefix("Permission denied: ")
    return words[:1].upper() + words[1:]


def _stricter(*found: Reached) -> Reached:
    return max(found, key=lambda one: _STRICTNESS.index(one.what))


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def rows(judge: Judge, paths: Sequence[str]) -> tuple[ReachRow, ...]:
    """The judgement of several paths. Blocks."""
    return tuple(judge.row(path) for path in paths)
