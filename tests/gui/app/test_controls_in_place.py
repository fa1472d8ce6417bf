"""Every control of every page lies inside its card and its page, in windows of every usual width and size of text."""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QWidget,
)

from desktop.app.wiring.settings_pages import SETTINGS_PAGES
from desktop.ui.settings.agents.page import AgentsPage
from desktop.ui.settings.cli_tools.page import CliPage
from desktop.ui.settings.keys.page import KeysPage
from desktop.ui.settings.mcp.page import McpPage
from desktop.ui.settings.models.page import ModelsPage
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.prompt_choice import PromptChoice
from desktop.ui.widgets.dialogs.base import Dialog
from tests.gui.app.filled_home import LONG, WORD, fill
from tests.gui.app.kit import call

CONTROLS = (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox, QPlainTextEdit, QAbstractSlider)
WIDTHS = (960, 1280, 1600, 2560)
ROOMS = ("chats", "debates", "skills", "approvals", "schedules")


def controls(page: QWidget) -> Iterator[QWidget]:
    for found in page.findChildren(QWidget):
        inner = isinstance(found.parentWidget(), QComboBox | QAbstractSpinBox | QScrollBar)
        if isinstance(found, CONTROLS) and not isinstance(found, QScrollBar) and found.isVisible() and not inner:
            yield found


def misplaced(control: QWidget, page: QWidget) -> str:
    """What is wrong with where it lies, or nothing. What is scrolled may lie below or above what is seen."""
    name = f"{type(control).__name__} {control.accessibleName() or getattr(control, 'text', str)()!r}"
    if control.width() < 8 or control.height() < 8:
        return f"{name} is {control.width()} × {control.height()}"
    parent, scrolled = control.parentWidget(), False
    while parent is not None and parent is not page.parentWidget():
        box = QRect(control.mapTo(parent, QPoint(0, 0)), control.size())
        room = parent.rect()
        area = parent.parentWidget()
        if isinstance(area, QAbstractScrollArea) and parent is area.viewport():
            scrolled = True
            if area.horizontalScrollBar().maximum() > 0:
                return ""
        if scrolled:
            box.setTop(room.top())
            box.setBottom(room.bottom())
        if not room.contains(box):
            return f"{name} at {box.getRect()} lies outside {type(parent).__name__} {room.getRect()}"
        parent = area
    return ""


def covered(control: QWidget, window: QWidget) -> str:
    """By what else it is hidden, where it is in sight."""
    middle = control.rect().center()
    if not control.visibleRegion().contains(middle):
        return ""
    top = window.childAt(control.mapTo(window, middle))
    if top is None or top is control or control.isAncestorOf(top) or top.isAncestorOf(control):
        return ""
    return f"{type(control).__name__} {control.accessibleName()!r} is covered by {type(top).__name__}"


async def settled(page: QWidget) -> list[QWidget]:
    """The controls, once their places no longer change."""
    before: list[Any] = []
    same = 0
    while same < 3:
        await asyncio.sleep(0.01)
        found = list(controls(page))
        now = [(id(one), one.mapTo(page, QPoint(0, 0)).toTuple(), one.size().toTuple()) for one in found]
        same, before = same + 1 if now == before else 0, now
    return found


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("widths", [(960, 2560), pytest.param(WIDTHS, marks=pytest.mark.soak)], ids=["ends", "sweep"])
async def test_every_control_lies_inside_its_card(
    start: Any, theme: Theme, scale: float, widths: tuple[int, ...]
) -> None:
    app = await start()
    theme.set_scale(scale)
    settings = [f"settings/{row.name}" for row in SETTINGS_PAGES]
    wrong: list[str] = []
    seen = 0
    for width in widths:
        app.window.resize(width, 800)
        for place in (*ROOMS, *settings):
            room, _, title = place.partition("/")
            app.startup._shell.go(room)
            await app.until_true(lambda room=room: app.window.page(room).isVisible(), place)
            page = app.window.page(room)
            if title:
                page.show_settings(title)
            found = await settled(page)
            seen += len(found)
            wrong += [f"{place}, {width} px: {why}" for one in found if (why := misplaced(one, page))]
    assert seen > 100 * len(widths)
    assert not wrong, "\n".join(dict.fromkeys(wrong))


