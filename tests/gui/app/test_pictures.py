"""Pictures from the paper clip to the viewer: attached, sent, shown, opened large, copied and saved."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from desktop.presenter.transcript.items import AttachmentPart
from desktop.ui.transcript.accessible_text import spoken_text
from desktop.ui.transcript.pictures.viewer import PictureViewer
from desktop.ui.widgets.dialogs.files import FileDialog
from tests.gui.app.kit import HELLO, Running, call
from tests.harness.pictures import RED, looked_at, marked, near, saved, with_place

pytestmark = pytest.mark.spec("R-MOD-6")


def shown(app: Running) -> list[AttachmentPart]:
    parts = [part for item in app.items.values() for part in item.parts]
    return [part for part in parts if isinstance(part, AttachmentPart) and part.image is not None]


def spots(app: Running, begin: str) -> list[Any]:
    """The places of the transcript whose action begins so, once it is laid out."""
    pieces = [piece for message in app.page.pane.transcript.page.messages for piece, _, _ in message.pieces()]
    return [spot for piece in pieces for spot in piece.spots() if spot.payload.startswith(begin)]


def viewer(app: Running) -> PictureViewer | None:
    return next((one for one in app.window.findChildren(PictureViewer) if one.isVisible()), None)


async def send_two(start: Callable[..., Any], folder: Path) -> Running:
    """A chat in which two pictures were sent."""
    app = await start(HELLO)
    (folder / "harbour.jpg").write_bytes(with_place())
    (folder / "chart.png").write_bytes(saved(marked(3_000, 600), "PNG"))
    app.models.attaching.files((str(folder / "harbour.jpg"), str(folder / "chart.png")))
    await app.until(lambda: len(app.composer.attachments) == 2, "both pictures")
    app.say("What is this?")
    await app.answered("Hello there.")
    await app.until(lambda: len(spots(app, "open-picture:")) == 2, "both are drawn")
    return app


async def test_attached_pictures_keep_their_names_and_lose_where_they_were_taken(start, tmp_path):
    app = await send_two(start, tmp_path)
    assert [part.name for part in shown(app)] == ["harbour.jpg", "chart.png"]
    assert [part.facts.split(", ")[0] for part in shown(app)] == ["40 × 60", "2000 × 400"]
    image = shown(app)[0].image
    assert image is not None
    assert b"Camera of Ida" not in image.whole
    assert image.notes == "turned upright; where it was taken is removed"
    assert spoken_text(next(iter(app.items.values()))).count("Attachment ") == 2


async def test_a_picture_opens_large_and_the_keys_go_to_the_next_and_back(start, tmp_path):
    app = await send_two(start, tmp_path)
    app.page.pane.transcript.action.emit(next(iter(app.items)), spots(app, "open-picture:")[0].payload)
    await app.until(lambda: viewer(app) and not viewer(app).area.image.isNull(), "the viewer")
    large = viewer(app)
    assert large is not None
    assert large.accessibleName() == "harbour.jpg"
    assert large.area.accessibleName().startswith("Picture harbour.jpg, 40 × 60")
    assert large.area.factor == 1.0, "what is small is not enlarged"
    QTest.keyClick(large.area, Qt.Key.Key_Right)
    await app.until(lambda: large.area.image.size().width() == 2000, "the other one")
    assert (large.place.text(), large.on.isEnabled()) == ("2 of 2", False)
    assert large.area.factor < 1.0, "it fits"
    QTest.keyClick(large.area, Qt.Key.Key_1)
    assert large.area.factor == 1.0
    assert large.area.is_larger
    QTest.keyClick(large.area, Qt.Key.Key_Right)
    assert large.place.text() == "2 of 2", "an arrow moves what is larger than the room"
    QTest.keyClick(large.area, Qt.Key.Key_Minus)
    assert 0.7 < large.area.factor < 0.9
    QTest.keyClick(large.area, Qt.Key.Key_0)
    QTest.keyClick(large.area, Qt.Key.Key_PageUp)
    await app.until(lambda: large.area.image.size().width() == 40, "back again")
    QTest.keyClick(large.area, Qt.Key.Key_Escape)
    await app.until(lambda: viewer(app) is None, "it is closed")


async def test_a_picture_as_large_as_the_one_before_is_seen_too(start, tmp_path):
    app = await start(HELLO)
    (tmp_path / "one.png").write_bytes(saved(marked(2_000, 1_600), "PNG"))
    (tmp_path / "two.png").write_bytes(saved(marked(2_000, 1_600).rotate(180), "PNG"))
    app.models.attaching.files((str(tmp_path / "one.png"), str(tmp_path / "two.png")))
    await app.until(lambda: len(app.composer.attachments) == 2, "both pictures")
    app.say("What became other?")
    await app.answered("Hello there.")
    await app.until(lambda: len(spots(app, "open-picture:")) == 2, "both are drawn")
    app.page.pane.transcript.action.emit(next(iter(app.items)), spots(app, "open-picture:")[0].payload)
    await app.until(lambda: viewer(app) is not None, "the viewer")
    large = viewer(app)
    assert large is not None

    def is_red(right: bool) -> bool:
        seen, middle = large.area.grab().toImage(), large.area.rect().center()
        point = seen.pixelColor(middle.x() + (40 if right else -40), middle.y() + (40 if right else -40))
        return near((point.red(), point.green(), point.blue()), RED)

    await app.until(lambda: is_red(right=False), "the first one")
    QTest.keyClick(large.area, Qt.Key.Key_Right)
    await app.until(lambda: is_red(right=True), "the second one")
    large.answer("cancel")


async def test_a_picture_is_copied_as_other_programs_take_it_and_saved_as_it_is(start, tmp_path):
    app = await send_two(start, tmp_path)
    app.page.pane.transcript.action.emit(next(iter(app.items)), spots(app, "open-picture:")[0].payload)
    await app.until(lambda: viewer(app) and not viewer(app).area.image.isNull(), "the viewer")
    large = viewer(app)
    assert large is not None
    QTest.keyClick(large.area, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    await app.until(lambda: app.page.toast.text == "Picture copied", "it is said")
    held = bytes(QGuiApplication.clipboard().mimeData().data("image/png").data())
    assert near(looked_at(held).getpixel((35, 5)), RED)
    QTest.keyClick(large.area, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await app.until(lambda: app.window.findChildren(FileDialog), "where to")
    (dialog,) = app.window.findChildren(FileDialog)
    dialog.fileSelected.emit(str(tmp_path / "kept.jpg"))
    await app.until((tmp_path / "kept.jpg").exists, "the file")
    part = shown(app)[0].image
    assert part is not None
    assert (tmp_path / "kept.jpg").read_bytes() == part.whole
    dialog.reject()


async def test_an_agent_sees_a_picture_of_a_folder_and_its_card_opens_it(start, tmp_path):
    app = await start([*call("read_file", path="quay.png")], HELLO)
    (app.home.path / "workspace" / "quay.png").write_bytes(saved(marked(), "TIFF"))
    app.say("Look at it.")
    await app.answered("Hello there.")
    await app.until(lambda: spots(app, "open-picture:"), "the picture on its card")
    (card,) = app.calls
    assert card.result.startswith("quay.png: a picture (TIFF, ")
    (image,) = card.media
    assert near(looked_at(image.whole).getpixel((5, 5)), RED)
    labels = [spot.label for spot in spots(app, "")]
    assert {"Save image…", "Copy", f"Open {image.name} large, {image.facts}"} <= set(labels)


async def test_pictures_come_in_the_order_in_which_they_were_chosen(start, tmp_path):
    app = await start(HELLO)
    names = []
    for number, size in enumerate((1_500, 20, 900, 30)):
        names.append(f"{number}.png")
        (tmp_path / names[-1]).write_bytes(saved(marked(size, size), "PNG"))
    (tmp_path / "half.png").write_bytes(saved(marked(), "PNG")[:60])
    app.models.attaching.files(tuple(str(tmp_path / name) for name in (*names[:2], "half.png", *names[2:])))
    await app.until(lambda: len(app.composer.attachments) == 4, "all that can be opened")
    assert [block.name for block in app.composer.attachments] == names
    assert app.page.toast.text.startswith("“half.png” was not attached. It begins like a PNG, and ends too early.")
    assert not app.composer.attaching.isVisible()


async def test_that_a_model_does_not_see_pictures_is_said_before_one_is_sent(start, tmp_path):
    app = await start(HELLO)
    (tmp_path / "chart.png").write_bytes(saved(marked(), "PNG"))
    app.models.attaching.files((str(tmp_path / "chart.png"),))
    await app.until(lambda: app.composer.attachments, "the picture")
    assert not app.composer.unseen.isVisible(), "of the scripted model that is not known"
    app.models.chat.set_model("demo/demo")
    await app.until(app.composer.unseen.isVisible, "it is said")
    assert app.composer.unseen.text() == ("This model does not see the picture: it is only told that there is one.")
    app.composer.load_draft("")
    assert not app.composer.unseen.isVisible()
