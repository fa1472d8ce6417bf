"""Inline Markdown to plain text with runs, through one scratch document that is never laid out.

Raw HTML stays text but for a few tags that mean what Markdown says as well (``inline_html``), images become their
description, nothing is loaded (R-UI-9). Formulas in the line are taken out before and put back as runs of kind
``math``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextDocument, QTextFormat, QTextFragment

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.transcript.markdown.addresses import with_addresses
from desktop.ui.transcript.markdown.inline_html import without_html
from desktop.ui.transcript.markdown.model import TextRun
from desktop.ui.transcript.markdown.text import normal_label

_NO_UNDERLINE = 0x0C0C | 0x0100 | 0x0200 | 0x0020 | 0x0040
"""GitHub's dialect without HTML; Qt's own constant would read ``_x_`` as underlined."""
FEATURES = QTextDocument.MarkdownFeature(_NO_UNDERLINE)
GUARD = "\u00a0"
"""Before each line: nothing in it can then start another block."""
_HARD_BREAK = re.compile(r"(?: {2,}|\\)\n")
_SOFT_BREAK = re.compile(r" *\n *")
_SPECIAL = re.compile(r"[\\`*_~\[\]<>&!:@.$\n]|www")
_MATH = re.compile(
    r"(?<![\\`])(`+)(?!`).+?(?<!`)\1(?!`)|\\\((?P<a>.+?)\\\)|\$\$(?P<b>[^$\n]+?)\$\$"
    r"|(?<![\\$\w])\$(?P<c>[^\s$](?:[^$\n]{0,300}?[^\s$\\])?)\$(?![\w$])|\\\$",
    re.DOTALL,
)
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){1,999})\]", re.DOTALL)
_OPEN_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*$")
_OFFERED = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
_PRIVATE = 0xE000
_MONEY = re.compile(r"[\d.,]+(?:\s|$)")


class InlineParser:
    """Turns inline Markdown into (plain text, runs). Lines are separated by U+2028. ``offered``: which addresses may be
    offered to a person; ``file:`` and scripts are not (R-UI-9)."""

    def __init__(self, offered: re.Pattern[str] = _OFFERED) -> None:
        self._document: QTextDocument | None = None
        self._offered = offered

    def parse(self, source: str, references: Mapping[str, str] | None = None) -> tuple[str, tuple[TextRun, ...]]:
        """Parse inline Markdown. ``references``: label -> definition, applied where the source uses the label."""
        if not _SPECIAL.search(source):
            return source, ()
        formulas: list[str] = []
        text = without_html(_MATH.sub(lambda match: _shelve(match, formulas), source))
        lines = [GUARD + _SOFT_BREAK.sub(" ", line) for line in _HARD_BREAK.split(text)]
        if self._document is None:
            self._document = QTextDocument()
            self._document.setUndoRedoEnabled(False)
        self._document.setMarkdown("\\\n".join(lines) + _used(source, references), FEATURES)
        return self._read(formulas, source)

    def _read(self, formulas: list[str], source: str) -> tuple[str, tuple[TextRun, ...]]:
        assert self._document is not None
        pieces: list[str] = []
        runs: list[TextRun] = []
        at = 0
        styles = _InlineStyles(self._offered)
        block = self._document.begin()
        while block.isValid():
            if pieces:
                pieces.append("\u2028")
                at += 1
            at = _read_block(block, at, pieces, runs, formulas, styles)
            block = block.next()
        shown = "".join(pieces)
        return shown, with_addresses(shown, runs, source)


def _shelve(match: re.Match[str], formulas: list[str]) -> str:
    if match[1]:
        return match[0].replace("\n", " ")  # code has no line breaks of its own
    latex = match["a"] or match["b"] or match["c"]
    if latex is None or (match["c"] and _MONEY.match(latex)) or len(formulas) > 1000:
        return match[0]
    formulas.append(latex.strip())
    return chr(_PRIVATE + len(formulas) - 1)


def _used(source: str, references: Mapping[str, str] | None) -> str:
    """The definitions that the source may need, to stand under it."""
    if not references or "[" not in source:
        return ""
    labels = {normal_label(match[1]) for match in _LABEL.finditer(source)}
    return "".join("\n\n" + references[label] for label in labels if label in references)


@dataclass(frozen=True, slots=True)
class _Style:
    """A format as a run without place; ``instead``: the words for an image."""

    run: TextRun
    instead: str


class _InlineStyles:
    """The styles of a document, each read once."""

    def __init__(self, offered: re.Pattern[str]) -> None:
        self._offered = offered
        self._known: dict[int, _Style] = {}

    def of(self, fragment: QTextFragment) -> _Style:
        """That of a piece of text."""
        index = fragment.charFormatIndex()
        style = self._known.get(index)
        if style is None:
            style = self._known[index] = self._read(fragment.charFormat())
        return style

    def _read(self, style: QTextCharFormat) -> _Style:
        instead = ""
        if style.isImageFormat():
            instead = str(style.property(QTextFormat.Property.ImageAltText) or style.toImageFormat().name())
        href = style.anchorHref()
        run = TextRun(
            0,
            0,
            style.fontWeight() > 500,
            style.fontItalic(),
            style.fontStrikeOut(),
            style.fontFixedPitch(),
            href if self._offered.match(href) else "",
        )
        return _Style(run, instead)


def _read_block(
    block: QTextBlock, at: int, pieces: list[str], runs: list[TextRun], formulas: list[str], styles: _InlineStyles
) -> int:
    """Appends a block's text and runs without its guard; returns the new end."""
    iterator = block.begin()
    first = True
    while not iterator.atEnd():
        fragment = iterator.fragment()
        text, style = fragment.text(), styles.of(fragment)
        if first and text.startswith(GUARD):
            text = text[1:]
        first = False
        text = style.instead or text.replace("\0", "\ufffd")
        at = _add(text, style, at, pieces, runs, formulas)
        iterator += 1
    return at


def _add(text: str, style: _Style, at: int, pieces: list[str], runs: list[TextRun], formulas: list[str]) -> int:
    base = style.run
    for piece in _by_formula(text, len(formulas)) if formulas else (text,):
        math = formulas[ord(piece) - _PRIVATE] if formulas and _is_formula(piece, len(formulas)) else ""
        shown = math or piece
        if not shown:
            continue
        pieces.append(shown)
        end = at + len(shown)
        if math or not base.plain:
            runs.append(TextRun(at, end, base.bold, base.italic, base.struck, base.code, base.href, math))
        at = end
    return at


def _is_formula(piece: str, count: int) -> bool:
    return len(piece) == 1 and _PRIVATE <= ord(piece) < _PRIVATE + count


def _by_formula(text: str, count: int) -> list[str]:
    last = chr(_PRIVATE + count - 1)
    return re.split(f"([{chr(_PRIVATE)}-{last}])", text)


def mended(source: str) -> str:
    """An unfinished text as it will probably go on: open emphasis and code closed, half a link as its text."""
    source = _OPEN_LINK.sub(r"\1", source)
    if source.count("`") % 2:
        return source + "`"
    for mark in ("**", "~~"):
        if source.count(mark) % 2:
            body = source.rstrip()
            source = body[: -len(mark)] if body.endswith(mark) else body + mark
    return source
