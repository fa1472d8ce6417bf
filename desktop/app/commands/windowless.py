"""The runtime of a home without a window, for as long as a command lasts: the home's socket answers, the log is
written, and the end is orderly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from desktop.app.commands.headless_output import say_error
from desktop.app.door.host import Door
from desktop.app.home.folder import Home
from desktop.app.home.instance import InstanceServer
from desktop.app.home.logs import Logs
from desktop.app.wiring.runtime import build_services
from desktop.app.wiring.services import Services
from desktop.settings import SettingsService
from desktop.skills.patterns.grammar import Pattern


@asynccontextmanager
async def windowless(
    held: Home,
    door: Callable[[Services], Door],
    *,
    give_up: Callable[[], None] | None = None,
    script: Path | None = None,
    allowed: Sequence[Pattern] = (),
    model: str = "",
) -> AsyncIterator[tuple[Services, Door]]:
    """The services of a home that this process holds, with what a window would have read by now, and the door.
    ``give_up`` is called when a starting window asks for the home; the rest is as in ``build_services``. Raises
    KnownError for what keeps it from beginning."""
    settings = SettingsService(held.path)
    await settings.load()
    for problem in settings.problems:
        say_error(f"assent: {problem}")
    services = await build_services(
        held.path, settings, None, windows=lambda _ref: None, script=script, allowed=allowed, model=model
    )
    written = Logs(held.logs, services.redactor.redact_text)
    opened = door(services)
    server = InstanceServer(held.socket, None, services.inboxes.post, receive=opened.receive, give_up=give_up)
    try:
        for current in (services.skills.fabric.refresh, services.agent_services.refresh):
            await asyncio.to_thread(current)
        await server.start()
        yield services, opened
    finally:
        await server.stop()
        await opened.close("The Assent that had this home open has ended.")
        await services.debates.close()
        await services.chats.close()
        await services.stop_children()
        await services.close()
        written.stop()
