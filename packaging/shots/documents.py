"""A document beside the chat: a page with the passage that an answer cites, what the model read, and a question for
its password."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtWidgets import QWidget

from desktop.presenter.documents.viewer import ShownPart, View
from desktop.presenter.transcript.items import AttachmentPart, TextPart, TranscriptItem
from desktop.ui.chat.composer.pasted_image import bytes_of

ANSWER = """The float sticks because the **guide rod is bent by 4 mm** since the boat struck the well in February \
report.pdf p. 4. It only shows below 0.6 m, which is why most low waters look normal (report.pdf p. 5).

The report asks for two things:

1. Change the rod before the spring tides of 2 April report.pdf p. 6.
2. Flag every level below 0.6 m since 11 February levels.xlsx March!B7.
"""
PASSAGE = (
    "The guide rod is bent by 4 mm at 0.58 m above datum. The mark lies at the height of the fender that the work "
    "boat struck on 11 February."
)
_TEXT = (
    "The well was opened on 19 March at low water. The inner wall is clean; the inlet is free of weed to the second "
    "ring. The float itself is tight and rides level in still water.\n\n" + PASSAGE + " Below this height the collar "
    "of the float binds on the rod and lets go when the water has fallen by 3 to 5 cm more."
)
WIDE, HIGH = 900, 1_200


def items() -> tuple[TranscriptItem, ...]:
    """A question about a report, and an answer that names places in it."""
    file = AttachmentPart("f", "report.pdf", "18 pages, 9.4k tokens", opens="open-document:report.pdf")
    asked = TextPart("q", "Why does the float stick, and what does the report want done?")
    return (
        TranscriptItem("u1", "human", "You", "14:21", (file, asked)),
        TranscriptItem("a1", "a", "Workbench", "14:21", (TextPart("a", ANSWER),)),
    )


def _page() -> bytes:
    image = QImage(WIDE, HIGH, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setFont(QFont("Inter", 14))
    painter.drawText(QRectF(90, 120, 720, 40), 0, "2.1  State of the well at quay 3")
    painter.setFont(QFont("Inter", 11))
    painter.drawText(QRectF(90, 170, 720, 900), Qt.TextFlag.TextWordWrap, _TEXT)
    painter.end()
    return bytes_of(image)


def shown(view: View = "page", *, locked: bool = False) -> ShownPart:
    """Page 4 of 18."""
    marks = (((0.1, 0.189, 0.9, 0.205), (0.1, 0.206, 0.4, 0.221)),)
    start = _TEXT.index(PASSAGE)
    return ShownPart(
        "report.pdf",
        "Survey of the float well",
        count=18,
        part=4,
        label="report.pdf p. 4",
        view=view,
        has_pictures=True,
        picture=_page() if view == "page" else b"",
        text=_TEXT,
        problem="It is encrypted and opens with a password only." if locked else "",
        locked=locked,
        marks=marks if view == "page" else (),
        stretches=((start, start + len(PASSAGE)),),
        at=0,
        is_cited=True,
    )


def beside(page: Any, now: ShownPart) -> QWidget:
    """The page of a chat with the document beside it."""
    page.resize(1280, 800)
    document = page._models.document
    document.shown = now
    page.side.show("document")
    document.changed.emit()
    made: QWidget = page
    return made


def pictures(
    chat: Callable[[tuple[TranscriptItem, ...]], Any], sizes: tuple[str, ...]
) -> dict[str, Callable[[], QWidget]]:
    """Name -> how to build it; ``chat`` makes the page of a chat with these messages."""
    return {
        **{f"37-document{size}": lambda: beside(chat(items()), shown()) for size in sizes},
        "37-document-text": lambda: beside(chat(items()), shown("text")),
        "37-document-locked": lambda: beside(chat(items()), shown(locked=True)),
    }
