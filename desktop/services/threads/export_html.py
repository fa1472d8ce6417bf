"""A thread as one HTML file: everything escaped, no script, no address that anything is loaded from (R-UI-9)."""

from __future__ import annotations

import base64
import binascii
import json
import re
import time
from collections.abc import Sequence

from desktop.domain.messages import (
    AudioBlock,
    Block,
    FileBlock,
    GivenBlock,
    ImageBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop.domain.text.markup import escape
from desktop.domain.threads import MessageRecord, ThreadRecord

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_FENCE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)(?:^\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
p { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8884; border-radius: 8px; font-size: .875rem; }
details { border: 1px solid #8884; border-radius: 8px; padding: .5rem .75rem; margin: .5rem 0; }
details pre { border: 0; padding: .5rem 0; } .note { border-left: 3px solid #c80; padding-left: .75rem; }
.quiet { opacity: .7; } img { max-width: 100%; }
"""


def as_html(thread: ThreadRecord, messages: Sequence[MessageRecord]) -> str:
    """The thread as one self-contained HTML page."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(thread.created_at))
    body: list[str] = [f'<p class="quiet">{when}, {escape(thread.model or "no model")}</p>']
    speaker = ""
    for message in messages:
        who = "You" if message.role == "user" else thread.agent.replace("_", " ").capitalize()
        if message.role != "tool" and who != speaker:
            body.append(f"<h2>{escape(who)}</h2>")
            speaker = who
        body.extend(block_html(block) for block in message.blocks)
    return page(thread.title or "Chat", body)


def page(title: str, body: Sequence[str]) -> str:
    """A whole page around escaped parts; the title is escaped here."""
    shown = escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{shown}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{shown}</h1>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def thinking_title(block: ReasoningBlock) -> str:
    """``Thinking, 12 s``; what a model wants back with it is for nobody to read."""
    took = f", {block.seconds:.0f} s" if block.seconds >= 0.5 else ""
    return f"Thinking{took}" if block.text else f"Thinking{took}, not shown by the model"


def block_html(block: Block) -> str:
    """A part of a message."""
    if isinstance(block, TextBlock):
        return _text(block.text)
    if isinstance(block, ReasoningBlock):
        return _folded(thinking_title(block), f"<p>{escape(block.text)}</p>")
    if isinstance(block, ToolCallBlock):
        shown = block.raw if block.arguments is None else json.dumps(dict(block.arguments), indent=2, default=str)
        return _folded(f"Calls {block.tool}", _pre(shown))
    if isinstance(block, ToolResultBlock):
        return _folded(f"{'Failed' if block.is_error else 'Result'} of {block.tool}", _pre(block.text))
    if isinstance(block, NoticeBlock):
        return f'<p class="note">{escape(f"{block.text} {block.next_step}".strip())}</p>'
    if isinstance(block, GivenBlock):
        return _folded(f"From {block.server}: {block.name} ({block.uri or block.prompt})", _pre(block.text))
    if isinstance(block, FileBlock):
        return _folded(f"File {block.name}", _pre(block.text))
    if isinstance(block, ImageBlock):
        return _image(block)
    if isinstance(block, AudioBlock):
        return f'<p class="quiet">[sound {escape(block.name or block.media_type)}]</p>'
    return '<p class="quiet">[a part written by another version of Assent]</p>'


def _text(text: str) -> str:
    """Fenced code as such, inline code marked, everything else as it was written."""
    pieces: list[str] = []
    at = 0
    for match in _FENCE.finditer(text):
        pieces.append(_prose(text[at : match.start()]))
        pieces.append(_pre(match[2]))
        at = match.end()
    pieces.append(_prose(text[at:]))
    return "\n".join(piece for piece in pieces if piece)


def _prose(text: str) -> str:
    stripped = text.strip("\n")
    marked = _CODE.sub(r"<code>\1</code>", escape(stripped))
    return f"<p>{marked}</p>" if stripped.strip() else ""


def _pre(text: str) -> str:
    return f"<pre>{escape(text.rstrip())}</pre>"


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def _image(block: ImageBlock) -> str:
    try:
        data = base64.b64encode(base64.b64decode(block.data, validate=True)).decode()
    except (binascii.Error, ValueError):
        data = ""
    if block.media_type not in _IMAGES or not data:
        return f'<p class="quiet">[image {escape(block.name or "without a name")}]</p>'
    return f'<img alt="{escape(block.name)}" src="data:{block.media_type};base64,{data}">'
