"""A document from the person's disk to the answer that cites it, and back to its page beside the chat."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.domain.messages import DocumentBlock
from desktop.ui.chat.side import DOCUMENT
from tests.harness.documents import drawn, locked_pdf, pdf

ANSWER = "The rod is bent (report.pdf p. 2)."


def links(app) -> list[str]:
    """What the shown answer can open."""
    runs = [run for message in app.page.pane.transcript.page.messages for run in _runs(message)]
    return [run.href for run in runs if run.href]


def _runs(message):
    for piece in message.pieces:
        for placed in piece.boxes:
            yield from getattr(placed.box, "runs", ())


def cited(app, place: str) -> str:
    """What pressing a place in the answer tells."""
    spots = [spot for message in app.page.pane.transcript.page.messages for spot, _ in message.spots()]
    return next(spot.payload for spot in spots if spot.kind == "link" and spot.label == place)


async def turned_by_keys(app, panel) -> None:
    """Keys turn pages from the text, from the picture and from the buttons."""
    document = app.models.document
    QTest.keyClick(panel.text, Qt.Key.Key_PageDown)
    await app.until(lambda: panel.text.toPlainText() == "The guide rod is bent.", "the next page of the text")
    panel.bar.views.chosen.emit("page")
    await app.until(lambda: document.shown.picture and document.shown.part == 2, "its picture")
    pages = panel.first_focus()
    for key, part in (("Home", 1), ("End", 2), ("Left", 1), ("Right", 2)):
        QTest.keyClick(pages, getattr(Qt.Key, f"Key_{key}"))
        await app.until(lambda part=part: document.shown.part == part and document.shown.picture, f"{key}: page {part}")
    await app.until(lambda: panel.page.accessibleName() == "report.pdf p. 2", "page 2")
    bar = pages.verticalScrollBar()
    app.page.window().resize(1280, 520)
    await app.until(lambda: bar.maximum() > 0, "more of the page than there is room for")
    QTest.keyClick(pages, Qt.Key.Key_Down)
    assert bar.value() > 0, "keys scroll first"
    bar.setValue(0)
    QTest.keyClick(pages, Qt.Key.Key_PageUp)
    await app.until(lambda: document.shown.part == 1 and document.shown.picture, "the page before")
    await app.until(lambda: bar.value() == bar.maximum() > 0, "from its end")
    QTest.keyClick(panel.bar.on, Qt.Key.Key_PageDown)
    await app.until(lambda: document.shown.part == 2 and document.shown.picture, "from a button, too")


async def found_in_it(app, panel) -> None:
    """Words are looked for in the document while the keys are there, and in the chat while they are not."""
    document = app.models.document
    app.page.window().activateWindow()
    panel.first_focus().setFocus()
    await app.until(lambda: app.page.side.has_keys, "the keys are in the panel")
    app.page.begin_find()
    assert not panel.find_bar.isHidden()
    assert app.page.pane.find_bar.isHidden()
    panel.find_bar.field.setText("CONTENTS")
    await app.until(lambda: panel.find_bar._count.text() == "1 of 1" and document.shown.part == 1, "page 1 has it")
    await app.until(lambda: len(document.shown.marks) == 1, "where it stands is marked")
    panel.find_bar.field.setText("absent")
    await app.until(lambda: panel.find_bar._count.text() == "Nothing found", "that it is nowhere")
    QTest.keyClick(panel.find_bar.field, Qt.Key.Key_Escape)
    await app.until(lambda: document.shown.marks == () and document.shown.picture, "the marks go with the bar")
    panel.bar.views.chosen.emit("text")
    await app.until(lambda: panel.text.toPlainText() == "Contents", "the text again")


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

    app.page.pane.transcript.link_activated.emit(cited(app, "report.pdf p. 2"))
    await app.until(lambda: document.shown.picture and side.shown == DOCUMENT, "the page")
    panel = side.document
    assert (panel.bar.number.text(), panel.bar.of.text()) == ("2", "of 2")
    await app.until(lambda: len(document.shown.marks) == 1, "the passage that the answer cites is marked")
    assert "marked" in panel.page.accessibleDescription()
    await app.until(lambda: panel.page.accessibleName() == "report.pdf p. 2", "the picture's name")
    panel.bar.views.chosen.emit("text")
    await app.until(lambda: panel.text.toPlainText() == "The guide rod is bent.", "its text")
    panel.bar.back.click()
    await app.until(lambda: panel.text.toPlainText() == "Contents", "the page before")
    assert not panel.bar.back.isEnabled()

    await turned_by_keys(app, panel)
    await found_in_it(app, panel)
    app.page.pane._act("", "open-document:report.pdf")
    await app.until(lambda: document.shown.part == 1 and not document.shown.loading, "the card's document")

    (tmp_path / "levels.csv").write_text("".join(f"{n}\n" for n in range(1, 9_001)))
    app.models.attaching.files((str(tmp_path / "levels.csv"),))
    await app.until(lambda: app.composer.attachments, "the table as a chip")
    app.say("And this?")
    await app.answered("Seen.")
    app.page.pane.transcript.link_activated.emit("document:levels.csv B8000")
    await app.until(lambda: "| 8000 | 8000 |" in panel.text.toPlainText(), "the row of the cell")
    (start, end) = document.shown.stretches[0]
    assert document.shown.text[start:end] == "| 8000 | 8000 |"
    app.page.new_chat()
    await app.until(lambda: side.shown == "", "the panel left with its chat")
    app.page.pane.transcript.link_activated.emit("document:report.pdf p. 2")
    await app.until(lambda: "no document report.pdf" in app.page.toast.text, "it is said that it is not here")


@pytest.mark.spec("R-DOC-1")
async def test_documents_of_one_name_are_told_apart_and_the_same_one_keeps_its_name(start, tmp_path):
    app = await start([{"text": "Seen."}])
    for folder in "abc":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "report.pdf").write_bytes(pdf([drawn(f"Rod {folder}: the guide rod is bent by 4 mm.")]))
    first, second, third = (str(tmp_path / folder / "report.pdf") for folder in "abc")
    app.models.attaching.files((first, second))
    await app.until(lambda: len(app.composer.attachments) == 2, "both as chips")
    app.models.attaching.files((second,))
    await app.until(lambda: len(app.composer.attachments) == 3, "one of them again")
    one, other, again = app.composer.attachments
    assert {one.name, other.name} == {"report.pdf", "report-2.pdf"}
    assert again.name == other.name
    assert f"## {other.name} p. 1" in other.text
    app.say("What is in them?")
    await app.answered("Seen.")
    app.models.attaching.files((third,))
    await app.until(lambda: [block.name for block in app.composer.attachments] == ["report-3.pdf"], "a third one")
    document = app.models.document
    claim = "\nThe guide rod is bent by 4 mm"
    for block, words, says in ((one, "Rod a", claim), (other, "Rod b", "")):
        document.set_view("text")
        app.page.pane.transcript.link_activated.emit(f"document:{block.name} p. 1{says}")
        await app.until(lambda words=words: words in document.shown.text, f"{block.name} is what it was")
        assert bool(document.shown.stretches) == bool(says), "what is marked is what was said of this document"


@pytest.mark.spec("R-DOC-1")
async def test_what_cannot_be_attached_is_said_and_reading_can_be_stopped(start, tmp_path):
    app = await start([{"text": "ok"}])
    (tmp_path / "half.pdf").write_bytes(b"%PDF-1.7 x")
    app.models.attaching.files((str(tmp_path / "half.pdf"),))
    await app.until(lambda: "“half.pdf” was not attached" in app.page.toast.text, "why not")
    (tmp_path / "long.pdf").write_bytes(
        pdf(["0.5 g 100 100 300 300 re f\n"] * 20_000)
    )  # from a scanner: no text at all
    app.models.attaching.files((str(tmp_path / "long.pdf"),))
    told = app.composer.attaching
    await app.until(lambda: told.isVisible() and "of 20,000" in told._words.text(), "how far it is read")
    assert told._words.text().startswith("Reading long.pdf: page ")
    app.composer.attaching.stop.click()
    await app.until(lambda: not app.composer.attaching.isVisible(), "that it is not read any more")
    assert app.composer.attachments == ()
    assert app.composer.text.focusPolicy() != Qt.FocusPolicy.NoFocus


@pytest.mark.spec("R-DOC-1")
async def test_a_password_is_asked_for_beside_the_message_and_again_after_a_restart(start, tmp_path):
    app = await start([{"text": "ok"}])
    (tmp_path / "secret.pdf").write_bytes(locked_pdf("hush", "sesame-0815"))
    app.models.attaching.files((str(tmp_path / "secret.pdf"),))
    bar = app.composer.locked
    await app.until(bar.isVisible, "the question")
    bar.field.setText("wrong")
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    await app.until(lambda: "does not open secret.pdf" in bar.words and bar.isVisible(), "that it was wrong")
    assert bar.field.text() == ""
    bar.field.setText("sesame-0815")
    bar.open.click()
    await app.until(lambda: app.composer.attachments, "the document as a chip")
    assert not bar.isVisible()
    app.say("What is in it?")
    await app.answered("ok")
    app.models.attaching.files((str(tmp_path / "secret.pdf"),))
    await app.until(lambda: app.composer.attachments, "it again, unasked")
    (tmp_path / "other.pdf").write_bytes(locked_pdf("hush", "other"))
    app.models.attaching.files((str(tmp_path / "other.pdf"),))
    await app.until(bar.isVisible, "another is asked for")
    bar.leave.click()
    await app.until(lambda: not bar.isVisible() and not app.composer.attaching.isVisible(), "it is left out")
    assert len(app.composer.attachments) == 1
    await app.end()

    app = await start()
    app.page.pane._act("", "open-document:secret.pdf")
    panel = app.page.side
    await app.until(lambda: app.models.document.shown.locked and panel.shown == DOCUMENT, "the question in the panel")
    ask = panel.document.unlock.bar
    await app.until(ask.isVisible, "its field")
    ask.field.setText("sesame-0815")
    ask.open.click()
    await app.until(lambda: app.models.document.shown.picture, "the page")
    assert b"sesame-0815" not in b"".join(file.read_bytes() for file in app.home.path.rglob("*") if file.is_file())


@pytest.mark.spec("R-DOC-1")
async def test_what_is_read_for_one_chat_is_never_put_into_another(start, tmp_path):
    app = await start([{"text": "ok"}])
    (tmp_path / "secret.pdf").write_bytes(locked_pdf("hush", "sesame-0815"))
    app.models.attaching.files((str(tmp_path / "secret.pdf"),))
    bar = app.composer.locked
    await app.until(bar.isVisible, "the question for its password, in a chat that is no thread yet")
    app.say("One.")
    await app.answered("ok")
    first = app.models.chat.thread_id
    app.composer.text.setPlainText("What is in it?")
    app.page.new_chat()
    await app.until(lambda: app.models.chat.thread_id == "" and not app.composer.text.toPlainText(), "another chat")
    bar.field.setText("sesame-0815")
    bar.open.click()
    await app.until(lambda: "in the chat that it was chosen for" in app.page.toast.text, "that it is said")
    assert app.composer.attachments == ()
    app.page.open(first)
    await app.until(lambda: [one.name for one in app.composer.attachments] == ["secret.pdf"], "it stands where it was")
    assert app.composer.text.toPlainText() == "What is in it?"
