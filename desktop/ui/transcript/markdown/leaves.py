"""The open leaf of the Markdown splitter: a paragraph, code, a table or a formula that still grows."""

from __future__ import annotations

import copy
import re

from desktop.ui.transcript.markdown.inline_html import FOLDS
from desktop.ui.transcript.markdown.model import (
    CODE_CHARACTERS,
    CODE_LINE_CUT,
    CODE_LINES,
    COMMENT_CHARACTERS,
    MATH_CHARACTERS,
    PARAGRAPH_CUT,
    PARAGRAPH_LOOKAHEAD,
    TABLE_ROWS,
    Block,
    BlockKind,
    ContainerKind,
)
from desktop.ui.transcript.markdown.text import TASK, split_paragraph, take_definitions

Path = tuple[tuple[ContainerKind, int], ...]
Markers = tuple[tuple[int, str], ...]


class Leaf:
    """``take`` adds a line, ``extend`` more of the same line; both return the parts that are finished by it."""

    kind: BlockKind = "paragraph"

    def __init__(self, path: Path, markers: Markers, loose: bool) -> None:
        self.path, self.markers, self.loose = path, markers, loose
        self.part, self.glue = 0, ""

    def clone(self) -> Leaf:
        """A copy that can grow without touching this one."""
        return copy.copy(self)

    def take(self, line: str) -> list[Block]:
        raise NotImplementedError

    def extend(self, text: str) -> list[Block]:
        raise NotImplementedError

    def close(self, references: dict[str, str]) -> list[Block]:
        raise NotImplementedError

    def emit(self, text: str, next_glue: str = "", *, level: int = 0, info: str = "") -> Block:
        """This leaf's next part, after which ``next_glue`` stood."""
        block = Block(self.kind, text, level, info, self.path, self.markers, self.loose, self.part, self.glue)
        self.part += 1
        self.glue, self.markers, self.loose = next_glue, (), False
        return block


class ParagraphLeaf(Leaf):
    """Text until a blank line. Past the cut it can no longer turn out to be a heading, a table or a definition."""

    def __init__(self, path: Path, markers: Markers, loose: bool) -> None:
        super().__init__(path, markers, loose)
        self.text = ""
        self.early: dict[str, str] = {}

    def take(self, line: str) -> list[Block]:
        self.text += "\n" + line if self.text else line
        return self._cut()

    def extend(self, text: str) -> list[Block]:
        self.text += text
        return self._cut()

    def _cut(self) -> list[Block]:
        parts: list[Block] = []
        while len(self.text) >= PARAGRAPH_CUT + PARAGRAPH_LOOKAHEAD:
            if self.part == 0 and self._cut_definitions():
                continue
            head, glue, self.text = split_paragraph(self.text, PARAGRAPH_CUT)
            parts.append(self.emit(self._without_task(head), glue))
        return parts

    def _cut_definitions(self) -> bool:
        window, rest = self.text[:PARAGRAPH_CUT], self.text[PARAGRAPH_CUT:]
        found = dict(self.early)
        left = take_definitions(window, found, complete=False)
        if len(left) == len(window):
            return False
        self.early, self.text = found, left + rest
        return True

    def settle_definitions(self, references: dict[str, str]) -> None:
        """Moves the definitions at the start of this paragraph into ``references``; the first of a label wins."""
        for label, source in self.early.items():
            references.setdefault(label, source)
        self.early = {}
        if self.part == 0:
            self.text = take_definitions(self.text, references, complete=True)

    def _without_task(self, text: str) -> str:
        if self.part or not self.markers or not (match := TASK.match(text)):
            return text
        depth = self.markers[-1][0]
        self.markers = (*self.markers[:-1], (depth, "☑" if match[1] in "xX" else "☐"))
        return text[match.end() :]

    def close(self, references: dict[str, str]) -> list[Block]:
        self.settle_definitions(references)
        text = self._without_task(self.text).rstrip(" \t\n")
        if text and not self.part and not self.markers and FOLDS.fullmatch(text):
            return []
        return [self.emit(text)] if text or self.markers else []


