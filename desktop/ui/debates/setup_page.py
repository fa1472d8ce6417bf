"""Setting up a debate: template, topic, two sides, what ends it; what is wrong stands beside its field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QFrame, QSizePolicy, QWidget

from desktop.domain.debates import DebateTemplate, SidePreview
from desktop.domain.definitions import SIDES, SideName
from desktop.presenter.common.folders import name_of, short_path
from desktop.presenter.debates.cost import ASSUMED, in_all_words
from desktop.presenter.debates.setup import DebateSetupViewModel, problem_of
from desktop.presenter.debates.words import label_of
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.debates.agent_choice import AgentChoice
from desktop.ui.debates.ends_card import EndsCard
from desktop.ui.debates.side_card import SideCard
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph, outline
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Field, Labelled, MonoView, TextArea
from desktop.ui.widgets.controls.help_button import HelpIcon
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.focus import Ringed
from desktop.ui.widgets.layout.columns import Columns
from desktop.ui.widgets.layout.containers import PaneHeader, Scroller
from desktop.ui.widgets.layout.turning import Turning
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

BESIDE = 760
"""Pixels at 100 % from which on what is said of the start stands beside its buttons."""
SIDE_BY_SIDE = 680
"""Below this width at 100 % the sides stand under each other."""
NO_FOLDER, FOLDER = "No folder", 28
"""What stands where none is chosen; the longest name of one."""
TEMPLATE = 205
"""Pixels at 100 % of a template's card: room for its hint."""


