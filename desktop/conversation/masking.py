"""What a person sends, without the keys that this computer keeps: a pasted one is masked, and the message says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from desktop.domain.messages import Block, FileBlock, NoticeBlock, TextBlock

Mask = Callable[[str], str]

MASKED = NoticeBlock(
    "This message held a key that is kept in the keyring. It was replaced by [REDACTED] before it was stored or sent.",
    code="secret.masked",
    severity="warning",
)


def masked(text: str, blocks: Sequence[Block], mask: Mask) -> tuple[str, tuple[Block, ...]]:
    """A message's text and attachments without known secrets; a notice among them when there was one (R-SEC-1)."""
    clean = mask(text)
    kept = masked_blocks(blocks, mask)
    if clean == text and kept == tuple(blocks):
        return text, kept
    return clean, (*(block for block in kept if block != MASKED), MASKED)


def masked_blocks(blocks: Sequence[Block], mask: Mask) -> tuple[Block, ...]:
    """Attachments without known secrets."""
    return tuple(_block(block, mask) for block in blocks)


def _block(block: Block, mask: Mask) -> Block:
    if isinstance(block, FileBlock):
        return replace(block, name=mask(block.name), text=mask(block.text))
    return replace(block, text=mask(block.text)) if isinstance(block, TextBlock) else block
