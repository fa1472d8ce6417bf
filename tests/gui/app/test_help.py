"""Help in the whole app: F1 and the heads of pages open it with the page for where one is; what is found is read."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from desktop.app.wiring.settings_pages import SETTINGS_PAGES
from desktop.presenter.help.places import HELP_OF, only_shows
from desktop.presenter.shell.window import COMMANDS, PAGES
from desktop.services.help.pages import read_pages
from desktop.services.help.report import CHECKING
from desktop.ui.chat.project_dialog import ProjectDialog
from desktop.ui.help.news_strip import NewsStrip
from desktop.ui.help.report_dialog import ReportDialog
from desktop.ui.widgets.controls.help_button import HelpButton, HelpIcon
from desktop.ui.widgets.reading_order import tab_stops
from tests.gui.app.kit import HELLO
from tests.harness.help_pages import HELP
from tests.harness.windows import activated


class Helped:
    """The panel of a start, and a person who reads in it."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.ways = app.startup._pages.help

    @property
    def panel(self) -> Any:
        return self.ways.panel

    async def opened(self, page: str) -> None:
        """Until the panel shows all of what is read of a page."""
        await self.app.until(lambda: self.panel is not None and self.ways._side.is_open, "the panel")
        await self.app.until(lambda: self.app.models.help.reading.page == page, page)
        await self.app.until(lambda: not self.panel.reader._turn.isActive(), "its text")

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.app.window.focusWidget() or self.app.window, key)


@pytest.fixture
async def helped(start: Callable[..., Any]) -> Helped:
    app = await start(HELLO)
    app.window.resize(1440, 800)
    await activated(app.window)
    return Helped(app)


def test_every_page_of_the_app_and_of_settings_has_its_page_of_help() -> None:
    there = {file.stem for file in HELP.glob("*.md")}
    assert set(PAGES) <= set(HELP_OF)
    assert [row.name for row in SETTINGS_PAGES if row.help not in there] == []
    assert set(HELP_OF.values()) <= there


def test_take_me_there_only_leads_to_places_that_are_there() -> None:
    places = {command.id for command in COMMANDS} | {f"settings:{row.name}" for row in SETTINGS_PAGES}
    named = [(one.section.title, one.section.there) for one in read_pages(HELP) if one.section.there]
    assert len(named) > 20
    assert [one for one in named if one[1] not in places or not only_shows(one[1])] == []


def test_a_command_that_does_something_is_nowhere_that_help_leads_to() -> None:
    doing = {
        "stop",
        "quit",
        "new-chat",
        "new-job",
        "export:md",
        "theme:dark",
        "text:larger",
        "undo",
        "debate-act:pause",
    }
    assert doing <= {command.id for command in COMMANDS}
    assert [one for one in doing if only_shows(one)] == []


def test_the_page_of_keys_has_every_key_of_a_command() -> None:
    text = (HELP / "keys.md").read_text("utf-8")
    keys = {command.shortcut for command in COMMANDS if command.shortcut}
    assert len(keys) > 15
    assert [one for one in keys if f"`{one}`" not in text] == []


async def test_f1_opens_the_page_for_where_one_is_and_gives_the_keys_back(helped: Helped) -> None:
    app = helped.app
    composer = app.composer.text
    composer.setFocus()
    helped.press(Qt.Key.Key_F1)
    await helped.opened("chats")
    assert helped.panel.field.hasFocus()
    assert app.page.isVisible()
    app.startup._shell.run_command("settings:Keyring")
    helped.press(Qt.Key.Key_F1)
    await helped.opened("keyring")
    app.startup._shell.run_command("page:chats")
    composer.setFocus()
    helped.ways.open("")
    await helped.opened("chats")
    await app.until(helped.panel.field.hasFocus, "the keys in the search")
    helped.press(Qt.Key.Key_Escape)
    await app.until(lambda: not helped.ways._side.is_open, "the panel closed")
    await app.until(composer.hasFocus, "the keys in the composer")


