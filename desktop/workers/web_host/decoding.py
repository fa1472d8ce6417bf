"""The bytes of a page as text: by what the server says, by its own mark, else as most pages are."""

from __future__ import annotations

import codecs
import re

from desktop.workers.web_host.limits import BODY

_SAID = re.compile(r"charset\s*=\s*[\"']?([\w:.-]{1,40})", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,500}charset\s*=\s*[\"']?([\w:.-]{1,40})", re.IGNORECASE)
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_LATIN = frozenset({"iso8859-1", "ascii", "latin-1"})
_NO_TEXT = frozenset({"utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"})


def decoded(body: bytes, kind: str) -> str:
    """The text. What does not fit a charset is replaced, never refused."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    said = _SAID.search(kind)
    meta = _META.search(body[:2048]) if said is None else None
    name = said[1] if said is not None else meta[1].decode("ascii") if meta is not None else ""
    known = _codec(name)
    if known is not None:
        return body.decode(known, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        in_a_letter = len(body) >= BODY and error.start > len(body) - 4  # it was cut there
        return body.decode("utf-8" if in_a_letter else "cp1252", "replace")


def _codec(name: str) -> str | None:
    """A codec of text by its name; what pages call Latin 1 is Windows' own. None: none that is known."""
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    if not getattr(found, "_is_text_encoding", False) or found.name in _NO_TEXT:
        return None
    return "cp1252" if found.name in _LATIN else found.name
