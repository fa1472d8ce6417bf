"""A document from the person's disk to the answer that cites it, and back to its page beside the chat."""

import pytest
from PySide6.QtCore import Qt

from desktop.domain.messages import DocumentBlock
from desktop.ui.chat.side import DOCUMENT
from tests.harness.documents import drawn, pdf

ANSWER = "The rod is bent (report.pdf p. 2)."


def links(app) -> list[str]:
    """What the shown answer can open."""
    runs = [run for message in app.page.pane.transcript.page.messages for run in _runs(message)]
    return [run.href for run in runs if run.href]


def _runs(message):
    for piece in message.pieces:
        for placed in piece.boxes:
            yield from getattr(placed.box, "runs", ())


@pytest.mark.spec("R-DOC-1")
async def test_a_citation_opens_the_page_beside_the_chat(start, tmp_path):
    app = await start([{"text": ANSWER}], [{"text": "Seen."}])
    (tmp_path / "report.pdf").write_bytes(pdf([drawn("Contents"), drawn("The guide rod is bent.")]))
    app.models.attaching.files((str(tmp_path / "report.pdf"),))
    await app.until(lambda: app.composer.attachments, "the document as a chip")
    (block,) = app.composer.attachments
    assert isinstance(block, DocumentBlock)
    assert not app.composer.attaching.isVisible()
    app.say("What is wrong?")
    await app.answered(ANSWER)
    document, side = app.models.document, app.page.side

    app.page.pane.transcript.link_activated.emit("document:report.pdf p. 2")
    await app.until(lambda: document.shown.picture, "the page")
    panel = side.document
    assert (side.shown, panel.bar.number.text(), panel.bar.of.text()) == (DOCUMENT, "2", "of 2")
    await app.until(lambda: panel.page.accessibleName() == "report.pdf p. 2", "the picture's name")
    panel.bar.views.chosen.emit("text")
    await app.until(lambda: panel.text.toPlainText() == "The guide rod is bent.", "its text")
    panel.bar.back.click()
    await app.until(lambda: panel.text.toPlainText() == "Contents", "the page before")
    assert not panel.bar.back.isEnabled()

    app.page.pane._act("", "open-document:report.pdf")
    await app.until(lambda: document.shown.part == 1 and not document.shown.loading, "the card's document")

    (tmp_path / "levels.csv").write_text("".join(f"{n}\n" for n in range(1, 9_001)))
    app.models.attaching.files((str(tmp_path / "levels.csv"),))
    await app.until(lambda: app.composer.attachments, "the table as a chip")
    app.say("And this?")
    await app.answered("Seen.")
    app.page.pane.transcript.link_activated.emit("document:levels.csv B8000")
    await app.until(lambda: "| 8000 | 8000 |" in panel.text.toPlainText(), "the row of the cell")
    app.page.new_chat()
    await app.until(lambda: side.shown == "", "the panel left with its chat")
    app.page.pane.transcript.link_activated.emit("document:report.pdf p. 2")
    await app.until(lambda: "no document report.pdf" in app.page.toast.text, "it is said that it is not here")


@pytest.mark.spec("R-DOC-1")
async def test_what_cannot_be_attached_is_said_and_reading_can_be_stopped(start, tmp_path):
    app = await start([{"text": "ok"}])
    (tmp_path / "half.pdf").write_bytes(b"%PDF-1.7 x")
    app.models.attaching.files((str(tmp_path / "half.pdf"),))
    await app.until(lambda: "“half.pdf” was not attached" in app.page.toast.text, "why not")
    (tmp_path / "long.pdf").write_bytes(pdf([drawn(f"page {n}") for n in range(8_000)]))
    app.models.attaching.files((str(tmp_path / "long.pdf"),))
    await app.until(app.composer.attaching.isVisible, "that it is being read")
    app.composer.attaching.stop.click()
    await app.until(lambda: not app.composer.attaching.isVisible(), "that it is not read any more")
    assert app.composer.attachments == ()
    assert app.composer.text.focusPolicy() != Qt.FocusPolicy.NoFocus
