"""The protocol's own example server, in the whole app: what it offers, what its tools give, as a person meets it.

It comes from npm, so it runs only with ``-m soak``.
"""

import asyncio
import json
import os
import shutil
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.presenter.mcp.rows import McpRow
from desktop.presenter.transcript.items import GivenPart, ToolPart
from desktop.ui.settings.mcp.card import ServerCard
from desktop.ui.settings.mcp.page import McpPage
from desktop.ui.settings.mcp.server_page import TABS
from desktop.ui.widgets.controls.buttons import Button
from tests.gui.app.kit import Heartbeat, call

pytestmark = pytest.mark.soak
PACKAGE = "@modelcontextprotocol/server-everything"


def cards(app: Any) -> list[ToolPart]:
    return [part for m in app.page.pane.transcript.page.messages for part in m.item.parts if isinstance(part, ToolPart)]


def shoot(app: Any, name: str) -> None:
    """A picture where somebody wants to look: ``ASSENT_SHOTS`` names a folder."""
    if folder := os.environ.get("ASSENT_SHOTS"):
        app.window.grab().save(f"{folder}/everything-{name}.png")


@pytest.mark.spec("R-MCP-1", "R-MCP-3", "R-MCP-5")
async def test_all_that_the_example_server_has_is_met_in_the_window(start, tmp_path):
    if shutil.which("npx") is None:
        pytest.skip("there is no npx here")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    entry = {"name": "every", "command": "npx", "args": ["-y", PACKAGE], "enabled": True, "network": True}
    (home / "mcp.yaml").write_text(json.dumps({"servers": [{**entry, "category": "read"}]}))
    app = await start(
        call("every_get_structured_content", location="New York"),
        call("every_get_resource_links", count=3),
        call("every_get_resource_reference", resourceType="Text", resourceId=1),
        call("every_get_tiny_image"),
        call("every_trigger_long_running_operation", duration=3, steps=6),
        [{"text": "Done."}],
        [{"text": "Read."}],
        joined=True,
    )
    mcp = app.models.mcp
    await app.until(lambda: mcp.rows and mcp.rows[0].state == "running" and mcp.rows[0].offers.prompts, "it")
    row = mcp.rows[0]
    assert {"Echo Tool", "Get Tiny Image Tool"} <= {tool.title for tool in row.tools}
    assert len(row.offers.resources) > 5
    assert len(row.offers.templates) == 2
    assert {"args-prompt", "completable-prompt"} <= {prompt.name for prompt in row.offers.prompts}
    await the_page(app, row)
    mcp.look_at("every")
    mcp.accept()
    await app.until(lambda: app.startup._services.skills.table.find("every-echo"), "its tools on")
    app.startup._shell.go("chats")
    app.say("go")
    await app.until(lambda: any(card.progress is not None for card in cards(app)), "how far it is")
    (long,) = [card for card in cards(app) if card.progress is not None]
    assert (long.state, long.progress.total) == ("running", 6)
    shoot(app, "progress")
    await app.answered("Done.")
    data, links, embedded, image, ended = cards(app)
    assert [card.state for card in (data, links, embedded, image, ended)] == ["done"] * 5, [
        c.result for c in cards(app)
    ]
    assert "temperature" in data.result
    assert len(links.links) == 3
    assert embedded.embedded[0][0].startswith("demo://resource/dynamic/text/1")
    assert image.media[0].is_image
    assert ended.progress is None
    shoot(app, "cards")
    await a_prompt(app)


async def the_page(app: Any, row: McpRow) -> None:
    """Each tab of the server's page."""
    app.startup._shell.go("settings")
    settings = app.window.page("settings")
    settings.show_settings("MCP servers")
    page = settings.findChild(McpPage)
    (card,) = page.findChildren(ServerCard)
    await app.until(lambda: [one for one in card.findChildren(Button) if one.label == "Open"], "its card")
    await app.until(lambda: page.server.stack.count() == len(TABS), "what is behind the tabs")
    (way,) = [one for one in card.findChildren(Button) if one.label == "Open"]
    with Heartbeat() as beat:
        way.click()
        await app.until(lambda: len(page.server.tools._rows) == len(row.tools), "its tools")
    beat.says("the page of the example server")
    for tab in ("resources", "prompts", "log", "started", "tools"):
        with Heartbeat() as beat:
            page.server.show_tab(tab)
            await asyncio.sleep(0.2)
        beat.says(f"its tab {tab}")
    shoot(app, "page")


async def a_prompt(app: Any) -> None:
    """A prompt whose second value depends on the first."""
    composer = app.page.pane.foot.composer
    composer.text.setFocus()
    QTest.keyClicks(composer.text, "/completable")
    offers = app.page.pane.foot.offers
    await app.until(lambda: offers.isVisible() and offers.count, "its prompts")
    QTest.keyClick(composer.text, Qt.Key.Key_Return)
    await app.until(lambda: offers.is_filling, "its form")
    department, name = offers.form.fields
    QTest.keyClicks(department.field, "Eng")
    await app.until(lambda: [b.label for b in department._buttons] == ["Engineering"], "what it proposes")
    department.take("Engineering")
    QTest.keyClicks(name.field, "A")
    await app.until(lambda: name._buttons, "names of that department")
    shoot(app, "prompt")
    name.take(name._buttons[0].label)
    await app.until(offers.form.preview.toPlainText, "what it says")
    QTest.keyClick(name.field, Qt.Key.Key_Return)
    await app.until(lambda: composer.attachments, "its chip")
    composer.submit()
    await app.answered("Read.")
    given = [p for m in app.page.pane.transcript.page.messages for p in m.item.parts if isinstance(p, GivenPart)]
    assert "Engineering" in given[0].text
