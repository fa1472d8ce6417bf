"""What goes out with a message, as chips that flow: files, pictures, and what servers gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from desktop.domain.estimates import CHARACTERS_PER_TOKEN
from desktop.domain.files.documents import read_citation
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block, DocumentBlock, FileBlock, GivenBlock, ImageBlock
from desktop.domain.text.words import size_of, size_words
from desktop.presenter.common.words import human_count
from desktop.presenter.transcript.document_parts import document_facts, pages_of, pages_words
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


def words_of(block: Block, newer: str = "", scale: float = 1.0) -> ChipWords:
    """An attachment in words. ``scale``: how many of the model's tokens an estimated one is."""
    if isinstance(block, GivenBlock):
        count = round(len(block.text) * scale) // CHARACTERS_PER_TOKEN
        tokens = f"{human_count(count)} tokens" if block.at else block.about
        icon = "quote" if block.prompt else "retry" if newer else "server"
        return ChipWords(icon, f"{block.server}: {block.name}", "" if newer else tokens, newer)
    if isinstance(block, DocumentBlock):
        return ChipWords("file", block.name, document_facts(block, scale))
    if isinstance(block, FileBlock):
        return ChipWords("file", block.name, size_words(size_of(block.text)))
    if isinstance(block, ImageBlock):
        points = f"{block.width} × {block.height}" if block.width else ""
        return ChipWords("file", block.name or "image", points, "", block)
    return ChipWords("file", getattr(block, "name", "") or "attachment")


def chips_of(
    blocks: Sequence[Block], newer: Callable[[Block], str], scale: float = 1.0
) -> list[tuple[ChipWords, tuple[int, ...]]]:
    """What the chips show, each with the places of the blocks that go with it: pages that go along as pictures have one
    chip together, and go with their document. ``newer``: the words for a block of which the server has another
    version, ``scale`` as in ``words_of``."""
    pages = pages_of(blocks)
    chips: list[tuple[ChipWords, tuple[int, ...]]] = []
    for place, block in enumerate(blocks):
        if place not in pages:
            own = [at for at in pages if isinstance(block, DocumentBlock) and _page_of(blocks[at]) == block.name]
            chips.append((words_of(block, newer(block), scale), (place, *own)))
        elif names := pages[place]:
            own = [at for at in pages if _page_of(blocks[at]) == _page_of(block)]
            image = block if isinstance(block, ImageBlock) else None
            chips.append((ChipWords("file", names[0], pages_words(names), image=image), tuple(own)))
    return chips


def _page_of(block: Block) -> str:
    place = read_citation(block.name) if isinstance(block, ImageBlock) else None
    return place[0] if place is not None else ""


class AttachmentChip(QFrame):
    """One attachment, with a cross."""

    removed = Signal()

    def __init__(self, words: ChipWords, run: Run) -> None:
        super().__init__()
        self.words = words
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
        self._chips: list[AttachmentChip] = []
        self._rest: QFrame | None = None
        self._removed: Callable[[int], None] = lambda _: None
        self.setVisible(False)

    def show_chips(self, chips: Sequence[ChipWords], removed: Callable[[int], None]) -> None:
        """Show these; ``removed(i)`` is called when the cross of chip i is pressed. One that shows the same as before
        stays: a document can bring many, and each is a handful of widgets."""
        self._removed = removed
        before, made = list(self._chips), []
        for words in chips[:SHOWN]:
            chip = next((one for one in before if one.words == words), None)
            if chip is None:
                chip = AttachmentChip(words, self._pool.run)
                chip.removed.connect(lambda chip=chip: self._removed(self._chips.index(chip)))
            else:
                before.remove(chip)
            made.append(chip)
        gone: list[QFrame] = [*before, *([self._rest] if self._rest is not None else [])]
        self._chips, self._rest = made, None
        if len(chips) > SHOWN:
            self._rest = QFrame()
            Row(self._rest, margins=(4, 4, 4, 4)).addWidget(Text(f"and {len(chips) - SHOWN} more", "small", "3"))
        self.set_items([*made, *([self._rest] if self._rest is not None else [])])
        for old in gone:
            old.setParent(None)
            old.deleteLater()
        self.setVisible(bool(chips))
        self.updateGeometry()
