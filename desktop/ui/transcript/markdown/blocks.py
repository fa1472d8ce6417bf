"""Splits Markdown into blocks while it streams: CommonMark's block structure as a state machine, without Qt.

``MarkdownSplitter.feed`` returns blocks that can no longer change, ``tail`` the blocks that are still open, ``finish``
the rest. Feeding a text in any pieces gives the blocks that feeding it whole gives. Raw HTML is text (R-UI-9).
"""

from __future__ import annotations

from desktop.ui.transcript.markdown.containers import Containers
from desktop.ui.transcript.markdown.leaves import Code, Comment, Math, ParagraphLeaf, Table
from desktop.ui.transcript.markdown.model import LONG_LINE, Block
from desktop.ui.transcript.markdown.text import (
    ATX,
    BULLET,
    DELIMITERS,
    ESCAPED_BRACKET,
    FENCE,
    ORDERED,
    RULE,
    SETEXT,
    UNDECIDED,
    alignments,
    cells_of,
    indent_of,
    strip_columns,
)

__all__ = ["Block", "MarkdownSplitter", "split_markdown"]


class MarkdownSplitter:
    """Splits Markdown into blocks as the text comes."""

    def __init__(self) -> None:
        self._core = _Core()
        self._pending = ""
        self._inside_line = False
        self._half_newline = False

    @property
    def references(self) -> dict[str, str]:
        """Link definitions found so far: label -> source of the definition."""
        return self._core.references

    def feed(self, delta: str) -> list[Block]:
        """Take more text; returns the blocks that it closed."""
        text = self._plain_newlines(delta)
        *lines, rest = text.split("\n")
        for line in lines:
            self._add(line)
            self._end_line()
        self._add(rest)
        return self._core.collect()

    def _plain_newlines(self, delta: str) -> str:
        if self._half_newline:
            delta = "\r" + delta
        self._half_newline = delta.endswith("\r")
        if self._half_newline:
            delta = delta[:-1]
        if "\r" in delta:
            delta = delta.replace("\r\n", "\n").replace("\r", "\n")
        return delta.replace("\0", "\ufffd")

    def _add(self, text: str) -> None:
        if self._inside_line:
            self._core.extend(text)
            return
        self._pending += text
        if len(self._pending) >= LONG_LINE:
            line, self._pending = self._pending, ""
            self._core.line(line[:LONG_LINE], long=True)
            self._core.extend(line[LONG_LINE:])
            self._inside_line = True

    def _end_line(self) -> None:
        if not self._inside_line:
            self._core.line(self._pending)
            self._pending = ""
        self._inside_line = False

    def tail(self) -> list[Block]:
        """The open blocks as they would be if the text ended here; a line that is not decided yet is left out."""
        probe = self._core.clone()
        if self._pending and not probe.undecided(self._pending):
            probe.line(self._pending)
        probe.close_all()
        return probe.collect()

    def finish(self) -> list[Block]:
        """The text has ended: returns the last blocks."""
        if self._half_newline:
            self._half_newline = False
            self._end_line()
        elif self._pending:
            self._end_line()
        self._core.close_all()
        return self._core.collect()


def split_markdown(text: str) -> tuple[list[Block], dict[str, str]]:
    """All blocks of a whole text, and its link definitions."""
    splitter = MarkdownSplitter()
    blocks = splitter.feed(text)
    blocks += splitter.finish()
    return blocks, splitter.references


