"""The contract between the start and the wiring of the services.

``desktop.app.lifecycle.wiring`` is a module with three functions::

    def make_window(home: Home) -> QWidget
        The main window, able to paint its first picture and not more. It runs before the first paint: nothing that it
        imports may import asyncio or the runtime (asyncio alone costs a quarter of the time a bare window takes).
        From ``build`` on its ``closeEvent`` ignores the event and calls ``Hooks.quit``; before that the window closes,
        and the app ends.

    def furnish(window: QWidget) -> Iterator[Callable[[], None] | None]
        What it shows besides, after the first paint. Each step takes a few milliseconds, and Qt goes on after it; what
        it gives back is done in a thread before the next one.

    def build(home: Home, window: QWidget, bridge: Bridge, hooks: Hooks) -> App
        Everything else. It runs after the first paint, inside the running loop, and must be short: what takes time
        belongs into ``App.start``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import TYPE_CHECKING

from desktop.app.home.crash import CrashReporter
from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from desktop.app.door.host import Door, Rooms


async def nothing() -> None:
    """Does nothing, in the place of a part that an app does without."""


def nothing_more() -> None:
    """Does nothing: the end is the end."""


async def not_yet(_to: str, _text: str) -> None:
    """For messages that come before anybody could hear. Raises KnownError."""
    raise KnownError("Assent is still starting.", next_step="Try again in a moment.", code="app.starting")


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the start offers the wiring: the crash reporter (set its ``redact``), how to quit or show the window, the
    door, to see who has come in, and ``start_again``, after which the end is followed by a new start."""

    crashes: CrashReporter
    quit: Callable[[], None]
    show: Callable[[], None]
    door: Door
    start_again: Callable[[], None] = nothing_more


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """The services, wired. Each part but ``post``, ``rooms`` and ``follow`` is awaited or called once, on the loop; the
    end's in their order (R-UI-8). One of them that fails or is late does not stop the others."""

    start: Callable[[], Awaitable[None]] = field(default=nothing)
    """Over when the pages stand."""
    join_world: Callable[[], Awaitable[None]] = field(default=nothing)
    """A little later: begins what the pages stand without, such as child processes, servers and jobs."""
    post: Callable[[str, str], Awaitable[None]] = field(default=not_yet)
    """Takes what ``assent send`` says to an agent."""
    rooms: Callable[[], Rooms | None] = field(default=lambda: None)
    """What there is for programs that come in by the door; None: not yet."""
    follow: Callable[[str], bool] = field(default=lambda _link: False)
    """Shows where a link leads, with the window in front. False: not yet, it is kept; the caller shows the window."""
    quitting: Callable[[], None] = field(default=lambda: None)
    """Says in the window, at once, that the app ends."""
    cancel_runs: Callable[[], Awaitable[object]] = field(default=nothing)
    """Returns when all runs are over, their questions closed as denied; what is still asked is denied after it. It has
    ``CANCEL_LIMIT`` seconds together with the bridge's tasks."""
    end_children: Callable[[], Awaitable[object]] = field(default=nothing)
    """Ends every process."""
    flush: Callable[[], Awaitable[object]] = field(default=nothing)
    """Writes and closes the store."""
