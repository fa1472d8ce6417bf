"""What the Markdown splitter and the inline parser hand out, and the limits at which an open block is cut.

Cuts depend on the text alone, never on how it arrived, so a streamed message and a stored one give the same blocks.
"""

from __future__ import annotations

from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass

BlockKind = Literal["paragraph", "heading", "code", "table", "rule", "math"]
ContainerKind = Literal["quote", "item"]

LONG_LINE = 1024
"""A line of at least this many characters is taken as text without waiting for its end."""
PARAGRAPH_CUT = 1600
"""A growing paragraph is frozen up to about here, in characters."""
PARAGRAPH_LOOKAHEAD = 200
CODE_LINES = 48
CODE_CHARACTERS = 2400
CODE_LINE_CUT = 600
TABLE_ROWS = 16
MATH_CHARACTERS = 2000
"""A formula longer than this is none: it is shown as text."""
COMMENT_CHARACTERS = 20_000
DEEPEST = 16
"""Containers inside each other; deeper markers are shown as text."""


@dataclass(frozen=True, slots=True)
class Block:
    """One leaf of the document with the containers around it."""

    kind: BlockKind
    """What it is."""
    text: str
    """Inline Markdown (paragraph, heading), exact code, raw table lines, or LaTeX."""
    level: int = 0
    """The level of a heading."""
    info: str = ""
    """The language of code."""
    path: tuple[tuple[ContainerKind, int], ...] = ()
    """The quotes and items around it, from the outside in."""
    markers: tuple[tuple[int, str], ...] = ()
    """The list markers this block has to show, as (depth in ``path``, marker)."""
    loose: bool = False
    """Whether a blank line came before."""
    part: int = 0
    """> 0: it continues the block before it."""
    glue: str = ""
    """The text that stood between the two."""


@dataclass(frozen=True, slots=True)
class TextRun:
    """Characters of the plain text that look alike."""

    start: int
    """The first character."""
    end: int
    """The one after the last."""
    bold: bool = False
    """Strong emphasis."""
    italic: bool = False
    """Emphasis."""
    struck: bool = False
    """Struck through."""
    code: bool = False
    """A code span."""
    href: str = ""
    """Where a link leads, or ""."""
    math: str = ""
    """LaTeX that the run's text stands for, or ""."""

    @property
    def look(self) -> tuple[bool, bool, bool, bool, bool]:
        """Key of the run's format."""
        return self.bold, self.italic, self.struck, self.code or bool(self.math), bool(self.href)

    @property
    def plain(self) -> bool:
        return not any(self.look)
