"""Small parts of a skill's page: a titled block, a table of arguments, lines of facts, a list of problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.skills import SkillProblem
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Piece, Selectable, Text

MAX_PROBLEMS = 50
MAX_ROWS = 200


def titled(title: str, *parts: QWidget) -> QWidget:
    """A heading with widgets below it."""
    holder = QWidget()
    column = Column(holder, spacing=6)
    column.addWidget(Text(title, "strong"))
    for part in parts:
        column.addWidget(part)
    column.addStretch(1)
    return holder


def row_card(rows: Sequence[QWidget]) -> QFrame:
    """Rows with lines between them, in a frame."""
    card = pane("card")
    column = Column(card, margins=0, spacing=0)
    for at, row in enumerate(rows):
        holder = pane("row" if at < len(rows) - 1 else "row-last")
        Row(holder, margins=(12, 6, 12, 6)).addWidget(row, 1)
        column.addWidget(holder)
    return card


def schema_card(rows: Sequence[tuple[str, str, str]], name: str) -> QFrame:
    """What a skill takes or gives: name, what it is, and below what it is for."""
    card = row_card([_schema_row(*row) for row in rows[:MAX_ROWS]])
    card.setAccessibleName(name)
    return card


def _schema_row(name: str, words: str, description: str) -> QWidget:
    holder = QWidget()
    column = Column(holder, spacing=0)
    line = Row(spacing=8)
    if name:
        line.addWidget(Text(shown_line(name), "code"), 0, Qt.AlignmentFlag.AlignTop)
    line.addWidget(Paragraph(shown_line(words), "body", "2"), 1)
    column.addLayout(line)
    if description:
        column.addWidget(Paragraph(shown(description[:600]), "small", "2"))
    holder.setAccessibleName(", ".join(part for part in (name, words, description[:200]) if part))
    return holder


def fact(caption: str, value: str | QWidget, *, mono: bool = False) -> QWidget:
    """A quiet name, then its value, which can be selected."""
    holder = QWidget()
    row = Row(holder, spacing=0)
    row.addWidget(sized(Text(caption, "body", "3"), width=92), 0, Qt.AlignmentFlag.AlignTop)
    if isinstance(value, str):
        value = Selectable(shown(value), "code" if mono else "body", "1")
        value.setAccessibleName(f"{caption}: {value.text()}")
    row.addWidget(value, 1)
    return holder


class ProblemRow(QWidget):
    """A problem with its place; the place jumps there."""

    def __init__(self, problem: SkillProblem, jump: Callable[[SkillProblem], None] | None) -> None:
        super().__init__()
        row = Row(self, spacing=8)
        wrong = problem.severity == "error"
        token = "failed" if wrong else "ask"
        row.addWidget(Icon("failed" if wrong else "ask", token, 16, line="body"), 0, Qt.AlignmentFlag.AlignTop)
        words = Paragraph(shown(problem.message[:2000]), "body")
        row.addWidget(words, 1)
        place = f"{problem.line}:{problem.column}"
        if jump is not None:
            button = Button(place, "quiet", small=True, tip=f"Go to line {problem.line}, column {problem.column}")
            button.setAccessibleName(f"Go to line {problem.line}, column {problem.column}")
            button.clicked.connect(lambda: jump(problem))
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.setAccessibleName(f"{problem.severity}, line {problem.line}, column {problem.column}: {problem.message}")


def problem_rows(problems: Sequence[SkillProblem], jump: Callable[[SkillProblem], None] | None) -> list[QWidget]:
    """Errors first, at most ``MAX_PROBLEMS``."""
    ordered = sorted(problems, key=lambda problem: problem.severity != "error")
    rows: list[QWidget] = [ProblemRow(problem, jump) for problem in ordered[:MAX_PROBLEMS]]
    if len(ordered) > MAX_PROBLEMS:
        rows.append(Text(f"and {len(ordered) - MAX_PROBLEMS:,} more", "small", "2"))
    return rows


def linked(icon: str, pieces: Sequence[Piece], action: str, act: Callable[[], None]) -> QFrame:
    """A quoted strip: words, and one thing to do about them."""
    frame = pane("quoted")
    row = Row(frame, margins=(14, 9, 10, 9), spacing=10)
    row.addWidget(Icon(icon, "text-2", 16, line="body"), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(Paragraph(pieces, "body"), 1)
    if action:
        button = Button(action, "quiet", small=True)
        button.clicked.connect(act)
        row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
    return frame
