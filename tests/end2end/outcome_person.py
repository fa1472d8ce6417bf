"""A person in the real app before whom a request about what a command did in its copy is open, until it is killed; and
who goes on after the next start."""

import os
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from desktop.app.home.folder import Home
from desktop.app.lifecycle import wiring
from desktop.app.lifecycle.composition import App, Hooks
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.transcript.items import ToolPart
from desktop.ui.approvals.request.outcome_body import OutcomeBody
from tests.end2end.person import Person, fact, furnish, inhabited, make_window  # noqa: F401 - the wiring's other half


def build(home: Home, window: QWidget, bridge: Bridge, hooks: Hooks) -> App:
    app = wiring.build(home, window, bridge, hooks)
    return inhabited(app, OutcomePerson(window, app, hooks, home.path), bridge)


class OutcomePerson(Person):
    """Knows what to do before a kill and after it."""

    def __init__(self, window: Any, app: App, hooks: Hooks, home: Path) -> None:
        super().__init__(window, app, hooks)
        self._home = home

    async def asked(self) -> Any:
        """The request, once it is on the screen."""
        await self.until(lambda: self.models.approvals.requests, "the request")
        (request,) = self.models.approvals.requests
        assert request.is_outcome, "it ran in a copy"
        await self.until(lambda: self.window.findChildren(OutcomeBody), "what it did")
        return request

    def copies(self) -> list[str]:
        folder = self._home / "cache" / "copies"
        return os.listdir(folder) if folder.is_dir() else []

    async def leave_open(self) -> None:
        """Ask for a command, look at what it did, let another chat stream meanwhile, and be killed."""
        await self.opened()
        self.say("run it")
        request = await self.asked()
        changed = sorted(Path(change.path).name for change in request.preview["reading"].changes)
        self.window.page("chats").new_chat()
        await self.until(lambda: not self.pane._items, "a new chat")
        self.say("talk on")
        await self.until(lambda: sum(map(len, self.shown)) > 400, "a stream beside the request")
        assert self.models.approvals.requests == (request,), "it waits while the other streams"
        fact("open", changed=changed, copies=self.copies(), thread=request.thread_id, left=request.preview["left"])
        while True:
            characters = sum(map(len, self.shown))
            await self.until(lambda characters=characters: sum(map(len, self.shown)) > characters, "it streams on")  # type: ignore[misc]

    async def go_on(self) -> None:
        """The start after it: what lies about, and the chat goes on."""
        await self.opened()
        fact("started", copies=self.copies(), requests=len(self.models.approvals.requests))
        self.window.page("chats").open(os.environ["ASSENT_TEST_THREAD"])
        await self.until(lambda: any(item.can_continue for item in self.pane._items.values()), "Continue")
        calls = [part for item in self.pane._items.values() for part in item.parts if isinstance(part, ToolPart)]
        fact("cut", calls=[(call.state, call.result) for call in calls])
        self.models.chat.continue_answer()
        request = await self.asked()
        fact("again", changed=sorted(Path(c.path).name for c in request.preview["reading"].changes))
        self.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
        await self.until(lambda: any("All done." in text for text in self.shown), "the end")
        fact("done", copies=self.copies())
        self.hooks.quit()

    async def leave_running(self) -> None:
        """Ask for a command that goes on and on in its copy."""
        await self.opened()
        self.say("run it on and on")
        begun = self._home / "cache" / "copies"
        await self.until(lambda: list(begun.glob("*/made0/**/begun.txt")), "it runs")
        fact("running")

    async def look_after(self) -> None:
        """What lies about after it."""
        await self.opened()
        fact("started", copies=self.copies(), requests=len(self.models.approvals.requests))
        self.hooks.quit()
