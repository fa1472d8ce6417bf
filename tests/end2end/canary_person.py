"""The real app with a person who enters secrets everywhere and makes everything go wrong (test_canaries.py).

The wiring of the app, as in person.py. What to do and the canaries come by a file that is named in
``ASSENT_TEST_CANARIES``, outside of everything that is searched.
"""

import asyncio
import json
import logging
import os
import signal
import threading
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from desktop.app.home.folder import Home
from desktop.app.lifecycle import wiring
from desktop.app.lifecycle.composition import App, Hooks
from desktop.domain.approval.audit import AuditFilter
from desktop.domain.keyring import KeyringEntry
from desktop.presenter.common.exporting import write_whole
from desktop.presenter.events.bridge import Bridge
from desktop.store.audit_export import export as export_activity
from desktop.ui.settings.keys.page import KeysPage
from tests.end2end.canaries import said
from tests.end2end.person import Person, fact

TOOL = KeyringEntry("assent", "canary")


make_window, furnish = wiring.make_window, wiring.furnish


def build(home: Home, window: QWidget, bridge: Bridge, hooks: Hooks) -> App:
    app = wiring.build(home, window, bridge, hooks)
    person = CanaryPerson(window, app, hooks, bridge, home)
    bridge.spawn(person.act(person.plan["scenario"]), name="person")
    return app