async def test_a_search_shows_its_best_hit_and_leads_to_the_place(helped: Helped) -> None:
    app = helped.app
    helped.press(Qt.Key.Key_F1)
    await helped.opened("chats")
    QTest.keyClicks(helped.panel.field, "theme dark")
    await app.until(lambda: helped.panel.model.rowCount() > 0, "hits")
    await app.until(lambda: app.models.help.reading.page == "appearance", "the best hit")
    QTest.keyClick(helped.panel.field, Qt.Key.Key_Escape)
    assert helped.panel.field.text() == ""
    assert helped.ways._side.is_open
    QTest.keyClicks(helped.panel.field, "larger text")
    await app.until(lambda: app.models.help.reading.sections[0].there == "settings:Appearance", "the section")
    app.models.help.go_there(app.models.help.reading.sections[0])
    page = app.window.page("settings")
    assert app.startup._shell.page == "settings"
    assert page._header.title.text() == "Appearance"
    QTest.keyClicks(helped.panel.field, " qqzx")
    await app.until(lambda: helped.panel.model.rowCount() == 0 or app.models.help.result.hits, "no hit at all")
    helped.panel.field.setText("qqzx")
    assert not helped.panel.nothing.isHidden()
    assert helped.panel.field.accessibleDescription() == "0 pages"


async def test_links_of_a_page_lead_to_other_pages_and_back(helped: Helped) -> None:
    app = helped.app
    helped.ways.open("first-steps")
    await helped.opened("first-steps")
    helped.panel.reader._link("approvals.md")
    await helped.opened("approvals")
    helped.panel.reader._link("file:///etc/passwd")
    helped.panel.reader._link("../../secret.md")
    assert app.models.help.reading.page == "approvals"
    helped.panel.back.click()
    await helped.opened("first-steps")
    helped.ways.open("no-such-page")
    await helped.opened("first-steps")


async def test_it_lies_beside_the_pages_or_over_them(helped: Helped) -> None:
    app = helped.app
    helped.ways.open("keys")
    await helped.opened("keys")
    side, window = helped.ways._side, app.window
    await app.until(lambda: window.stack.width() <= window.width() - helped.panel.width(), "room beside")
    assert helped.panel.geometry().right() == window.centralWidget().width() - 1
    window.resize(960, 700)
    await app.until(lambda: side.is_over and window.stack.width() > window.width() - helped.panel.width(), "over")
    assert helped.panel.geometry().right() == window.centralWidget().width() - 1
    helped.panel.field.setFocus()
    for key in (Qt.Key.Key_Backtab, Qt.Key.Key_Tab):
        for _ in range(len(list(tab_stops(helped.panel))) + 1):
            QTest.keyClick(window.focusWidget(), key)
            assert side.has_keys, f"what it hides has the keys: {window.focusWidget()}"
    app.models.help.there_wanted.emit("settings:Keyring")
    assert not side.is_open
    assert app.startup._shell.page == "settings"


async def test_the_head_of_every_page_has_a_way_to_it(helped: Helped) -> None:
    app = helped.app
    for name in PAGES:
        app.startup._shell.go(name)
        page = app.window.page(name)
        ways = [one for one in (*page.findChildren(HelpIcon), *page.findChildren(HelpButton)) if one.isVisible()]
        assert len(ways) == 1, name
        assert ways[0].accessibleName() == "Help"
        ways[0].click()
        topic = page.help_topic() if hasattr(page, "help_topic") else HELP_OF[name]
        await helped.opened(topic)
        helped.ways._side.close()


async def test_a_report_shows_what_was_checked_and_nothing_is_sent(helped: Helped) -> None:
    app = helped.app
    secret = "sk-live-0123456789abcdefABCDEF"
    app.startup._services.redactor.remember("correct horse battery")
    app.startup._shell.run_command("report")
    (dialog,) = app.window.findChildren(ReportDialog)
    await app.until(lambda: CHECKING in dialog.text.toPlainText(), "what is known at once")
    dialog.text.insertPlainText(f"I typed {secret} and correct horse battery.")
    await app.until(lambda: CHECKING not in dialog.text.toPlainText(), "the checks")
    shown = dialog.text.toPlainText()
    assert "Model host: ok" in shown
    assert str(app.home.path) not in shown
    assert shown.startswith("What happened\n")
    assert "I typed" in shown
    dialog.buttons["copy"].click()
    copied = QGuiApplication.clipboard().text()
    assert "I typed [REDACTED] and [REDACTED]." in copied
    assert dialog.isVisible()
    dialog.answer("close")


async def test_what_is_new_is_told_once_after_an_update(start: Callable[..., Any]) -> None:
    app = await start(HELLO)
    assert app.window.findChildren(NewsStrip) == []
    state = app.startup._window_state
    state.put("help.version", "0.0.9")
    app.startup._pages.help.tell_news()
    (strip,) = app.window.findChildren(NewsStrip)
    strip.read.click()
    await Helped(app).opened("news")
    await app.until(lambda: not app.window.findChildren(NewsStrip), "the strip gone")
    app.startup._pages.help.tell_news()
    assert app.window.findChildren(NewsStrip) == []
    state.put("help.version", "99.0")
    app.startup._pages.help.tell_news()
    assert app.window.findChildren(NewsStrip) == []


