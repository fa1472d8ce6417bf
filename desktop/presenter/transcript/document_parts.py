"""Documents of a person's message as their cards: one for each, and one for the pages that went along as pictures."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.domain.estimates import CHARACTERS_PER_TOKEN
from desktop.domain.files.documents import amount_of, read_citation
from desktop.domain.messages import Block, DocumentBlock, ImageBlock
from desktop.presenter.common.words import human_count
from desktop.presenter.transcript.items import AttachmentPart

DOCUMENT = "open-document:"
"""Begins the action that shows a document; its name follows, or a place in it."""


def document_facts(block: DocumentBlock, scale: float = 1.0) -> str:
    """How much it is, and what of it a model has read: ``18 pages, 9.4k tokens``. ``scale``: how many of the model's
    tokens an estimated one is."""
    tokens = f"{human_count(round(len(block.text) * scale) // CHARACTERS_PER_TOKEN)} tokens"
    return f"{amount_of(block.count, block.unit)}, {'the first ' if block.more else ''}{tokens}"


def document_part(part_id: str, block: DocumentBlock) -> AttachmentPart:
    """The card of a document."""
    return AttachmentPart(part_id, block.name, document_facts(block), opens=f"{DOCUMENT}{block.name}")


def pages_of(blocks: Sequence[Block]) -> dict[int, list[str]]:
    """Which blocks are pages of a document in the same message: the first of each document's, with the names of all;
    the others with none."""
    documents = {block.name for block in blocks if isinstance(block, DocumentBlock)}
    firsts: dict[str, int] = {}
    found: dict[int, list[str]] = {}
    for index, block in enumerate(blocks):
        place = read_citation(block.name) if isinstance(block, ImageBlock) and documents else None
        if place is not None and place[0] in documents and isinstance(block, ImageBlock):
            found.setdefault(firsts.setdefault(place[0], index), []).append(block.name)
            found.setdefault(index, [])
    return found


def pages_words(names: Sequence[str]) -> str:
    """What is said behind the name of the first of them."""
    return "as a picture" if len(names) == 1 else f"and {len(names) - 1} more as pictures"


def pages_part(part_id: str, names: Sequence[str]) -> AttachmentPart:
    """The card of pages that went along as pictures: they are large, and stand in the document anyway."""
    return AttachmentPart(part_id, names[0], pages_words(names), opens=f"{DOCUMENT}{names[0]}")
