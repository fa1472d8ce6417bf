"""HTML as a stream of texts and tags, in linear time and without a tree: whatever a page nests, leaves open or repeats.

The parsers of libraries were measured on pages made to hurt: each of them took minutes, ran out of stack, or left text
out without a word.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from desktop.domain.loading.lazy_dataclass import dataclass

TAG_MAX = 16_384
"""Characters of one tag; what is longer is none."""
_NAME = re.compile(r"[a-zA-Z][^\s/>]{0,63}")
_REST = re.compile(r"""(?:[^<>"']|"[^"]*"|'[^']*')*+>""")
_LOOSE = re.compile(r"[^<>]*>")
_ATTRIBUTE = re.compile(
    r"""(?P<name>[^\s=/>"']+)(?:\s*=\s*(?:"(?P<two>[^"]*)"|'(?P<one>[^']*)'|(?P<bare>[^\s>"']+)))?"""
)
_WANTED = frozenset("href src alt start charset title value type style class id hidden color bgcolor".split())
RAW = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript"})
"""Elements whose content is text up to their own end."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag; ``raw`` is the text up to its end where that is no markup."""

    name: str
    closing: bool = False
    attributes: tuple[tuple[str, str], ...] = ()
    raw: str = ""

    def get(self, name: str) -> str:
        """An attribute, or ""."""
        return next((value for known, value in self.attributes if known == name), "")

    def has(self, name: str) -> bool:
        """Whether it has an attribute, with a value or without."""
        return any(known == name for known, _ in self.attributes)


def tags(source: str) -> Iterator[str | Tag]:
    """The texts, entities resolved, and the tags. Comments are left out."""
    at, size = 0, len(source)
    while at < size:
        found = source.find("<", at)
        if found < 0:
            yield html.unescape(source[at:])
            return
        if found > at:
            yield html.unescape(source[at:found])
        end, tag = _markup(source, found)
        if tag is not None:
            yield tag
        if end == found:  # no markup: a plain <
            yield "<"
            end += 1
        at = end


def _markup(source: str, at: int) -> tuple[int, Tag | None]:
    """Where the markup that begins here ends, and its tag if it is one; the same place: it is none."""
    if source.startswith("<!--", at):
        return _after(source, "-->", at + 4), None
    following = source[at + 1 : at + 2]
    if following in ("!", "?"):
        return _after(source, ">", at + 1), None
    closing = following == "/"
    name = _NAME.match(source, at + 1 + closing)
    if name is None:
        return at, None
    limit = min(len(source), at + TAG_MAX)
    rest = _REST.match(source, name.end(), limit) or _LOOSE.match(source, name.end(), limit)
    if rest is None:
        return at, None
    word = name[0].lower()
    if closing:
        return rest.end(), Tag(word, closing=True)
    attributes = tuple(_attributes(rest[0])) if len(rest[0]) > 2 else ()
    if word not in RAW:
        return rest.end(), Tag(word, attributes=attributes)
    close = re.compile(rf"</{re.escape(word)}(?=[\s/>])", re.IGNORECASE).search(source, rest.end())
    raw = source[rest.end() : close.start() if close is not None else len(source)]
    end = _after(source, ">", close.end()) if close is not None else len(source)
    return end, Tag(word, attributes=attributes, raw=raw)


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    for found in _ATTRIBUTE.finditer(text):
        name = found["name"].lower()
        if name in _WANTED:
            yield name, html.unescape(found["two"] or found["one"] or found["bare"] or "")


def _after(source: str, mark: str, at: int) -> int:
    found = source.find(mark, at)
    return len(source) if found < 0 else found + len(mark)
