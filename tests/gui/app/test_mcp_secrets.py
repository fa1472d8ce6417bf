"""A key in what is pasted or typed for a server goes into the keyring, and never into mcp.yaml."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel

from desktop.domain.keyring import KeyringEntry
from desktop.ui.settings.mcp.page import McpPage

TOKEN = "ghp_Zk39fKq02LmXv71TqPw8"
BLOCK = json.dumps({"mcpServers": {"GitHub": {"command": "npx", "args": ["-y", "gh"], "env": {"GITHUB_TOKEN": TOKEN}}}})


async def form_of(app: Any) -> McpPage:
    app.startup._shell.go("settings")
    page = app.window.page("settings")
    page.show_settings("MCP servers")
    shown: McpPage = page.findChild(McpPage)
    await app.until(lambda: app.models.mcp._file is not None, "the text")
    shown.add_server()
    return shown


def words(page: McpPage) -> str:
    return "\n".join(label.text() for label in page.window().findChildren(QLabel) if label.isVisible())


def shoot(page: McpPage, name: str) -> None:
    """A picture where somebody wants to look: ``ASSENT_SHOTS`` names a folder."""
    if folder := os.environ.get("ASSENT_SHOTS"):
        page.window().grab().save(f"{folder}/mcp-secret-{name}.png")


@pytest.mark.spec("R-ENV-5", "R-SEC-1")
async def test_a_token_that_was_pasted_goes_into_the_keyring_and_its_name_into_the_form(
    start: Any, tmp_path: Path, keyring_session: Any
) -> None:
    app = await start([{"text": "Hello."}], joined=True)
    page = await form_of(app)
    form, keyring = page.form, app.startup._services.tool_secrets
    for name, reference in (("github-token", "github-token"), ("github-token", "github-token-2")):
        form.begin()
        form.command.setText(BLOCK)
        form.pasted.button.click()
        assert form.pasted.keep.isVisible()
        assert f"assent/{name}" in form.pasted.words
        assert TOKEN not in words(page)
        shoot(page, "asked")
        form.pasted.keep.click()
        await app.until(lambda: "is in the keyring" in form.pasted.words, "kept")
        assert form.env.toPlainText() == f"GITHUB_TOKEN=${{keyring:assent/{reference}}}"
        assert not form.pasted.keep.isVisible()
        assert "network" in form.pasted.words, "what else there is to say still stands"
        shoot(page, "kept")
        assert await keyring.length(KeyringEntry("assent", reference)) == len(TOKEN)
    form.put.click()
    await app.until(page.editor.save.isEnabled, "something to save")
    page.editor.save.click()
    file = app.home.path / "mcp.yaml"
    await app.until(file.exists, "saved")
    assert "${keyring:assent/github-token-2}" in file.read_text()
    assert TOKEN not in file.read_text()
    for entry in keyring.own:
        await keyring.delete(entry)


@pytest.mark.spec("R-ENV-5", "R-SEC-1")
async def test_a_key_that_was_typed_is_refused_with_the_way_on(
    start: Any, tmp_path: Path, keyring_session: Any
) -> None:
    app = await start([{"text": "Hello."}], joined=True)
    page = await form_of(app)
    form, keyring = page.form, app.startup._services.tool_secrets
    form._show_kind("web")
    form.name.setText("search")
    form.url.setText("https://search.example.org/mcp")
    form.bearer.setText(TOKEN)
    form.headers.setPlainText(f"X-Team: blue\nX-Api-Key: {TOKEN}")
    form.put.click()
    assert page.stack.currentWidget() is form
    assert "Nothing was added" in form.pasted.words
    assert form.pasted.keep.label == "Keep them in the keyring"
    form.pasted.keep.click()
    await app.until(lambda: "is in the keyring" in form.pasted.words, "kept")
    assert form.bearer.text() == "${keyring:assent/search-token}"
    assert form.headers.toPlainText() == "X-Team: blue\nX-Api-Key: ${keyring:assent/search-x-api-key}"
    form.put.click()
    await app.until(page.editor.save.isEnabled, "it is in the text")
    assert TOKEN not in page.editor.source.text()
    for entry in keyring.own:
        await keyring.delete(entry)


@pytest.mark.spec("R-SEC-2")
async def test_without_a_keyring_it_says_so_and_the_form_stays_as_it_is(start: Any, tmp_path: Path) -> None:
    app = await start([{"text": "Hello."}], joined=True)
    page = await form_of(app)
    form = page.form
    form.name.setText("tickets")
    form.command.setText("tickets-mcp")
    form.env.setPlainText(f"TICKETS_TOKEN={TOKEN}")
    form.put.click()
    form.pasted.keep.click()
    await app.until(lambda: "cannot save it now" in form.pasted.words, "said")
    shoot(page, "away")
    assert form.env.toPlainText() == f"TICKETS_TOKEN={TOKEN}"
    assert form.pasted.keep.isEnabled()
    assert app.startup._services.tool_secrets.own == frozenset()
    form.put.click()
    assert page.stack.currentWidget() is form, "still refused"


async def test_what_was_filled_in_and_not_added_is_still_there(start: Any, tmp_path: Path) -> None:
    app = await start([{"text": "Hello."}], joined=True)
    page = await form_of(app)
    form = page.form
    assert not form.anew.isVisible()
    form.name.setText("tickets")
    form.args.setPlainText("--stdio")
    page.show_view("servers")
    page.add_server()
    assert (form.name.text(), form.args.toPlainText()) == ("tickets", "--stdio")
    shoot(page, "again")
    form.anew.click()
    assert (form.name.text(), form.args.toPlainText()) == ("", "")
    assert not form.anew.isVisible()
    form.name.setText("tickets")
    form.command.setText("tickets-mcp")
    form.put.click()
    page.add_server()
    assert not form.filled, "what is in the text is not offered again"
