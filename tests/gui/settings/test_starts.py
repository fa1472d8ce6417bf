"""Starting a model server from the window: what is offered, what is shown before it runs, and how it goes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot
from shots.samples import ABSENT, OLLAMA, SampleSetup
from shots.starts import FAILED, FILE, LLAMACPP, RUNNING, sample_starts

from desktop.domain.servers.starting import StartChoice
from desktop.ui.settings.models.page import ModelsPage
from desktop.ui.settings.models.start_dialog import LogDialog, StartDialog
from desktop.ui.settings.models.start_row import StartRow
from desktop.ui.theme import Theme
from tests.gui.shell.test_window import spin

COMMAND = (
    "LLAMA_ARG_OFFLINE=1 LLAMA_ARG_CORS_ORIGINS=localhost /usr/local/bin/llama-server "
    f"--model {FILE.path} --ctx-size 16384 --host 127.0.0.1 --port 8081 --jinja"
)


class Shown:
    def __init__(self, file: str = "") -> None:
        self.setup = SampleSetup((OLLAMA, *ABSENT))
        self.starts, self.service = sample_starts(LLAMACPP, file=file)
        self.page = ModelsPage(cast(Any, self.setup), self.starts)
        self.page.resize(1000, 900)
        self.page.show()
        spin()

    @property
    def row(self) -> StartRow:
        return self.page.starts[0]

    @property
    def words(self) -> str:
        return "\n".join(label.text() for label in self.page.findChildren(QLabel) if label.isVisible())

    def opened(self) -> StartDialog:
        self.row.start.click()
        spin()
        return self.page.findChild(StartDialog)


@pytest.fixture
def shown(qtbot: QtBot, theme: Theme) -> Iterator[Shown]:
    made = Shown()
    qtbot.addWidget(made.page)
    yield made
    end(made.page)


def end(page: QWidget) -> None:
    for dialog in (*page.findChildren(StartDialog), *page.findChildren(LogDialog)):
        dialog.answer("cancel")


def test_one_that_is_installed_and_not_running_is_offered(shown: Shown) -> None:
    assert ("look",) in shown.service.calls
    assert shown.row.isVisible()
    assert "llama-server: installed and not running." in shown.words
    assert "LM Studio, vLLM: not running" in shown.words
    assert not shown.page.starts[1].isVisible(), "Ollama runs"
    shown.service.set(replace(LLAMACPP, program=""))
    assert not shown.row.isVisible()
    assert "LM Studio, llama.cpp, vLLM: not running" in shown.words


def test_the_exact_command_is_shown_and_only_that_is_started(shown: Shown) -> None:
    dialog = shown.opened()
    assert not dialog.buttons["start"].isEnabled()
    assert "Choose the file of a model first." in dialog.note.words
    shown.starts.choose(file=FILE.path)
    assert dialog.command.toPlainText() == COMMAND
    assert "port 8080, so it gets port 8081" in dialog.note.words
    shown.starts.choose(context=4096)
    assert "--ctx-size 4096" in dialog.command.toPlainText()
    last = dialog.command.toPlainText()
    dialog.buttons["start"].click()
    assert [call for call in shown.service.calls if call[0] == "start"] == [("start", last)]


def test_nothing_starts_by_closing_the_form(shown: Shown) -> None:
    shown.service.file = FILE.path
    dialog = shown.opened()
    assert dialog.buttons["start"].isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not [call for call in shown.service.calls if call[0] == "start"]


def test_context_and_what_becomes_of_it_are_chosen(shown: Shown) -> None:
    shown.service.file = FILE.path
    dialog = shown.opened()
    sizes = [dialog.context.itemData(at) for at in range(dialog.context.count())]
    assert sizes == ["4096", "8192", "16384", "32768", "0"], "no more than the model was trained for"
    assert dialog.context.currentData() == "16384"
    assert not dialog.leave.isChecked()
    assert not dialog.with_app.isChecked()
    dialog.leave.click()
    dialog.with_app.click()
    assert shown.starts.form == StartChoice("llamacpp", FILE.path, 16384, leave_running=True, with_app=True)


def test_a_server_of_ours_can_be_stopped_and_its_log_read(shown: Shown) -> None:
    shown.service.set(RUNNING)
    assert shown.row.state.state == "found"
    assert "It ends with Assent." in shown.words
    assert not shown.row.start.isVisible()
    shown.row.log.click()
    log = shown.page.findChild(LogDialog)
    assert "server is listening" in log.text.toPlainText()
    shown.row.stop.click()
    assert ("stop", "llamacpp") in shown.service.calls


def test_a_log_follows_what_is_written_and_shows_no_control_characters(shown: Shown) -> None:
    shown.service.set(RUNNING)
    shown.row.log.click()
    log = shown.page.findChild(LogDialog)
    shown.service.wrote += "\x1b[31mred\u202e"
    shown.starts.read_log("llamacpp")
    assert "\\e[31mred\\u{202e}" in log.text.toPlainText()


def test_a_failure_says_why_with_its_last_lines(shown: Shown) -> None:
    shown.service.set(FAILED)
    assert "There is not enough memory. Choose a smaller context or a smaller model." in shown.words
    assert shown.row.last.text().endswith("exiting: model error")
    assert shown.row.start.label == "Start it again…"


def test_a_start_and_an_end_have_the_models_looked_for_again(shown: Shown) -> None:
    heard: list[str] = []
    shown.starts.answering.connect(lambda: heard.append("look"))
    for state in (replace(LLAMACPP, phase="starting"), RUNNING, RUNNING, replace(LLAMACPP, phase="ending"), LLAMACPP):
        shown.service.set(state)
    assert heard == ["look", "look"]


def test_every_button_names_its_server(shown: Shown) -> None:
    names = [button.accessibleName() for button in (shown.row.start, shown.row.stop, shown.row.log)]
    assert names == ["Start it: llama.cpp", "Stop: llama.cpp", "What it wrote: llama.cpp"]


def test_the_command_is_in_sight_however_low_the_window_is(shown: Shown) -> None:
    shown.page.resize(700, 420)
    dialog = shown.opened()
    shown.starts.choose(file=FILE.path)
    spin()
    dialog.resized()
    spin()
    start, command = dialog.buttons["start"], dialog.command
    assert start.isEnabled()
    assert command.toPlainText() == COMMAND
    assert not dialog.scroller.isAncestorOf(command)
    assert command.visibleRegion().boundingRect().height() >= command.fontMetrics().height()
