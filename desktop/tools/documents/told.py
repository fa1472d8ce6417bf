"""What of a document a model reads: its parts with their names, and in the end how to read on."""

from __future__ import annotations

import base64

from desktop.domain.files.documents import DocumentAbout, DocumentText, amount_of
from desktop.domain.messages import ImageBlock

NO_TEXT = "[There is no text here.]"


def told(name: str, about: DocumentAbout, text: DocumentText, line: int = 1) -> str:
    """The parts, each below its name."""
    pieces = []
    for number, (part, words) in enumerate(text.parts):
        went_on = f" (from {'row' if about.unit == 'sheet' else 'line'} {line})" if number == 0 and line > 1 else ""
        pieces.append(f"## {about.label(name, part)}{went_on}\n\n{words or _nothing(part, text)}")
    return "\n\n".join(pieces)


def _nothing(part: int, text: DocumentText) -> str:
    return "[A picture without text, from a scanner, say.]" if part in text.scans else NO_TEXT


def how_on(about: DocumentAbout, text: DocumentText, last: int) -> str:
    """What is not here, and how it is asked for; "" where nothing is missing."""
    if not text.next_part:
        return f"the document has {about.amount()}" if last < about.count else ""
    line = f", offset {text.next_line}" if text.next_line > 1 else ""
    own = about.names[text.next_part - 1] if about.unit == "sheet" and text.next_part <= len(about.names) else ""
    pages = own if own and text.next_line > 1 else f"{text.next_part}-{about.count}"
    rest = amount_of(about.count - text.next_part + (text.next_line == 1), about.unit)
    left = f"{rest} not shown yet" if text.next_line == 1 else f"this {about.unit} goes on"
    return f'the document has {about.amount()}; {left}; go on with pages "{pages}"{line}'


def how_cited(name: str, about: DocumentAbout) -> str:
    """How an answer names a place in it."""
    return f"Name places as “{about.example(name)}”, so that the person can open them."


def notes_of(about: DocumentAbout) -> str:
    """What else is to be known of it."""
    return " ".join(about.notes)


def as_image(png: bytes, name: str) -> ImageBlock:
    """A page that was drawn, as an image with its name."""
    return ImageBlock("image/png", base64.b64encode(png).decode("ascii"), name)
