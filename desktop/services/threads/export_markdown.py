"""Foreign text inside a Markdown file: readable as the Markdown that it is, and it cannot leave its place.

Each text is a quotation: headings, lists and fences in it belong to it and end with it, so it forges nothing that the
file says itself. Nothing in it becomes HTML, and no picture is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPENS = re.compile(r"(?P<mark>`{3,})[^`]*$|(?P<wave>~{3,})")
"""A fence without indentation: others may stand in a list, and end with it, so what is in them is escaped as well."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def contained(text: str) -> str:
    """A text of a model, a tool or a person as a quotation; "" for none."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return "\n".join(f"> {line}".rstrip() for line in _lines(text)) if text else ""


def plain_line(text: str) -> str:
    """One line of the file's own with foreign words in it: no HTML, no picture, no end of a table's cell."""
    return harmless(" ".join(text.split())).replace("<", "&lt;").replace("|", "\\|")


def harmless(line: str) -> str:
    """Without what would begin HTML or load a picture."""
    return _TAG.sub("&lt;", line).replace("![", "!\\[")


def _lines(text: str) -> Iterator[str]:
    """Code in fences stays as it is, letter for letter; a fence that is left open is closed."""
    fence = ""
    for line in text.split("\n"):
        if fence:
            yield line
            if _closes(line, fence):
                fence = ""
            continue
        begun = _OPENS.match(line)
        fence = (begun["mark"] or begun["wave"]) if begun is not None else ""
        yield line if fence else harmless(line)
    if fence:
        yield fence


def _closes(line: str, fence: str) -> bool:
    """Up to three blanks before it, as many marks or more, nothing behind."""
    bare = line.strip(" \t")
    indented = line[: len(line) - len(line.lstrip(" \t"))]
    return len(bare) >= len(fence) and not bare.strip(fence[0]) and "\t" not in indented and len(indented) < 4
