"""The three levels of middleware as a person has them: which there are, which are switched on (D-7, R-MW-2, R-MW-7)."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import Event, EventSink
from desktop.domain.runs.middleware import AgentContext, ChatContext
from desktop.domain.skills import LEVELS, Level, SkillDef
from desktop.pipeline.skills.level_layer import LevelEntry, LevelLayer
from desktop.pipeline.skills.run import SkillRuns
from desktop.settings.groups.middleware import MiddlewareSettings
from desktop.skills.cascade.effective import CONFIGURING, names_of
from desktop.skills.cascade.order import OrderCycle, Placement, ordered
from desktop.skills.catalogue.roots import enclosing_root
from desktop.skills.resolution.fabric import SkillFabric

State = Literal["needed", "on", "off"]
RATE_LIMIT = "rate-limit"

_AROUND: tuple[Level, ...] = ("agent", "chat")
"""The levels that every run goes through: there a library file is itself, whatever else has its name."""
_UNREADY = {
    "untrusted": "it is in a project folder that is not trusted",
    "changed": "it is new or has changed since it was looked at",
    "broken": "it has problems",
}
_SHADOWED = "another skill of its name comes before it"
_LOST = "its file has gone, or there is no such middleware in it any more"
NEEDED: Mapping[Level, tuple[tuple[str, str], ...]] = {
    "agent": (
        ("A place to work", "At most so many runs at once; the limit is in Settings, Chats."),
        ("Run tree and log", "Budgets, pause and stop for all agents of a run; what a crash left open is known."),
    ),
    "chat": (
        ("Budget, pause and log", "No request goes out beyond the run's budget, or while it is paused."),
        ("Known secrets", "What is in the keyring is masked in answers before anything else sees them."),
    ),
    "call": (
        ("Allowed tools", "Who calls may call this tool, with these arguments."),
        ("Arguments", "They fit what the tool declares."),
        ("Limits", "How many calls, how deep, how alike."),
        ("Safety", "Boundary, blocklist, what the call would really do."),
        ("Approval", "Rules, then you."),
        ("Log of calls", "A call is written down before it is made; nothing is done twice after a crash."),
    ),
}
"""What the kernel needs, of each level. The first of ``agent`` and ``call`` stand outside of all others, those of
``chat`` around and within them."""


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One line of a chain, as Settings lists it."""

    title: str
    """Its name."""
    about: str
    """What it does."""
    state: State
    """Whether it is at work."""
    key: str = ""
    """What a switch is remembered by; "" where there is none."""
    source: str = ""
    """Whose it is."""
    path: str = ""
    """Its file."""
    problem: str = ""
    """Why one of a person's own does not work now, or ""."""


