"""The head of an open thread: its title, the context meter, tokens and cost, and the thread's menu."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QSizePolicy, QStackedLayout, QWidget

from desktop.domain.threads import ThreadJob
from desktop.presenter.chat.state import Meters
from desktop.presenter.common.folders import NO_FOLDER, name_of, short_path
from desktop.presenter.schedules.words import STATUS, chip_words, short
from desktop.ui.chat.meters import ThreadMeters
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.layout.panel_head import AGENTS_KEYS, CHANGES_KEYS
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.scaling import Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

TRACE_KEYS = "Ctrl+Shift+T"
PROJECT_KEYS = "Ctrl+Shift+O"
MIN_TITLE = 140
NARROW = 640
"""Pixels at 100 % below which the folder is shown by its icon alone."""
EDITING = 320
MIN_CHIP = 110
EDGES = 24 + 12 + 8 + 8 + 8
"""Pixels of the margins, and of the gaps around the title and the meters."""
FOLDER = 28
"""Characters of a folder's name."""
WITH_CHANGES = 560
"""Pixels of the head from which on it has a button of its own for the changes."""
EDITOR = 24
"""Characters of the name of the editor that made a thread."""


class TitleText(Text):
    """The title; a double click or F2 edits it."""

    edit_wanted = Signal()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Start editing on a double click."""
        self.edit_wanted.emit()


class TitleField(QLineEdit):
    """The title being edited: Enter keeps it, Escape and leaving with nothing typed keep the old one."""

    done = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setMaxLength(200)
        self.setAccessibleName(name)
        self.editingFinished.connect(self._finished)
        self._over = True

    def begin(self, text: str) -> None:
        """Start editing the title."""
        self._over = False
        self.setText(text)
        self.selectAll()
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Give up on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self._over = True
            self.done.emit("")
            return
        super().keyPressEvent(event)

    def _finished(self) -> None:
        if not self._over:
            self._over = True
            self.done.emit(self.text().strip())


class EditableTitle(QWidget):
    """A title, and the field in its place while it is edited; ``name`` is what the field is called aloud. ``hugs``: it
    is no wider than its text, so that something can stand right behind it."""

    renamed = Signal(str)

    def __init__(self, text: str, name: str, *, hugs: bool = False) -> None:
        super().__init__()
        self._hugs = hugs
        if hugs:
            self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.text = TitleText(text, "title", elide="right")
        self.field = TitleField(name)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.text)
        self._stack.addWidget(self.field)
        self.text.edit_wanted.connect(self.edit)
        self.field.done.connect(self._edited)

    def sizeHint(self) -> QSize:
        """The title in one line, or room to write another."""
        hint = super().sizeHint()
        if not self._hugs:
            return hint
        wide = QFontMetrics(theme().font("title")).horizontalAdvance(self.text.text())
        editing = self._stack.currentWidget() is self.field
        return QSize(max(theme().px(EDITING), wide) if editing else wide + theme().px(4), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Cut before anything else in the head is."""
        hint = super().minimumSizeHint()
        return QSize(min(theme().px(MIN_TITLE), self.sizeHint().width()), hint.height()) if self._hugs else hint

    def edit(self) -> None:
        """Put the field in the title's place."""
        self._stack.setCurrentWidget(self.field)
        self.updateGeometry()
        self.field.begin(self.text.text())

    def _edited(self, text: str) -> None:
        self._stack.setCurrentWidget(self.text)
        self.updateGeometry()
        if text and text != self.text.text():
            self.renamed.emit(text)