class Code(Leaf):
    """Fenced or indented code, cut at 48 lines and inside lines of more than 600 characters."""

    kind: BlockKind = "code"

    def __init__(
        self, path: Path, markers: Markers, loose: bool, fence: str = "", indent: int = 0, info: str = ""
    ) -> None:
        super().__init__(path, markers, loose)
        self.fence, self.indent, self.info = fence, indent, info
        self.lines: tuple[str, ...] = ()
        self.blanks: tuple[str, ...] = ()
        self.size = 0

    def closes(self, line: str) -> bool:
        """Whether the line is the closing fence."""
        text = line.strip()
        return bool(self.fence) and len(text) >= len(self.fence) and text == self.fence[0] * len(text)

    def take(self, line: str) -> list[Block]:
        parts: list[Block] = []
        if not self.fence and not line.strip():
            self.blanks += (line,)
            return parts
        for text in (*self.blanks, line):
            if len(self.lines) >= CODE_LINES or self.size >= CODE_CHARACTERS:
                parts.append(self._freeze("\n"))
            self.lines += (text,)
            self.size += len(text) + 1
            parts += self._cut_line()
        self.blanks = ()
        return parts

    def extend(self, text: str) -> list[Block]:
        if self.blanks:
            return self.take(text)
        self.lines = (*self.lines[:-1], (self.lines[-1] if self.lines else "") + text)
        self.size += len(text)
        return self._cut_line()

    def _cut_line(self) -> list[Block]:
        parts: list[Block] = []
        while len(self.lines[-1]) > CODE_LINE_CUT:
            last = self.lines[-1]
            self.lines = (*self.lines[:-1], last[:CODE_LINE_CUT])
            parts.append(self._freeze(""))
            self.lines, self.size = (last[CODE_LINE_CUT:],), len(last) - CODE_LINE_CUT
        return parts

    def _freeze(self, glue: str) -> Block:
        block = self.emit("\n".join(self.lines), glue, info=self.info)
        self.lines, self.size = (), 0
        return block

    def close(self, references: dict[str, str]) -> list[Block]:
        del references
        return [self._freeze("")] if self.lines or self.part == 0 else []


class Table(Leaf):
    """A pipe table: the first part starts with the head and its delimiters, later parts hold rows only."""

    kind: BlockKind = "table"

    def __init__(self, path: Path, markers: Markers, loose: bool, head: str, delimiters: str, columns: str) -> None:
        super().__init__(path, markers, loose)
        self.rows: tuple[str, ...] = (head, delimiters)
        self.limit, self.columns = TABLE_ROWS + 2, columns

    def take(self, line: str) -> list[Block]:
        parts = []
        if len(self.rows) >= self.limit:
            parts.append(self._freeze())
        self.rows += (line.strip(),)
        return parts

    def extend(self, text: str) -> list[Block]:
        self.rows = (*self.rows[:-1], self.rows[-1] + text)
        return []

    def _freeze(self) -> Block:
        block = self.emit("\n".join(self.rows), "\n", info=self.columns)
        self.rows, self.limit = (), TABLE_ROWS
        return block

    def close(self, references: dict[str, str]) -> list[Block]:
        del references
        return [self._freeze()] if self.rows else []


class Math(Leaf):
    """A display formula between ``$$`` or ``\\[`` and ``\\]``; what grows too long or has a blank line is text."""

    kind: BlockKind = "math"

    def __init__(self, path: Path, markers: Markers, loose: bool, opener: str) -> None:
        super().__init__(path, markers, loose)
        self.opener, self.closer = opener, "$$" if opener == "$$" else "\\]"
        self.text = ""

    def take(self, line: str) -> list[Block]:
        self.text += ("\n" if self.text else "") + line.rstrip()
        return []

    def extend(self, text: str) -> list[Block]:
        self.text += text
        return []

    def closes(self, line: str) -> bool:
        """Whether the line ends the formula."""
        return line.rstrip().endswith(self.closer)

    def is_text(self, line: str) -> bool:
        """Whether with this line it is no formula after all."""
        return not line.strip() or len(self.text) + len(line) > MATH_CHARACTERS

    def finish(self, line: str) -> Block:
        """The formula with its last line."""
        self.take(re.sub(r"(\$\$|\\\])\s*$", "", line))
        return self.emit(self.text.strip())

    def source(self) -> str:
        """The lines as they came, for what turned out to be text."""
        return self.opener + ("\n" + self.text if self.text else "")

    def close(self, references: dict[str, str]) -> list[Block]:
        """Close a formula that did not end: it may be a formula that still comes; after an escaped bracket it is
        text."""
        if self.opener == "\\[":
            paragraph = ParagraphLeaf(self.path, self.markers, self.loose)
            return [*paragraph.take(self.source()), *paragraph.close(references)]
        return [self.emit(self.text.strip())]


class Comment(Leaf):
    """What stands between ``<!--`` and ``-->`` over lines is not shown; what does not end, or is too long, is text."""

    def __init__(self, path: Path, markers: Markers, loose: bool) -> None:
        super().__init__(path, markers, loose)
        self.text = ""

    def take(self, line: str) -> list[Block]:
        self.text += ("\n" if self.text else "") + line
        return []

    def extend(self, text: str) -> list[Block]:
        self.text += text
        return []

    def is_text(self, line: str) -> bool:
        """Whether with this line it is too long to be one."""
        return len(self.text) + len(line) > COMMENT_CHARACTERS

    def close(self, references: dict[str, str]) -> list[Block]:
        paragraph = ParagraphLeaf(self.path, self.markers, self.loose)
        return [*paragraph.take(self.text), *paragraph.close(references)]
