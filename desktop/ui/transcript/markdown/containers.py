"""The containers that are open while Markdown is split: quotes and list items around the one open leaf."""

from __future__ import annotations

import copy
from typing import Self

from desktop.ui.transcript.markdown.inline_html import note_mark
from desktop.ui.transcript.markdown.leaves import Leaf, Markers, ParagraphLeaf, Path
from desktop.ui.transcript.markdown.model import DEEPEST, Block, ContainerKind
from desktop.ui.transcript.markdown.text import BULLET, FOOTNOTE, ORDERED, RULE, indent_of, strip_columns

FOOTNOTE_INDENT = 4
"""Columns by which the further paragraphs of a footnote are set in."""


class Container:
    """A quote or a list item that is open. ``numbering`` belongs to the lists directly inside it."""

    __slots__ = ("empty", "ident", "indent", "kind", "marker", "numbering")

    def __init__(self, kind: ContainerKind, ident: int, indent: int = 0, marker: str = "", empty: bool = False) -> None:
        self.kind, self.ident, self.indent, self.marker, self.empty = kind, ident, indent, marker, empty
        self.numbering: tuple[str, int] | None = None


class Containers:
    """The state between lines, as far as it does not depend on what a line means."""

    def __init__(self) -> None:
        self.references: dict[str, str] = {}
        self._root = Container("quote", 0)
        self._open: list[Container] = []
        self._leaf: Leaf | None = None
        self._out: list[Block] = []
        self._blank_before = False
        self._idents = 0
        self._column = 0  # where what is left of the line begins: tabs count from the line's start

    def clone(self: Self) -> Self:
        """A copy to try something on."""
        other = copy.copy(self)
        other.references = dict(self.references)
        other._root = copy.copy(self._root)
        other._open = [copy.copy(container) for container in self._open]
        other._leaf = self._leaf.clone() if self._leaf else None
        other._out = []
        return other

    def collect(self) -> list[Block]:
        done, self._out = self._out, []
        return done

    def close_all(self) -> None:
        self._settle(0)

    def extend(self, text: str) -> None:
        """More of a long line."""
        if self._leaf is not None and text:
            self._out += self._leaf.extend(text)

    def _match(self, line: str) -> tuple[int, str]:
        """How many open containers the line continues, and what is left of it."""
        self._column = 0
        for depth, container in enumerate(self._open):
            indent = indent_of(line, self._column)
            if container.kind == "quote":
                text = line.lstrip(" \t")
                if indent > 3 or not text.startswith(">"):
                    return depth, line
                line = self._in_quote(indent, text)
            elif not line.strip():
                if container.empty:
                    return depth, line
                line = self._skip(line, container.indent)
            elif indent >= container.indent:
                container.empty = False
                line = self._skip(line, container.indent)
            else:
                return depth, line
        return len(self._open), line

    def _in_quote(self, indent: int, text: str) -> str:
        """What follows the ``>``, and the blank that belongs to it."""
        self._column += indent + 1
        return self._skip(text[1:], 1) if text[1:2] in (" ", "\t") else text[1:]

    def _skip(self, rest: str, columns: int) -> str:
        """Without some columns of white space; the rest begins so many columns further right."""
        rest = strip_columns(rest, columns, self._column)
        self._column += columns
        return rest

    # ----------------------------------------------------------------------------------------------------- containers

    def _open_container(self, depth: int, rest: str, paragraph: ParagraphLeaf | None) -> str | None:
        """Opens a quote or an item if the line starts one; returns what is left of the line."""
        indent, text = indent_of(rest, self._column), rest.lstrip(" \t")
        if indent > 3 or depth >= DEEPEST:
            return None
        if text.startswith(">"):
            self._settle(depth)
            self._parent(depth).numbering = None
            self._push("quote")
            return self._in_quote(indent, text)
        if (note := FOOTNOTE.match(text)) is not None:
            self._settle(depth)
            self._parent(depth).numbering = None
            self._push("item", FOOTNOTE_INDENT, note_mark(note[1]))
            self._column += indent + note.end()
            after = text[note.end() :]
            return self._skip(after, indent_of(after, self._column))
        match = BULLET.match(text) or ORDERED.match(text)
        if match is None or RULE.match(text):
            return None
        after = text[match.end() :]
        if paragraph is not None and (not after.strip() or (match[0][0].isdigit() and int(match[1]) != 1)):
            return None
        self._settle(depth)
        return self._push_item(depth, indent, match[0], after)

    def _push_item(self, depth: int, indent: int, marker: str, after: str) -> str:
        self._column += indent + len(marker)
        gap = indent_of(after, self._column)
        empty = not after.strip()
        gap = 1 if empty or gap > 4 else gap
        parent, kind = self._parent(depth), marker[-1]
        number = int(marker[:-1]) if marker[0].isdigit() else 0
        if parent.numbering is not None and parent.numbering[0] == kind:
            number = parent.numbering[1]
        parent.numbering = (kind, number + 1)
        shown = f"{number}{kind}" if marker[0].isdigit() else "•"
        self._push("item", indent + len(marker) + gap, shown, empty)
        return self._skip(after, gap)

    def _parent(self, depth: int) -> Container:
        return self._open[depth - 1] if depth else self._root

    def _push(self, kind: ContainerKind, indent: int = 0, marker: str = "", empty: bool = False) -> None:
        self._idents += 1
        self._open.append(Container(kind, self._idents, indent, marker, empty))

    def _settle(self, depth: int) -> None:
        """Closes the leaf and the containers inside ``depth``; an item that stayed empty still shows its marker."""
        self._close_leaf()
        if any(container.marker for container in self._open[depth:]):
            path, markers = self._address(len(self._open))
            self._out += ParagraphLeaf(path, markers, self._blank_before).close(self.references)
        del self._open[depth:]

    def _close_leaf(self) -> None:
        if self._leaf is not None:
            self._out += self._leaf.close(self.references)
            self._leaf = None

    def _address(self, depth: int) -> tuple[Path, Markers]:
        path = tuple((container.kind, container.ident) for container in self._open[:depth])
        markers = []
        for index, container in enumerate(self._open[:depth]):
            if container.marker:
                markers.append((index, container.marker))
                container.marker = ""
        return path, tuple(markers)

    def _place(self, depth: int) -> tuple[Path, Markers, bool]:
        """Closes what a new leaf at ``depth`` ends; returns where the leaf stands."""
        self._settle(depth)
        self._parent(depth).numbering = None
        return (*self._address(depth), self._blank_before)