async def test_it_goes_along_to_another_page_and_offers_it_where_one_reads_by_choice(helped: Helped) -> None:
    app, help = helped.app, helped.app.models.help
    helped.press(Qt.Key.Key_F1)
    await helped.opened("chats")
    app.startup._shell.run_command("settings:Keyring")
    await helped.opened("keyring")
    app.window.page("settings").show_settings("MCP servers")
    await helped.opened("mcp")
    app.startup._shell.go("approvals")
    await helped.opened("approvals")
    app.window.page("approvals").show_tab("rules")
    await helped.opened("rules")
    assert not help.can_go_back
    helped.panel.reader._link("skills.md")
    await helped.opened("skills")
    app.startup._shell.run_command("settings:Keyring")
    await app.until(helped.panel.offer.isVisible, "the offer")
    assert (helped.panel.offer.label, helped.panel.offer.accessibleName()) == ("Help for Keyring →", "Help for Keyring")
    assert help.reading.page == "skills"
    helped.panel.offer.click()
    await helped.opened("keyring")
    assert not helped.panel.offer.isVisible()
    assert helped.panel.field.hasFocus()
    app.startup._shell.go("skills")
    await helped.opened("skills")


async def test_what_was_sought_stays_as_one_goes_elsewhere(helped: Helped) -> None:
    app = helped.app
    helped.press(Qt.Key.Key_F1)
    await helped.opened("chats")
    QTest.keyClicks(helped.panel.field, "theme dark")
    await app.until(lambda: app.models.help.reading.page == "appearance", "the best hit")
    app.startup._shell.run_command("settings:Keyring")
    await app.until(helped.panel.offer.isVisible, "the offer")
    assert helped.panel.field.text() == "theme dark"
    app.startup._shell.run_command("settings:Appearance")
    await app.until(lambda: not helped.panel.offer.isVisible(), "no offer of what is read")
    app.startup._shell.run_command("settings:Keyring")
    await app.until(helped.panel.offer.isVisible, "the offer again")
    app.window.page("settings").nav.setFocus()
    helped.ways.open("")  # asked for anew: what was sought is done with
    await helped.opened("keyring")
    assert helped.panel.field.text() == ""


async def test_f1_in_a_dialog_opens_its_page_over_it_and_escape_goes_back_into_it(helped: Helped) -> None:
    app = helped.app
    app.startup._shell.run_command("choose-project")
    await app.until(lambda: app.window.findChildren(ProjectDialog), "the dialog")
    (dialog,) = app.window.findChildren(ProjectDialog)
    await app.until(lambda: dialog.isVisible() and dialog.isAncestorOf(app.window.focusWidget()), "its keys")
    kept = app.window.focusWidget()
    helped.press(Qt.Key.Key_F1)
    await helped.opened("projects")
    assert helped.panel.field.hasFocus()
    for _ in range(12):
        helped.press(Qt.Key.Key_Tab)
        assert helped.panel.isAncestorOf(app.window.focusWidget())
    helped.panel.field.setFocus()
    helped.press(Qt.Key.Key_Escape)
    await app.until(lambda: not helped.ways._side.is_open, "the panel closed")
    assert dialog.isVisible()
    await app.until(kept.hasFocus, "the keys where they were")
    dialog.answer("cancel")


async def test_where_nothing_is_found_a_button_leads_to_all_pages(helped: Helped) -> None:
    app = helped.app
    helped.press(Qt.Key.Key_F1)
    await helped.opened("chats")
    QTest.keyClicks(helped.panel.field, "qqzx")
    await app.until(helped.panel.all_pages.isVisible, "the button")
    helped.panel.all_pages.click()
    await app.until(lambda: app.startup._shell.page == "settings", "Settings")
    assert app.window.page("settings")._header.title.text() == "Help"


async def test_every_page_has_a_way_to_help_in_a_narrow_window_too(helped: Helped) -> None:
    app = helped.app
    app.window.resize(960, 700)
    without = []
    for name in PAGES:
        app.startup._shell.go(name)
        page = app.window.page(name)
        await app.until(page.isVisible, name)
        ways = [one for one in (*page.findChildren(HelpIcon), *page.findChildren(HelpButton)) if one.isVisible()]
        without += [] if ways else [name]
    assert without == []