class Levels:
    """``choice`` is what the settings say now. ``refresh`` blocks; everything else is from memory."""

    def __init__(
        self,
        fabric: SkillFabric,
        runs: SkillRuns,
        shared: dict[str, Any],
        choice: Callable[[], MiddlewareSettings] = MiddlewareSettings,
    ) -> None:
        self._fabric = fabric
        self._choice = choice
        self._found: dict[Level, tuple[SkillDef, ...]] = dict.fromkeys(LEVELS, ())
        self._problem: dict[Level, str] = {}
        self._unready: dict[str, str] = {}
        self._known: frozenset[str] = frozenset()
        self._lock = threading.Lock()
        self._ready = False
        self.told: EventSink = lambda _event: None
        """Told of each time that middleware of a person's own stood around something."""

        def pipeline() -> Any:
            return runs.pipeline

        def tell(event: Event) -> None:
            self.told(event)

        around = (pipeline, runs.library, shared, tell)
        self.agent: LevelLayer[AgentContext] = LevelLayer(lambda: self.entries("agent"), *around)
        self._limiter: LevelLayer[AgentContext] = LevelLayer(self._of_starts, *around)
        self.chat: LevelLayer[ChatContext] = LevelLayer(lambda: self.entries("chat"), *around)

    async def begins(self, context: AgentContext) -> None:
        """A start around which the chain of agents does not stand: a skill's agent, a whole debate. The rate limit
        holds for it, too. Raises CancellationError while it waits."""
        await self._limiter.process(context, _nothing)

    async def _of_starts(self) -> list[LevelEntry]:
        found = await self.entries("agent")
        return [one for one in found if (one.definition.source, one.definition.name) == ("library", RATE_LIMIT)]

    def chosen(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What a cascade depends on beside its skills."""
        choice = self._choice()
        return choice.switched_on, choice.switched_off

    def is_on(self, definition: SkillDef) -> bool:
        """What a person chose, else what holds at first: the library's as it says itself; of others those of the level
        call, which stand only around skills that name them."""
        choice = self._choice()
        if definition.place in choice.switched_off:
            return False
        if definition.place in choice.switched_on:
            return True
        if definition.source == "library":
            return definition.metadata.get("off") is not True
        return definition.level == "call"

    def refresh(self) -> None:
        """Look for middleware anew. Blocks."""
        found: dict[Level, list[SkillDef]] = {level: [] for level in LEVELS}
        named = self._fabric.list_tools()
        places = {one.place for one in named if one.level is not None}
        shipped = self._fabric.shipped()
        own = [one for one in shipped if one.level in _AROUND and one not in named]
        wanted = frozenset(self._choice().switched_on)
        left, unready = self._left(wanted - places - {one.place for one in shipped})
        for definition in (*named, *own, *left):
            level = definition.level
            if level is not None and definition.name not in CONFIGURING:
                found[level].append(definition)
        with self._lock:
            for level in LEVELS:
                self._found[level] = self._in_order(level, found[level])
            self._unready, self._known = unready, wanted
            self._ready = True

    def _left(self, places: Iterable[str]) -> tuple[list[SkillDef], dict[str, str]]:
        """What is switched on and no name means now, with why it cannot work. What lies in no folder of ours, as of a
        project that is closed, has no part here; of calls, resolution says whose a name is."""
        left: list[SkillDef] = []
        unready: dict[str, str] = {}
        for place in sorted(places):
            path, fragment, entry = place.rpartition("#")
            path, entry = (path, entry) if fragment else (place, "")
            if os.path.isabs(place) and enclosing_root(path, self._fabric.roots) is None:
                continue
            there = self._fabric.defined_in(path) if os.path.isabs(place) else ()
            one = next((one for one in there if one.place == place and one.level is not None), None)
            if one is None:
                title = os.path.basename(path).partition(".")[0]
                one = SkillDef(
                    title,
                    "",
                    "markdown",
                    "mine",
                    path,
                    entry=entry,
                    role="middleware",
                    metadata={"level": "agent"},
                    state="broken",
                )
                unready[place] = _LOST
            elif one.level in _AROUND:
                unready[place] = _UNREADY.get(one.state, _SHADOWED)
            else:
                continue
            left.append(one)
        return left, unready

    def _in_order(self, level: Level, found: list[SkillDef]) -> tuple[SkillDef, ...]:
        """By what they say of each other, else the library's first, by name. Ones that go in a circle stay as they are,
        and say so."""
        given = sorted(found, key=lambda one: (one.source != "library", one.name))
        self._problem.pop(level, None)
        try:
            names = ordered(_placements(given))
        except OrderCycle as error:
            self._problem[level] = str(error)
            return tuple(given)
        return tuple(one for name in names for one in given if one.name == name)

    async def entries(self, level: Level) -> list[LevelEntry]:
        """What is switched on, outermost first. One of a person's own that cannot work now is among them: what it was
        to keep out does not go on without it."""
        if not self._ready or not self._known.issuperset(self._choice().switched_on):
            await asyncio.to_thread(self.refresh)
        values = self._values()
        return [
            LevelEntry(one, values.get(one.name, True) if one.source == "library" else True, self._why_not(level, one))
            for one in self._found[level]
            if self.is_on(one)
        ]

    def _why_not(self, level: Level, one: SkillDef) -> str:
        return self._problem.get(level) or self._unready.get(one.place) or _UNREADY.get(one.state, "")

    def rows(self, level: Level) -> list[LevelRow]:
        """The chain of a level in its order, with what the kernel needs."""
        own = [self._row(one) for one in self._found[level] if one.place not in self._unready or self.is_on(one)]
        needed = [LevelRow(title, about, "needed") for title, about in NEEDED[level]]
        if level == "call":
            return [*needed[:-1], *own, needed[-1]]
        if level == "chat":
            return [needed[0], *own, *needed[1:]]
        return [*own, *needed]

    def _row(self, one: SkillDef) -> LevelRow:
        level = one.level or "call"
        problem = self._why_not(level, one)
        state: State = "on" if self.is_on(one) else "off"
        path = "" if one.source == "library" else one.path
        return LevelRow(one.name, one.description, state, one.place, one.source, path, problem)

    def _values(self) -> dict[str, Any]:
        choice = self._choice()
        of_filter, of_cache = choice.content_filter, choice.response_cache
        return {
            RATE_LIMIT: {
                "perMinute": choice.rate_limit.per_minute,
                "skillsPerMinute": choice.rate_limit.skills_per_minute,
            },
            "content-filter": {
                "patterns": of_filter.patterns,
                "action": of_filter.action,
                "instead": of_filter.replacement,
            },
            "response-cache": {"minutes": of_cache.minutes, "entries": of_cache.entries},
        }


async def _nothing() -> None:
    """What stands inside of a start that is only counted."""


def _placements(given: Sequence[SkillDef]) -> list[Placement]:
    """One for each name: those that share it stand side by side."""
    found: dict[str, Placement] = {}
    for one in given:
        own = one.metadata.get("order")
        said = own if isinstance(own, Mapping) else {}
        known = found.get(one.name, Placement(one.name))
        before, after = names_of(said.get("before")), names_of(said.get("after"))
        found[one.name] = Placement(one.name, known.before + before, known.after + after)
    return list(found.values())


def switched(choice: MiddlewareSettings, key: str, *, on: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``on`` and ``off`` of the settings after a person used a switch."""
    others_on = tuple(one for one in choice.switched_on if one != key)
    others_off = tuple(one for one in choice.switched_off if one != key)
    return ((*others_on, key), others_off) if on else (others_on, (*others_off, key))
