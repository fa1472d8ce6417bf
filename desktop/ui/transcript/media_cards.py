"""Images and sounds that a tried call gave, each as a card of its own: the picture, what it is, a way to save it."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QLabel, QWidget

from desktop.presenter.transcript.items import MediaPart
from desktop.ui.theme import theme
from desktop.ui.theme.raster_images import raster_image
from desktop.ui.transcript.pictures.saving import Save, ask_where
from desktop.ui.transcript.pieces.media_strip import HEIGHT, WIDTH
from desktop.ui.transcript.pieces.pooled import Pool
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text


def media_card(part: MediaPart, save: Save) -> QWidget:
    """The bytes are a stranger's: decoded in a worker thread, never larger than they are drawn."""
    card = pane("quoted")
    column = Column(card, margins=(12, 8, 12, 8), spacing=8)
    if part.is_image:
        column.addWidget(_picture(part))
    line = Row(spacing=8)
    line.addWidget(Text(shown_line(part.name), "medium"))
    line.addWidget(Text(shown_line(part.facts), "small", "2"))
    line.addStretch(1)
    button = Button("Save…", small=True, tip=f"Save this {'image' if part.is_image else 'sound'} as a file")
    button.clicked.connect(lambda: ask_where(card.window(), part, save))
    line.addWidget(button)
    column.addLayout(line)
    return card


def _picture(part: MediaPart) -> QLabel:
    label = QLabel()
    label.setAccessibleName(shown_line(f"Image {part.name}"))
    room = QSize(theme().px(WIDTH), theme().px(HEIGHT))

    def arrived(found: QImage | None) -> None:
        if found is not None:
            label.setPixmap(QPixmap.fromImage(found))

    Pool(label).run(lambda: raster_image(part.whole, room), arrived)
    return label
