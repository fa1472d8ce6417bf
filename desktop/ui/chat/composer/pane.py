"""The composer with what opens around it: offers, attachments, the lists of models and agents, and editing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QWidget

from desktop.domain.loading.lazy import lazy_module
from desktop.domain.messages import Block
from desktop.presenter.chat.from_servers import newer_words
from desktop.presenter.chat.other_agent import OtherAgentShown
from desktop.presenter.chat.state import Meters
from desktop.ui.approvals.request.granting import grant_again
from desktop.ui.chat.composer.message_edit import MessageEdit
from desktop.ui.chat.composer.offers_popup import OffersPopup
from desktop.ui.chat.composer.pasted_image import bytes_of
from desktop.ui.chat.composer.pickers import TOOL_MODE, AgentPicker, EffortPicker, OwnChoicePicker, ToolModePicker
from desktop.ui.chat.composer.view import Composer
from desktop.ui.chat.models import ChatModels
from desktop.ui.chat.other_agent import PlanCard
from desktop.ui.theme import theme
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.scaling import Column, Row, sized

if TYPE_CHECKING:
    from desktop.ui.chat.composer import model_popup
else:
    model_popup = lazy_module("desktop.ui.chat.composer.model_popup")

DRAFT_DELAY = 300
"""Milliseconds after the last key before the draft is kept."""


class ComposerPane(QWidget):
    """The foot of the open thread."""

    def __init__(self, models: ChatModels, page: QWidget, composer: Composer) -> None:
        super().__init__()
        self._models = models
        self._page = page
        self._agent = ""
        self._begun = False
        self.composer = composer
        self.editing = MessageEdit()
        self.offers = OffersPopup(page, composer, models.servers)
        self._draft = QTimer(self)
        self._draft.setSingleShot(True)
        self._draft.setInterval(DRAFT_DELAY)
        line = self._line = Row(self, margins=(48, 8, 16, 16), spacing=0)
        line.addStretch(1)
        inner = Column(spacing=8)
        self.plan = PlanCard()
        inner.addWidget(sized(self.plan, max_width=720))
        inner.addWidget(sized(self.editing, max_width=720))
        inner.addWidget(sized(self.composer, max_width=720))
        line.addLayout(inner, 1000)
        line.addStretch(1)
        self._connect()

    def _connect(self) -> None:
        chat, models, composer = self._models.chat, self._models, self.composer
        chat.meters_changed.connect(composer.show_meters)
        chat.state_changed.connect(composer.show_state)
        chat.queue_changed.connect(composer.show_queue)
        chat.draft_loaded.connect(self._load_draft)
        chat.returned.connect(composer.give_back)
        models.attaching.ready.connect(lambda blocks: composer.add_attachment(*blocks))
        models.attaching.reading.connect(composer.attaching.say)
        models.attaching.learned.connect(composer.unseen.again)
        composer.attaching.stop.clicked.connect(models.attaching.stop)
        models.attaching.locked.connect(composer.locked.ask)
        composer.locked.given.connect(models.attaching.unlock)
        models.offers.ready.connect(self.offers.show_offers)
        composer.unknown_name, composer.unseen.words = models.offers.unknown_name, models.attaching.unseen
        self.editing.done.connect(chat.edit)
        models.servers.put_in.connect(composer.add_attachment)
        models.servers.reading.connect(composer.reading.say)
        models.servers.newer.connect(lambda server, uri, at: composer.mark_newer(server, uri, newer_words(at)))
        if (grants := models.approvals.grants) is not None:
            grants.changed.connect(lambda: composer.granted.show_grants(grants.lines))
            composer.granted.taken_back.connect(grants.take_back)
            composer.granted.put_away.connect(grants.put_away)
            composer.granted.again.connect(lambda grant_id: grant_again(self.window(), grant_id, grants))
        composer.reading.stop.clicked.connect(models.servers.stop_reading)
        composer.draft_changed.connect(lambda _, attachments: models.servers.let_go(attachments))
        composer.send.connect(self._send)
        composer.stop.clicked.connect(chat.stop)
        composer.queued_removed.connect(chat.remove_queued)
        composer.send_next.connect(chat.send_next)
        composer.queue_cleared.connect(chat.clear_queue)
        chat.edit_loaded.connect(self.editing.resume)
        composer.draft_changed.connect(lambda *_: self._draft.start())
        self.editing.changed.connect(self._draft.start)
        self.editing.given_up.connect(lambda: chat.set_edit("", ""))
        self._draft.timeout.connect(self._save_draft)
        composer.offers_wanted.connect(models.offers.want)
        composer.text.files_dropped.connect(models.attaching.files)
        composer.text.text_dropped.connect(models.attaching.text)
        composer.text.image_pasted.connect(self.take_image)
        composer.text.focus_changed.connect(self._focus_changed)
        composer.text.key_for_offers.connect(self._offer_key)
        composer.attach.clicked.connect(self._choose_files)
        composer.agent.clicked.connect(self._choose_agent)
        composer.model.clicked.connect(self.choose_model)
        composer.code.clicked.connect(self.choose_tool_mode)
        composer.effort.clicked.connect(self.choose_effort)
        composer.mode.clicked.connect(lambda: self._choose_own("mode"))
        chat.meters_changed.connect(self._show_agent)
        models.modes.changed.connect(self._show_mode)
        models.effort.changed.connect(self._show_effort)
        models.setup.changed.connect(self._show_effort)
        self._show_agent(chat.meters)

    def leave_room(self, scroll_bar: int) -> None:
        """Stand exactly below the transcript's column, whose scroll bar takes so many pixels of its width."""
        margins = self._line.contentsMargins()
        margins.setRight(theme().px(16) + scroll_bar)
        self._line.setContentsMargins(margins)

    # -- drafts -----------------------------------------------------------------------------------------------------

    def _load_draft(self, text: str, attachments: tuple[Block, ...]) -> None:
        """The first one comes at the start, when a person may have been typing already: that stands behind it."""
        typed, given = ("", ()) if self._begun else (self.composer.text.toPlainText(), self.composer.attachments)
        self._begun = True
        self.composer.load_draft(text + typed, (*attachments, *given))
        if typed or given:
            self._draft.start()

    def _send(self, text: str, attachments: tuple[object, ...]) -> None:
        # The draft is forgotten by the view-model once the message is stored, not by a timer that races it.
        self._draft.stop()
        self._models.chat.send(text, attachments)  # type: ignore[arg-type]

    def _save_draft(self) -> None:
        if not self._begun:
            return  # it would take the place of the one that is still to come
        self._models.chat.set_draft(self.composer.text.toPlainText(), self.composer.attachments)
        if self.editing.message_id:
            self._models.chat.set_edit(self.editing.message_id, self.editing.text)

    def keep_draft(self) -> None:
        """What is typed is kept before another thread is shown."""
        if self._draft.isActive():
            self._draft.stop()
            self._save_draft()

    # -- lists ------------------------------------------------------------------------------------------------------

    def choose_model(self) -> None:
        """Open the list of models over the composer; an agent of another maker has its own."""
        if self._models.other.shown is not None:
            self._choose_own("model")
            return
        picker = model_popup.ChatModelPopup(self._page, self._models)
        picker.chosen.connect(self._model_chosen)
        picker.connect_wanted.connect(lambda: self._models.shell.run_command("open-models"))
        picker.open_at(self.composer.model, over=self.composer)

    def show_other(self, agent: OtherAgentShown | None) -> None:
        """What an agent of another maker says of itself: its plan, its mode and model."""
        self.plan.show_agent(agent)
        self.composer.show_own(agent)

    def _choose_own(self, kind: str) -> None:
        """Open the modes or the models of an agent of another maker."""
        other = self._models.other
        name = f"Choose its {kind}"
        picker = OwnChoicePicker(self._page, name, other.choices(kind), "step" if kind == "mode" else "model")
        picker.chosen.connect(lambda value: other.choose(kind, value))
        picker.chosen.connect(lambda _: self.composer.text.setFocus(Qt.FocusReason.OtherFocusReason))
        picker.open_at(self.composer.mode if kind == "mode" else self.composer.model)

    def _model_chosen(self, value: str) -> None:
        self._models.chat.set_model(value)
        self.composer.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def _choose_agent(self) -> None:
        agent = self._models.chat.meters.agent
        picker = AgentPicker(self._page, self._models.agents, agent, self._models.modes.words(agent))
        picker.chosen.connect(self._agent_chosen)
        picker.open_at(self.composer.agent)

    def _agent_chosen(self, value: str) -> None:
        if value == TOOL_MODE:
            self.choose_tool_mode()
        else:
            self._models.chat.set_agent(value)
            self.composer.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def choose_tool_mode(self) -> None:
        """Open the ways in which the agent of this thread may call its tools."""
        meters, modes = self._models.chat.meters, self._models.modes
        picker = ToolModePicker(self._page, modes, meters.agent, meters.agent_title)
        picker.chosen.connect(lambda mode: modes.choose(meters.agent, mode))
        picker.chosen.connect(lambda _: self.composer.text.setFocus(Qt.FocusReason.OtherFocusReason))
        picker.open_at(self.composer.agent)

    def _show_agent(self, meters: Meters) -> None:
        if meters.agent != self._agent:
            self._agent = meters.agent
            self._models.modes.look(meters.agent)
        self._show_mode()
        self._show_effort()

    def choose_effort(self) -> None:
        """Open the levels of effort of this thread's model; its agent keeps what is chosen."""
        meters, effort = self._models.chat.meters, self._models.effort
        if self.composer.effort.isHidden():
            return
        picker = EffortPicker(self._page, effort, meters.agent, meters.agent_title, meters.model)
        picker.chosen.connect(lambda level: effort.choose(meters.agent, level))
        picker.chosen.connect(lambda _: self.composer.text.setFocus(Qt.FocusReason.OtherFocusReason))
        picker.open_at(self.composer.effort)

    def _show_effort(self) -> None:
        meters = self._models.chat.meters
        self.composer.effort.show_effort(self._models.effort.words(meters.agent, meters.model))

    def _show_mode(self) -> None:
        modes = self._models.modes
        self.composer.show_mode(modes.words(self._agent), in_code=modes.in_code(self._agent))

    # -- attachments ------------------------------------------------------------------------------------------------

    def _choose_files(self) -> None:
        dialog = FileDialog(self, "Attach files, documents or images")
        dialog.setFileMode(FileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda paths: self._models.attaching.files(tuple(paths)))
        dialog.open()

    def take_image(self, image: object) -> None:
        """A picture that was pasted or dropped becomes an attachment."""
        picture = image.toImage() if isinstance(image, QPixmap) else image
        self._models.attaching.image(lambda: bytes_of(picture))

    # -- offers -----------------------------------------------------------------------------------------------------

    def _focus_changed(self, here: bool) -> None:
        """Offers are for the word being typed: elsewhere they only cover what is there."""
        if here:
            self._models.offers.learn()
        elif not self.offers.is_filling:
            self._models.offers.want("", "")

    def _offer_key(self, key: Qt.Key) -> None:
        if key == Qt.Key.Key_Space or (key == Qt.Key.Key_Escape and self.offers.is_looking):
            self.offers.look()
        elif key == Qt.Key.Key_Escape:
            self._models.offers.want("", "")
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.offers.step(1 if key == Qt.Key.Key_Down else -1)
        else:
            self.offers.choose()
