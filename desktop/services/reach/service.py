"""The service behind the reach explorer: levels, judgements, proofs (domain/approval/reach.py)."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from desktop.agents.skill.discovery import not_itself
from desktop.domain.approval.audit import ActivityLog, AuditFilter
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry
from desktop.domain.approval.reach import ANY_AGENT, HostRow, LastProof, Level, Proof, ReachRow
from desktop.domain.errors import ConfigurationError
from desktop.domain.files.work_place import NOWHERE, WorkPlace
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection
from desktop.domain.safety import Confinement, ConfinementKind, SettingsProvider
from desktop.domain.skills import SkillDef
from desktop.pipeline.names import AllowedTools
from desktop.safety.boundary.paths import is_within
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.boundary.reach import Prover, level
from desktop.safety.confinement.profile import SandboxProfile
from desktop.services.definitions.book import AgentBook
from desktop.services.reach.hosts import HostSources, host_rows
from desktop.services.reach.judge import Judge, rows
from desktop.services.reach.proof import lines_of, summary_of
from desktop.services.rules.trust import RuleSet, TrustRules
from desktop.services.skills.side_prompt import prompt_skill
from desktop.services.skills.world import SkillWorld
from desktop.skills.patterns.grammar import Pattern, parse_patterns
from desktop.skills.patterns.syntax import PatternError
from desktop.tools.builtin.web_fetch import WEB_FETCH

PROOF = "prove-reach"
"""The name of a proof in the activity log."""
ABORTED = "aborted"
READ_BACK = 500
"""Calls of the activity log in which hosts are looked for."""
PROFILE_MAX_AGE_S = 1.0


class ActivityWriter(Protocol):
    """The activity log, written."""

    def add(self, entry: AuditEntry) -> Awaitable[int | None]: ...

    def settle(self, *, number: int, outcome: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachServices:
    """What the reach explorer's service needs."""

    policy: BoundaryPolicy
    """Judges paths."""
    settings: SettingsProvider
    """Reads the settings."""
    rules: TrustRules
    """The rules of trust."""
    agents: AgentBook
    """The agents whose reach can be asked for."""
    skills: SkillWorld
    """Their prompts."""
    prover: Prover
    """Tries paths."""
    confinement: Confinement
    """Confines the trial."""
    log: ActivityWriter
    """Logs proofs."""
    activity: ActivityLog
    """Reads earlier proofs."""
    changes: Callable[[Callable[[], None]], Callable[[], None]]
    """Attaches a listener to the lists, and returns what detaches it."""
    search: Callable[[], Connection | None]
    """Returns the search service in use."""
    profile: Callable[[WorkPlace], SandboxProfile] | None = None
    """Returns the sandbox profile of commands that start there, as it is now; blocks."""

    def within(self, place: WorkPlace) -> ReachServices:
        """The same for an agent that works there."""
        if not place.project:
            return self
        policy, prover, settings = self.policy.within(place), self.prover.within(place), self.settings
        return replace(self, policy=policy, prover=prover, settings=lambda: settings().within(place))


