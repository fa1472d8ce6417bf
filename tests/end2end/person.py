"""The real app as a process, with a person inside who does what the scenario says and tells what is on screen.

A wiring like the app's own (see ``desktop.app.lifecycle.composition``): the same window, the same services. The
scenario's name is in ``ASSENT_TEST_SCENARIO``; each fact is a line of JSON on stdout, with ``at`` on the machine's
monotonic clock.
"""

import asyncio
import json
import os
import re
import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from desktop.app.home.folder import Home
from desktop.app.lifecycle import wiring
from desktop.app.lifecycle.composition import App, Hooks
from desktop.app.wiring.settings_pages import SETTINGS_PAGES
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.shell.window import PAGES
from desktop.presenter.transcript.items import NoticePart, ToolPart
from desktop.ui.widgets.dialogs.base import Dialog
from tests.harness.timeouts import WAIT_S, until

KEY = "sk-person-0123456789abcdefghij"


def fact(kind: str, **what: Any) -> None:
    """One write, so that a line is never cut."""
    os.write(1, (json.dumps({"at": time.monotonic(), "kind": kind, **what}) + "\n").encode())


make_window, furnish = wiring.make_window, wiring.furnish


def build(home: Home, window: QWidget, bridge: Bridge, hooks: Hooks) -> App:
    app = wiring.build(home, window, bridge, hooks)
    return inhabited(app, Person(window, app, hooks), bridge)


def inhabited(app: App, person: "Person", bridge: Bridge) -> App:
    """With a person in it who acts."""
    bridge.spawn(person.act(os.environ["ASSENT_TEST_SCENARIO"]), name="person")
    return app


