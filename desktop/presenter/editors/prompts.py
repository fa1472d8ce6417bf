"""What a person says in an editor, as a message of a thread: text, files that travel with it, images; all of it capped.

The editor's blocks are data of a stranger: a name is a name, and a path only a word that an agent may try to read,
through the boundary, like any other.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

from desktop.domain.files.pictures import PictureOpener
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block, FileBlock
from desktop.domain.text.hidden_characters import has_hidden, without_hidden
from desktop.presenter.chat.attachments import COUNT_LIMIT, PASTED, AttachmentRefused, attached, opened_pictures
from desktop.presenter.common.shown import shown_line

MAX_TEXT = 1_000_000
"""Characters that a person says at once."""
MAX_BLOCKS = 500
MAX_NAME = 200
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message of a person."""

    text: str
    blocks: tuple[Block, ...] = ()


async def opened_prompt(pictures: PictureOpener, given: Any) -> Prompt:
    """A message with its pictures opened. Raises AttachmentRefused."""
    said = await asyncio.to_thread(read_prompt, given)
    return replace(said, blocks=await opened_pictures(pictures, said.blocks))


def read_prompt(given: Any) -> Prompt:
    """Blocks. Decodes images: use a thread for large ones. Raises AttachmentRefused with what is wrong with them."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise AttachmentRefused("The editor sent no message.")
    if len(given) > MAX_BLOCKS:
        raise AttachmentRefused(f"The message has {len(given):,} parts; {MAX_BLOCKS} are the most.")
    texts: list[str] = []
    blocks: list[Block] = []
    for one in given:
        found = _read(one if isinstance(one, Mapping) else {})
        if isinstance(found, str):
            texts.append(found)
        else:
            blocks.append(found)
    text = "".join(texts)
    if len(text) > MAX_TEXT:
        raise AttachmentRefused(f"The message has {len(text):,} characters; {MAX_TEXT:,} are the most.")
    if len(blocks) > COUNT_LIMIT:
        raise AttachmentRefused(f"The message has {len(blocks):,} attachments; {COUNT_LIMIT} are the most.")
    if not text.strip() and not blocks:
        raise AttachmentRefused("The message is empty.")
    return Prompt(text, tuple(blocks))


def _read(one: Mapping[str, Any]) -> str | Block:
    kind = one.get("type")
    if kind == "text":
        return _whole(one.get("text"))
    if kind == "link":
        return mention(_whole(one.get("uri")), _whole(one.get("name")))
    name = _name(
        _whole(one.get("name")) or path_of(_whole(one.get("uri"))) or (PASTED if kind == "data" else "attachment")
    )
    if kind == "file":
        text = _whole(one.get("text"))
        attached(name, text.encode())  # the same limits as for a file that is attached in the window
        return FileBlock(name, text)
    if kind == "data":
        return _decoded(name, one.get("data"))
    raise AttachmentRefused(f"The editor sent something that Assent does not take ({shown_line(str(kind))[:40]}).")


def _decoded(name: str, data: Any) -> Block:
    try:
        content = base64.b64decode(data if isinstance(data, str) else "", validate=True)
    except (binascii.Error, ValueError):
        raise AttachmentRefused(f"“{name}” cannot be decoded.") from None
    if not content:
        raise AttachmentRefused(f"“{name}” is empty.")
    return attached(name, content)


def mention(uri: str, name: str = "") -> str:
    """A link in the words of a message: ``@/path`` of a file, else what it is called and where it leads."""
    if path := path_of(uri):
        return f"@{path} "
    return f"{shown_line(name)[:MAX_NAME]} ({shown_line(uri)[: 10 * MAX_NAME]}) ".lstrip()


def path_of(uri: str) -> str:
    """The path that a ``file:`` address of this computer names, or ""."""
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="strict")
    except ValueError:
        return ""
    here = parts.scheme == "file" and parts.netloc in ("", "localhost")
    odd = has_hidden(path) or "\n" in path or "\t" in path or _SURROGATE.search(path)
    return path if here and path.startswith("/") and not odd else ""


def _whole(text: Any) -> str:
    """The text with a mark where it has half a character, which nothing could store."""
    return _SURROGATE.sub("\ufffd", text) if isinstance(text, str) else ""


def _name(text: str) -> str:
    shown = " ".join(without_hidden(text).split())
    return shown if len(shown) <= MAX_NAME else f"…{shown[-MAX_NAME:]}"


def plain_name(text: Any, usual: str) -> str:
    """A short name that a stranger gave, as it may stand in a list."""
    shown = " ".join(without_hidden(_whole(text)).split())[:40].strip()
    return shown or usual