class ThreadHeader(QFrame):
    """The head of a thread, 48 pixels high; its signals say what was pressed."""

    renamed = Signal(str)
    context_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "header")
        sized(self, height=48, min_width=240)
        self._title = EditableTitle("New chat", "Title of this chat", hugs=True)
        self.project = Button(NO_FOLDER, icon="folder", small=True, chevron=True, shrinks=True)
        self.mode = Button("asks each time", icon="ask", small=True, chevron=True, shrinks=True)
        self.title, self.field = self._title.text, self._title.field
        self.job = Button("Job", icon="schedules", small=True, shrinks=True)
        self.job.setVisible(False)
        self.editor = Text("", "small", "2")
        self.editor.setVisible(False)
        self.other = Badge("other agent")
        self.other.setVisible(False)
        self.meters = ThreadMeters()
        self.meters.pressed.connect(self.context_wanted)
        self.trace = IconButton("trace", "Show the trace", shortcut=TRACE_KEYS, side=32)
        self.trace.setCheckable(True)
        self.agents = IconButton("agent", "Show the agents", shortcut=AGENTS_KEYS, side=32)
        self.agents.setCheckable(True)
        self.changes = IconButton("changes", "Show the changes", shortcut=CHANGES_KEYS, side=32)
        self.changes.setCheckable(True)
        self.more = IconButton("more", "More for this chat", side=32)
        self._fold = IconButton("sidebar", "Show the list of chats", side=32)
        self._fold.setVisible(False)
        self._lay_out()
        self._title.renamed.connect(self.renamed)

    @property
    def fold(self) -> IconButton:
        """Shows the list of threads where the window is too narrow for it."""
        return self._fold

    def _lay_out(self) -> None:
        row = Row(self, margins=(24, 0, 12, 0), spacing=8)
        row.addWidget(self._fold)
        row.addWidget(self._title)
        self.chips = Row(spacing=4)
        self.chips.addWidget(self.project)
        self.chips.addWidget(self.mode)
        row.addLayout(self.chips)
        row.addStretch(1)
        row.addWidget(self.job)
        row.addWidget(self.editor)
        row.addWidget(self.other)
        row.addWidget(self.meters)
        row.addSpacing(theme().px(8))
        row.addWidget(self.trace)
        row.addWidget(self.agents)
        row.addWidget(self.changes)
        row.addWidget(self.more)

    def show_title(self, text: str) -> None:
        """The thread's title, in one line."""
        self.title.setText(" ".join(text.split()))
        self.title.update()
        self._title.updateGeometry()

    def show_project(self, path: str, closed: str = "") -> None:
        """Show the folder that the chat works in, and why it cannot be used, if that is so."""
        self.project.set_icon("failed" if closed else "folder")
        name = shown_line(name_of(path)) if path else NO_FOLDER
        self.project.set_label(name if len(name) <= FOLDER else f"{name[: FOLDER - 1]}…")
        about = f"Works in {short_path(path)}" if path else "This chat works in Assent's own workspace"
        what = f"{short_path(path)} {closed}" if closed else about
        self.project.setToolTip(plain_tip(f"{shown_line(what)}. Choose the folder ({PROJECT_KEYS})"))
        self.project.setAccessibleName(f"Folder: {name}{f', {closed}' if closed else ''}")
        self._fit()

    def show_mode(self, words: str, icon: str, closed: str = "") -> None:
        """Show whether calls of the chat ask each time; ``closed``: why that cannot be changed now."""
        self.mode.set_icon(icon)
        self.mode.set_label(words)
        self.mode.setToolTip(plain_tip(f"This chat {words if icon == 'ask' else f'asks {words}'}. {closed}".strip()))
        self.mode.setAccessibleName(f"Mode: {words}")
        self._fit()

    def show_job(self, job: ThreadJob | None) -> None:
        """Show the job whose run this is, how it ended, and the way to the job, while there is one."""
        self.job.setVisible(job is not None)
        if job is not None:
            icon = STATUS[job.status][0] if job.status in STATUS else "schedules"
            self.job.set_icon("schedules" if icon == "allow" else icon)
            self.job.set_label(chip_words(job))
            self.job.setEnabled(not job.deleted)
            self.job.setToolTip(plain_tip("" if job.deleted else f"Open {shown_line(short(job.name))} in Schedules"))
        self._fit()

    def show_editor(self, name: str) -> None:
        """Say which editor made the thread."""
        shown = shown_line(name)
        self.editor.setVisible(bool(name))
        self.editor.setText(f"from {shown if len(shown) <= EDITOR else f'{shown[: EDITOR - 1]}…'}")
        self.editor.setToolTip(plain_tip(f"Begun in {shown}, an editor that works with Assent"))
        self._fit()

    def show_other(self, title: str) -> None:
        """Say which agent of another maker works here; "" for none."""
        shown = shown_line(title)
        self.other.setVisible(bool(title))
        self.other.set_badge("other agent", f"{shown if len(shown) <= EDITOR else f'{shown[: EDITOR - 1]}…'}, by ACP")
        self._fit()

    def show_side(self, name: str) -> None:
        """The buttons follow what stands beside the thread."""
        for button, own, what, keys in (
            (self.trace, "trace", "trace", TRACE_KEYS),
            (self.agents, "agents", "agents", AGENTS_KEYS),
            (self.changes, "changes", "changes", CHANGES_KEYS),
        ):
            button.setChecked(name == own)
            button.set_name(f"{'Hide' if name == own else 'Show'} the {what}", keys)

    def edit_title(self) -> None:
        """Put the field in the title's place."""
        self._title.edit()

    def show_meters(self, meters: Meters) -> None:
        """Context used of the window, tokens, cost; what is not known says so."""
        self.meters.show_meters(meters)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The meters give way to the title, as far as they say less important things."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        px = theme().px
        self.project.set_bare(self.width() < px(NARROW))
        self.project.setMinimumWidth(min(self.project.sizeHint().width(), px(MIN_CHIP)))
        self.changes.setVisible(self.width() >= px(WITH_CHANGES))  # else it is a tab away
        self.mode.set_bare(not self._has_room_for_mode())
        self.mode.setMinimumWidth(self.mode.sizeHint().width())  # its words are never half there
        beside = (self.project, self.mode, *self._others())
        taken = sum(max(one.minimumSizeHint().width(), one.minimumWidth()) + px(8) for one in beside)
        room = self.width() - px(EDGES + MIN_TITLE) - taken
        self.meters.fit(room, self.job.isHidden())

    def _others(self) -> list[QWidget]:
        """What stands beside the title, the two chips and the meters."""
        right = (self.job, self.editor, self.other, self.trace, self.agents, self.changes, self.more)
        return [one for one in (self._fold, *right) if not one.isHidden()]

    def _has_room_for_mode(self) -> bool:
        """Whether the words of the mode fit, with all of the others and enough of the title and the meters."""
        px = theme().px
        others = [max(one.sizeHint().width(), one.minimumWidth()) + px(8) for one in self._others()]
        title = min(self._title.sizeHint().width(), px(MIN_TITLE))
        chips = self.project.sizeHint().width() + self.mode.full_width() + px(16)
        return self.width() >= px(EDGES) + title + chips + self.meters.least_width() + sum(others)