# -- a home that is in use, with the forms open -----------------------------------------------------------------------

Opened = Callable[[Any], Any]
"""Opens something in the app; gives what to look through."""


def settings_page(app: Any, title: str) -> Any:
    app.startup._shell.go("settings")
    page = app.window.page("settings")
    page.show_settings(title)
    return page


def part(page: Any, kind: type[QWidget]) -> Any:
    return page.findChild(kind)


def pressed(page: Any, label: str) -> None:
    button = next(b for b in page.findChildren(Button) if b.label == label and b.isVisible())
    button.click()


def edit_connection(app: Any, name: str) -> Any:
    page = settings_page(app, "Models and keys")
    part(page, ModelsPage).cards.edits[name].click()
    return page


def add_connection(app: Any, provider: str) -> Any:
    page = settings_page(app, "Models and keys")
    part(page, ModelsPage).cards.end_edit()
    part(page, ModelsPage).form.choose(provider)
    return page


def add_server(app: Any, kind: str) -> Any:
    page = settings_page(app, "MCP servers")
    form = part(page, McpPage).form
    part(page, McpPage).add_server()
    form._show_kind(kind)
    form.command.setText(f"FOO=1 npx -y {WORD} --api-key x ${{workspaceFolder}}" if kind == "program" else "")
    return page


def mcp_view(app: Any, show: Callable[[McpPage], None]) -> Any:
    page = settings_page(app, "MCP servers")
    show(part(page, McpPage))
    return page


def agent_form(app: Any, name: str) -> Any:
    page = settings_page(app, "Agents")
    part(page, AgentsPage).editor.show_view("form")
    app.models.agents_editor.choose(next(r.path for r in app.models.agents_editor.rows if r.path.endswith(name)))
    return page


def prompt_here(app: Any) -> Any:
    page = settings_page(app, "Agents")
    for choice in page.findChildren(PromptChoice):
        if choice.isVisible():
            choice.show_here(True)
    return page


def on_skills(app: Any, act: Callable[[Any], object]) -> Any:
    app.startup._shell.go("skills")
    page = app.window.page("skills")
    act(page)
    return page


def pick(name: str, act: Callable[[Any], object] = bool) -> Callable[[Any], object]:
    """A skill, and what is done with it once it is there."""

    def picked(page: Any) -> None:
        page._skills.choose(source="", kind="", look="")
        model = page._skills.model
        key = next(r.key for p in range(model.rowCount()) if (r := model.row_at(p)).name == name)
        page.pick(key)
        if page._skills.detail is None or page._skills.detail.key != key:
            raise KeyError(name)
        page.sides.show_skill(True)
        act(page)

    return picked


def every_skill(page: Any) -> None:
    page.sides.show_skill(False)
    page._skills.choose(source="all")


def tools_text(app: Any) -> Any:
    page = settings_page(app, "CLI tools")
    part(page, CliPage).show_view("text")
    return page


def without_dialogs(app: Any) -> Any:
    for old in app.window.findChildren(Dialog):
        if old.isVisible():
            old.answer("no")
    return app


def dialog(app: Any, opened: Callable[[], object]) -> Any:
    without_dialogs(app)
    opened()
    return next((one for one in app.window.findChildren(Dialog) if one.isVisible()), app.window)


def on(app: Any, room: str, act: Callable[[Any], object]) -> Any:
    app.startup._shell.go(room)
    page = app.window.page(room)
    act(page)
    return page


