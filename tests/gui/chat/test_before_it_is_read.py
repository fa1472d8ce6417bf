"""What a list says before it was read: nothing, for it is not known yet whether there is anything."""

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from desktop.models.scripted import ScriptedModel
from desktop.presenter.chat.threads import ThreadsViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.transcript.live_threads import LiveThreads
from desktop.ui.chat.threads.pane import ThreadList
from tests.harness.timeouts import until
from tests.unit.services.kit import world


def says(shown: QWidget, words: str) -> bool:
    return any(label.text() == words and label.isVisible() for label in shown.findChildren(QLabel))


async def test_no_chats_yet_is_said_only_once_the_list_was_read(theme: Any, qtbot: QtBot, tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedModel([])) as w:
        bridge = Bridge()
        threads = ThreadsViewModel(w.service, bridge, LiveThreads())
        shown = ThreadList(threads)
        qtbot.addWidget(shown)
        shown.show()
        assert not says(shown, "No chats yet")
        threads.refresh()
        await until(lambda: says(shown, "No chats yet"), "what is so")
        await w.thread()
        threads.refresh()
        await until(lambda: not says(shown, "No chats yet"), "the chat")
        assert await bridge.shutdown(2.0) == ()
