"""A command held against every kind of pattern, by the parts that decide real calls: rules, allowed-tools, jobs."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.jobs import JobPolicy
from desktop.domain.safety import ShellReading
from desktop.domain.tools import PreCheck
from desktop.safety.permission.decide import answer, call_facts
from desktop.services.rules.text import read_rule
from desktop.services.rules.trust import TrustRules
from desktop.services.turns.unattended import JobPermission
from desktop.skills.patterns.lists import AllowedList
from desktop.skills.patterns.paths import Where
from desktop.tools.builtin.shell import BASH
from tests.unit.safety.world import World

UNREAD = (CommandPart("", hidden="nothing of it can be read"),)


class Patterns:
    """The same constraints on the command as a trust rule, as a skill's list, as a job's list. ``deny``: the same that
    refuse, beside an allow for everything."""

    def __init__(self, world: World, rules: Sequence[str]) -> None:
        self._where = Where(str(world.workspace), str(world.person))
        allows = [f"bash(command={rule})" for rule in rules]
        denies = [f"bash(command={rule},$deny)" for rule in rules]
        patterns = [read_rule(text, "allow") for text in allows]
        self._book = TrustRules(patterns=patterns, cwd=self._where.cwd, home=self._where.home)
        self._list = AllowedList.of(allows, cwd=self._where.cwd, home=self._where.home)
        self._job = JobPermission(JobPolicy(tuple(allows)), lambda: True, self._where)
        forbidding = [read_rule("bash", "allow"), *(read_rule(text, "deny") for text in allows)]
        self._denying = TrustRules(patterns=forbidding, cwd=self._where.cwd, home=self._where.home)
        self._refusing = AllowedList.of(["bash", *denies], cwd=self._where.cwd, home=self._where.home)

    def covering(self, reading: ShellReading, command: str) -> set[str]:
        """The kinds that let the command run without a person."""
        facts = self._facts(reading, command)
        if reading.blocked is not None or reading.category is Category.ADMIN:
            return set()
        found = {"rule"} if answer(reading.category, self._book.match(facts)).what == "passes" else set()
        found |= {"list"} if self._list.permits(BASH, facts.arguments, facts.parts) else set()
        return found | ({"job"} if not self._job.refusal(facts) else set())

    def denying(self, reading: ShellReading, command: str) -> set[str]:
        """The kinds that refuse the command."""
        facts = self._facts(reading, command)
        found = {"rule"} if answer(reading.category, self._denying.match(facts)).what == "denied" else set()
        return found | ({"list"} if not self._refusing.permits(BASH, facts.arguments, facts.parts) else set())

    def passing_beside(self, reading: ShellReading, command: str) -> set[str]:
        """The kinds that allow everything but this, and let the command run."""
        return {"rule", "list"} - self.denying(reading, command)

    @staticmethod
    def _facts(reading: ShellReading, command: str) -> CallFacts:
        parts = reading.parts or UNREAD
        check = PreCheck(reading.category, constraint=command.strip(), parts=parts)
        return call_facts(BASH, {"command": command}, check, reading.category, "t")
