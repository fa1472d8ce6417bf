"""The composer: what sends, what breaks the line, what becomes an attachment, and that nothing typed is lost."""

import base64
import struct
import zlib
from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QColor, QImage, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from desktop.domain.messages import DocumentBlock, FileBlock, ImageBlock
from desktop.presenter.chat.state import Meters, Offer, QueuedMessage, RunState
from desktop.ui.chat.composer.chips import AttachmentChip
from desktop.ui.chat.composer.offered import OfferList
from desktop.ui.chat.composer.pasted_image import bytes_of
from desktop.ui.chat.composer.text import PASTE_AS_FILE
from desktop.ui.chat.composer.thumbnail import Thumbnail, small_image
from desktop.ui.chat.composer.view import Composer
from tests.harness.timeouts import WAIT_S


@pytest.fixture
def composer(theme, qtbot):
    made = Composer()
    qtbot.addWidget(made)
    made.resize(720, 120)
    made.show_state(RunState(can_send=True))
    made.show()
    made.sent = []
    made.send.connect(lambda text, blocks: made.sent.append((text, blocks)))
    return made


@pytest.mark.spec("R-UI-1")
def test_enter_sends_and_shift_enter_breaks_the_line(composer):
    QTest.keyClicks(composer.text, "one")
    QTest.keyClick(composer.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(composer.text, "two")
    assert composer.sent == []
    QTest.keyClick(composer.text, Qt.Key.Key_Return)
    assert composer.sent == [("one\ntwo", ())]
    assert composer.text.toPlainText() == ""


def test_an_input_methods_enter_only_commits_its_composition(composer):
    QApplication.sendEvent(composer.text, QInputMethodEvent("にほ", []))
    QTest.keyClick(composer.text, Qt.Key.Key_Return)
    assert composer.sent == []
    commit = QInputMethodEvent("", [])
    commit.setCommitString("日本")
    QApplication.sendEvent(composer.text, commit)
    assert composer.text.toPlainText().strip() == "日本"
    QTest.keyClick(composer.text, Qt.Key.Key_Return)
    assert composer.sent[0][0].strip() == "日本"


def test_where_enter_breaks_the_line_control_enter_sends(composer):
    composer.text.send_on_enter = False
    QTest.keyClicks(composer.text, "a")
    QTest.keyClick(composer.text, Qt.Key.Key_Return)
    assert composer.sent == []
    QTest.keyClick(composer.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert [text.strip() for text, _ in composer.sent] == ["a"]


def test_without_a_model_nothing_is_sent_and_nothing_is_lost(composer):
    composer.show_state(RunState(can_send=False))
    QTest.keyClicks(composer.text, "keep me")
    QTest.keyClick(composer.text, Qt.Key.Key_Return)
    assert composer.sent == []
    assert composer.text.toPlainText() == "keep me"


def test_white_space_alone_is_no_message_but_an_attachment_is(composer):
    QTest.keyClicks(composer.text, "  ")
    composer.submit()
    assert composer.sent == []
    composer.add_attachment(FileBlock("a.txt", "text"))
    composer.submit()
    assert composer.sent[0][1] == (FileBlock("a.txt", "text"),)
    composer.submit()
    assert len(composer.sent) == 1, "attachments go out once"


def test_a_huge_paste_becomes_an_attachment_and_files_and_images_too(composer):
    texts, files, images = [], [], []
    composer.text.text_dropped.connect(texts.append)
    composer.text.files_dropped.connect(files.append)
    composer.text.image_pasted.connect(images.append)
    huge = QMimeData()
    huge.setText("x" * (PASTE_AS_FILE + 1))
    composer.text.insertFromMimeData(huge)
    assert [len(text) for text in texts] == [PASTE_AS_FILE + 1]
    assert composer.text.toPlainText() == ""
    local = QMimeData()
    local.setUrls([QUrl.fromLocalFile("/tmp/a b.txt")])
    composer.text.insertFromMimeData(local)
    assert files == [("/tmp/a b.txt",)]
    picture = QMimeData()
    picture.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    composer.text.insertFromMimeData(picture)
    assert len(images) == 1


def test_a_remote_address_is_text_and_never_a_file(composer):
    remote = QMimeData()
    remote.setUrls([QUrl("https://example.com/x")])
    remote.setText("https://example.com/x")
    composer.text.insertFromMimeData(remote)
    assert composer.text.toPlainText() == "https://example.com/x"


def test_a_loaded_draft_is_not_reported_as_typed(composer):
    typed = []
    composer.draft_changed.connect(lambda text, _: typed.append(text))
    composer.load_draft("from before")
    assert typed == []
    QTest.keyClicks(composer.text, "!")
    assert typed == ["from before!"]


def test_attachments_are_part_of_the_draft(composer):
    kept = []
    composer.draft_changed.connect(lambda text, blocks: kept.append((text, blocks)))
    file = FileBlock("a.txt", "text")
    composer.add_attachment(file)
    assert kept[-1] == ("", (file,))
    composer.chips.findChildren(AttachmentChip)[0].removed.emit()
    assert kept[-1] == ("", ())
    composer.load_draft("from before", (file,))
    assert composer.attachments == (file,)
    assert len(kept) == 2, "a loaded draft is not reported as written"


def test_an_emptied_composer_wants_no_offers(composer):
    asked = []
    composer.offers_wanted.connect(lambda *what: asked.append(what))
    QTest.keyClicks(composer.text, "see @rea")
    composer.submit()
    assert asked[-1] == ("", "")


def test_during_a_run_it_queues_and_shows_stop(composer):
    composer.show_state(RunState(running=True, can_send=True))
    assert composer.stop.isVisible()
    assert composer._send.label == "Queue"
    removed = []
    composer.queued_removed.connect(removed.append)
    composer.show_queue((QueuedMessage("q1", "one"), QueuedMessage("q2", "two")))
    crosses = [b for b in composer.findChildren(type(composer.attach)) if b.accessibleName().startswith("Remove")]
    QTest.mouseClick(crosses[1], Qt.MouseButton.LeftButton)
    assert removed == ["q2"]


@pytest.mark.parametrize(
    ("typed", "prefix", "word"),
    [("/su", "/", "su"), ("see @src/a", "@", "src/a"), ("a/b", "", ""), ("mail me@x", "", ""), ("/usr/bin", "", "")],
)
def test_offers_are_asked_for_words_that_begin_with_a_slash_or_an_at(composer, typed, prefix, word):
    asked = []
    composer.offers_wanted.connect(lambda *what: asked.append(what))
    QTest.keyClicks(composer.text, typed)
    assert asked[-1] == (prefix, word)


def test_choosing_an_offer_replaces_the_word(composer):
    QTest.keyClicks(composer.text, "look at @rea")
    composer.complete("@readme.md")
    assert composer.text.toPlainText() == "look at @readme.md "


@pytest.mark.parametrize("width", [300, 420, 520, 720])
@pytest.mark.parametrize("stopping", [False, True])
def test_nothing_in_its_bar_is_covered_or_cut_however_narrow_it_is(composer, width, stopping):
    composer.show_meters(Meters("a", "An agent with a long name", "m/x", "A model with a rather long name"))
    composer.show_state(RunState(running=True, stopping=stopping, can_send=True))
    composer.resize(width, 120)
    QTest.qWait(20)
    shown = [b for b in composer.findChildren(QAbstractButton) if b.isVisible()]
    assert {composer.attach, composer.agent, composer.model, composer.stop, composer._send} <= set(shown)
    for number, button in enumerate(shown):
        assert button.width() >= button.minimumSizeHint().width()
        assert composer.rect().contains(button.geometry())
        assert not any(button.geometry().intersects(other.geometry()) for other in shown[number + 1 :])
    assert composer.agent.toolTip().startswith("An agent with a long name"), "a name that is cut is in the tooltip"


def test_everything_in_it_has_a_name(composer):
    composer.show_state(RunState(running=True, can_send=True))
    unnamed = [
        widget
        for kind in (type(composer.stop), type(composer.attach))
        for widget in composer.findChildren(kind)
        if not widget.accessibleName()
    ]
    assert unnamed == []
    assert composer.text.accessibleName()


def test_what_a_stop_holds_is_sent_or_cleared_by_the_person(composer):
    pressed = []
    composer.send_next.connect(lambda: pressed.append("next"))
    composer.queue_cleared.connect(lambda: pressed.append("clear"))
    composer.show_state(RunState(running=True))
    composer.show_queue((QueuedMessage("q1", "one"), QueuedMessage("q2", "two")))
    assert not composer.held.isVisible(), "they go by themselves when the run has ended"
    composer.show_state(RunState())
    composer.show_queue((QueuedMessage("q1", "one", held=True), QueuedMessage("q2", "two", held=True)))
    assert composer.held.isVisible()
    QTest.mouseClick(composer.held.send, Qt.MouseButton.LeftButton)
    QTest.mouseClick(composer.held.clear, Qt.MouseButton.LeftButton)
    assert pressed == ["next", "clear"]
    composer.show_queue(())
    assert not composer.held.isVisible()


def picture(width: int, height: int, colour: Qt.GlobalColor) -> ImageBlock:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(colour)
    return ImageBlock("image/png", base64.b64encode(bytes_of(image)).decode(), "harbour.png")


def test_an_attached_picture_is_shown_small_and_one_that_is_none_as_a_file(composer, qtbot):
    composer.add_attachment(picture(400, 100, Qt.GlobalColor.red))
    composer.add_attachment(ImageBlock("image/png", "bm8gcGljdHVyZQ==", "broken.png"))
    shown, broken = composer.findChildren(Thumbnail)
    qtbot.waitUntil(lambda: not shown.image.isNull(), timeout=WAIT_S * 1000)
    assert shown.image.size() == shown.size() * shown.devicePixelRatioF(), "no larger than it is shown"
    assert shown.image.pixelColor(1, 1) == QColor(Qt.GlobalColor.red)
    assert shown.accessibleName() == "Picture harbour.png"
    assert broken.image.isNull()
    names = [button.accessibleName() for button in composer.findChildren(QAbstractButton)]
    assert "Remove harbour.png" in names


def test_pages_of_a_document_are_one_chip_which_stays_while_others_come_and_go(composer):
    document = DocumentBlock("scan.pdf", "", unit="page", count=8)
    pages = [replace(picture(40, 40, Qt.GlobalColor.red), name=f"scan.pdf p. {n}") for n in (1, 2, 3)]
    composer.add_attachment(document, *pages)
    first = composer.chips.findChildren(AttachmentChip)
    assert [chip.accessibleName() for chip in first] == [
        "scan.pdf, 8 pages, 0 tokens",
        "scan.pdf p. 1, and 2 more as pictures",
    ]
    composer.add_attachment(FileBlock("a.txt", "text"))
    shown = [chip for chip in composer.chips.findChildren(AttachmentChip) if chip.isVisible()]
    assert shown[:2] == first
    assert shown[2].accessibleName() == "a.txt, 4 bytes"
    first[1].removed.emit()
    assert composer.attachments == (document, FileBlock("a.txt", "text"))
    composer.add_attachment(*pages)
    first[0].removed.emit()
    assert composer.attachments == (FileBlock("a.txt", "text"),), "pages go with their document"


def test_an_image_that_claims_a_thousand_million_pixels_is_not_read():
    header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 40_000, 40_000) + b"\x08\x02\x00\x00\x00"
    header += struct.pack(">I", zlib.crc32(header[12:]))
    assert small_image(base64.b64encode(header).decode(), 40) is None
    assert small_image("no base64 at all", 40) is None


def test_what_was_typed_is_undone_and_redone_and_never_across_chats_or_messages(composer):
    def press(key, *more):
        QTest.keyClick(composer.text, key, Qt.KeyboardModifier.ControlModifier, *more)

    QTest.keyClicks(composer.text, "plain")
    press(Qt.Key.Key_Z)
    assert composer.text.toPlainText() == ""
    composer.text.redo()
    assert composer.text.toPlainText() == "plain"
    composer.load_draft("of another chat")
    press(Qt.Key.Key_Z)
    assert composer.text.toPlainText() == "of another chat"
    QTest.keyClicks(composer.text, "!")
    composer.load_draft("")
    press(Qt.Key.Key_Z)
    composer.text.redo()
    assert composer.text.toPlainText() == ""


def test_offers_take_the_height_of_their_rows_and_of_the_keys_below_them_at_once(theme, qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(800, 600)
    page.show()
    offers = OfferList(page)
    offers.show()
    many = [Offer(f"page {n}", f"page {n}", group="books, a server", detail=f"book://{n}") for n in range(20)]
    heights = []
    for some in (many[:6], many[:1], many, many[:3]):
        offers.fill(some, "", prefix="@", room=720, most=500)
        QApplication.processEvents()
        assert offers.rows.geometry().bottom() < offers.foot.geometry().top()
        assert offers.side.height() - offers.foot.geometry().bottom() <= theme.px(8)
        heights.append(offers.height())
    assert heights[1] < heights[3] < heights[0] < heights[2]


@pytest.mark.spec("R-MOD-9")
def test_a_chip_says_its_tokens_as_the_chosen_model_counts(composer):
    composer.add_attachment(DocumentBlock("tide.pdf", "x" * 40_000, count=18))
    assert "10.0k tokens" in chip_words(composer)
    composer.show_meters(Meters(model="lab/m", token_scale=1.5))
    assert "15.0k tokens" in chip_words(composer)
    composer.show_meters(Meters(model="lab/other"))
    assert "10.0k tokens" in chip_words(composer)


def chip_words(composer: Composer) -> str:
    return " ".join(chip.accessibleName() for chip in composer.chips.findChildren(AttachmentChip) if chip.isVisible())
