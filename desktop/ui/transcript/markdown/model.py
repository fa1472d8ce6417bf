"""What the Markdown splitter and the inline parser hand out, and the limits at which an open block is cut.

Cuts depend on the text alone, never on how it arrived, so a streamed message and a stored one give the same blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    """One leaf of the document with the containers around it.

    ``text`` is inline Markdown (paragraph, heading), exact code, raw table lines, or LaTeX. ``path`` names the
    quotes and items from the outside in, ``markers`` the list markers this block has to show as (depth in ``path``,
    marker). ``loose``: a blank line came before. ``part`` > 0 continues the block before it, and ``glue`` is the text
    that stood between the two.
    """

    kind: BlockKind
    text: str
    level: int = 0
    info: str = ""
    path: tuple[tuple[ContainerKind, int], ...] = ()
    markers: tuple[tuple[int, str], ...] = ()
    loose: bool = False
    part: int = 0
    glue: str = ""


@dataclass(frozen=True, slots=True)
class TextRun:
    """Characters ``start`` to ``end`` of the plain text. ``math`` is LaTeX that the run's text stands for."""

    start: int
    end: int
    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    href: str = ""
    math: str = ""

    @property
    def look(self) -> tuple[bool, bool, bool, bool, bool]:
        """Key of the run's format."""
        return self.bold, self.italic, self.struck, self.code or bool(self.math), bool(self.href)

    @property
    def plain(self) -> bool:
        return not any(self.look)
