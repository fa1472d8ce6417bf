"""The dialog of an import: what was looked at, what it is and may call, where it would go, and whether to keep it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from PySide6.QtCore import QAbstractItemModel, QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from desktop.presenter.skills.import_plan import Choice, Planned, row_words
from desktop.presenter.skills.importing import Candidate, SkillImport, facts_of, notes_of, target_words
from desktop.ui.skills.cards import fact, problem_rows
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph, outline
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Labelled, MonoView, TextArea
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.layout.containers import Notice, Scroller, clear
from desktop.ui.widgets.rows import Index, RowDelegate, RowList, tick
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

WIDTH, HEIGHT, ROWS = 640, 520, 5
MAX_TEXT = 24_000
SAID = 3
"""Names that are taken, said below the choice; all of them stand in their rows."""
ARCHIVES = "Archives (*.zip *.skill *.tar *.tar.gz *.tgz);;Skill files (*.md *.skill.md *.skill.py *.skill.js)"
CHECKED = Qt.ItemDataRole.CheckStateRole
LINE = Qt.ItemDataRole.UserRole
TONE = Qt.ItemDataRole.UserRole + 1
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)


class CandidateDelegate(RowDelegate):
    """A box to tick, the name, and what it does."""

    height = 32

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one candidate."""
        t = theme()
        enabled = bool(index.flags() & Qt.ItemFlag.ItemIsUserCheckable)
        side = t.px(16)
        mark = QRect(box.x() + t.px(8), box.y() + (box.height() - side) // 2, side, side)
        if not enabled:
            glyph(painter, mark, "failed", "failed", side)
        elif Qt.CheckState(index.data(CHECKED)) == Qt.CheckState.Checked:
            glyph(painter, mark, "allow", "accent", side)
            outline(painter, mark.toRectF(), t.px(4), t.color("accent"))
        else:
            outline(painter, mark.toRectF(), t.px(4), t.color("control-border"))
        name = str(index.data())
        painter.setPen(t.color("text" if enabled else "text-3"))
        painter.setFont(t.font("code"))
        room = box.adjusted(t.px(34), 0, -t.px(8), 0)
        width = min(painter.fontMetrics().horizontalAdvance(name) + 1, room.width() // 2)
        painter.drawText(QRect(room.x(), room.y(), width, room.height()), _LEFT, elided(name, "code", width))
        rest = room.adjusted(width + t.px(10), 0, 0, 0)
        painter.setFont(t.font("small"))
        painter.setPen(t.color(str(index.data(TONE) or "text-2")))
        painter.drawText(rest, _LEFT, elided(str(index.data(LINE)), "small", rest.width()))

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """A click on the box, or Space, ticks."""
        return tick(event, model, index, CHECKED, option.rect.x() + theme().px(40))


class CandidateList(RowList):
    """The skills of an import. ``ticked`` carries (place, on); ``looked_at`` the place of the current one."""

    ticked = Signal(int, bool)
    looked_at = Signal(int)

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        super().__init__("Skills in it: Space ticks one", CandidateDelegate())
        self._rows = QStandardItemModel(self)
        for candidate in candidates:
            self._rows.appendRow(self._item(candidate))
        self.setModel(self._rows)
        self.setFixedHeight(theme().px(32 * min(ROWS, len(candidates))))
        self._rows.itemChanged.connect(
            lambda item: self.ticked.emit(item.row(), item.checkState() == Qt.CheckState.Checked)
        )
        self.selectionModel().currentChanged.connect(lambda now, _: self.looked_at.emit(now.row()))

    @staticmethod
    def _item(candidate: Candidate) -> QStandardItem:
        item = QStandardItem(shown_line(candidate.name))
        usable = candidate.definition is not None
        item.setCheckable(usable)
        if usable:
            item.setCheckState(Qt.CheckState.Unchecked)
        _say_line(item, *row_words(candidate, None))
        return item

    def show_plan(self, candidates: Sequence[Candidate], plan: Mapping[int, Planned]) -> None:
        """Show what each skill would be called, and why."""
        self._rows.blockSignals(True)  # the boxes stay as they are
        for at, candidate in enumerate(candidates):
            _say_line(self._rows.item(at), *row_words(candidate, plan.get(at)))
        self._rows.blockSignals(False)
        self.viewport().update()

    def tick_all(self) -> None:
        """All that can be imported."""
        for place in range(self._rows.rowCount()):
            item = self._rows.item(place)
            if item.isCheckable():
                item.setCheckState(Qt.CheckState.Checked)

    def sizeHint(self) -> QSize:
        """The height is fixed; the width is what the layout gives."""
        return QSize(theme().px(200), self.height())


def _say_line(item: QStandardItem, words: str, tone: str) -> None:
    """Set what stands beside the name."""
    line = shown_line(words[:300])
    item.setData(line, LINE)
    item.setData(tone, TONE)
    item.setToolTip(plain_tip(line))
    item.setAccessibleText(f"{item.text()}: {line}")


class _Preview(Scroller):
    """A preview as high as there is room for, up to ``HEIGHT``."""

    def __init__(self) -> None:
        super().__init__(margins=(0, 4, 8, 4), spacing=12)
        self.setAccessibleName("What it is")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # to be read to its end by keys

    def sizeHint(self) -> QSize:
        """The wanted size."""
        return QSize(theme().px(WIDTH - 48), theme().px(HEIGHT))

    def minimumSizeHint(self) -> QSize:
        """The least size: the preview may be squeezed."""
        return QSize(theme().px(200), theme().px(96))


class ImportDialog(Dialog):
    """Follows an import from looking to keeping; however it is closed, nothing stays but what was kept."""

    help_page = "skills"

    def __init__(self, window: QWidget, imports: SkillImport, what: str) -> None:
        answers = (DialogAnswer("no", "Cancel", key="Esc"), DialogAnswer("yes", "Import", "primary"))
        words = (("Looking at ", ""), (shown_line(what), "mono"), (" …", ""))
        super().__init__(window, "Import a skill", words, answers, width=WIDTH)
        self._imports = imports
        self._at = 0
        self.buttons["yes"].clicked.disconnect()
        self.buttons["yes"].clicked.connect(self._keep)
        self.buttons["yes"].setEnabled(False)
        self._wrong = Notice("failed", "")
        self._warning = Notice("ask", "")
        for strip in (self._wrong, self._warning):
            strip.hide()
        self.body.addWidget(self._wrong)
        self.list: CandidateList | None = None
        self.preview = _Preview()
        self.preview.hide()
        self.body.addWidget(self.preview)
        self._above, self._below, self._what = Column(spacing=4), Column(spacing=8), Column(spacing=8)
        for part in (self._above, self._below, self._what):
            self.preview.column.addLayout(part)
        self._above.addWidget(self._warning)
        self.preview.column.addStretch(1)
        self._make_where()
        imports.staged_changed.connect(self._staged)
        imports.fitted.connect(self._fitted)
        imports.refused.connect(self._refused)
        imports.kept.connect(self._kept)
        self.answered.connect(self._closed)

    def _make_where(self) -> None:
        self.where = Combo("Where it goes")
        self.where.currentIndexChanged.connect(self._imports.go_to)
        self._where = Labelled("Where it goes", self.where)
        ways = (("both", "Keep both"), ("replace", "Replace"), ("skip", "Leave out"))
        self.collision = Segmented("Where the name is taken", ways)
        self.collision.chosen.connect(lambda way: self._imports.resolve(cast("Choice", way)))
        self._collision = Labelled("You have something of this name already", self.collision, " ")
        for part in (self._where, self._collision):
            part.hide()
            self._below.addWidget(part)

    # -- following the import -----------------------------------------------------------------------------------------

    def _staged(self) -> None:
        staged = self._imports.staged
        if staged is None:
            return
        count = len(staged.candidates)
        words = "Nothing is kept before you import it, and nothing in it runs."
        links = f" {staged.links} link{'s' if staged.links > 1 else ''} left out." if staged.links else ""
        more = f" Only the first {count:,} are shown." if staged.more else ""
        self._text.set_pieces(words + links + more)
        if count > 1:
            self._show_list(staged.candidates)
        self.where.fill([(shown_line(target_words(one)), at) for at, one in enumerate(self._imports.targets)], 0)
        self._where.setVisible(True)
        self.preview.show()
        if count == 1:
            self._look(0)
        self.resized()
        (self.list or self.where).setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_list(self, candidates: Sequence[Candidate]) -> None:
        made = self.list = CandidateList(candidates)
        made.ticked.connect(self._imports.tick)
        made.looked_at.connect(self._look)
        line = Row(spacing=8)
        line.addWidget(Text(f"{len(candidates):,} skills", "strong"))
        line.addStretch(1)
        every = Button("Tick all", "quiet", small=True)
        every.clicked.connect(made.tick_all)
        line.addWidget(every)
        self._above.insertLayout(0, line)
        self._above.insertWidget(1, made)
        made.setCurrentIndex(made.model().index(0, 0))

    def _look(self, at: int) -> None:
        """Show one of them."""
        self._at = max(0, at)
        self._show_preview()

    def _show_preview(self) -> None:
        staged = self._imports.staged
        if staged is None or self._at >= len(staged.candidates):
            return
        candidate, fits = staged.candidates[self._at], self._imports.fits.get(self._at)
        column = self._what
        clear(column)
        for part in _preview(candidate):
            column.addWidget(part)
        for place, note in enumerate(notes_of(candidate, fits, self._imports.target)):
            column.insertWidget(2 + place, Notice(note.kind, shown(note.sentence)))
        facts = Column(spacing=4)
        for caption, words, code in facts_of(candidate, fits):
            facts.addWidget(fact(caption, words, mono=code))
        column.addLayout(facts)
        column.addWidget(_text_of(candidate))

    def _fitted(self) -> None:
        self._show_preview()
        self._say()

    def _say(self) -> None:
        """Say on the button what it would do."""
        imports = self._imports
        plan = imports.plan
        count = sum(bool(one.name) for one in plan.values())
        if self.list is not None and imports.staged is not None:
            self.list.show_plan(imports.staged.candidates, plan)
        button = self.buttons["yes"]
        button.setEnabled(imports.ready)
        button.set_label(f"Import {count:,} skills" if count > 1 else "Import")
        warning = imports.warning()
        self._warning.setVisible(bool(warning))
        self._warning.say(shown(warning))
        was = self._collision.isVisible()
        self._collision.setVisible(imports.collides)
        if imports.collides:
            self._say_collision()
        if was != imports.collides:
            self.resized()

    def _say_collision(self) -> None:
        said = [f"{one.words[:1].upper()}{one.words[1:]}." for one in self._imports.plan.values() if one.words]
        more = f" And {len(said) - SAID:,} more." if len(said) > SAID else ""
        undo = " Undo brings back what is replaced." if any(p.replaces for p in self._imports.plan.values()) else ""
        self._collision.set_note(shown_line(" ".join(said[:SAID]) + more + undo))

    def _refused(self, sentence: str) -> None:
        self._wrong.say(shown(sentence))
        self._wrong.show()
        if self._imports.staged is None:
            self._text.set_pieces("Nothing was imported.")
        self._say()
        self.resized()
        self.buttons["no"].setFocus(Qt.FocusReason.OtherFocusReason)

    def _keep(self) -> None:
        self._wrong.hide()
        self._imports.keep()
        self._say()

    def _kept(self) -> None:
        self.answer("kept")

    def _closed(self, answer: str) -> None:
        for signal, slot in (
            (self._imports.staged_changed, self._staged),
            (self._imports.fitted, self._fitted),
            (self._imports.refused, self._refused),
            (self._imports.kept, self._kept),
        ):
            signal.disconnect(slot)
        if answer != "kept":
            self._imports.cancel()


def _preview(candidate: Candidate) -> list[QWidget]:
    """The preview of a candidate: its name, what it does, and its problems."""
    definition = candidate.definition
    words = definition.description if definition is not None else ""
    return [
        Text(shown_line(candidate.name), "strong", elide="right"),
        Paragraph(shown(words[:2000]) or "No description.", "body", "2"),
        *problem_rows(candidate.problems, None),
    ]


def _text_of(candidate: Candidate) -> QWidget:
    view = MonoView(f"Text of {candidate.name}", shown(candidate.text[:MAX_TEXT]), rows=10, wrap=True)
    view.setFixedHeight(theme().px(220))
    return view


class PasteDialog(Dialog):
    """A field for the text of a SKILL.md."""

    help_page = "skills"

    def __init__(self, window: QWidget, look: Callable[[str], None]) -> None:
        words = "The text of a SKILL.md: name and description between two lines of ---, then the instructions."
        answers = (DialogAnswer("no", "Cancel", key="Esc"), DialogAnswer("yes", "Look at it", "primary"))
        super().__init__(window, "Paste a skill", words, answers, width=WIDTH)
        self.field = TextArea("Text of the skill", hint="---\nname: …\ndescription: …\n---", mono=True)
        self.field.setMinimumHeight(theme().px(64))  # at 200 % the buttons below need their room
        self.field.setMaximumHeight(theme().px(260))
        self.body.addWidget(self.field)
        self.buttons["yes"].setEnabled(False)
        self.field.textChanged.connect(lambda: self.buttons["yes"].setEnabled(bool(self.field.toPlainText().strip())))
        self.answered.connect(lambda answer: look(self.field.toPlainText()) if answer == "yes" else None)


def choose_archive(parent: QWidget, chosen: Callable[[str], None]) -> None:
    """A zip or tar.gz archive, or a skill's file."""
    dialog = FileDialog(parent, "Import a skill from an archive")
    dialog.setFileMode(FileDialog.FileMode.ExistingFile)
    dialog.setNameFilter(ARCHIVES)
    dialog.fileSelected.connect(lambda path: chosen(path) if path else None)
    dialog.open()
