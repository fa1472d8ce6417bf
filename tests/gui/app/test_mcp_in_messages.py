"""What MCP servers give to a message, as a person puts it in: resources after @, prompts after /."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.domain.errors import KnownError
from desktop.domain.messages import GivenBlock, ImageBlock
from desktop.domain.servers.mcp import McpResource
from desktop.presenter.transcript.items import AttachmentPart, GivenPart
from desktop.ui.chat.composer.chips import AttachmentChip
from desktop.ui.chat.composer.thumbnail import Thumbnail
from tests.gui.app.kit import Heartbeat
from tests.servers.mcp import hostile, library


def entry(name: str, command: list[str]) -> dict[str, Any]:
    return {"name": name, "command": command[0], "args": command[1:], "enabled": True}


async def begun(start: Any, home: Path, *answers: Any, name: str = "books", command: Any = None) -> Any:
    """With a server whose offers a person has looked at."""
    home.mkdir(mode=0o700)
    (home / "mcp.yaml").write_text(json.dumps({"servers": [entry(name, command or library())]}))
    app = await start(*answers, joined=True)
    mcp = app.models.mcp
    await app.until(lambda: mcp.rows and mcp.rows[0].state == "running", "the server")
    offered = lambda: mcp.rows[0].offers  # noqa: E731
    await app.until(lambda: offered().resources, "what it offers")
    if command is None:  # the library has all three, which come one after the other
        await app.until(lambda: offered().templates and offered().prompts, "all that it offers")
    assert app.models.servers.resources() == [], "nothing of it is offered before it was looked at"
    mcp.switch(name, mcp.rows[0].offering, True)
    await app.until(app.models.servers.resources, "what can be put in")
    return app


def foot(app: Any) -> Any:
    return app.page.pane.foot


def type_in(app: Any, text: str) -> None:
    foot(app).composer.text.setFocus()
    QTest.keyClicks(foot(app).composer.text, text)


async def offered(app: Any, label: str) -> None:
    """Until it is marked in the list."""

    def marked() -> bool:
        offers = foot(app).offers
        row = offers.rows.currentIndex().row()
        found = offers.model.rows[row].offer if offers.isVisible() and 0 <= row < len(offers.model.rows) else None
        if found is not None and found.label != label:
            QTest.keyClick(foot(app).composer.text, Qt.Key.Key_Down)
        return found is not None and found.label == label

    await app.until(marked, f"{label} marked")


def chips(app: Any) -> list[str]:
    shown = foot(app).composer.chips.findChildren(AttachmentChip)
    return [chip.accessibleName() for chip in shown if chip.isVisible()]


def sent(app: Any) -> str:
    request = app.startup._services.models.client._special["scripted"].requests[-1]
    return "\n".join(
        block.as_read if isinstance(block, GivenBlock) else getattr(block, "text", block.kind)
        for message in request.messages
        for block in message.blocks
    )


def given(app: Any) -> list[Any]:
    return [
        part
        for message in app.page.pane.transcript.page.messages
        for part in message.item.parts
        if isinstance(part, GivenPart | AttachmentPart)
    ]


@pytest.mark.spec("R-MCP-3", "R-MOD-6")
async def test_a_resource_is_put_in_after_at_read_when_it_is_sent_and_kept_as_it_was(start, tmp_path):
    app = await begun(start, tmp_path / "home", [{"text": "It is about a whale."}], [{"text": "Again."}])
    type_in(app, "Read @wha")
    await offered(app, "A whale")
    groups = [row.heading for row in foot(app).offers.model.rows if row.offer is None]
    assert groups == ["books, a server on this computer"]
    QTest.keyClick(foot(app).composer.text, Qt.Key.Key_Return)
    await app.until(lambda: chips(app) == ["books: A whale, text"], "its chip")
    assert foot(app).composer.text.toPlainText() == "Read "
    (waiting,) = foot(app).composer.attachments
    assert (waiting.waits, waiting.text) == (True, ""), "it is not read before it is sent"
    type_in(app, "@cover")
    await offered(app, "cover")
    QTest.keyClick(foot(app).composer.text, Qt.Key.Key_Return)
    foot(app).composer.submit()
    await app.answered("It is about a whale.")
    told = sent(app)
    assert "from the resource books://1 of the MCP server books: not written by the person, who put it in" in told
    assert "Call me Ishmael." in told
    text, cover, picture = given(app)
    assert (text.title, text.text) == ("books: A whale", "Call me Ishmael.")
    assert cover.title == "books: cover"
    assert isinstance(picture, AttachmentPart)
    assert picture.image is not None
    assert picture.image.whole.startswith(b"\x89PNG")
    message = await app.startup._services.chats.message(app.page.pane.transcript.page.messages[0].item.message_id)
    assert [type(block) for block in message.blocks[1:]] == [GivenBlock, GivenBlock, ImageBlock]
    exported = await app.startup._services.chats.export(app.models.chat._thread_id, "md")
    assert b"**From `books`: `A whale`** (`books://1`)" in exported
    await rule_denies_the_server(app)


@pytest.mark.spec("R-MCP-3")
async def test_space_looks_inside_a_marked_resource_and_the_open_list_follows_the_server(start, tmp_path):
    app = await begun(start, tmp_path / "home", [{"text": "Hello."}])
    text, offers = foot(app).composer.text, foot(app).offers
    type_in(app, "@wha")
    await offered(app, "A whale")
    QTest.keyClick(text, Qt.Key.Key_Space)
    assert text.toPlainText() == "@wha ", "while a word is typed Space ends it"
    QTest.keyClick(text, Qt.Key.Key_Backspace)
    await offered(app, "A whale")
    offers.step(0)
    QTest.keyClick(text, Qt.Key.Key_Space)
    await app.until(lambda: offers.is_looking and "Call me Ishmael." in offers._inside.text.toPlainText(), "its text")
    assert offers._inside.accessibleName() == "Inside A whale"
    assert offers._inside._says.text() == "text, 16 bytes"
    QTest.keyClick(text, Qt.Key.Key_Escape)
    await app.until(lambda: not offers.is_looking and offers.isVisible() and offers.marked, "the list again")
    assert offers.marked.label == "A whale"
    assert foot(app).composer.attachments == (), "nothing was put in"
    text.selectAll()
    type_in(app, "@cov")
    await offered(app, "cover")
    offers.step(0)
    QTest.keyClick(text, Qt.Key.Key_Space)
    await app.until(lambda: offers._inside.findChildren(Thumbnail), "its picture")
    (picture,) = offers._inside.findChildren(Thumbnail)
    await app.until(lambda: not picture.image.isNull(), "drawn")
    assert offers._inside._says.text().startswith("picture, ")
    QTest.keyClick(text, Qt.Key.Key_Space)
    await app.until(lambda: not offers.is_looking and offers.isVisible(), "the list again")
    app.models.mcp.stop("books")
    await app.until(lambda: not offers.isVisible(), "the open list without what the server offered")
    app.models.mcp.restart("books")
    await offered(app, "cover")
    offers.step(0)
    await app.startup._services.rules.book.add({"pattern": "books-*", "policy": "deny"})
    offers.look()
    await app.until(lambda: "Your rule books-*" in offers._inside.text.toPlainText(), "why it is not read")


async def rule_denies_the_server(app: Any) -> None:
    """What was put in before a rule denied all of the server is not read either."""
    type_in(app, "@wha")
    await offered(app, "A whale")
    QTest.keyClick(foot(app).composer.text, Qt.Key.Key_Return)
    await app.until(lambda: chips(app) == ["books: A whale, text"], "its chip")
    given_by = app.models.servers
    await app.startup._services.rules.book.add({"pattern": "books-*", "policy": "deny"})
    assert {(one.barred, one.hint) for one in given_by.resources()} == {(True, "refused: your rule books-* denies it")}
    assert all(one.barred and "books-*" in one.hint for one in given_by.prompts())
    with pytest.raises(KnownError, match=r"Your rule books-\* denies everything of the MCP server books"):
        await given_by.read(foot(app).composer.attachments)
    told: list[Any] = []
    given_by.previewed.connect(lambda _values, said: told.append(said))
    given_by.preview(given_by.prompts()[0].item, {"title": "Moby"})
    await app.until(lambda: told, "why not")
    assert "denies everything" in str(told[0])


@pytest.mark.spec("R-MCP-3")
async def test_a_prompt_is_filled_in_with_what_the_server_proposes_and_seen_before_it_goes_out(start, tmp_path):
    app = await begun(start, tmp_path / "home", [{"text": "A fine book."}])
    type_in(app, "/review")
    await offered(app, "books:review")
    QTest.keyClick(foot(app).composer.text, Qt.Key.Key_Return)
    offers = foot(app).offers
    await app.until(lambda: offers.is_filling and offers.form.fields[0].field.hasFocus(), "its form")
    assert [(field.name, field.required) for field in offers.form.fields] == [("title", True), ("tone", False)]
    title = offers.form.fields[0]
    QTest.keyClick(title.field, Qt.Key.Key_Return)
    assert title.field.wrong, "what is needed is asked for"
    QTest.keyClicks(title.field, "Mob")
    await app.until(lambda: [b.label for b in title._buttons] == ["Moby Dick"], "what the server proposes")
    QTest.keyClick(title.field, Qt.Key.Key_Down)
    QTest.keyClick(title._buttons[0], Qt.Key.Key_Return)
    await app.until(lambda: "Review Moby Dick, and be fair." in offers.form.preview.toPlainText(), "what it will say")
    QTest.keyClick(title.field, Qt.Key.Key_Return)
    await app.until(lambda: chips(app) and not offers.isVisible(), "its chip")
    assert chips(app)[0].startswith("books: Review, ")
    assert foot(app).composer.text.toPlainText() == ""
    foot(app).composer.submit()
    await app.answered("A fine book.")
    assert "from the prompt review of the MCP server books: a prompt that the person chose and put in" in sent(app)
    assert "Review Moby Dick, and be fair." in sent(app)
    (part,) = given(app)
    assert part.facts.startswith("prompt, in its words")


@pytest.mark.spec("R-MCP-3")
async def test_a_family_of_resources_asks_for_its_values_and_escape_leads_back_to_the_list(start, tmp_path):
    app = await begun(start, tmp_path / "home", [{"text": "Read."}])
    type_in(app, "@book")
    await offered(app, "book")
    QTest.keyClick(foot(app).composer.text, Qt.Key.Key_Return)
    offers = foot(app).offers
    await app.until(lambda: offers.is_filling, "its form")
    QTest.keyClick(offers.form.fields[0].field, Qt.Key.Key_Escape)
    await app.until(lambda: not offers.is_filling and foot(app).composer.text.hasFocus(), "the list")
    await offered(app, "book")
    QTest.keyClick(foot(app).composer.text, Qt.Key.Key_Return)
    await app.until(lambda: offers.is_filling, "its form again")
    for field, value in zip(offers.form.fields, ("Jane Austen", "Emma"), strict=True):
        QTest.keyClicks(field.field, value)
    QTest.keyClick(offers.form.fields[1].field, Qt.Key.Key_Return)
    await app.until(lambda: chips(app) == ["books: book: Jane Austen, Emma"], "its chip")
    foot(app).composer.submit()
    await app.answered("Read.")
    assert "Emma by Jane Austen" in sent(app) or "Emma by Jane%20Austen" in sent(app)


@pytest.mark.spec("R-MCP-3")
async def test_what_cannot_be_read_any_more_sends_nothing_and_gives_the_message_back(start, tmp_path):
    app = await begun(start, tmp_path / "home", [{"text": "Never."}])
    app.models.servers.take(McpResource("books", "books://none", "none"))
    type_in(app, "Look")
    foot(app).composer.submit()
    await app.until(lambda: foot(app).composer.text.toPlainText() == "Look" and chips(app), "it is back")
    assert given(app) == []
    await app.until(lambda: app.banner, "why")
    assert not foot(app).composer.reading.isVisible()


@pytest.mark.spec("R-MCP-3")
async def test_what_changes_while_it_waits_in_the_composer_is_marked_as_newer(start, tmp_path):
    app = await begun(start, tmp_path / "home", [{"text": "Read."}])
    type_in(app, "@wha")
    await offered(app, "A whale")
    QTest.keyClick(foot(app).composer.text, Qt.Key.Key_Return)
    await app.until(lambda: chips(app) == ["books: A whale, text"], "its chip")
    servers = app.startup._services.mcp
    await app.until(lambda: app.models.servers._watched == {("books", "books://1")}, "it is watched")
    servers.reading.updated("books", "books://1")
    await app.until(lambda: chips(app)[0].startswith("books: A whale, newer at "), "it is newer")
    servers.reading.updated("books", "books://2")
    foot(app).composer._remove(0)
    await app.until(lambda: not app.models.servers._watched, "nobody watches it any more")


@pytest.mark.spec("R-MCP-3", "R-PRM-15", "R-PRM-7")
async def test_hostile_offers_are_shown_with_the_reason_and_hold_nothing_up(start, tmp_path):
    app = await begun(start, tmp_path / "home", [{"text": "Hello."}], command=hostile("offers"), name="evil")
    with Heartbeat() as beat:
        type_in(app, "@")
        await app.until(foot(app).offers.isVisible, "the list")
        for letter in ("x", ":", "/", "/", "1", "9"):
            QTest.keyClicks(foot(app).composer.text, letter)
            await asyncio.sleep(0)
        await app.until(
            lambda: any("19" in (row.offer.detail if row.offer else "") for row in foot(app).offers.model.rows), "some"
        )
    beat.says("a word typed over a server with hundreds of resources")
    foot(app).composer.text.clear()
    type_in(app, "@scheme")
    await app.until(lambda: [r.offer.detail for r in foot(app).offers.model.rows if r.offer] == ["no scheme"], "it")
    (refused,) = [row.offer for row in foot(app).offers.model.rows if row.offer]
    assert refused.barred
    assert refused.hint.startswith("refused: ")
    assert not foot(app).composer.text.offers_open, "Return sends the message, and chooses nothing"
    foot(app).offers.choose()
    assert chips(app) == []
    said = "".join(f"{offer.label}{offer.detail}{offer.hint}" for offer in app.models.servers.resources())
    assert "\u202e" not in said
    assert "\x1b" not in said
