"""XML without entities, external parts, or more depth and size than a document has: a stream of elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO
from xml.parsers import expat

from desktop.workers.document_host import limits
from desktop.workers.inside import CallError

BLOCK = 64 * 1024
TEXT = "#text"
Start = Callable[[str, dict[str, str]], None]
End = Callable[[str], None]
Text = Callable[[str], None]


class Element:
    """An element with all that is in it. Names are without their namespace."""

    __slots__ = ("attributes", "children", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[Element] = []
        self.text = ""
        """What stands in it before its first child. Text after a child is a child, too, by the name ``TEXT``."""

    def get(self, name: str, default: str = "") -> str:
        """An attribute."""
        return self.attributes.get(name, default)

    def first(self, *path: str) -> Element | None:
        """The first child by this name, and so on downwards."""
        found: Element | None = self
        for name in path:
            found = next((child for child in found.children if child.name == name), None) if found else None
        return found

    def all(self, name: str) -> list[Element]:
        """The children by this name."""
        return [child for child in self.children if child.name == name]

    def walk(self) -> Iterator[Element]:
        """It and everything below, in the order of the document."""
        waiting = [self]
        while waiting:
            found = waiting.pop()
            yield found
            waiting.extend(reversed(found.children))

    def words(self, *names: str) -> str:
        """The text of all elements below by these names."""
        return "".join(one.text for one in self.walk() if one.name in names)


class _ShortNames(dict[str, str]):
    """Names without their namespace."""

    def __missing__(self, name: str) -> str:
        short = self[name] = name.rpartition("}")[2]
        return short


class XmlParser:
    """Is fed XML block by block and tells what comes. Raises CallError for what no document has, and for what is no
    XML."""

    def __init__(self, start: Start, end: End, text: Text) -> None:
        self._start, self._end = start, end
        self._names = _ShortNames()
        self._depth = 0
        parser = self._parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.EntityDeclHandler = parser.UnparsedEntityDeclHandler = _refuse
        parser.StartElementHandler, parser.EndElementHandler = self._begun, self._ended
        parser.CharacterDataHandler = text

    def feed(self, block: bytes) -> None:
        """The next block; an empty one is the end."""
        try:
            self._parser.Parse(block, not block)
        except expat.ExpatError as error:
            raise CallError("document.broken", f"A part of it is no XML (line {error.lineno}).") from None

    def _begun(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > limits.DEPTH:
            raise CallError("document.too_deep", f"It nests more than {limits.DEPTH} elements; it was not read.")
        self._start(self._names[name], self._plain(attributes) if attributes else attributes)

    def _ended(self, name: str) -> None:
        self._depth -= 1
        self._end(self._names[name])

    def _plain(self, attributes: dict[str, str]) -> dict[str, str]:
        """Without namespaces; one that has a namespace counts more than one without: ``r:id`` more than ``id``."""
        spaced = {self._names[key]: value for key, value in attributes.items() if "}" in key}
        return {**attributes, **spaced} if spaced else attributes


def _refuse(*_: object) -> None:
    raise CallError("document.entities", "It declares entities, which no document needs; it was not read.")


def stream(source: BinaryIO, start: Start, end: End, text: Text) -> None:
    """Read XML whole and tell what comes. Raises CallError."""
    parser = XmlParser(start, end, text)
    while block := source.read(BLOCK):
        parser.feed(block)
    parser.feed(b"")


def outermost(source: BinaryIO) -> str:
    """The name of the outermost element, or ""."""
    names: list[str] = []
    parser = XmlParser(lambda name, _: names.append(name), lambda _: None, lambda _: None)
    parser.feed(source.read(BLOCK) or b" ")
    return names[0] if names else ""


def tree(source: BinaryIO) -> Element:
    """All of a small part."""
    root = Element("", {})
    for_each(source, root.children.append, depth=0)
    return root.children[0] if root.children else root


def for_each(source: BinaryIO, take: Callable[[Element], None], *, depth: int, mixed: bool = False) -> None:
    """``take`` gets each element that lies so deep, whole, one after the other; 0: the outermost. ``mixed``: text after
    a child counts, too."""
    builder = Builder(take, depth, mixed)
    stream(source, builder.start, builder.end, builder.text)


class Builder:
    """Puts elements together."""

    def __init__(self, take: Callable[[Element], None], depth: int, mixed: bool) -> None:
        self._take, self._depth, self._mixed = take, depth, mixed
        self._above = self._count = 0
        self._open: list[Element] = []

    @property
    def is_inside(self) -> bool:
        """Whether it is inside of an element that is taken."""
        return bool(self._open)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        if self._above < self._depth and not self._open:
            self._above += 1
            return
        self._count += 1
        if self._count > limits.NODES:
            raise CallError("document.too_large", "It holds more elements than can be read.")
        element = Element(name, attributes)
        if self._open:
            self._open[-1].children.append(element)
        self._open.append(element)

    def end(self, _: str) -> None:
        """One ends."""
        if not self._open:
            self._above -= 1
            return
        element = self._open.pop()
        if not self._open:
            self._count = 0
            self._take(element)

    def text(self, words: str) -> None:
        """Text of the innermost one."""
        if not self._open:
            return
        inner = self._open[-1]
        if not inner.children:
            inner.text += words
        elif self._mixed:
            after = Element(TEXT, {})
            after.text = words
            inner.children.append(after)
