"""A person in the real app who does nothing: requests come and go as somebody outside says, on stdin, and what is then
on the screen is told. What presses the buttons comes from outside as well."""

import asyncio
import os

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from desktop.app.home.folder import Home
from desktop.app.lifecycle import wiring
from desktop.app.lifecycle.composition import App, Hooks
from desktop.presenter.events.bridge import Bridge
from desktop.ui.approvals.request.dialog import RequestDialog
from desktop.ui.approvals.request.lines_view import LinesView
from tests.end2end.person import Person, fact, furnish, inhabited, make_window  # noqa: F401 - the wiring's other half


def build(home: Home, window: QWidget, bridge: Bridge, hooks: Hooks) -> App:
    app = wiring.build(home, window, bridge, hooks)
    return inhabited(app, AskedPerson(window, app, hooks), bridge)


def _middle(button: QWidget) -> tuple[int, int]:
    """On the screen."""
    return button.mapToGlobal(button.visibleRegion().boundingRect().center()).toTuple()


class AskedPerson(Person):
    """Knows one scenario."""

    async def be_asked(self) -> None:
        """Requests come and go as somebody outside says; what is on the screen then is told."""
        await self.opened()
        acts = {"ask": self._asked, "begin": self._begun, "state": self._state, "deny": self._denied}
        while line := (await asyncio.to_thread(os.read, 0, 100)).decode().split():
            await acts[line[0]]()
        self.hooks.quit()

    @property
    def request(self) -> RequestDialog | None:
        """The dialog with a request, once there is one."""
        dialog = self.window.findChild(RequestDialog)
        return dialog if dialog is not None and dialog.isVisible() and dialog.view.request is not None else None

    @property
    def lines(self) -> LinesView:
        """What would be done, as it is shown."""
        return next(one for one in self.request.view.findChildren(LinesView) if one.isVisible())

    async def _begun(self) -> None:
        """The keys are in the composer, and something is said to which a call answers."""
        self.window.activateWindow()
        self.pane.foot.composer.text.setFocus()
        self.say("go")
        fact("begun")

    async def _asked(self) -> None:
        """The request of it stands in the window; a second later it hears."""
        await self.until(lambda: self.request, "the request")
        answers = self.request.view.answers
        await asyncio.sleep(0.1)
        fact(
            "asked",
            allow=_middle(answers.allow),
            deny=_middle(answers.deny),
            reason=_middle(answers.reason),
            edit=_middle(answers.edit),
            text=_middle(self.lines),
            window=int(self.window.winId()),
        )

    async def _state(self) -> None:
        focused, request = self.window.focusWidget(), self.request
        fact(
            "state",
            waiting=len(self.models.approvals.requests),
            deaf=request.view.answers.allow.deaf if request is not None else None,
            active=self.window.isActiveWindow(),
            clipboard=QGuiApplication.clipboard().text(),
            read=self._is_read(),
            focus=focused.accessibleName() if focused is not None else "",
        )

    def _is_read(self) -> bool:
        """Whether all of what waits has been on the screen."""
        return self.request is not None and self.lines.is_read

    async def _denied(self) -> None:
        """Whatever waits is denied, and the run is over."""

        def over() -> bool:
            for request in self.models.approvals.requests:
                self.models.approvals.answer(request.request_id, "deny", digest=request.digest)
            return not self.models.chat.run_state.running

        await self.until(over, "the end of the run")
        fact("over")
