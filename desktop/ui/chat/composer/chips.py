"""What goes out with a message, as chips that flow: files, pictures, and what servers gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from desktop.domain.estimates import CHARACTERS_PER_TOKEN
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block, DocumentBlock, FileBlock, GivenBlock, ImageBlock
from desktop.domain.text.words import size_of, size_words
from desktop.presenter.common.words import human_count
from desktop.presenter.transcript.document_parts import document_facts
from desktop.ui.chat.composer.thumbnail import Run, Thumbnail
from desktop.ui.transcript.pieces.pooled import Pool
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

SHOWN = 12
"""Chips by name; more are counted."""
LONG_NAME = 60


@dataclass(frozen=True, slots=True)
class ChipWords:
    """What a chip shows: ``newer`` where the server has another version by now."""

    icon: str
    name: str
    note: str = ""
    newer: str = ""
    image: ImageBlock | None = None


def words_of(block: Block, newer: str = "") -> ChipWords:
    """An attachment in words."""
    if isinstance(block, GivenBlock):
        tokens = f"{human_count(len(block.text) // CHARACTERS_PER_TOKEN)} tokens" if block.at else block.about
        icon = "quote" if block.prompt else "retry" if newer else "server"
        return ChipWords(icon, f"{block.server}: {block.name}", "" if newer else tokens, newer)
    if isinstance(block, DocumentBlock):
        return ChipWords("file", block.name, document_facts(block))
    if isinstance(block, FileBlock):
        return ChipWords("file", block.name, size_words(size_of(block.text)))
    if isinstance(block, ImageBlock):
        return ChipWords("file", block.name or "image", "", "", block)
    return ChipWords("file", getattr(block, "name", "") or "attachment")


class AttachmentChip(QFrame):
    """One attachment, with a cross."""

    removed = Signal()

    def __init__(self, words: ChipWords, run: Run) -> None:
        super().__init__()
        self.setProperty("pane", "chip-ask" if words.newer else "chip")
        row = Row(self, margins=(8, 2, 3, 2), spacing=6)
        name = shown_line(words.name)
        short = name if len(name) <= LONG_NAME else f"{name[: LONG_NAME - 1]}…"
        row.addWidget(Icon(words.icon, "text-2", 14) if words.image is None else Thumbnail(words.image, run))
        row.addWidget(Text(short, "small"))
        if words.newer or words.note:
            row.addWidget(Text(words.newer or shown_line(words.note), "small", "ask" if words.newer else "3"))
        self.setAccessibleName(", ".join(filter(None, (name, words.newer or words.note))))
        cross = IconButton("close", f"Remove {name[:80]}", side=20, glyph_side=14)
        cross.clicked.connect(self.removed)
        row.addWidget(cross)


class AttachmentChips(FlowRow):
    """All of them; hidden while there are none."""

    def __init__(self) -> None:
        super().__init__(gap=8)
        self._pool = Pool(self)
        self._old: list[QFrame] = []
        self.setVisible(False)

    def show_chips(self, chips: Sequence[ChipWords], removed: Callable[[int], None]) -> None:
        """Show these; ``removed(i)`` is called when the cross of chip i is pressed."""
        made: list[QFrame] = []
        for place, words in enumerate(chips[:SHOWN]):
            chip = AttachmentChip(words, self._pool.run)
            chip.removed.connect(lambda place=place: removed(place))
            made.append(chip)
        if len(chips) > SHOWN:
            rest = QFrame()
            Row(rest, margins=(4, 4, 4, 4)).addWidget(Text(f"and {len(chips) - SHOWN} more", "small", "3"))
            made.append(rest)
        self.set_items(made)
        for old in self._old:
            old.setParent(None)
            old.deleteLater()
        self._old = made
        self.setVisible(bool(chips))
        self.updateGeometry()
