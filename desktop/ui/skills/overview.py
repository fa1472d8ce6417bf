"""The page of one skill: what it says, what it takes and gives, where it comes from, what holds when it is called."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.skills import SkillProblem
from desktop.domain.text.words import compact, size_words
from desktop.presenter.skills.page import SkillDetail, SkillsViewModel
from desktop.presenter.skills.words import KIND_WORDS, OFF, calls_itself, source_word, table_of
from desktop.ui.skills.cards import fact, linked, problem_rows, row_card, schema_card, titled
from desktop.ui.skills.markdown_view import MarkdownView
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice, Scroller, clear
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

FENCES = {"python": "python", "javascript": "javascript", "foreign": "typescript"}
MAX_FILES = 60
CALLERS = 5
"""Names of callers on the page; all of them are under Callers."""


class Overview(QFrame):
    """The overview of a skill. ``wanted``: compare | trust | duplicate | text, ``jump`` a problem to go to, ``other`` a
    path to show."""

    wanted = Signal(str)
    jump = Signal(object)
    other = Signal(str)

    def __init__(self, skills: SkillsViewModel) -> None:
        super().__init__()
        self._skills = skills
        self.setProperty("pane", "surface")
        self.scroller = Scroller()
        column = Column(self, spacing=0)
        column.addWidget(self.scroller)
        self.top = Column(spacing=8)
        self.body = MarkdownView("What the skill says")
        self._rest = Paragraph("", "small", "2")
        self._front = MarkdownView("Frontmatter")
        self.facts, self._below = Column(spacing=16), Column(spacing=16)
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._next_step)
        self._steps: list[Callable[[], None]] = []
        self._shown: tuple[str, str] | None = None
        inside = self.scroller.column
        inside.addLayout(self.top)
        inside.addWidget(self.body)
        inside.addWidget(self._rest)
        inside.addLayout(self.facts)
        inside.addLayout(self._below)
        inside.addWidget(self._front)
        inside.addStretch(1)

    def show_detail(self, detail: SkillDetail) -> None:
        """Show a skill in its present state."""
        clear(self.top)
        for strip in (*self._state(detail), *self._shadows(detail), *self._problems(detail)):
            self.top.addWidget(strip)
        row = self._skills.row
        body, front = page_text(detail, state=row.state if row is not None else "ready")
        self.body.set_markdown(body)
        self.body.setVisible(bool(body))
        self._rest.set_pieces(f"All {len(body):,} characters are under Text." if self.body.cut else "")
        self._rest.setVisible(self.body.cut)
        if detail.key != self._shown:
            clear(self.facts)
            clear(self._below)
            self._front.hide()
            self._shown = detail.key
        self._steps = [partial(self._show_facts, detail), partial(self._show_below, detail, front)]
        self._later.start()

    def _next_step(self) -> None:
        """What stands lower, a turn of the loop later each: short steps instead of a long one."""
        self._steps.pop(0)()
        if self._steps:
            self._later.start()

    def _show_facts(self, detail: SkillDetail) -> None:
        clear(self.facts)
        origin = self._takes_and_origin(detail) if detail.definition is not None else None
        self.facts.addLayout(origin) if origin is not None else self.facts.addWidget(_origin(detail))

    def _show_below(self, detail: SkillDetail, front: str) -> None:
        clear(self._below)
        if detail.definition is not None:
            for part in (_files(detail), _metadata(detail)):
                if part is not None:
                    self._below.addWidget(part)
        self._front.set_markdown(front)
        self._front.setVisible(bool(front))

    def show_top(self) -> None:
        """Back to the first line."""
        self.scroller.verticalScrollBar().setValue(0)

    # -- strips above -------------------------------------------------------------------------------------------------

    def _state(self, detail: SkillDetail) -> list[QWidget]:
        row = self._skills.row
        state = row.state if row is not None else ""
        if state == "changed":
            return [self._notice("ask", OFF[state], "See what changed", "compare", "lock")]
        if state == "untrusted":
            return [self._notice("ask", OFF[state], "Trust this folder…", "trust", "lock")]
        if detail.definition is not None and not detail.definition.path:
            return []
        if not detail.writable and detail.key[0]:
            where = "belongs to Assent" if row is not None and row.source == "library" else "cannot be changed here"
            pieces = ((f"This skill {where}, so you cannot edit it.", ""),)
            return [linked("lock", pieces, "Duplicate to change", self._dup)]
        return []

    def _dup(self) -> None:
        self.wanted.emit("duplicate")

    def _notice(self, kind: str, sentence: str, action: str, act: str, icon: str) -> Notice:
        strip = Notice(kind, sentence, icon=icon)
        button = Button(action, small=True)
        button.clicked.connect(lambda: self.wanted.emit(act))
        strip.add(button)
        return strip

    def _shadows(self, detail: SkillDetail) -> list[QWidget]:
        name = detail.key[1]
        found: list[QWidget] = []
        if detail.shadowed_by or (not detail.shadows and self._skills.row is not None and self._skills.row.shadowed):
            path = detail.shadowed_by
            whose = self._whose(path)
            pieces = (("Not used: ", "strong"), (f"{whose} ", ""), (name, "mono"), (" comes first.", ""))
            found.append(linked("skills", pieces, "Show it", partial(self.other.emit, path)))
        for path in detail.shadows[:5]:
            pieces = (
                ("Shadows ", "strong"),
                (f"{self._whose(path)} ", "strong"),
                (name, "mono"),
                (". Agents get this one. Delete or rename it to get the other back.", ""),
            )
            found.append(linked("skills", pieces, "Show it", partial(self.other.emit, path)))
        return found

    def _whose(self, path: str) -> str:
        row = self._skills.row_of(path)
        if not path or (row is not None and row.source == "program"):
            return "the app's own tool"
        if row is None:
            return "another"
        word = source_word(row.source)
        return {"mine": "your", "library": "the library's", "project": "the project's"}.get(word, f"the {word}")

    def _problems(self, detail: SkillDetail) -> list[QWidget]:
        if not detail.problems and not detail.cascade_problem:
            return []
        problems = detail.problems
        if detail.cascade_problem:
            problems = (*problems, SkillProblem(detail.key[0], detail.cascade_problem))
        return [row_card(problem_rows(problems, self.jump.emit))]

    # -- facts --------------------------------------------------------------------------------------------------------

    def _takes_and_origin(self, detail: SkillDetail) -> Row:
        row = Row(spacing=16)
        left = Column(spacing=16)
        spec = detail.spec
        takes = table_of(arguments_of(detail))
        card: QWidget = schema_card(takes, "Takes") if takes else Text("No arguments", "body", "2")
        left.addWidget(titled("Takes", card))
        returns = detail.definition.returns if detail.definition is not None else None
        if returns is None and spec is not None:
            returns = spec.returns
        if returns is not None:
            left.addWidget(titled("Gives", schema_card(table_of(returns), "Gives")))
        left.addStretch(1)
        row.addLayout(left, 2)
        row.addWidget(_origin(detail), 3)
        return row


def arguments_of(detail: SkillDetail) -> Mapping[str, Any] | None:
    """The schema of what it takes; None: nothing (R-SK-5)."""
    definition = detail.definition
    if definition is not None and definition.tool is not None and detail.spec is not None:
        return detail.spec.params
    return definition.params if definition is not None else None


def page_text(detail: SkillDetail, *, state: str = "ready") -> tuple[str, str]:
    """(the page as Markdown, the frontmatter as a block of code). What is off is read here all the same."""
    definition, text = detail.definition, detail.text
    if definition is None:
        return (f"```\n{shown(text[:24_000])}\n```" if text else ""), ""
    if definition.kind == "program":
        return shown(definition.description), ""
    if definition.kind in FENCES:
        fence = "`" * (3 if "```" not in text else 8)
        return f"{fence}{FENCES[definition.kind]}\n{text}\n{fence}", ""
    head = text[: definition.body_at] if definition.body_at > 0 else ""
    lines = [line for line in head.splitlines() if line.strip() != "---"]
    front = "\n".join(lines).strip("\n\ufeff")
    fence = "`" * (3 if "```" not in front else 8)
    end = definition.body_end if definition.body_end >= 0 else len(text)
    body = detail.body if state == "ready" or definition.body_at < 0 else text[definition.body_at : end]
    return body, f"{fence}yaml\n{front}\n{fence}" if front and len(front) < 20_000 else ""


def _origin(detail: SkillDetail) -> QWidget:
    """Where it was loaded from and what holds for it."""
    definition, spec = detail.definition, detail.spec
    rows: list[QWidget] = [fact("File", _home(detail.key[0]) if detail.key[0] else "none: it is built in", mono=True)]
    if definition is None:
        return titled("Origin", *rows)
    root = f", {_home(definition.root)}" if definition.root else ""
    rows.append(fact("From", source_word(definition.source) + root))
    rows.append(fact("Kind", KIND_WORDS.get(definition.kind, definition.kind)))
    rows.append(fact("Called by", _callers(detail) or "nobody yet"))
    allowed = definition.allowed_tools
    if allowed is None:
        rows.append(fact("May call", "every skill that is not hidden"))
    else:
        rows.append(fact("May call", allowed or "nothing", mono=bool(allowed)))
    if detail.peers:
        rows.append(fact("Calls itself", calls_itself(definition.name, detail.peers)))
    if spec is not None and spec.timeout_s and math.isfinite(spec.timeout_s):
        rows.append(fact("Time limit", f"{spec.timeout_s:g} s"))
    if definition.tags:
        rows.append(fact("Tags", " ".join(f"#{tag}" for tag in definition.tags)))
    if detail.pinned:
        rows.append(fact("Pinned", "switched off when it changes, until you have read the change"))
    return titled("Origin", *rows)


def _callers(detail: SkillDetail) -> str:
    """Agents, and skills that call others: an agent and the skill that it works by often have one name."""
    said = []
    for kind, word in (("agent", "agent"), ("skill", "skill")):
        names = [one.name for one in detail.may_call if one.allowed and one.kind == kind]
        more = f" and {len(names) - CALLERS:,} more" if len(names) > CALLERS else ""
        if names:
            said.append(f"{word}{'s' if len(names) > 1 else ''} {', '.join(names[:CALLERS])}{more}")
    return "; ".join(said)


def _home(path: str) -> str:
    home = os.path.expanduser("~").rstrip("/\\")
    return f"~{path[len(home) :]}" if home and path.startswith(home + os.sep) else path


def _files(detail: SkillDetail) -> QWidget | None:
    """A list of the files beside a ``SKILL.md``, or None."""
    if not detail.files:
        return None
    rows = []
    for file in detail.files[:MAX_FILES]:
        holder = QWidget()
        row = Row(holder, spacing=12)
        row.addWidget(Text(shown_line(file.path), "code", elide="middle"), 1)
        row.addWidget(Text(size_words(file.size), "small", "2"))
        rows.append(holder)
    if len(detail.files) > MAX_FILES:
        rows.append(Text(f"and {len(detail.files) - MAX_FILES} more", "small", "2"))
    return titled("Files beside it", row_card(rows))


def _metadata(detail: SkillDetail) -> QWidget | None:
    """The metadata in force, with the skill that set each key, and what stands around a call."""
    cascade = detail.cascade
    if cascade is None:
        return None
    parts: list[QWidget] = []
    if detail.middleware:
        words = " → ".join((*detail.middleware, detail.key[1]))
        parts.append(titled("Middleware, outermost first", Paragraph(((shown_line(words), "mono"),), "body")))
    rows = [
        _key_row(key, value, cascade.origins.get(key, ""), detail.key[1])
        for key, value in cascade.metadata.items()
        if key not in ("params", "returns", "tags")
    ]
    if rows:
        parts.append(titled("Metadata in use", row_card(rows)))
    if not parts:
        return None
    holder = QWidget()
    column = Column(holder, spacing=16)
    for part in parts:
        column.addWidget(part)
    return holder


def _key_row(key: str, value: Any, origin: str, own: str) -> QWidget:
    holder = QWidget()
    row = Row(holder, spacing=12)
    text = compact(value, 400)
    row.addWidget(Text(shown_line(key), "code"))
    row.addWidget(Text(shown_line(text[:400]), "code", "2", elide="right"), 1)
    whose = "set here" if origin in ("", own) else f"set by {origin}"
    row.addWidget(Text(shown_line(whose), "small", "3"))
    holder.setAccessibleName(f"{key}: {text[:200]}, {whose}")
    return holder