class ReachService:
    """Everything that the explorer asks. Used on the loop; what blocks happens in threads."""

    def __init__(self, services: ReachServices, clock: Callable[[], float] = time.time) -> None:
        self._s = self._everywhere = services
        self._place = NOWHERE
        self._clock = clock
        self._set: RuleSet | None = None
        self._profile: tuple[float, SandboxProfile, ConfinementKind] | None = None
        services.rules.on_change(self._rules_changed)

    def _rules_changed(self) -> None:
        self._set = None

    # -- looking ------------------------------------------------------------------------------------------------------

    def work_in(self, project: str) -> None:
        """Judge from now on as for a chat that works in a project; "": in none."""
        self._place, self._profile = WorkPlace(project), None
        self._s = self._everywhere.within(self._place)

    def agents(self) -> Sequence[tuple[str, str]]:
        """The agents as (name, title)."""
        return tuple((name, agent.shown) for name, agent in self._s.agents.agents.items())

    def roots(self) -> tuple[str, ...]:
        """The allowed folders, those inside others left out, then the home, then everything. Blocks."""
        marks = [path for path in self.landmarks() if os.path.isdir(path)]
        outer = [path for path in marks if not any(path != other and is_within(path, other) for other in marks)]
        return tuple(dict.fromkeys((*outer, os.path.expanduser("~"), os.path.abspath(os.sep))))

    def landmarks(self) -> tuple[str, ...]:
        """The folders of the lists, where they really lead: what is worth seeing first. Blocks for some system
        calls."""
        lists = self._s.policy.lists()
        return tuple(dict.fromkeys(rule.resolved for rule in (*lists.allowed, *lists.granted)))

    async def level(self, path: str) -> Level:
        """One folder's content, read as the person, links to folders followed."""
        return await asyncio.to_thread(level, path)

    async def judge(self, agent: str, paths: Sequence[str]) -> tuple[ReachRow, ...]:
        """What each path is to the agent now. Raises KnownError when the agent cannot work."""
        judge = await self._judge(agent)
        return await asyncio.to_thread(lambda: rows(self._with_profile(judge), tuple(paths)))

    async def hosts(self, agent: str) -> tuple[HostRow, ...]:
        """What each host of the web that is known is to the agent now, and all others. Raises KnownError when the agent
        cannot work."""
        judge = await self._judge(agent)
        frozen = self._s.rules.frozen()
        kept = (entry.pattern for _, rule in frozen.kept for entry in rule.entries)
        page = await self._s.activity.page(AuditFilter(tool=WEB_FETCH.name), limit=READ_BACK)
        sources = HostSources(
            judge.settings.own_hosts,
            (*(entry.pattern for entry in frozen.fixed), *kept),
            await self._listed(agent),
            [row.entry for row in page.rows],
        )
        return await asyncio.to_thread(host_rows, judge, self._s.search(), sources)

    async def _listed(self, name: str) -> tuple[Pattern, ...]:
        """The patterns of an agent's list of tools."""
        skill = await self._prompt(name) if name != ANY_AGENT else None
        listed = skill.allowed_tools if skill is not None else None
        try:
            return parse_patterns(listed).patterns if listed else ()
        except PatternError:  # such a list allows nothing
            return ()

    def _with_profile(self, judge: Judge) -> Judge:
        """With what confines commands now; built anew at most once a second, however much is looked at."""
        if self._s.profile is None:
            return judge
        now = time.monotonic()
        if self._profile is None or now - self._profile[0] > PROFILE_MAX_AGE_S:
            self._profile = now, self._s.profile(self._place), self._s.confinement.probe().kind
        return replace(judge, profile=self._profile[1], kind=self._profile[2])

    async def _judge(self, agent: str) -> Judge:
        if self._set is None:
            self._set = self._s.rules.frozen().all
        return Judge(self._s.policy, self._s.settings(), self._set, await self._list_of(agent))

    async def _list_of(self, name: str) -> AllowedTools | None:
        """The tools of an agent, as gate 6 asks it."""
        if name == ANY_AGENT:
            return None
        skill = await self._prompt(name)
        return not_itself(self._s.skills.allowed_of(skill), skill.name)

    async def _prompt(self, name: str) -> SkillDef:
        """The skill whose list an agent has."""
        agent = self._s.agents.get(name)
        skill = await prompt_skill(self._s.skills, agent, agent.side_a)
        if skill is None:
            prompt = agent.side_a.prompt
            raise ConfigurationError(f"The agent {agent.shown} needs the skill {prompt!r}, which is not there.")
        return skill

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` when lists or rules change; returns a function that detaches it."""

        def changed() -> None:
            self._profile = None
            listener()

        lists, rules = self._s.changes(changed), self._s.rules.on_change(listener)

        def detach() -> None:
            lists()
            rules()

        return detach

    # -- proving ------------------------------------------------------------------------------------------------------

    async def prove(self, agent: str, path: str) -> Proof:
        """Prove what an agent reaches at a path. The proof is logged before and after; as the person asked for it, no
        request is made."""
        judge = await self._judge(agent)
        at = self._clock()
        number = await self._s.log.add(self._entry(path, at))
        outcome = ABORTED
        try:
            read, write = await asyncio.to_thread(judge.verdicts, path)
            command = await self._s.prover.by_command(path)
            files = await asyncio.to_thread(self._s.prover.by_file_tools, path)
            kind = (await asyncio.to_thread(self._s.confinement.probe)).kind
            lines = (*lines_of("command", command, read, write, kind), *lines_of("file tool", files, read, write, kind))
            proof = Proof(path, at, lines, summary_of(lines))
            outcome = proof.summary if proof.worst not in ("bug", "unconfined") else f"{proof.worst}: {proof.summary}"
            return proof
        finally:
            if number is not None:
                self._s.log.settle(number=number, outcome=outcome)

    async def last_proof(self) -> LastProof | None:
        """The newest one, also of an earlier start: from the activity log."""
        page = await self._s.activity.page(AuditFilter(tool=PROOF), limit=1)
        return next((_last(row.entry) for row in page.rows if row.entry.outcome not in ("", ABORTED)), None)

    @staticmethod
    def _entry(path: str, at: float) -> AuditEntry:
        written = path.encode("utf-8", "backslashreplace").decode()  # names of files need not be text
        return AuditEntry(
            at=at,
            run_id="",
            thread_id="",
            call_id=new_id(),
            chain=("Settings",),
            tool=PROOF,
            category=Category.WRITE.value,
            decision="allow_once",
            by="user",
            digest="",
            summary=json.dumps({"path": written}, ensure_ascii=False),
            paths=(written,),
        )


def _last(entry: AuditEntry) -> LastProof:
    path: Any = entry.paths[0] if entry.paths else ""
    return LastProof(str(path), entry.at, entry.outcome)