OPENED: dict[str, Opened] = {
    "edit a connection with an error and a long name": lambda app: edit_connection(app, "lab"),
    "edit a connection with a key and options": lambda app: edit_connection(app, "cloud"),
    "add a server of one's own": lambda app: add_connection(app, "openai_compatible"),
    "add Azure": lambda app: add_connection(app, "azure"),
    "add Bedrock": lambda app: add_connection(app, "bedrock"),
    "the keyring": lambda app: settings_page(app, "Keyring"),
    "add a secret": lambda app: dialog(app, part(settings_page(app, "Keyring"), KeysPage).dialogs.add),
    "the servers": lambda app: mcp_view(without_dialogs(app), lambda page: page.show_view("servers")),
    "add a program": lambda app: add_server(app, "program"),
    "add an address": lambda app: add_server(app, "web"),
    "the text of mcp.yaml": lambda app: mcp_view(app, lambda page: page.show_view("text")),
    "what is new in a server": lambda app: mcp_view(app, lambda page: app.models.mcp.look_at("files")),
    "the tools": lambda app: settings_page(app, "CLI tools"),
    "the text of tools.yaml": tools_text,
    "the agents": lambda app: settings_page(app, "Agents"),
    "the form of an agent": lambda app: agent_form(app, "tide_agent.yaml"),
    "a prompt written in place": prompt_here,
    "the form of two sides": lambda app: agent_form(app, "pair_agent.yaml"),
    "one's own skills": lambda app: on_skills(app, pick("pdf")),
    "a skill with mistakes": lambda app: on_skills(app, pick("broken")),
    "a skill that is edited": lambda app: on_skills(app, pick("poem", lambda page: page.act("edit"))),
    "a skill that is tried": lambda app: on_skills(app, pick("pdf", lambda page: page.act("try"))),
    "every skill": lambda app: on_skills(app, every_skill),
    "paste a skill": lambda app: dialog(app, lambda: on_skills(app, lambda page: page.import_text())),
    "a new skill": lambda app: dialog(app, lambda: on_skills(app, lambda page: page.make())),
    "import several skills": lambda app: dialog(
        app, lambda: on_skills(app, lambda page: page.import_path(str(app.home.path / "skills")))
    ),
    "a debate": lambda app: on(without_dialogs(app), "debates", lambda page: None),
    "a new rule": lambda app: on(app, "approvals", lambda page: page.show_rules(new=True)),
    "the activity": lambda app: on(app, "approvals", lambda page: page.show_tab("activity")),
    "a new job": lambda app: on(app, "schedules", lambda page: page.new_job()),
    "a request": lambda app: on(app, "approvals", lambda page: page.show_tab("waiting")),
    "the chat": lambda app: on(app, "chats", lambda page: None),
}


async def once_there(app: Any, what: str, opened: Opened) -> Any:
    """Lists are filled while a page is shown already: what is to be opened may come a moment later."""
    found: list[Any] = []

    def there() -> bool:
        try:
            found.append(opened(app))
        except (StopIteration, KeyError):
            return False
        return True

    await app.until_true(there, what)
    return found[0]


SMALL = ((2.0, 960),)
SWEEP = tuple((scale, width) for scale in (1.0, 2.0) for width in (960, 1440, 2560))


@pytest.mark.parametrize("sizes", [SMALL, pytest.param(SWEEP, marks=pytest.mark.soak)], ids=["small", "sweep"])
async def test_every_control_lies_inside_its_card_in_a_home_that_is_in_use(
    start: Any, theme: Theme, tmp_path: Path, sizes: tuple[tuple[float, int], ...]
) -> None:
    fill(tmp_path / "home")
    theme.set_scale(sizes[0][0])
    app = await start(call("bash", command=f"cd {WORD} && git push && echo done > {WORD}.txt"), joined=True)
    app.say("go " + WORD)
    await app.asked()
    await app.until_true(lambda: "running" in {row.state for row in app.models.mcp.rows}, "a server with tools")
    app.models.setup.tested.emit("lab", False, f"{LONG} did not answer. {WORD} {WORD}")
    wrong: list[str] = []
    seen = 0
    for scale, width in sizes:
        theme.set_scale(scale)
        app.window.resize(width, 800)
        for what, opened in OPENED.items():
            page = await once_there(app, what, opened)
            found = await settled(page)
            seen += len(found)
            in_dialog = isinstance(page, Dialog)  # a pane that folds over another one covers it rightly
            why = [misplaced(one, page) or (covered(one, app.window) if in_dialog else "") for one in found]
            wrong += [f"{what}, {width} px, {scale:.0%}: {one}" for one in why if one]
            if folder := os.environ.get("ASSENT_SHOTS"):  # somebody wants to look
                app.window.grab().save(f"{folder}/{what.replace(' ', '-').replace('/', '-')}-{width}-{scale:.0f}.png")
    assert seen > 500 * len(sizes)
    assert not wrong, "\n".join(dict.fromkeys(wrong))
