"""A message window on its way to the model host: only what is new, in pieces that never hold the loop.

The host keeps the last window of each key, so that a round costs what it adds, not what the thread has grown to.
Notices and unknown blocks are never sent; thinking goes to its maker, with the calls that it led to, and to no other
model (R-MOD-4, R-CTX-10).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import (
    Block,
    ChatMessage,
    DocumentBlock,
    GivenBlock,
    ImageBlock,
    MediaBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UnknownBlock,
    to_plain,
)
from desktop.domain.models import Senses
from desktop.models.pictures import AS_THEY_ARE, PicturesToSend

PIECE = 32 * 1024  # characters; as the pipe protocol wants it
REMEMBERED = 32  # windows; the host keeps as many
ARGUMENTS_INLINE = 16 * 1024  # characters of arguments that go as one value
_LONG = ("text", "data", "raw")


@dataclass(frozen=True, slots=True)
class Change:
    """The part of a conversation to send: ``window`` as the host wants it, ``added`` the messages that it lacks."""

    window: dict[str, Any]
    added: tuple[ChatMessage, ...]


class SentWindows:
    """What the host is known to have. One per host client; forgets all when the host's ``generation`` changes."""

    def __init__(self) -> None:
        self._sent: OrderedDict[str, tuple[int, tuple[ChatMessage, ...]]] = OrderedDict()
        self._generation = -1
        self._version = 0

    def change(self, key: str, messages: Sequence[ChatMessage], generation: int) -> Change:
        """The difference to what was sent under ``key``, taking it as sent."""
        if generation != self._generation:
            self._sent.clear()
            self._generation = generation
        base, known = self._sent.pop(key, (0, ()))
        keep = _common(known, messages)
        self._version += 1
        window = {"key": key, "base": base, "keep": keep, "version": self._version}
        self._sent[key] = (self._version, tuple(messages))
        while len(self._sent) > REMEMBERED:
            self._sent.popitem(last=False)
        return Change(window, tuple(messages[keep:]))

    def forget(self, key: str) -> None:
        """The next window under ``key`` goes whole."""
        self._sent.pop(key, None)


def _common(known: Sequence[ChatMessage], messages: Sequence[ChatMessage]) -> int:
    """Length of the common beginning, by identity: messages are frozen."""
    count = 0
    for a, b in zip(known, messages, strict=False):
        if a is not b:
            break
        count += 1
    return count


EVERYTHING = Senses(True, True)
HEARD = frozenset({"audio/wav", "audio/mpeg"})
"""Sounds that models take."""


def parts(
    messages: Sequence[ChatMessage],
    senses: Senses = EVERYTHING,
    maker: str = "",
    beside: tuple[str, str] = ("", ""),
    pictures: PicturesToSend = AS_THEY_ARE,
) -> Iterator[list[Any]]:
    """The messages in pieces, see ``workers/model_host/wire/windows.py``; of images and sounds those that the model
    takes, for any other a line that says what it is not shown (R-MOD-6); of thinking that of ``maker``.
    ``beside``: the ``source_id`` of a message and what is said with it. ``pictures``: what becomes of them."""
    for message in messages:
        yield ["m", {"role": message.role}]
        for block in message.blocks:
            if isinstance(block, ReasoningBlock) and not (block.maker == maker != "" and message.tool_calls):
                continue
            if isinstance(block, GivenBlock | DocumentBlock):
                block = TextBlock(block.as_read)
            if isinstance(block, ImageBlock):
                block = _attached(block, senses, pictures)
            if isinstance(block, ToolResultBlock) and block.media:
                yield from _with_media(block, senses, pictures)
            else:
                yield from _block(block)
        if message.source_id == beside[0] != "" and beside[1]:
            yield from _in_pieces({"kind": "text", "text": beside[1]})


def _attached(block: ImageBlock, senses: Senses, pictures: PicturesToSend) -> Block:
    """An image that a person attached, or a line that says why it is not shown."""
    sent = BLIND if senses.images is False else pictures.sent(block)
    if isinstance(sent, str):
        return TextBlock(f"[An attached image{_named(block)} is not shown to you: {sent}.]")
    return sent


def _with_media(block: ToolResultBlock, senses: Senses, pictures: PicturesToSend) -> Iterator[list[Any]]:
    shown: list[MediaBlock] = []
    notes: list[str] = []
    for one in block.media:
        sent = _kept_from(one, senses) or (pictures.sent(one) if isinstance(one, ImageBlock) else one)
        if isinstance(sent, str):
            kind = "Image" if isinstance(one, ImageBlock) else "Sound"
            notes.append(f"[{kind}{_named(one)} is not given to you: {sent}.]")
        else:
            shown.append(sent)
    yield from _block(replace(block, text="\n".join([block.text, *notes]), media=()))
    for one in shown:
        for piece in _block(one):
            yield [piece[0], {**piece[1], "call_id": block.call_id}] if piece[0] == "b" else piece


BLIND, DEAF = "this model is not known to see images", "this model is not known to hear sounds"


def _kept_from(media: MediaBlock, senses: Senses) -> str:
    """Why a model does not get what a tool gave, or ""."""
    if isinstance(media, ImageBlock):
        return "" if senses.images else BLIND
    if media.media_type not in HEARD:
        return "models take no sounds of this kind"
    return "" if senses.sounds else DEAF


def _named(media: MediaBlock) -> str:
    return f" “{media.name[:80]}” ({media.media_type})" if media.name else f" ({media.media_type})"


def _block(block: Block) -> Iterator[list[Any]]:
    if isinstance(block, (NoticeBlock, UnknownBlock)):
        return
    if isinstance(block, ReasoningBlock):
        for kind, text in (("reasoning", block.text), ("seal", block.sealed)):
            yield from _in_pieces({"kind": kind, "text": text}) if text else ()
        return
    plain = to_plain(block)
    if isinstance(block, ToolCallBlock):
        block = _as_written(block)
        plain = {"kind": "tool_call", "call_id": block.call_id, "tool": block.tool, **_arguments(block)}
    elif isinstance(block, ToolResultBlock):
        plain = {"kind": "tool_result", "call_id": block.call_id, "tool": block.tool, "text": block.as_read}
    yield from _in_pieces(plain)


def _in_pieces(plain: dict[str, Any]) -> Iterator[list[Any]]:
    long = next((name for name in _LONG if len(plain.get(name) or "") > PIECE), None)
    if long is None:
        yield ["b", plain]
        return
    text = plain[long]
    yield ["b", {**plain, long: text[:PIECE]}]
    for start in range(PIECE, len(text), PIECE):
        yield ["+", long, text[start : start + PIECE]]


def _as_written(block: ToolCallBlock) -> ToolCallBlock:
    """A model gets back the call that it made."""
    if not block.via:
        return block
    return replace(block, tool=block.via, arguments={"ref": block.tool, "args": dict(block.arguments or {})})


def _arguments(block: ToolCallBlock) -> dict[str, Any]:
    """Arguments as a value, or as text where they are long or were no JSON object."""
    if block.arguments is None:
        return {"arguments": None, "raw": block.raw[:PIECE]}
    text = json.dumps(dict(block.arguments))
    if len(text) > ARGUMENTS_INLINE:
        return {"arguments": None, "raw": text, "well_formed": True}
    return {"arguments": dict(block.arguments)}
