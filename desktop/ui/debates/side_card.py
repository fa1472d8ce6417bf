"""One side of a debate as it is set up: label, prompt, model, tools, what ends its turn."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QMenu, QSizePolicy, QWidget

from desktop.domain.debates import ToolOffer
from desktop.domain.definitions import SideName
from desktop.domain.model_settings import SPELLINGS
from desktop.domain.models import ModelInfo
from desktop.presenter.common.setting_fields import wrong_in
from desktop.presenter.debates.cost import ASSUMED, per_turn
from desktop.presenter.debates.setup import DebateSetupViewModel, problem_of
from desktop.presenter.debates.words import model_hint
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.debates.numbers import NumberField
from desktop.ui.model_picker.field import ModelField
from desktop.ui.model_picker.settings_fields import ModelSettingsFields
from desktop.ui.theme import theme
from desktop.ui.theme.paint import BADGES, glyph, outline
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.fields import Combo, Field, Labelled
from desktop.ui.widgets.controls.prompt_choice import PromptChoice
from desktop.ui.widgets.focus import Ringed
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.never_cut import NeverCut
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.side_marks import SideMark
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

REPLY = "a reply without tool calls"
MAX_ROUNDS = 500


class ToolChip(Ringed, NeverCut, QAbstractButton):
    """A tool with its category's glyph; a click takes it away."""

    def __init__(self, offer: ToolOffer) -> None:
        super().__init__()
        self._offer = offer
        self.setAccessibleName(f"{offer.name}, {offer.category}. Remove")
        self.setToolTip(plain_tip(f"{offer.description}\nRemove {offer.name}".strip()))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def sizeHint(self) -> QSize:
        """The size of glyph, name and cross."""
        t = theme()
        return QSize(QFontMetrics(t.font("code")).horizontalAdvance(self._offer.name) + t.px(58), t.metric("chip"))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the chip."""
        t, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box, look = QRectF(self.rect()), BADGES.get(self._offer.category, BADGES["unknown"])
        if self.underMouse():
            path = QPainterPath()
            path.addRoundedRect(box, t.px(6), t.px(6))
            painter.fillPath(path, t.color("hover"))
        outline(painter, box, t.px(6), t.color("border"))
        glyph(painter, QRect(t.px(8), 0, t.px(14), self.height()), look.icon, look.token, t.px(14))
        painter.setFont(t.font("code"))
        painter.setPen(t.color("text"))
        painter.drawText(self.rect().adjusted(t.px(28), 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), self._offer.name)
        cross = QRect(self.width() - t.px(22), 0, t.px(14), self.height())
        glyph(painter, cross, "close", "text-2", t.px(14))


class SideCard(QFrame):
    """Writes straight into the view-model; ``refresh`` takes over what another hand changed."""

    def __init__(self, side: SideName, setup: DebateSetupViewModel, models: ModelSetupViewModel) -> None:
        super().__init__()
        self.side: SideName = side
        self._setup, self._models = setup, models
        self.setProperty("pane", "card")
        self.setAccessibleName(f"Side {side.upper()}")
        self.label = Field(f"Label of side {side.upper()}")
        self.label.setMaxLength(60)
        of = f"of side {side.upper()}"
        self.choice = PromptChoice(f"Prompt {of}", f"Kind of prompt {of}", f"Text of the prompt {of}")
        self.prompt, self.model = self.choice.skill, ModelField(f"Model {of}", models, ("", "The default model"))
        self.ends = Combo(f"A turn of side {side.upper()} ends with")
        self.read = Field("Property of its result that is read", hint="whole result", mono=True)
        self.rounds = NumberField(f"Rounds a turn of side {side.upper()}", 1, MAX_ROUNDS, hint="default")
        self.chips = FlowRow()
        self.settings = ModelSettingsFields(of, models)
        self.settings.changed.connect(self._set)
        self.add = IconButton("new", f"Add a tool to side {side.upper()}", side=24)
        self._hint = Paragraph("", "small", "3")
        for box in (self.prompt, self.ends):
            box.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(6)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        column = Column(self, margins=(16, 14, 16, 14), spacing=10)
        head = Row(spacing=8)
        head.addWidget(SideMark(self.side))
        head.addWidget(Text(f"Side {self.side.upper()}", "strong", f"side-{self.side}"))
        head.addStretch(1)
        head.addWidget(Text("speaks first" if self.side == "a" else "answers", "small", "3"))
        column.addLayout(head)
        self.places = {
            "label": Labelled("Label", self.label),
            "prompt": Labelled("Prompt", self.choice),
            "model": Labelled("Model", self.model),
            "stopTool": Labelled("A turn ends with", self.ends),
            "stopToolResponseProperty": Labelled("Property read", self.read),
            "maxSteps": Labelled("Rounds a turn", self.rounds),
        }
        for names in (("label", "model"), ("prompt",), ("stopTool", "stopToolResponseProperty", "maxSteps")):
            row = Row(spacing=12)
            for name in names:
                row.addWidget(self.places[name], 3 if name == "stopTool" else 2, Qt.AlignmentFlag.AlignTop)
            if names[0] == "stopTool":
                tools = Column(spacing=4)
                tools.addWidget(Text("Tools", "caption", "2"))
                tools.addWidget(self.chips)
                self._tools_wrong = Paragraph("", "small", "failed")
                self._tools_wrong.hide()
                tools.addWidget(self._tools_wrong)
                column.addLayout(tools)
            column.addLayout(row)
        column.addWidget(self.settings)
        foot = Row(spacing=6)
        foot.addWidget(Icon("model", "text-3", 14, line="small"), 0, Qt.AlignmentFlag.AlignTop)
        foot.addWidget(self._hint, 1)
        column.addLayout(foot)
        column.addStretch(1)

    def _connect(self) -> None:
        change = self._change
        self.label.textEdited.connect(lambda text: change(label=text))
        self.choice.picked.connect(lambda name: change(prompt=name))
        self.choice.switched.connect(lambda here: self._setup.write_here(self.side, here))
        self.choice.typed.connect(lambda: change(prompt_text=self.choice.text))
        self.model.chosen.connect(self._model_chosen)
        self.ends.activated.connect(lambda _: self._ends_chosen())
        self.read.textEdited.connect(lambda text: change(stop_property=text.strip()))
        self.rounds.changed.connect(lambda: change(max_rounds=int(self.rounds.number or 0) or None))
        self.add.clicked.connect(self._offer_tools)

    def _change(self, **changes: object) -> None:
        self._setup.set_side(self.side, **changes)

    def _model_chosen(self, ref: str) -> None:
        self._change(model=ref)
        self._show_settings()
        self.show_hint()

    def _show_settings(self, *, fresh: bool = False) -> None:
        side = self._setup.setup.side(self.side)
        self.settings.show_values(side.settings, side.model or self._models.default_model, fresh=fresh)

    def _set(self, key: str, value: object) -> None:
        """One setting of its model, or None: no longer."""
        settings = {name: one for name, one in self._setup.setup.side(self.side).settings.items() if name != key}
        self._change(settings=settings if value is None else {**settings, key: value})
        self._show_settings()

    def _ends_chosen(self) -> None:
        tool = str(self.ends.currentData() or "")
        self._change(stop_tool=tool, stop_on_response=not tool, **({} if tool else {"stop_property": ""}))
        self.places["stopToolResponseProperty"].setVisible(bool(tool))

    # -- what is shown ------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Fill all fields from the set-up."""
        side = self._setup.setup.side(self.side)
        if self.label.text() != side.label:
            self.label.setText(side.label)
        names = dict.fromkeys((*([side.prompt] if side.prompt else []), *self._setup.prompts))
        self.prompt.fill([(name, name) for name in names], side.prompt)
        self.choice.show_here(not side.prompt)
        if not side.prompt:
            self.choice.show_text(side.prompt_text)
        self.model.show_ref(side.model)
        self.rounds.show_number(side.max_rounds)
        self._show_settings()
        self.refresh_tools()
        self.show_hint()

    def refresh_tools(self) -> None:
        """Chips and what may end a turn."""
        side, offers = self._setup.setup.side(self.side), self._setup.offers[self.side]
        known = {offer.name: offer for offer in offers}
        chips: list[QWidget] = []
        for name in self._setup.tools_of(self.side):
            chip = ToolChip(known.get(name, ToolOffer(name, "unknown", "The prompt does not allow this tool.")))
            chip.clicked.connect(lambda _=False, name=name: self._remove(name))
            chips.append(chip)
        self.add.setEnabled(len(chips) < len(offers))
        self.add.setToolTip(plain_tip(self.add.accessibleName() if offers else "This prompt allows no tools"))
        self.chips.set_items([*chips, self.add])
        tools = dict.fromkeys((*self._setup.tools_of(self.side), *([side.stop_tool] if side.stop_tool else [])))
        self.ends.fill([(REPLY, ""), *((f"a call of {name}", name) for name in tools)], side.stop_tool)
        self.read.setText(side.stop_property)
        self.places["stopToolResponseProperty"].setVisible(bool(side.stop_tool))

    @property
    def info(self) -> ModelInfo | None:
        """What is known of the model that is chosen."""
        return self._models.model(self._setup.setup.side(self.side).model)

    def show_hint(self) -> None:
        """The model's window, and what a turn costs."""
        info = self.info
        turn = per_turn(self._setup.setup, self.side, info)
        self._hint.set_pieces(model_hint(info, turn))
        priced = info is not None and info.input_price is not None and info.output_price is not None
        self._hint.setToolTip(plain_tip(f"{model_hint(info)}\n{ASSUMED}" if priced and turn else ""))

    def show_problems(self) -> None:
        """Show each problem beside its field."""
        problems, prefix = self._setup.problems, f"side{self.side.upper()}"
        for name, place in self.places.items():
            place.set_error(problem_of(problems, f"{prefix}.{name}"))
        if wrong := problem_of(problems, f"{prefix}.promptText"):
            self.places["prompt"].set_error(wrong)
        self.settings.show_problems(wrong_in({key: problem_of(problems, f"{prefix}.model.{key}") for key in SPELLINGS}))
        self._tools_wrong.set_pieces(problem_of(problems, f"{prefix}.tools"))
        self._tools_wrong.setVisible(bool(self._tools_wrong.text()))

    # -- tools --------------------------------------------------------------------------------------------------------

    def _remove(self, name: str) -> None:
        left = tuple(tool for tool in self._setup.tools_of(self.side) if tool != name)
        self._change(tools=left)
        self.refresh_tools()
        self.add.setFocus(Qt.FocusReason.OtherFocusReason)

    def _offer_tools(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        chosen = self._setup.tools_of(self.side)
        for offer in self._setup.offers[self.side]:
            if offer.name not in chosen:
                action = menu.addAction(f"{offer.name}\t{offer.category}")
                action.triggered.connect(lambda _=False, name=offer.name: self.add_tool(name))
        menu.popup(self.add.mapToGlobal(QPoint(0, self.add.height())))

    def add_tool(self, name: str) -> None:
        """One more of those that the prompt allows; all of them again mean: whatever it allows."""
        chosen = (*self._setup.tools_of(self.side), name)
        offered = tuple(offer.name for offer in self._setup.offers[self.side])
        self._change(tools=None if set(chosen) == set(offered) else chosen)
        self.refresh_tools()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The bar in the side's colour along the top."""
        super().paintEvent(event)
        t, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(self.rect()), t.px(8), t.px(8))
        painter.setClipPath(shape)
        painter.fillRect(QRect(0, 0, self.width(), t.px(3)), t.color(f"side-{self.side}"))