class TemplateCard(Ringed, QAbstractButton):
    """A template: icon, title, hint; the chosen one has an ink outline."""

    spoken_role = "radio button"

    def __init__(self, template: DebateTemplate) -> None:
        super().__init__()
        self.template = template
        self.setCheckable(True)
        self.setAccessibleName(f"{template.title}. {template.hint}")
        self.setToolTip(plain_tip(template.hint))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """A card 60 pixels high."""
        return QSize(theme().px(120), theme().px(60))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the template."""
        t, painter, px = theme(), QPainter(self), theme().px
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        if self.underMouse() and not self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(t.color("hover"))
            painter.drawRoundedRect(box, px(8), px(8))
        on = self.isChecked()
        outline(painter, box, px(8), t.color("focus" if on else "border"), px(2) if on else 1)
        glyph(painter, QRect(px(13), px(12), px(18), px(20)), self.template.icon, "text-2", px(18))
        room = self.width() - px(52)
        painter.setFont(t.font("body", 500))
        painter.setPen(t.color("text"))
        painter.drawText(px(42), px(11), room, px(22), _LEFT, elided(self.template.title, "body", room, weight=500))
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        painter.drawText(px(42), px(31), room, px(18), _LEFT, elided(self.template.hint, "small", room))


class SetupPage(QFrame):
    """The page on which a debate is set up; Ctrl+Enter starts it. ``folder_wanted``: its folder is to be chosen."""

    folder_wanted = Signal()

    def __init__(self, setup: DebateSetupViewModel, models: ModelSetupViewModel) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        self._setup, self._models = setup, models
        self.dialog: Dialog | None = None
        self.fold = IconButton("sidebar", "Show or hide the list of debates")
        self.folder = Button(NO_FOLDER, icon="folder", small=True, chevron=True, shrinks=True)
        self.topic = TextArea("Topic, read by both sides as the first message", hint="What is it about?")
        self.sides = {side: SideCard(side, setup, models) for side in SIDES}
        self.ends = EndsCard(setup)
        self.agents = AgentChoice(setup)
        self._group = QButtonGroup(self)
        self._cards: dict[str, TemplateCard] = {}
        self._templates = Columns(minimum=TEMPLATE, maximum=5)
        self._both = Row(spacing=16)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        column = Column(self, spacing=0)
        head = PaneHeader("New debate")
        head.row.insertWidget(0, self.fold)
        head.add(self.folder)
        self.help = HelpIcon()
        head.add(self.help)
        column.addWidget(head)
        self._scroller = Scroller(margins=(32, 20, 32, 20), spacing=16)
        inside = self._scroller.column
        inside.addWidget(self._templates)
        inside.addWidget(self.agents)
        self._topic_place = Labelled("Topic, read by both sides as the first message", self.topic)
        sized(self.topic, height=64)
        inside.addWidget(self._topic_place)
        for card in self.sides.values():
            self._both.addWidget(card, 1)
        inside.addLayout(self._both)
        inside.addWidget(self.ends)
        inside.addStretch(1)
        column.addWidget(self._scroller, 1)
        foot = pane("footer")
        words, buttons = QWidget(), QWidget()
        row, acts = Row(words, spacing=8), Row(buttons, spacing=8)
        self._glyph = Icon("ask", "ask", 16)
        self._note = Paragraph("", "small", "2")
        row.addWidget(self._glyph)
        row.addWidget(self._note, 1, Qt.AlignmentFlag.AlignVCenter)
        self.cost = Text("", "small", "2", elide="right")
        self.cost.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.cost.setToolTip(ASSUMED)
        row.addWidget(self.cost)
        self.preview_button = Button(
            "Preview", "quiet", icon="read", tip="What each side would be given, no model asked", shrinks=True
        )
        self.save_button = Button("Save as agent…", icon="agent", shrinks=True)
        self.start_button = Button("Start debate", "primary", icon="play", key="Ctrl+Enter", shrinks=True)
        for button in (self.preview_button, self.save_button, self.start_button):
            acts.addWidget(button)
        turning = Turning(words, buttons, minimum=BESIDE, shares=(1, 0))
        Column(foot, margins=(32, 12, 32, 12)).addWidget(turning)
        column.addWidget(foot)

    def _connect(self) -> None:
        setup = self._setup
        setup.loaded.connect(self.refresh)
        setup.changed.connect(self.refresh)
        setup.checked.connect(lambda _: self.show_problems())
        setup.previewed.connect(self._show_preview)
        setup.offers_changed.connect(self._offers_changed)
        self._models.changed.connect(self._models_changed)
        self.folder.clicked.connect(self.folder_wanted)
        self.topic.textChanged.connect(lambda: setup.set(topic=self.topic.toPlainText()))
        self.preview_button.clicked.connect(setup.preview)
        self.save_button.clicked.connect(self._ask_name)
        self.start_button.clicked.connect(self.start)

    def first_focus(self) -> TextArea:
        """Keys go to the topic."""
        return self.topic

    # -- what is shown ------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Fill all fields from the set-up."""
        if set(self._cards) != {template.name for template in self._setup.templates}:
            self._make_templates()
        self._group.setExclusive(False)  # an agent was chosen: no card is
        for name, card in self._cards.items():
            card.setChecked(name == self._setup.setup.template)
        self._group.setExclusive(True)
        self.agents.refresh()
        if self.topic.toPlainText() != self._setup.setup.topic:
            self.topic.blockSignals(True)
            self.topic.setPlainText(self._setup.setup.topic)
            self.topic.blockSignals(False)
        for side in self.sides.values():
            side.refresh()
        self.ends.refresh()
        self._show_folder()
        self._show_note()
        self._show_cost()

    def _show_folder(self) -> None:
        """The folder that both sides work in, and why it cannot be used, if that is so."""
        path = self._setup.setup.project
        wrong = problem_of(self._setup.problems, "project") if path else ""
        name = shown_line(name_of(path)) if path else NO_FOLDER
        self.folder.set_icon("failed" if wrong else "folder")
        self.folder.set_label(name if len(name) <= FOLDER else f"{name[: FOLDER - 1]}…")
        about = f"Both sides work in {short_path(path)}" if path else "Both sides work in Assent's own workspace"
        self.folder.setToolTip(plain_tip(f"{shown_line(wrong or about)}. Choose the folder".replace("..", ".")))
        self.folder.setAccessibleName(f"Folder: {name}{f', {shown_line(wrong)}' if wrong else ''}")

    def _show_cost(self) -> None:
        """Show the cost of a turn of each side, and of the whole debate."""
        for card in self.sides.values():
            card.show_hint()
        self.cost.setText(in_all_words(self._setup.setup, {side: card.info for side, card in self.sides.items()}))
        self.cost.updateGeometry()

    def _make_templates(self) -> None:
        self._cards = {template.name: TemplateCard(template) for template in self._setup.templates}
        for name, card in self._cards.items():
            card.clicked.connect(lambda _=False, name=name: self._setup.choose(name))
            self._group.addButton(card)
        self._templates.fill(list(self._cards.values()))

    def _offers_changed(self, side: str) -> None:
        self.sides["b" if side == "b" else "a"].refresh_tools()
        self.ends.refresh()
        self._show_note()

    def _models_changed(self) -> None:
        before, now = self._setup.default_model, self._models.default_model
        if before != now:
            self._setup.default_model = now
            for side in SIDES:
                if self._setup.setup.side(side).model in ("", before):  # nobody chose another one for it
                    self._setup.set_side(side, model=now)
        for card in self.sides.values():
            card.refresh()
        self._show_cost()

    def show_problems(self) -> None:
        """Each beside its field; what has no field here stands in the foot."""
        self._topic_place.set_error(problem_of(self._setup.problems, "topic"))
        for card in self.sides.values():
            card.show_problems()
        self.ends.show_problems()
        self._show_folder()
        self._show_note()
        self._show_cost()

    def _show_note(self) -> None:
        errors = self._setup.errors
        warnings = [problem.text for problem in self._setup.problems if problem.warning]
        asking = [
            (side, name)
            for side in SIDES
            for name in self._setup.tools_of(side)
            if any(o.name == name and o.category not in ("read", "") for o in self._setup.offers[side])
        ]
        wrong = bool(errors)
        self._glyph.set_icon("failed" if wrong else "ask", "failed" if wrong else "ask")
        self._glyph.setVisible(wrong or bool(warnings) or bool(asking))
        if wrong:
            count = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
            self._note.set_pieces(f"{errors[0].text}{count}")
        elif warnings:
            self._note.set_pieces(warnings[0])
        elif asking:
            self._note.set_pieces(self._asking_words(asking))
        else:
            self._note.set_pieces("")
        self.start_button.setEnabled(not wrong)
        self.start_button.setToolTip(plain_tip(errors[0].text if wrong else "Ctrl+Enter"))

    def _asking_words(self, asking: Sequence[tuple[SideName, str]]) -> list[tuple[str, str]]:
        """Sentences on the tools whose calls wait for the person: each side with all of its tools."""
        pieces: list[tuple[str, str]] = []
        for side in SIDES:
            names = [name for who, name in asking if who == side]
            if names:
                label = label_of(self._setup.setup.side(side), side)
                pieces.append((f"{'; ' if pieces else ''}{label} may use ", ""))
                for at, name in enumerate(names):
                    pieces += [(" and " if at == len(names) - 1 else ", ", "")] * bool(at) + [(name, "mono")]
        return [*pieces, (": each call waits for you.", "")]

    def _show_preview(self, found: Mapping[SideName, SidePreview]) -> None:
        dialog = self.dialog = Dialog(
            self.window(),
            "What each side would be given",
            "No model was asked.",
            (DialogAnswer("close", "Close", key="Esc"),),
            width=920,
        )
        row = Row(spacing=16)
        for side in SIDES:
            column = Column(spacing=6)
            shown, label = found[side], label_of(self._setup.setup.side(side), side)
            column.addWidget(Text(f"Side {side.upper()}: {label}", "strong", f"side-{side}", elide="right"))
            window = f"{shown.context_window:,} tokens" if shown.context_window else "context size unknown"
            column.addWidget(Paragraph(f"{shown.model or 'no model'}, {window}", "small", "2"))
            column.addWidget(MonoView("System text", shown.system[:200_000], rows=12, wrap=True))
            tools = ", ".join(tool.name for tool in shown.tools) or "none"
            column.addWidget(Paragraph([("Tools: ", "strong"), (tools, "mono")], "small"))
            for limit in shown.limits:
                column.addWidget(Paragraph(limit, "small", "2"))
            for problem in shown.problems:
                column.addWidget(Paragraph(problem.text, "small", "ask" if problem.warning else "failed"))
            column.addStretch(1)
            row.addLayout(column, 1)
        dialog.body.addLayout(row)
        dialog.open()

    # -- what is done -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Unless something is wrong, which is said."""
        self._setup.start()

    def _ask_name(self) -> None:
        answers = (DialogAnswer("cancel", "Cancel", key="Esc"), DialogAnswer("save", "Save", "primary"))
        words = "It is saved in your agents folder, without the topic."
        dialog = self.dialog = Dialog(self.window(), "Save as agent", words, answers)
        name, about = Field("Name", hint="snake_case", mono=True), Field("What it is for")
        dialog.body.addWidget(Labelled("Name", name))
        dialog.body.addWidget(Labelled("What it is for", about))
        dialog.answered.connect(
            lambda value: (
                self._setup.save_as_agent(name.text().strip(), about.text().strip()) if value == "save" else None
            )
        )
        dialog.open(name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Start on Ctrl+Enter."""
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() in keys and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.start()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where it is narrow the sides stand under each other."""
        super().resizeEvent(event)
        wide = self.width() >= theme().px(SIDE_BY_SIDE)
        direction = Row.Direction.LeftToRight if wide else Row.Direction.TopToBottom
        if self._both.direction() != direction:
            self._both.setDirection(direction)


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
