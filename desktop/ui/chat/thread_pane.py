"""The open thread: head, find bar, transcript and composer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from desktop.domain.loading.lazy import lazy_module
from desktop.presenter.chat.other_agent import OtherAgentShown
from desktop.presenter.chat.state import Meters
from desktop.presenter.settings.model_setup import DEMO_MODEL
from desktop.presenter.transcript.items import READ_AS, CallsPart, ListeningAgent, TextPart, ToolPart, TranscriptItem
from desktop.ui.chat.cards import act_on, open_link
from desktop.ui.chat.composer.pane import ComposerPane
from desktop.ui.chat.composer.view import Composer
from desktop.ui.chat.folder_card import FolderCard
from desktop.ui.chat.header import ThreadHeader
from desktop.ui.chat.inbox_strip import InboxDialog, InboxStrip
from desktop.ui.chat.job_strip import JobStrip
from desktop.ui.chat.models import ChatModels
from desktop.ui.chat.other_agent import OtherAgentStrip
from desktop.ui.theme import theme
from desktop.ui.transcript.markdown.addresses import CITED
from desktop.ui.transcript.pictures.acting import act_on_media
from desktop.ui.transcript.view import TranscriptView
from desktop.ui.widgets.controls.find_bar import FindBar
from desktop.ui.widgets.dialogs.drop_zone import DropZone
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.layout.side_room import SideRoom
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.turns import Turns

if TYPE_CHECKING:
    from desktop.ui.approvals.request import outside as outside_texts
else:
    outside_texts = lazy_module("desktop.ui.approvals.request.outside")

EMPTY = "What should be done?"
DEMO_EMPTY = "The demo is ready"
DEMO_SENTENCE = (
    "Write “start” below and press Enter. A script, not an AI, then shows an answer, a call that reads, "
    "a call that asks you, and one that is refused."
)
EMPTY_SENTENCE = (
    "Write below. The agent reads files inside your boundary. Before it writes a file or runs a command, it asks you."
)
AT_EDGE = (
    "Write below. Inside the folder the agent edits files and runs commands without asking, and you can undo it. What "
    "goes past the edge asks you."
)


class ThreadPane(QFrame):
    """Shows what the view-model says and hands on what a person does in the transcript."""

    request_wanted = Signal(str)
    new_chat = Signal()
    said = Signal(str)
    job_wanted = Signal(str)

    def __init__(
        self, models: ChatModels, page: QWidget, header: ThreadHeader, transcript: TranscriptView, composer: Composer
    ) -> None:
        super().__init__()
        self._models = models
        self._items: dict[str, TranscriptItem] = {}
        self._jump_to = self._call = ""
        self._showing_other = Turns(self)
        self.header = header
        self.job_strip = JobStrip()
        self.inbox_strip, self.other_strip = InboxStrip(), OtherAgentStrip()
        self.folder_card = FolderCard()
        self.find_bar = FindBar()
        self.transcript = transcript
        self.empty = EmptyState("chats", EMPTY, EMPTY_SENTENCE)
        self.foot = ComposerPane(models, page, composer)
        column = Column(self, spacing=0)
        for widget in (
            self.header,
            self.job_strip,
            self.other_strip,
            self.folder_card,
            self.inbox_strip,
            self.find_bar,
        ):
            column.addWidget(widget)
        self.conversation = SideRoom(self.transcript, self.empty)
        column.addWidget(self.conversation, 1)
        column.addWidget(self.foot)
        self.drop_zone = DropZone(self, "Drop to attach", models.attaching.files, self.foot.take_image)
        if models.fences is not None:
            self.transcript.colours.set_source(models.fences)
            self.transcript.drawings.set_source(models.fences)
        self._connect()
        self._leave_room()
        self._show_empty()

    def _connect(self) -> None:
        chat = self._models.chat
        chat.opened.connect(self._opened)
        chat.loaded.connect(self._loaded)
        chat.items_reset.connect(self._reset)
        chat.items_prepended.connect(self._prepend)
        chat.item_added.connect(self._add)
        chat.item_changed.connect(self._change)
        self._models.results.cards.redrawn.connect(self._redraw)
        chat.text_appended.connect(self.transcript.append_text)
        chat.meters_changed.connect(self.header.show_meters)
        chat.meters_changed.connect(self._show_model)
        self._models.edge.changed.connect(self._show_mode)
        chat.title_changed.connect(self.header.show_title)
        self._models.other.changed.connect(self._show_other)
        self._models.other.refused.connect(self.said)
        self.other_strip.wanted.connect(lambda name: self._models.shell.run_command(f"settings:Other agents#{name}"))
        chat.state_changed.connect(lambda state: self.inbox_strip.show_agents(state.listening))
        self.inbox_strip.write.connect(self._write_to)
        self.inbox_strip.copied.connect(self._copy_address)
        self._models.threads.rearranged.connect(self._show_job)
        self.header.job.clicked.connect(self._open_job)
        self.header.renamed.connect(lambda title: self._models.threads.rename(chat.thread_id, title))
        self.header.more.clicked.connect(self._show_menu)
        self.find_bar.wanted.connect(self._find)
        self.transcript.action.connect(self._act)
        context = self._models.context
        context.changed.connect(lambda: self.transcript.overlays.show_pinned(context.overlay.pins))
        theme().changed.connect(self._leave_room)
        self.transcript.tool_answer.connect(self._answer)
        self.transcript.overlays.follow(self._models.approvals.last_answer)
        self.conversation.uncovered.connect(self.transcript.overlays.uncovered)
        self.transcript.found.connect(self.find_bar.show_count)
        self.transcript.link_activated.connect(self._open_link)
        self.transcript.code_copied.connect(lambda _: self.said.emit("Code copied"))

    # -- what is shown ----------------------------------------------------------------------------------------------

    def _opened(self, thread_id: str) -> None:
        self.foot.editing.put_away()
        self.find_bar.put_away()
        self._show_job()

    def _show_job(self) -> None:
        job = self._models.threads.job_of(self._models.chat.thread_id)
        self.header.show_job(job)
        self.header.show_editor(self._models.threads.editor_of(self._models.chat.thread_id))
        self.job_strip.show_job(job)

    def _show_other(self) -> None:
        agent = self._models.other.shown
        self.header.show_other(agent.title if agent is not None else "")
        self._showing_other.begin(self._other_shown(agent))

    def _other_shown(self, agent: OtherAgentShown | None) -> Iterator[None]:
        """Each part lays the pane out anew."""
        self.other_strip.show_agent(agent)
        yield
        self.foot.show_other(agent)

    def _open_job(self) -> None:
        job = self._models.threads.job_of(self._models.chat.thread_id)
        if job is not None:
            self.job_wanted.emit(job.job_id)

    @property
    def current_message(self) -> str:
        """The message that keys are at in the transcript, or ""."""
        at = self.transcript.keys.current if self.transcript.hasFocus() else None
        messages = self.transcript.page.messages
        return messages[at].item.message_id if at is not None and at < len(messages) else ""

    def jump(self, message_id: str) -> None:
        """Show a message, now or as soon as it is loaded."""
        self._jump_to, self._call = message_id, ""
        self._jump()

    def jump_to_call(self, call_id: str) -> bool:
        """Show the card of a call, if it is here."""
        self._jump_to, self._call = "", call_id
        self._jump()
        found, self._call = not self._call, ""
        return found

    def await_call(self, call_id: str) -> None:
        """Show the card of a call as soon as it is loaded; said, if the whole thread is and it was not there."""
        self._jump_to, self._call = "", call_id

    def _jump(self) -> None:
        if self._jump_to in self._items:
            self.transcript.scroll_to(self._jump_to)
            self._jump_to = ""
        card = card_of(self._items.values(), self._call) if self._call else None
        if card is not None:
            self.transcript.scroll_to_card(*card)
            self._call = ""

    def _loaded(self) -> None:
        """All of the thread is here: what was to be shown and is not, stands elsewhere."""
        if self._call:
            self._call = ""
            self.said.emit("This call is not on the branch that is shown.")

    def _reset(self, items: tuple[TranscriptItem, ...]) -> None:
        items = self._models.results.cards.reset(items)
        self._items = {item.message_id: item for item in items}
        self.transcript.set_items(items)
        self._show_empty()
        self._jump()

    def _prepend(self, items: tuple[TranscriptItem, ...]) -> None:
        items = self._models.results.cards.prepend(items)
        self._items.update((item.message_id, item) for item in items)
        self.transcript.prepend_items(items)
        self._show_empty()
        self._jump()

    def _add(self, item: TranscriptItem) -> None:
        item = self._models.results.cards.put(item)
        self._items[item.message_id] = item
        self.transcript.add_item(item)
        self._show_empty()
        if item.side == "human":
            self.transcript.scroll_to_end()

    def _change(self, item: TranscriptItem) -> None:
        self._redraw(self._models.results.cards.put(item))

    def _redraw(self, item: TranscriptItem) -> None:
        self._items[item.message_id] = item
        self.transcript.change_item(item)

    def _leave_room(self) -> None:
        """The composer stands exactly below the column, which has room for a scroll bar beside it at all times."""
        self.foot.leave_room(self.transcript.verticalScrollBar().sizeHint().width())

    def _show_mode(self) -> None:
        """An empty chat says what its agent does unasked."""
        self._show_model(self._models.chat.meters)

    def _show_model(self, meters: Meters) -> None:
        demo = meters.model == DEMO_MODEL
        sentence = AT_EDGE if self._models.edge.mode == "edge" else EMPTY_SENTENCE
        self.empty.say(DEMO_EMPTY if demo else EMPTY, DEMO_SENTENCE if demo else sentence)

    def _show_empty(self) -> None:
        self.empty.setVisible(not self._items)
        self.transcript.setVisible(bool(self._items))

    def _find(self, text: str, forward: bool) -> None:
        place, count = self.transcript.find(text, forward)
        self.find_bar.show_count(place, count)

    # -- what is done -----------------------------------------------------------------------------------------------

    def _act(self, message_id: str, action: str) -> None:
        chat = self._models.chat
        acts: dict[str, Callable[[], None]] = {
            "regenerate": lambda: chat.regenerate(message_id),
            "branch": lambda: chat.branch_from(message_id),
            "pin": lambda: self._models.context.toggle_pin(message_id),
            "previous": lambda: chat.go_sibling(message_id, -1),
            "next": lambda: chat.go_sibling(message_id, 1),
            "continue": lambda: chat.continue_answer(message_id),
            "retry": chat.retry,
            "edit": lambda: self.foot.editing.begin(message_id, self._text_of(message_id)),
            "quote": lambda: self._quote(message_id),
            "new-chat": self.new_chat.emit,
            "choose-model": self.foot.choose_model,
        }
        act = acts.get(action)
        if act is not None:
            act()
        elif act_on(self._models, action) or action == "copy":
            return
        elif action.startswith(READ_AS):
            outside_texts.show_card_as_read(self.window(), self._items.get(message_id), action)
        elif not act_on_media(self, self._items.get(message_id), action, chat.save_file, self.said.emit):
            self._models.shell.run_command(action)

    def _open_link(self, address: str) -> None:
        """A place in a document opens beside the chat, an address in the browser."""
        if address.startswith(CITED):
            self._models.document.cite(*address.removeprefix(CITED).split("\n", 1))
        else:
            open_link(address)

    def _write_to(self, agent: ListeningAgent) -> None:
        """To the agent of the thread in the composer, to another in a dialog."""
        if agent.is_own:
            self.foot.composer.text.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        dialog = InboxDialog(self.window(), agent)

        def answered(answer: str) -> None:
            if answer == "yes":
                self._models.chat.write_to(agent.address, dialog.typed)

        dialog.answered.connect(answered)
        dialog.open(dialog.area)

    def _copy_address(self, address: str) -> None:
        QGuiApplication.clipboard().setText(address)
        self.said.emit("Address copied")

    def _quote(self, message_id: str) -> None:
        self.foot.composer.quote(self.transcript.selected_text() or self._text_of(message_id))

    def _text_of(self, message_id: str) -> str:
        item = self._items.get(message_id)
        parts = item.parts if item else ()
        return "\n\n".join(part.markdown for part in parts if isinstance(part, TextPart))

    def _answer(self, request_id: str, choice: str) -> None:
        """An answer to the request that stands on a card; one that is over by now gets none."""
        approvals = self._models.approvals
        request = approvals.request(request_id)
        if request is None or request.seen_in != self._models.chat.thread_id:
            return
        if choice == "open":
            self.request_wanted.emit(request.request_id)
        elif choice == "deny":
            approvals.answer(request.request_id, "deny", digest=request.digest)
        elif choice == "allow_once":
            approvals.answer(request.request_id, "allow_once", digest=request.digest)

    def _show_menu(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        chat = self._models.chat
        rows: tuple[tuple[str, Callable[[], None]], ...] = (
            ("Rename\tF2", self.header.edit_title),
            ("Find in this chat\tCtrl+F", self.find_bar.begin),
            ("Variables and model…", lambda: self._models.variables.look(chat.thread_id)),
            ("Export as Markdown", lambda: chat.export("md")),
            ("Export as a web page", lambda: chat.export("html")),
            ("Export as JSON", lambda: chat.export("json")),
            ("Delete", lambda: self._models.threads.delete(chat.thread_id)),
        )
        for text, act in rows:
            action = menu.addAction(text)
            action.setEnabled(bool(chat.thread_id))
            action.triggered.connect(lambda _=False, act=act: act())
        corner = self.header.more.mapToGlobal(self.header.more.rect().bottomRight())
        menu.popup(corner - QPoint(menu.sizeHint().width(), 0))


def card_of(items: Iterable[TranscriptItem], call_id: str) -> tuple[str, str] | None:
    """The message and the part that show a call."""
    for item in items:
        for part in item.parts:
            for call in part.calls if isinstance(part, CallsPart) else (part,):
                if isinstance(call, ToolPart) and call.call_id == call_id:
                    return item.message_id, call.part_id
    return None
