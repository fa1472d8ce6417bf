"""A message in words, as a screen reader says it: what stands there, not the marks it was written with."""

from __future__ import annotations

from collections.abc import Iterator

from desktop.presenter.transcript.items import (
    AttachmentPart,
    CallsPart,
    GivenPart,
    NoticePart,
    Part,
    PlainPart,
    ReasoningPart,
    ResultPart,
    TextPart,
    ToolPart,
    TranscriptItem,
)
from desktop.ui.transcript.markdown.blocks import Block, split_markdown
from desktop.ui.transcript.markdown.inline import InlineParser
from desktop.ui.transcript.markdown.text import cells_of
from desktop.ui.transcript.pieces.tool_drawing import STATES, calls_words, head_words

LONGEST = 20_000
"""Characters of a message that a screen reader is given."""
_MARKERS = {"☑": "done:", "☐": "to do:"}


def spoken_text(item: TranscriptItem, longest: int = LONGEST) -> str:
    """A message in words: its text, calls with their state, notices; from about ``longest`` characters as written."""
    parser = InlineParser()
    return (item.accessible or "\n".join(_spoken_part(part, parser, longest) for part in item.parts))[:longest]


def _spoken_part(part: Part, parser: InlineParser, longest: int) -> str:
    if isinstance(part, TextPart):
        return _words(part.markdown[:longest], parser)
    if isinstance(part, ToolPart):
        tool, summary = head_words(part)
        return f"Tool call {tool} {summary[:120]}, {STATES[part.state][2]}"
    if isinstance(part, CallsPart):
        return "Tool calls: " + " ".join(calls_words(part.calls))
    if isinstance(part, NoticePart | PlainPart):
        return part.text[:longest]
    if isinstance(part, ResultPart):
        return f"Result {part.name}, {part.facts}"
    if isinstance(part, GivenPart):
        return f"{part.title}, {part.facts}"
    if isinstance(part, AttachmentPart):
        return ", ".join(filter(None, (f"Attachment {part.name}", part.facts)))
    return ", ".join(filter(None, (part.title, part.about))) if isinstance(part, ReasoningPart) else ""


def _words(markdown: str, parser: InlineParser) -> str:
    blocks, references = split_markdown(markdown)
    out = ""
    for block in blocks:
        text = "\n".join(_lines(block, parser, references))
        out += (block.glue if block.part else "\n" if out and text else "") + text
    return out


def _lines(block: Block, parser: InlineParser, references: dict[str, str]) -> Iterator[str]:
    if block.kind == "table":
        rows = block.text.split("\n")
        for row in rows if block.part else [rows[0], *rows[2:]]:  # the second says how columns are set
            yield ", ".join(parser.parse(cell, references)[0] for cell in cells_of(row) if cell)
        return
    if block.kind == "code" and not block.part:
        yield f"Code, {block.info}:" if block.info else "Code:"
    markers = "".join(f"{_MARKERS.get(marker, marker)} " for _, marker in block.markers)
    written = block.kind in ("code", "math")
    text = block.text if written else parser.parse(block.text, references)[0].replace("\u2028", "\n")
    if text or markers:
        yield markers + text
