"""A result from the call that wrote it to the panel beside the chat, in its versions, and to a file of the person's."""

import os
import stat

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from desktop.presenter.transcript.items import ResultPart
from desktop.ui.chat.side import RESULT
from desktop.ui.results.left_out import LeftOutDialog
from desktop.ui.transcript.pieces.code import CodePiece
from tests.gui.app.kit import call

PAGE = "<title>Surge</title><script>x()</script><h1>Quay 3 rose {} cm</h1><img src='https://example.org/a.png'>"
TABLE = "gauge,level\nQuay,9\nHarbour,10\nBridge,=1+1\n"
SVG = f'<svg viewBox="0 0 90 90"><text x="9" y="20">Quay</text></svg>\n<!-- {"x" * 600} -->'


def cards(app) -> list[ResultPart]:
    return [part for item in app.items.values() for part in item.parts if isinstance(part, ResultPart)]


def rows_of(panel, kind: str) -> str:
    """What stands in rows of a kind; long lines go on in the next."""
    return "".join(row.text for row in panel.lines.rows if row.kind == kind)


async def written(start, *calls, answer="Both are written."):
    """A chat whose calls were allowed."""
    app = await start(*calls, [{"text": answer}], joined=True)
    app.say("Make a page about the surge")
    for number in range(1, len(calls) + 1):
        await app.until(lambda: app.models.approvals.requests, "a request")
        request = app.models.approvals.requests[0]
        app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
        await app.until(lambda number=number: sum(one.state == "done" for one in app.calls) == number, "it is written")
    await app.answered(answer[:12])
    return app


@pytest.mark.spec("R-DOC-2")
async def test_a_page_that_was_written_is_shown_beside_the_chat_in_its_versions(start, tmp_path):
    app = await written(
        start,
        call("write_file", path="surge.html", content=PAGE.format(80)),
        call("write_file", path="surge.html", content=PAGE.format(84)),
        call("write_file", path="levels.csv", content=TABLE),
        answer=f"Both are written.\n\n```svg\n{SVG}\n```\n",
    )
    await app.until(lambda: [card.name for card in cards(app)] == ["surge.html", "drawing.svg", "levels.csv"], "cards")
    page, drawing, table = cards(app)
    assert page.facts.startswith("version 2, web page, ")
    result, side = app.models.results.shown, app.page.side
    app.page.pane._act("", page.opens)
    await app.until(lambda: result.shown.drawn is not None and not result.shown.loading, "the page is drawn")
    panel = side.result
    assert (side.shown, panel.head.name.text(), panel.bar.versions.value) == (RESULT, "surge.html", "2")
    assert panel.foot.words.text() == "No script, no network: 1 script and 1 picture left out."
    await app.until(lambda: panel.page._tiles, "its first piece")
    assert panel.page.accessibleName() == "Surge, Page"
    await app.until(lambda: cards(app)[0].facts.endswith("open at the right"), "the card says where it is")
    panel.foot.which.click()
    await app.until(lambda: app.window.findChildren(LeftOutDialog), "which")
    (dialog,) = app.window.findChildren(LeftOutDialog)
    QTest.keyClick(app.window.focusWidget(), Qt.Key.Key_Escape)
    await app.until(lambda: not dialog.isVisible(), "closed")

    await changes_and_versions(app, panel)
    await a_table(app, panel, table)
    app.page.pane._act("", drawing.opens)
    await app.until(lambda: result.shown.name == "drawing.svg" and result.shown.drawn is not None, "the drawing")
    await saved_and_left(app, panel, tmp_path)


async def changes_and_versions(app, panel) -> None:
    result = app.models.results.shown
    panel.bar.views.chosen.emit("changes")
    await app.until(lambda: rows_of(panel, "add") == PAGE.format(84), "what became other")
    assert rows_of(panel, "del") == PAGE.format(80)
    panel.bar.views.chosen.emit("text")
    await app.until(lambda: PAGE.format(84) in panel.code.page.messages[0].source(), "its text")
    panel.bar.versions.chosen.emit("1")
    await app.until(lambda: PAGE.format(80) in panel.code.page.messages[0].source(), "the first version")
    (app.home.path / "workspace" / "surge.html").unlink()
    panel.bar.versions.chosen.emit("2")
    await app.until(lambda: panel.foot.words.text().startswith("The file is deleted since"), "what became of it")
    panel.bar.views.chosen.emit("page")
    await app.until(lambda: result.shown.drawn is not None and not result.shown.loading, "drawn all the same")


async def a_table(app, panel, card: ResultPart) -> None:
    app.page.pane._act("", card.opens)
    rows = panel.table.model()
    await app.until(lambda: rows.rowCount() == 3 and rows.index(2, 1).data() == "=1+1", "the table")
    panel.table.setFocus()
    panel.table.setCurrentIndex(rows.index(0, 1))
    QTest.keyClick(panel.table, Qt.Key.Key_Return)
    await app.until(lambda: rows.index(0, 1).data() == "9" and rows.index(1, 1).data() == "10", "by numbers")
    QTest.keyClick(panel.table, Qt.Key.Key_Return)
    await app.until(lambda: rows.index(0, 1).data() == "=1+1", "the other way, words after numbers")
    panel.table.selectAll()
    QTest.keyClick(panel.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = "Bridge\t=1+1\nHarbour\t10\nQuay\t9"
    await app.until(lambda: QGuiApplication.clipboard().text() == copied, "the rows are on the clipboard")


async def saved_and_left(app, panel, tmp_path) -> None:
    place = tmp_path / "mine.svg"
    place.write_text("old")
    os.chmod(place, 0o640)
    data = []
    app.models.results.shown.saved.connect(lambda name, content: data.append((name, content)))
    panel.head.save.click()
    await app.until(lambda: data, "all of it")
    assert data == [("drawing.svg", SVG.encode())]
    panel.save.emit(str(place), data[0][1])
    await app.until(lambda: place.read_bytes() == SVG.encode(), "saved")
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    app.page.new_chat()
    await app.until(lambda: app.page.side.shown == "", "the panel left with its chat")
    await app.until(lambda: "hold a result open" not in app.bridge.task_names, "its process, too")


@pytest.mark.spec("R-DOC-2")
async def test_a_diagram_in_a_text_is_drawn_as_in_an_answer(start):
    text = "# Nights\n\n```mermaid\nflowchart LR\n  a[quay] --> b[gauge]\n```\n"
    app = await written(start, call("write_file", path="nights.md", content=text))
    await app.until(lambda: [card.name for card in cards(app)] == ["nights.md"], "the card")
    app.page.pane._act("", cards(app)[0].opens)
    await app.until(lambda: app.page.side.result is not None, "the panel")
    await app.until(lambda: app.page.side.result.markdown.page.messages, "the text")
    (shown,) = app.page.side.result.markdown.page.messages

    def labels() -> set[str]:
        pieces = [piece for piece, _, _ in shown.pieces() if isinstance(piece, CodePiece)]
        return {spot.label for piece in pieces for spot in piece.spots()}

    await app.until(lambda: "Shown as drawing: flowchart: quay, gauge" in labels(), "the diagram")
