"""The text of a skill file in an editor: line numbers, colours, places of problems. It gives and takes Python strings
whose lines end in ``\\n``; everything else in them is kept, also what an editor would rather replace."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from desktop.domain.skills import SkillProblem
from desktop.ui.theme import theme
from desktop.ui.transcript.colours.highlight import highlight
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.tips import plain_tip

COLOURED = 150_000
"""Characters up to which a text is coloured; longer ones open at once, in one colour."""
LONG_LINE = 4_000
MAX_MARKS = 200
HEAD, BODY, FENCE = 1, 2, 3
"""States of lines in Markdown: in the frontmatter, in the body, in a fence."""
_OPEN = ("", '"""', "'''", "`", "/*", "<!--")
_INLINE = re.compile(
    r"(?P<name>:{1,3}[a-z][\w-]*(?:\[[^\]\n]{0,200}\])?|/[a-z][a-z0-9-]*(?=\s|$))|(?P<string>`[^`\n]+`)"
    r"|(?P<keyword>\*\*[^*\n]+\*\*|^#{1,6}\s.*$|^\s*(?:[-*+]|\d+\.)(?=\s))|(?P<comment>^>.*$|<!--.*?-->)"
)


class Colours(QSyntaxHighlighter):
    """Colours code in a document. ``language``: markdown (with its frontmatter), python, javascript or "" for none."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.language = ""

    def highlightBlock(self, text: str) -> None:
        """One line, with what the line before left open."""
        if not self.language or len(text) > LONG_LINE:
            return
        if self.language == "markdown":
            self._markdown(text)
            return
        before = max(0, self.previousBlockState())
        spans, left = highlight(self.language, text + "\n", _OPEN[before] if before < len(_OPEN) else "")
        self._paint(spans)
        self.setCurrentBlockState(_OPEN.index(left) if left in _OPEN else 0)

    def _markdown(self, text: str) -> None:
        before = self.previousBlockState()
        rule = text.strip() == "---"
        if before == -1:
            state = HEAD if rule else BODY
        elif before == HEAD:
            state = BODY if rule else HEAD
        elif rule and before == BODY:
            state = HEAD  # another skill in the same file
        else:
            state = FENCE if (before == FENCE) != text.lstrip().startswith("```") else BODY
        self.setCurrentBlockState(state)
        if rule or text.lstrip().startswith("```"):
            self._paint([(0, len(text), "code-comment")])
        elif state == HEAD:
            self._paint(highlight("yaml", text)[0])
        elif state == BODY:
            self._paint([(m.start(), m.end(), f"code-{m.lastgroup}") for m in _INLINE.finditer(text)])

    def _paint(self, spans: Sequence[tuple[int, int, str]]) -> None:
        for start, end, token in spans:
            made = QTextCharFormat()
            made.setForeground(QBrush(theme().color(token)))
            self.setFormat(start, end - start, made)


class _Numbers(QWidget):
    """The gutter; its editor paints the numbers."""

    def __init__(self, editor: SourceText) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_numbers(self, event)


class SourceText(QPlainTextEdit):
    """``typed`` carries the whole text after the person changed it. Escape emits ``left``: Tab belongs to the text."""

    typed = Signal(str)
    left = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self._setting = False
        self._problems: dict[int, str] = {}
        self._indent = "  "
        self.setAccessibleName(name)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self._colours = Colours(self.document())
        self._numbers = _Numbers(self)
        self.blockCountChanged.connect(lambda _: self._make_room())
        self.updateRequest.connect(self._scrolled)
        self.textChanged.connect(self._changed)
        self._dress()
        theme().changed.connect(self._dress)

    def _dress(self) -> None:
        self.setFont(theme().font("code"))
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance("0") * 4)
        self._make_room()
        QTimer.singleShot(0, self, self._colours.rehighlight)

    # -- text ---------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """What stands there, to the last character: no-break spaces too, which ``toPlainText`` replaces."""
        return self.document().toRawText().replace("\u2029", "\n")

    def begin(self, text: str, language: str) -> None:
        """Show another file, with nothing to undo and the caret at its top."""
        self._setting = True
        self._indent = "    " if language == "python" else "  "
        self._colours.language = language if len(text) <= COLOURED else ""
        self.setPlainText(text)
        self.document().clearUndoRedoStacks()
        self._setting = False

    def replace(self, text: str) -> None:
        """Only what differs is changed, as a step that can be undone."""
        old = self.text()
        if old == text:
            return
        head = _common(old, text)
        tail = min(_common(old[::-1], text[::-1]), min(len(old), len(text)) - head)
        self._setting = True
        cursor = QTextCursor(self.document())
        cursor.setPosition(_units(old[:head]))
        cursor.setPosition(_units(old[: len(old) - tail]), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text[head : len(text) - tail])
        self._setting = False

    def _changed(self) -> None:
        if not self._setting:
            self.typed.emit(self.text())

    def go_to(self, line: int, column: int) -> None:
        """Put the cursor at a place, counted from 1, and show it."""
        block = self.document().findBlockByNumber(max(0, min(line - 1, self.blockCount() - 1)))
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + min(_units(block.text()[: max(0, column - 1)]), block.length() - 1))
        self.setTextCursor(cursor)
        self.centerCursor()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- problems -----------------------------------------------------------------------------------------------------

    def mark(self, problems: Sequence[SkillProblem]) -> None:
        """Underline the places of problems and mark their line numbers."""
        t = theme()
        self._problems, marks = {}, []
        for problem in problems[:MAX_MARKS]:
            wrong = problem.severity == "error"
            if wrong or problem.line not in self._problems:
                self._problems[problem.line] = "failed" if wrong else "ask"
            block = self.document().findBlockByNumber(problem.line - 1)
            if block.isValid():
                marks.append(self._mark(block.position(), block.text(), problem, t.color("failed" if wrong else "ask")))
        self.setExtraSelections(marks)
        self._numbers.update()

    def _mark(self, at: int, line: str, problem: SkillProblem, color: QColor) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        column = min(max(0, problem.column - 1), max(0, len(line) - 1))
        word = re.compile(r"[\w./#*-]+|\S").search(line, column)
        start, end = word.span() if word is not None else (0, len(line))
        cursor.setPosition(at + _units(line[:start]))
        cursor.setPosition(at + _units(line[:end]), QTextCursor.MoveMode.KeepAnchor)
        made = QTextCharFormat()
        made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        made.setUnderlineColor(color)
        made.setToolTip(plain_tip(shown_line(problem.message[:400])))
        mark.cursor, mark.format = cursor, made
        return mark

    # -- gutter -------------------------------------------------------------------------------------------------------

    def gutter(self) -> int:
        """The width of the gutter in pixels."""
        digits = max(3, len(str(max(1, self.blockCount()))))
        return theme().px(20) + self.fontMetrics().horizontalAdvance("0") * digits

    def _make_room(self) -> None:
        self.setViewportMargins(self.gutter(), theme().px(8), 0, 0)
        self._place()

    def _place(self) -> None:
        top = self.viewport().geometry()
        self._numbers.setGeometry(QRect(0, top.y(), self.gutter(), top.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The gutter is as high as the text."""
        super().resizeEvent(event)
        self._place()

    def _scrolled(self, rect: QRect, dy: int) -> None:
        if dy:
            self._numbers.scroll(0, dy)
        else:
            self._numbers.update(0, rect.y(), self._numbers.width(), rect.height())

    def paint_numbers(self, gutter: QWidget, event: QPaintEvent) -> None:
        """Numbers of the lines in sight."""
        t = theme()
        painter = QPainter(gutter)
        painter.setFont(t.font("mono-small"))
        block = self.firstVisibleBlock()
        offset = self.contentOffset()
        align = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        current = self.textCursor().blockNumber()
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(offset)
            if box.top() > event.rect().bottom():
                break
            number = block.blockNumber() + 1
            token = self._problems.get(number) or ("text" if number - 1 == current else "text-3")
            painter.setPen(t.color(token))
            area = QRect(0, round(box.top()), gutter.width() - t.px(12), round(box.height()))
            painter.drawText(area, align, str(number))
            block = block.next()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tab indents by what the file uses; Escape leaves."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() == Qt.Key.Key_Tab and not self.isReadOnly() and not self.textCursor().hasSelection():
            self.insertPlainText(self._indent)
        else:
            super().keyPressEvent(event)


def _units(text: str) -> int:
    """Characters as Qt counts them."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _common(left: str, right: str) -> int:
    """Length of the common beginning, by halves: no loop over characters."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