class _Core(Containers):
    """Takes lines and decides what they mean."""

    def undecided(self, line: str) -> bool:
        """Whether the start of a line could still become something quite different."""
        if isinstance(self._leaf, Code) and self._leaf.fence:
            text = line.strip(" >\t")
            return bool(text) and text == self._leaf.fence[0] * len(text)
        return UNDECIDED.match(line) is not None

    def line(self, line: str, *, long: bool = False) -> None:
        """One line without its end. ``long``: more of it follows through ``extend``."""
        depth, rest = self._match(line)
        direct = depth == len(self._open)
        if direct and self._verbatim(rest, long):
            return
        if not rest.strip():
            self._blank(depth, rest)
            if long:
                self._text(depth, "", None)
            return
        self._start(depth, rest, direct, long)
        self._blank_before = False

    def _verbatim(self, rest: str, long: bool) -> bool:
        """Inside a fence or a formula nothing else counts."""
        leaf = self._leaf
        if isinstance(leaf, Code) and leaf.fence:
            if indent_of(rest, self._column) <= 3 and not long and leaf.closes(rest):
                self._close_leaf()
            else:
                self._out += leaf.take(strip_columns(rest, leaf.indent, self._column))
            return True
        if isinstance(leaf, Comment):
            if long or leaf.is_text(rest):
                self._is_text(leaf, leaf.text)
                return False
            if "-->" in rest:
                self._leaf = None
            else:
                leaf.take(rest)
            return True
        if isinstance(leaf, Math):
            if leaf.is_text(rest) or long:
                self._is_text(leaf, leaf.source())
                return False
            if leaf.closes(rest):
                self._out.append(leaf.finish(rest))
                self._leaf = None
            else:
                leaf.take(rest)
            return True
        return False

    def _is_text(self, leaf: Math | Comment, source: str) -> None:
        paragraph = ParagraphLeaf(leaf.path, leaf.markers, leaf.loose)
        self._leaf = paragraph
        self._out += paragraph.take(source)

    def _blank(self, depth: int, rest: str) -> None:
        self._blank_before = True
        if isinstance(self._leaf, Code) and depth == len(self._open):
            self._out += self._leaf.take(strip_columns(rest, 4, self._column))
            return
        self._close_leaf()
        self._settle(depth)

    def _start(self, depth: int, rest: str, direct: bool, long: bool) -> None:
        leaf = self._leaf
        if direct and isinstance(leaf, Code) and indent_of(rest, self._column) >= 4:
            self._out += leaf.take(strip_columns(rest, 4, self._column))
            return
        if direct and isinstance(leaf, Table) and not long and not self._interrupts(rest):
            self._out += leaf.take(rest)
            return
        paragraph = leaf if isinstance(leaf, ParagraphLeaf) else None
        while (inner := self._open_container(depth, rest, paragraph if direct else None)) is not None:
            rest, depth = inner, depth + 1
            paragraph, direct = None, True
            if not rest.strip():
                return
        if not long and self._structure(depth, rest, paragraph, direct):
            return
        self._text(depth, rest, paragraph)

    def _interrupts(self, rest: str) -> bool:
        """Whether a line under a table starts another block."""
        text = rest.lstrip(" \t")
        patterns = (ATX, RULE, FENCE, BULLET, ORDERED)
        return (
            indent_of(rest, self._column) >= 4 or text.startswith((">", "$$")) or any(p.match(text) for p in patterns)
        )

    def _structure(self, depth: int, rest: str, paragraph: ParagraphLeaf | None, direct: bool) -> bool:
        """Everything that is not plain text: headings, rules, code, tables, formulas."""
        if indent_of(rest, self._column) > 3:
            return paragraph is None and self._indented(depth, rest)
        text = rest.strip(" \t")
        under = paragraph if direct else None
        if under is not None and (self._underline(under, text) or self._table(under, text)):
            return True
        return (
            self._heading_or_rule(depth, text)
            or self._fence(depth, text, indent_of(rest, self._column))
            or self._formula(depth, text)
            or (paragraph is None and self._comment(depth, text))
        )

    def _indented(self, depth: int, rest: str) -> bool:
        leaf = Code(*self._place(depth))
        self._leaf = leaf
        self._out += leaf.take(strip_columns(rest, 4, self._column))
        return True

    def _underline(self, paragraph: ParagraphLeaf, text: str) -> bool:
        if paragraph.part or not SETEXT.match(text):
            return False
        paragraph.settle_definitions(self.references)
        if not paragraph.text.strip():
            return False
        paragraph.kind = "heading"
        self._out.append(paragraph.emit(paragraph.text.strip(), level=1 if text[0] == "=" else 2))
        self._leaf = None
        return True

    def _table(self, paragraph: ParagraphLeaf, text: str) -> bool:
        above, newline, head = paragraph.text.rpartition("\n")
        if not DELIMITERS.match(text) or ("|" not in text and "|" not in head) or (paragraph.part and not newline):
            return False
        columns = alignments(text)
        if len(cells_of(head)) != len(columns):
            return False
        markers, loose = paragraph.markers, paragraph.loose
        if above:
            paragraph.text = above
            self._out += paragraph.close(self.references)
            markers, loose = (), False
        self._leaf = Table(paragraph.path, markers, loose, head, text, columns)
        return True

    def _heading_or_rule(self, depth: int, text: str) -> bool:
        if RULE.match(text):
            self._out.append(Block("rule", "", 0, "", *self._place(depth)))
            return True
        if match := ATX.match(text):
            self._out.append(Block("heading", (match[2] or "").strip(), len(match[1]), "", *self._place(depth)))
            return True
        return False

    def _fence(self, depth: int, text: str, indent: int) -> bool:
        match = FENCE.match(text)
        if match is None:
            return False
        fence, info = (match[1], match[2]) if match[1] else (match[3], match[4])
        self._leaf = Code(*self._place(depth), fence, indent, info.strip())
        return True

    def _formula(self, depth: int, text: str) -> bool:
        opener = text[:2]
        if opener not in ("$$", "\\["):
            return False
        closer, body = ("$$" if opener == "$$" else "\\]"), text[2:]
        if closer in body and not body.rstrip().endswith(closer):
            return False
        if opener != "$$" and closer not in body and ESCAPED_BRACKET.match(body):
            return False
        leaf = Math(*self._place(depth), opener)
        if closer in body:
            self._out.append(leaf.finish(body))
            return True
        self._leaf = leaf
        if body.strip():
            leaf.take(body)
        return True

    def _comment(self, depth: int, text: str) -> bool:
        """A comment that begins a block and goes on over lines; one that ends in its line is left to the paragraph."""
        if not text.startswith("<!--") or "-->" in text:
            return False
        self._leaf = leaf = Comment(*self._place(depth))
        leaf.take(text)
        return True

    def _text(self, depth: int, rest: str, paragraph: ParagraphLeaf | None) -> None:
        """Take a line of paragraph text; an open paragraph takes it even where the line lacks its containers' marks."""
        if paragraph is None:
            paragraph = ParagraphLeaf(*self._place(depth))
            self._leaf = paragraph
        self._out += paragraph.take(rest.lstrip(" \t"))
