"""The pages of Settings are found by the command palette and opened with the keys in them."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.app.wiring.settings_pages import SETTINGS_PAGES
from desktop.ui.shell.palette import Palette
from tests.gui.app.kit import HELLO
from tests.harness.windows import activated

CONTROL = Qt.KeyboardModifier.ControlModifier
TYPED = {
    "api key": "Models and keys",
    "ollama": "Models and keys",
    "keyring": "Keyring",
    "theme": "Appearance",
    "font": "Appearance",
    "text size": "Appearance",
    "dark mode": "Appearance",
    "rounds": "Chats",
    "prompt": "Agents",
    "permission": "Approvals",
    "timeout": "Tools",
    "environment var": "Tools",
    "tools.yaml": "CLI tools",
    "mcp": "MCP servers",
    "server": "MCP servers",
    "skill.md": "Skills",
    "middleware": "Middleware",
    "retry": "Middleware",
    "boundar": "Filesystem",
    "folder": "Filesystem",
    "workspace": "Filesystem",
}


@pytest.mark.spec("R-UI-5")
@pytest.mark.parametrize(("width", "scale"), [(1280, 1.0), (960, 2.0)])
async def test_every_page_of_settings_is_reached_by_typing_its_name(
    start: Callable[..., Any], width: int, scale: float
) -> None:
    app = await start(HELLO)
    await app.startup._services.settings.update("appearance.text_scale", scale)
    app.window.resize(width, 800)
    await activated(app.window)
    for row in SETTINGS_PAGES:
        name, title = row.name, row.title
        app.startup._shell.go("chats")
        QTest.keyClick(app.window, Qt.Key.Key_K, CONTROL)
        palette = app.window.findChild(Palette)
        QTest.keyClicks(palette._field, f"settings {title}")
        QTest.keyClick(palette._field, Qt.Key.Key_Return)
        page = app.window.page("settings")
        assert app.startup._shell.page == "settings"
        assert page._header.title.text() == title
        focus = app.window.focusWidget()
        assert page._stack.currentWidget().isAncestorOf(focus), f"{name}: {focus}"
        shown = focus.visibleRegion().boundingRect()
        assert shown.height() == focus.height() or focus.height() > 400, f"{name}: {focus.accessibleName()}"
        print(name, "->", type(focus).__name__, focus.accessibleName())


async def test_words_that_people_type_find_the_page(start: Callable[..., Any]) -> None:
    app = await start(HELLO)
    found: dict[str, list[str]] = {}
    app.startup._shell.palette_results.connect(lambda text, rows: found.update({text: [row.id for row in rows]}))
    for typed in TYPED:
        app.startup._shell.palette_query(typed)
    missing = {typed: found[typed][:5] for typed, name in TYPED.items() if f"settings:{name}" not in found[typed][:8]}
    assert missing == {}
    app.startup._shell.palette_query("models and keys")
    assert [one for one in found["models and keys"] if "odels" in one][:1] == ["settings:Models and keys"]
