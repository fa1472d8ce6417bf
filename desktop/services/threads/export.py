"""A thread as a file: Markdown to read, JSON to process, HTML to hand on (nothing in it loads or runs)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from desktop.domain.errors import ConfigurationError
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
    to_plain,
    usage_to_plain,
)
from desktop.domain.threads import MessageRecord, ThreadRecord
from desktop.services.threads.export_html import as_html, thinking_title

FORMAT = 1


def render(
    thread: ThreadRecord, messages: Sequence[MessageRecord], fmt: str, mask: Callable[[str], str] = lambda text: text
) -> bytes:
    """The bytes of the file. ``fmt``: md | json | html; ``mask`` takes known secrets out of the whole."""
    forms: Mapping[str, Callable[[ThreadRecord, Sequence[MessageRecord]], str]] = {
        "md": as_markdown,
        "json": as_json,
        "html": as_html,
    }
    form = forms.get(fmt)
    if form is None:
        raise ConfigurationError(f"There is no export format {fmt!r}.", next_step="Choose md, json or html.")
    return mask(form(thread, messages)).encode("utf-8", "replace")


def as_json(thread: ThreadRecord, messages: Sequence[MessageRecord]) -> str:
    """Everything that the path holds; ``format`` grows when its meaning changes."""
    data = {
        "format": FORMAT,
        "thread": {
            "id": thread.thread_id,
            "title": thread.title,
            "agent": thread.agent,
            "model": thread.model,
            "created_at": thread.created_at,
            "updated_at": thread.updated_at,
            "usage": usage_to_plain(thread.usage),
        },
        "messages": [message_plain(message) for message in messages],
    }
    return json.dumps(data, ensure_ascii=False, indent=2, default=_plain) + "\n"


def message_plain(message: MessageRecord) -> dict[str, Any]:
    """A message as JSON values."""
    return {
        "id": message.message_id,
        "parent": message.parent_id,
        "role": message.role,
        "side": message.side,
        "author": message.author,
        "model": message.model,
        "created_at": message.created_at,
        "status": message.status,
        "stop_reason": message.stop_reason,
        "usage": usage_to_plain(message.usage) if message.usage else None,
        "blocks": [to_plain(block) for block in message.blocks],
    }


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def as_markdown(thread: ThreadRecord, messages: Sequence[MessageRecord]) -> str:
    """Headings for who speaks, texts as they are, calls and results in fences that they cannot leave."""
    parts = [f"# {thread.title or 'Chat'}", f"*{_moment(thread.created_at)}, {thread.model or 'no model'}*"]
    speaker = ""
    for message in messages:
        who = "You" if message.role == "user" else thread.agent.replace("_", " ").capitalize()
        if message.role != "tool" and who != speaker:
            parts.append(f"## {who}")
            speaker = who
        parts.extend(text for block in message.blocks if (text := block_text(block)))
    return "\n\n".join(parts) + "\n"


def block_text(block: Block) -> str:
    """A part of a message as Markdown."""
    if isinstance(block, TextBlock):
        return block.text.strip()
    if isinstance(block, ReasoningBlock):
        return "\n".join(f"> {line}" for line in [f"*{thinking_title(block)}*", "", *block.text.strip().splitlines()])
    if isinstance(block, ToolCallBlock):
        shown = block.raw if block.arguments is None else _pretty(block.arguments)
        return f"**Calls `{_name(block.tool)}`**\n\n{fence(shown, 'json')}"
    if isinstance(block, ToolResultBlock):
        return f"**{'Failed' if block.is_error else 'Result'} of `{_name(block.tool)}`**\n\n{fence(block.text)}"
    if isinstance(block, NoticeBlock):
        return f"> **Note:** {block.text} {block.next_step}".rstrip()
    if isinstance(block, GivenBlock):
        of = _name(block.uri or block.prompt)
        return f"**From `{_name(block.server)}`: `{_name(block.name)}`** (`{of}`)\n\n{fence(block.text)}"
    if isinstance(block, FileBlock):
        return f"**File `{_name(block.name)}`**\n\n{fence(block.text)}"
    if isinstance(block, ImageBlock):
        return f"*[image `{_name(block.name or block.media_type)}`]*"
    if isinstance(block, AudioBlock):
        return f"*[sound `{_name(block.name or block.media_type)}`]*"
    return "*[a part written by another version of Assent]*"


def _name(text: str) -> str:
    """A name as code in a line, which it cannot end."""
    return " ".join(text.replace("`", "'").split())


def _pretty(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), ensure_ascii=False, indent=2, default=_plain)


def fence(text: str, language: str = "") -> str:
    """A fenced block that ends only at its own end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def _moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
