"""Grants with an end: what can be granted with an answer, and what holds in the open chat (R-ASK-2)."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.bounded_grants import BoundedGrant, GrantBounds, GrantPort
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.errors import AssentError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words, size_words
from desktop.presenter.events.bridge import Bridge

CALLS = (5, 10, 20, 50)
TIMES = ((15, "15 minutes"), (60, "1 hour"), (240, "4 hours"))
SIZES = (100_000, 1_000_000, 10_000_000, 100_000_000)
MORE = "{, *}"
"""How a pattern says that more words may follow."""
ENDED_SHOWN = 2
"""Grants that ended and can be granted again from above the text field."""
LOW = 0.2
"""The last fifth is pointed out."""
AGAIN_MS = 15_000
"""How often the words about a grant are looked at anew while one holds."""
ENDED = {
    "used": "all its calls were made",
    "time": "its time was over",
    "bytes": "what it allowed was written",
    "clock": "the clock was set back",
    "taken back": "you took it back",
}


@dataclass(frozen=True, slots=True)
class GrantLine:
    """One grant as it stands above the text field."""

    grant_id: str
    """The grant."""
    tool: str
    """What it is for."""
    icon: str
    """What kind of tool that is."""
    about: str
    """Which calls of that, as short as it can be said."""
    left: str
    """How many are left."""
    until: str
    """What else ends it."""
    share: float
    """The share that is left, from 1 to 0."""
    low: bool
    """Whether it is about to end."""
    ended: str = ""
    """Why it holds no more; then nothing is left of it, and it can be granted again."""


@dataclass(frozen=True, slots=True)
class GrantChoices:
    """What a person can grant with an answer; of each (words, value), the narrowest first."""

    patterns: tuple[tuple[str, str], ...]
    """Which calls."""
    calls: tuple[tuple[str, int], ...]
    """How many."""
    minutes: tuple[tuple[str, int], ...]
    """For how long."""
    sizes: tuple[tuple[str, int | None], ...]
    """How much they may write; empty where nobody can say it beforehand."""


class CallGrantsViewModel(QObject):
    """Of the open chat. ``changed``: ``lines`` are others; ``said``: words for a toast."""

    changed = Signal()
    said = Signal(str)

    def __init__(self, grants: GrantPort, bridge: Bridge, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._grants, self._bridge, self._clock = grants, bridge, clock
        self._thread_id, self._project = "", ""
        self._told: set[str] = set()
        self._put_away: set[str] = set()
        self.lines: tuple[GrantLine, ...] = ()
        """What holds in the open chat, the latest first, and then what ended there since it was opened."""
        self._again = bridge.later(self, self.refresh, AGAIN_MS)
        grants.on_change(self.refresh)

    def show_for(self, thread_id: str, project: str = "") -> None:
        """Another chat is open."""
        self._thread_id, self._project = thread_id, project
        self._told = {one.grant_id for one in self._grants.ended(thread_id)}
        self._put_away = set(self._told)
        self.refresh()

    def refresh(self) -> None:
        """Look again what holds."""
        held = self._grants.held(self._thread_id)
        lines = tuple(line_of(one, self._project, self._clock()) for one in (*held, *self._over()))
        ended = [one for one in self._grants.ended(self._thread_id) if one.grant_id not in self._told]
        self._told |= {one.grant_id for one in ended}
        if lines != self.lines:
            self.lines = lines
            self.changed.emit()
        for one in ended:
            if one.ended != "taken back":
                self.said.emit(ended_words(one, self._project))
        if held:
            self._spawn(self._settle(), "write down which grants ended")
            self._again.start()

    def _over(self) -> list[BoundedGrant]:
        """The grants that ended while the chat was open, as long as nobody has put them away."""
        ended = self._grants.ended(self._thread_id)
        return [one for one in ended if one.grant_id not in self._put_away and one.ended != "taken back"][:ENDED_SHOWN]

    def put_away(self, grant_id: str) -> None:
        """It is not shown any more that this one ended."""
        self._put_away.add(grant_id)
        self.refresh()

    def ended(self, grant_id: str) -> BoundedGrant | None:
        """One that ended in the open chat."""
        return next((one for one in self._grants.ended(self._thread_id) if one.grant_id == grant_id), None)

    def grant_again(self, grant_id: str, bounds: GrantBounds) -> None:
        """The person grants the same calls anew."""

        async def work() -> None:
            await self._grants.again(grant_id, bounds)
            self.said.emit(f"Granted again: {about_words(bounds.pattern, self._project)}")

        self._spawn(work(), "grant calls again")

    def take_back(self, grant_id: str) -> None:
        """It lets nothing through any more."""
        self._spawn(self._taken_back(grant_id), "take a grant back")

    async def _taken_back(self, grant_id: str) -> None:
        await self._grants.take_back(grant_id)
        self.said.emit("Taken back: such calls ask again")

    def choices(self, request: PermissionRequest) -> GrantChoices:
        """What can be granted with an answer to this request."""
        size = request.preview.get("size") if request.preview.get("kind") == "diff" else None
        sizes: list[tuple[str, int | None]] = []
        if type(size) is int:
            sizes = [("any size", None), *((size_words(most), most) for most in SIZES if most >= size)]
        asked = request.tool, request.arguments, request.paths, request.project, request.parts
        return _choices(self._grants.patterns(*asked), request.project, sizes)

    def choices_again(self, grant: BoundedGrant) -> GrantChoices:
        """What can be granted of the calls of one that ended."""
        sizes: list[tuple[str, int | None]] = [(size_words(most), most) for most in SIZES]
        bounded = grant.bounds.most_bytes is not None
        return _choices((grant.bounds.pattern,), grant.project, sizes if bounded else ())

    def bounds(self, pattern: str, calls: int, minutes: int, most_bytes: int | None) -> GrantBounds:
        """What was chosen, from now on."""
        return GrantBounds(pattern, calls, self._clock() + 60 * minutes, most_bytes)

    async def _settle(self) -> None:
        await self._grants.settle()

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._failed)

    def _failed(self, error: AssentError) -> None:
        self.said.emit(error.advice)


def _choices(patterns: Sequence[str], project: str, sizes: Sequence[tuple[str, int | None]]) -> GrantChoices:
    return GrantChoices(
        tuple((about_words(one, project), one) for one in patterns),
        tuple((count_words(number, "call"), number) for number in CALLS),
        tuple((words, minutes) for minutes, words in TIMES),
        tuple(sizes),
    )


def line_of(grant: BoundedGrant, project: str, now: float) -> GrantLine:
    """A grant in words."""
    share = grant.left(now)
    left = f"{grant.calls_left} of {grant.bounds.calls} left"
    until = f"until {clock_words(grant.bounds.until)}"
    if grant.ended:
        left = f"{grant.used_calls} of {grant.bounds.calls} used"
        until = f"ended at {clock_words(grant.ended_at)}"
    elif grant.bytes_left is not None:
        until = f"{size_words(grant.bytes_left)}, {until}"
    about = about_words(grant.bounds.pattern, project).removeprefix(grant.tool).strip()
    icon = "terminal" if "(command=" in grant.bounds.pattern else "write"
    ended = ENDED.get(grant.ended, "it is over") if grant.ended else ""
    return GrantLine(grant.grant_id, grant.tool, icon, about, left, until, share, share <= LOW and not ended, ended)


def ended_words(grant: BoundedGrant, project: str) -> str:
    """That a grant holds no more, as a sentence."""
    used = f"{grant.used_calls} of {grant.bounds.calls}"
    about = about_words(grant.bounds.pattern, project)
    return f"The grant {about} has ended: {ENDED.get(grant.ended, 'it is over')}, {used} used."


def about_words(pattern: str, project: str) -> str:
    """A pattern as short as it can be said: ``write-file docs/**`` for ``write-file(path=/home/me/work/docs/**)``."""
    tool, opened, rest = pattern.partition("(")
    if not opened:
        return tool
    inside = rest.removesuffix(")")
    name, _, glob = inside.partition("=")
    if name == "path" and "," not in glob:
        inside = glob.removeprefix(f"{project}{os.sep}") if project else glob
    elif name == "command":
        inside = f"{glob.removesuffix(MORE)} …" if glob.endswith(MORE) else glob
    return f"{tool} {inside}"


def clock_words(at: float) -> str:
    """A time of day."""
    return datetime.datetime.fromtimestamp(at).strftime("%H:%M")