class Person:
    """Looks at the window and acts in it."""

    def __init__(self, window: Any, app: App, hooks: Hooks) -> None:
        self.window, self.hooks = window, hooks
        self.startup: Any = app.start.__self__  # type: ignore[attr-defined]
        self.longest = 0.0
        self._beat = time.monotonic()
        self._timer = QTimer(window, interval=5, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.monotonic()
        self.longest, self._beat = max(self.longest, now - self._beat), now

    async def act(self, scenario: str) -> None:
        try:
            await getattr(self, scenario)()
        except (AssertionError, TimeoutError) as error:
            fact("failed", why=f"{scenario}: {error!r}")
            self.hooks.quit()

    async def until(self, true: Callable[[], Any], what: str) -> None:
        await until(true, what)

    @property
    def models(self) -> Any:
        return self.startup._models

    @property
    def pane(self) -> Any:
        return self.window.page("chats").pane

    async def opened(self) -> None:
        await self.until(lambda: self.startup._pages is not None and self.startup._pages._opened, "the pages")
        self.longest = 0.0

    @property
    def shown(self) -> list[str]:
        return [message.source() for message in self.pane.transcript.page.messages]

    def say(self, text: str) -> None:
        self.pane.foot.composer.text.setPlainText(text)
        self.pane.foot.composer.submit()

    # -- scenarios ----------------------------------------------------------------------------------------------------

    async def look(self) -> None:
        """What is there after a start."""
        await self.opened()
        await self.until(lambda: self.pane._items, "the thread that was open")
        parts = [part for item in self.pane._items.values() for part in item.parts]
        fact(
            "seen",
            texts=self.shown,
            notices=[p.text for p in parts if isinstance(p, NoticePart)],
            calls=[p.state for p in parts if isinstance(p, ToolPart)],
            can_continue=any(item.can_continue for item in self.pane._items.values()),
        )
        self.hooks.quit()

    async def close_and_keep(self) -> None:
        """Close the window while a run works, keep it working, come back, and wait for the end."""
        await self.opened()
        self.say("go")
        await self.until(lambda: any("One." in text for text in self.shown), "the run under way")
        self.window.close()
        (dialog,) = self.window.findChildren(Dialog)
        label = dialog.buttons["keep"].label
        dialog.buttons["keep"].click()
        tray = self.window.notifier.tray
        await self.until(lambda: not self.window.isVisible() and tray.icon.isVisible(), "the window put away")
        icon = tray.icon
        await asyncio.sleep(0.3)  # whoever would take a hidden window for a closed one has looked by now
        fact("away", label=label, tip=icon.toolTip())
        await self.until(self.window.isVisible, "the window back")
        fact("back", running=self.models.chat.run_state.running, icon=icon.isVisible())

    async def show_every_page(self) -> None:
        """One page after the other, each until somebody has looked at it and says so."""
        await self.opened()
        await asyncio.sleep(1)  # what is read from disk right after a start
        places = [(name, "") for name in PAGES if name != "settings"] + [
            ("settings", row.name) for row in SETTINGS_PAGES
        ]
        for page, below in places:
            self.startup._shell.go(page)
            shown = self.window.page(page)
            if below:
                shown.show_settings(below)
            await self.until(shown.isVisible, page)
            await asyncio.sleep(0.3)
            fact("page", page=below or page)
            await asyncio.to_thread(os.read, 0, 100)
        self.hooks.quit()

    async def stream(self) -> None:
        """Ask, and tell how much of the answer is on screen, until somebody kills this process."""
        await self.opened()
        self.window.page("chats").new_chat()
        await self.until(lambda: not self.pane._items, "a new chat")
        services = self.startup._services
        await self.until(lambda: services.child.health.state == "ready", "the model host")
        fact("child", pid=services.child.health.pid)
        self.say("tell me everything")
        before = (0, ())
        while True:
            texts = self.shown
            now = (
                sum(map(len, texts)),
                tuple(
                    part.state
                    for item in self.pane._items.values()
                    for part in item.parts
                    if isinstance(part, ToolPart)
                ),
            )
            if now != before:
                before = now
                fact("shown", texts=len(texts), characters=now[0], calls=now[1], late=self.longest)
            await asyncio.sleep(0.005)

    async def chat(self) -> None:
        """Say something, change a setting, and tell what came of it."""
        await self.opened()
        refused: list[str] = []
        self.models.settings.refused.connect(lambda _key, why: refused.append(why))
        self.models.settings.set("appearance.theme", "dark")
        self.say("Good morning")
        await self.until(lambda: refused, "the refusal")

        def answered() -> bool:
            for request in self.models.approvals.requests:
                self.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
            return any("Hello there." in text for text in self.shown)

        await self.until(answered, "the answer")
        await self.until(lambda: not self.models.chat.run_state.running, "the end of the run")
        parts = [part for item in self.pane._items.values() for part in item.parts]
        fact("refused", why=refused[0], toast=self.window.toast.isVisible())
        fact("called", calls=[(p.state, p.result) for p in parts if isinstance(p, ToolPart)])
        self.hooks.quit()

    @property
    def debate(self) -> Any:
        return self.models.debates.debates

    def lanes(self) -> list[tuple[str, str]]:
        """(who, what) of each message in the lanes."""
        messages = self.window.page("debates").running.view.page.messages
        return [(message.item.author, message.source()) for message in messages]

    async def debate_begun(self) -> None:
        """Set up a debate and start it, and tell of its second turn, until somebody kills this process."""
        await self.opened()
        self.startup._shell.run_command("new-debate")
        page, setup = self.window.page("debates"), self.models.debates.setup
        await self.until(lambda: setup.templates and setup.prompts, "the templates")
        page.setup.topic.setPlainText("Tea or coffee?")
        for side in ("a", "b"):
            setup.set_side(side, model="scripted/scripted")
        page.setup.start()
        await self.until(lambda: len(self.lanes()) == 3 and self.lanes()[2][1].startswith("half"), "half of turn 2")
        left = self.models.services.store.debates.left
        while not [one for one in await left(thread_id=self.debate.state.thread_id) if one.text == "half of a turn"]:
            await asyncio.sleep(0.02)  # it is on the disk within a quarter of a second
        fact("half", lanes=self.lanes())
        await asyncio.sleep(WAIT_S)

    async def debate_again(self) -> None:
        """What is there after it was killed; then go on to the end."""
        await self.opened()
        self.startup._shell.go("debates")
        await self.until(lambda: self.debate.state is not None and len(self.lanes()) > 1, "the debate that was open")
        page = self.window.page("debates").running
        notices = [p.text for m in page.view.page.messages for p in m.item.parts if isinstance(p, NoticePart)]
        fact("seen", status=self.debate.state.status, turn=self.debate.state.turn, lanes=self.lanes(), notices=notices)
        self.debate.open.state_changed.connect(lambda state: fact("state", status=state.status, turn=state.turn))
        page.footer.resume.click()
        await self.until(lambda: self.debate.state.status == "ended", "its end")
        fact("ended", lanes=self.lanes())
        self.hooks.quit()

    async def blocked(self) -> None:
        """The database cannot be used: what is said, and quit."""
        await self.until(lambda: [d for d in self.window.findChildren(Dialog) if d.isVisible()], "the dialog")
        dialog = next(d for d in self.window.findChildren(Dialog) if d.isVisible())
        fact("dialog", words=dialog._text.text(), answers=sorted(dialog.buttons))
        dialog.buttons["quit"].click()

    async def keys(self) -> None:
        """First run: connect a server with a key, as somebody would who has no keyring that answers."""
        await self.opened()
        setup = self.models.setup
        form = self.window.page("first_run").form
        outcomes: list[dict[str, Any]] = []
        setup.tested.connect(lambda _name, worked, said: outcomes.append({"worked": worked, "said": said}))
        await self.until(lambda: setup.servers, "the look for local servers")
        fact("servers", note=setup.keyring_note)
        form.choose("openai_compatible")
        form.field("base_url").setText(os.environ["ASSENT_TEST_SERVER"])
        form.field("key").setText(KEY)
        form.test.click()
        await self.until(lambda: outcomes, "the test of the key")
        assert outcomes[-1]["worked"], outcomes
        words = os.environ["ASSENT_TEST_WORDS"]  # on a slow machine a keyring is silent before it says what is wrong
        await self.until(lambda: re.search(words, setup.keyring_note), "the word about the keyring")
        fact(
            "kept",
            said=outcomes[-1]["said"],
            note=form._note.text(),
            longest=self.longest,
            place=self.startup._services.secrets.place_of("connection/openai_compatible"),
            in_field=form.field("key").text(),
        )
        self.hooks.quit()

    async def keys_again(self) -> None:
        """The start after it: what is said of the connection whose key is gone."""
        await self.opened()
        setup = self.models.setup
        setup.look()
        await self.until(lambda: not setup.looking and setup.connections, "the list of models")
        name = setup.connections[0].connection_id
        fact("again", problem=setup.problem(name), note=setup.keyring_note)
        self.hooks.quit()
