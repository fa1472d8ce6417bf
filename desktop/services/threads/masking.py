"""What a person or a model writes, without the keys that this computer keeps, before it is stored (R-SEC-1).

Messages say that something was masked; everything else that is kept (jobs, debates' set-ups, summaries, titles, agents)
goes through ``clean``. Where a masked text would silently mean something else, as in a rule, ``place_of_key`` says so
instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from desktop.domain.messages import Block, FileBlock, GivenBlock, NoticeBlock, TextBlock

Mask = Callable[[str], str]
_T = TypeVar("_T")

HOLDS_A_KEY = "This holds a key that is kept in the keyring"

MASKED = NoticeBlock(
    "This message held a key that is kept in the keyring. It was replaced by [REDACTED] before it was stored or sent.",
    code="secret.masked",
    severity="warning",
)


def clean(value: _T, mask: Mask) -> _T:
    """A text, record or plain data of the same shape without known secrets."""
    return _clean(value, mask)  # type: ignore[no-any-return]  # it hands back what it was given


def _clean(value: Any, mask: Mask) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return mask(value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _clean(getattr(value, one.name), mask) for one in fields(value) if one.init})
    if isinstance(value, Mapping):
        return {_clean(key, mask): _clean(one, mask) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_clean(one, mask) for one in value])
    return value


def place_of_key(text: str, mask: Mask) -> tuple[int, int] | None:
    """Where the text holds known secrets: begin and length of the part with all of them."""
    clean_text = mask(text)
    if clean_text == text:
        return None
    shorter = min(len(text), len(clean_text))
    start = next((at for at in range(shorter) if text[at] != clean_text[at]), shorter)
    behind = next((at for at in range(shorter - start) if text[-1 - at] != clean_text[-1 - at]), shorter - start)
    return start, max(1, len(text) - start - behind)


def masked(text: str, blocks: Sequence[Block], mask: Mask) -> tuple[str, tuple[Block, ...]]:
    """A message's text and attachments without known secrets; a notice among them when there was one (R-SEC-1)."""
    clean = mask(text)
    kept = masked_blocks(blocks, mask)
    if clean == text and kept == tuple(blocks):
        return text, kept
    return clean, (*(block for block in kept if block != MASKED), MASKED)


def masked_blocks(blocks: Sequence[Block], mask: Mask) -> tuple[Block, ...]:
    """The blocks of a message without known secrets."""
    return tuple(_block(block, mask) for block in blocks)


def _block(block: Block, mask: Mask) -> Block:
    if isinstance(block, GivenBlock):
        block = replace(block, uri=mask(block.uri), about=mask(block.about))
    if isinstance(block, FileBlock):
        return replace(block, name=mask(block.name), text=mask(block.text))
    return replace(block, text=mask(block.text)) if isinstance(block, TextBlock) else block