class CanaryPerson(Person):
    def __init__(self, window: Any, app: App, hooks: Hooks, bridge: Bridge, home: Home) -> None:
        super().__init__(window, app, hooks)
        self.bridge, self.home = bridge, home
        self.plan = json.loads(Path(os.environ["ASSENT_TEST_CANARIES"]).read_text())
        self.canaries: dict[str, str] = self.plan["canaries"]
        self.exports = Path(self.plan["exports"])

    @property
    def services(self) -> Any:
        return self.startup._services

    # -- parts --------------------------------------------------------------------------------------------------------

    async def tested(self, act: Any) -> tuple[bool, str]:
        """A test of a provider, to its end."""
        setup, outcomes = self.models.setup, []
        heard = setup.tested.connect(lambda _name, worked, said: outcomes.append((worked, said)))
        act()
        await self.until(lambda: outcomes and not setup.testing, "the outcome of the test")
        setup.disconnect(heard)
        return outcomes[-1]

    async def connect(self) -> None:
        """The key of a provider, by the form; and two addresses that hold a key."""
        setup = self.models.setup
        await self.until(lambda: setup.servers, "the look for local servers")
        for base in (
            f"http://me:{self.canaries['password in an address']}@127.0.0.1:9/v1",
            f"http://127.0.0.1:9/v1?api_key={self.canaries['key in an address']}",
        ):
            typed = {"base_url": base, "key": self.canaries["provider key"]}
            outcome = await self.tested(lambda typed=typed: setup.test_and_keep("openai_compatible", typed))
            fact("address", outcome=outcome)
        form = self.page_of("Models and keys", "form")
        form.choose("openai_compatible")
        form.field("base_url").setText(self.plan["server"])
        form.field("key").setText(self.canaries["provider key"])
        fact("connected", outcome=await self.tested(form._test))

    def page_of(self, name: str, part: str) -> Any:
        self.window._shell.go("settings")
        settings = self.window.page("settings")
        settings.show_settings(name)
        return getattr(settings._built[name], part)

    async def add_secret(self) -> None:
        """A tool's secret, by the keyring page."""
        self.page_of("Keyring", "add").click()
        page = self.window.page("settings").findChild(KeysPage)
        told: list[Any] = []
        self.models.keys.told.connect(lambda *what: told.append(what))
        page.dialogs.add(TOOL, ("leak",))
        dialog = page.dialogs.open_now
        field = next(f for f in dialog.findChildren(QWidget) if type(f).__name__ == "SecretField")
        field.setText(self.canaries["tool secret"])
        dialog.answer("keep")
        await self.until(lambda: told, "the secret to be kept")
        await self.until(lambda: "keyring" not in " ".join(self.bridge.task_names), "the look into the keyring")
        fact("secrets", told=told[-1], rows={str(row.entry): row.state for row in self.models.keys.tools})

    async def ask(self, text: str) -> None:
        """A message, and everything that comes of it."""
        before = len(self.shown)
        self.say(text)
        await self.until(lambda: len(self.shown) >= before + 2, "an answer")
        await self.until(lambda: not self.models.chat.run_state.running, "the end of the run")

    async def chat(self) -> None:  # type: ignore[override]
        """Known and unknown keys pasted; a model that repeats keys; tools that print, fail and want too much."""
        self.window._shell.go("chats")
        await self.ask(f"use {self.canaries['provider key']} for it")
        self.window.page("chats").new_chat()
        await self.until(lambda: not self.pane._items, "a new chat")
        self.models.chat.set_model(self.plan["model"])
        await self.ask(f"my key is {self.canaries['key pasted into a chat']}")
        fact("chatted", shown=len(self.shown))

    def everything(self) -> str:
        """All that redaction knows, in all writings, as an exception or a library might say it."""
        known = ("provider key", "tool secret", "host variable")
        return " ".join(text for place in known for text in said(self.canaries[place]))

    async def break_things(self) -> None:
        """A bug in a slot, a task, a thread and a finalizer; log lines; children that crash with their keys."""
        words = self.everything()

        def slot() -> None:
            raise ValueError(f"in a slot: {words}")

        async def task() -> None:
            raise RuntimeError(f"in a task: {words}")

        def thread() -> None:
            raise KeyError(f"in a thread: {words}")

        class Dying:
            def __del__(self) -> None:
                raise OSError(f"in a finalizer: {words}")

        QTimer.singleShot(0, slot)
        self.bridge.spawn(task(), name="a task")
        threading.Thread(target=thread, name=f"thread {self.canaries['tool secret']}").start()
        Dying()
        logging.getLogger("some.library").error("headers: %s", {"authorization": words}, stack_info=True)
        logging.getLogger(self.canaries["provider key"]).warning("named by a key")
        await self.until(lambda: len(list(self.home.logs.glob("crash-*.txt"))) >= 4, "four crash reports")
        keyring, model = self.services.secrets._child, self.services.child
        await self.until(lambda: model.health.state == "ready", "the model host")
        await self.services.secrets.probe()
        for child, number in ((keyring, signal.SIGSEGV), (model, signal.SIGABRT)):
            lives = child.health.generation
            os.kill(child.health.pid, number)
            await self.until(
                lambda c=child, n=lives: c.health.generation > n and c.health.state == "ready", "a new child"
            )
        fact("broken", reports=len(list(self.home.logs.glob("crash-*.txt"))))

    async def export(self) -> None:
        """Every thread in every form, and the activity log."""
        self.exports.mkdir(exist_ok=True)
        for thread in await self.services.chats.threads():
            for form in ("md", "html", "json"):
                data = await self.services.chats.export(thread.thread_id, form)
                write_whole(str(self.exports / f"{thread.thread_id}.{form}"), data)
        for form in ("jsonl", "csv"):
            await self.export_activity(form)
        fact("exported", files=len(list(self.exports.iterdir())))

    async def export_activity(self, form: str) -> None:
        def write() -> None:
            export_activity(
                self.home.database,
                str(self.exports / f"activity.{form}"),
                form,
                AuditFilter(),  # type: ignore[arg-type]
                self.services.redactor.mask_known,
                lambda *_: None,
                lambda: False,
            )

        await asyncio.to_thread(write)

    # -- scenarios ----------------------------------------------------------------------------------------------------

    async def everything_once(self) -> None:
        """All of it, and then a crash of the app itself."""
        await self.opened()
        await self.connect()
        await self.add_secret()
        await self.chat()
        fact("refusing")
        await asyncio.to_thread(input)  # the provider is told meanwhile to answer with everything it was sent
        name = self.models.setup.connections[0].connection_id
        fact("refused", outcome=await self.tested(lambda: self.models.setup.test_connection(name)))
        self.pane.foot.composer.text.setPlainText(f"a draft with {self.canaries['tool secret']}")
        await self.break_things()
        await self.export()
        await self.models.chat.drafts.flush()
        fact("dying")
        os.kill(os.getpid(), getattr(signal, self.plan["death"]))

    async def once_more(self) -> None:
        """The next start: what was kept, a mistake in config.yaml, an orderly end."""
        await self.opened()
        self.page_of("Keyring", "look").click()
        await self.until(
            lambda: {row.state for row in self.models.keys.providers} == {"kept"}, "the key in the keyring"
        )
        fact("again", problems=list(self.models.settings.problems), banner=str(self.window._banner.words))
        self.hooks.quit()

    async def stream(self) -> None:
        """A real provider repeats the key until somebody kills this process."""
        await self.opened()
        await self.until(lambda: self.services.child.health.state == "ready", "the model host")
        self.window.page("chats").new_chat()
        await self.until(lambda: not self.pane._items, "a new chat")
        name = self.models.setup.connections[0].connection_id
        self.models.chat.set_model(f"{name}/some-model")
        self.say("go on for ever")
        await self.until(lambda: sum(map(len, self.shown)) > 2_000, "a long answer")
        fact("streaming", characters=sum(map(len, self.shown)))
        await asyncio.sleep(60)
