"""What is typed and not sent, kept for each thread: its text, its attachments, and a sent message said differently.

Everything is kept in memory until the store has it. What the store cannot take (disk full) is said once and tried
again until it can, without another key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.chats.service import ConversationService

RETRY = 2000
"""Milliseconds after which a draft that could not be stored is tried again."""


@dataclass(frozen=True, slots=True)
class ComposerDraft:
    """The composer of one thread."""

    text: str = ""
    attachments: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """A message of a thread being said differently; without a message nothing is edited."""

    message_id: str = ""
    text: str = ""


_Key = tuple[type, str]


class Drafts(QObject):
    """``keep`` returns at once. One write is under way at a time, and of one draft only its latest state."""

    def __init__(self, service: ConversationService, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service = service
        self._bridge = bridge
        self._unsaved: dict[_Key, ComposerDraft | Edit] = {}
        self._latest: dict[str, ComposerDraft] = {}
        self._attached: dict[str, tuple[Block, ...]] = {}
        self._saving = self._told = False
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(RETRY)
        self._again.timeout.connect(self._begin)

    def keep(self, thread_id: str, kept: ComposerDraft | Edit) -> None:
        """Keep this instead of what was kept; an empty one is forgotten. ``""`` is the chat without a thread."""
        self._unsaved[type(kept), thread_id] = kept
        if isinstance(kept, ComposerDraft):
            self._latest[thread_id] = kept
        if not self._saving:
            self._begin()

    def sent(self, origin: str, thread_id: str, said: ComposerDraft) -> None:
        """``said`` is stored as a message of ``thread_id``: forget it, but not what was written since.

        ``origin`` is where it was written: the thread, or ``""`` when it made the thread.
        """
        later = self._latest.get(origin, said)
        if origin != thread_id and later is not said:
            self.keep(thread_id, later)
        if origin != thread_id or later is said:
            self.keep(origin, ComposerDraft())

    def unsent(self, origin: str, thread_id: str, said: ComposerDraft) -> None:
        """``said`` could not be sent: it stays what is written in the thread, before what was written since."""
        later = self._latest.get(origin, said)
        if later is not said:
            text = f"{said.text}\n\n{later.text}" if later.text else said.text
            said = ComposerDraft(text, (*said.attachments, *later.attachments))
        self.keep(thread_id, said)
        if origin != thread_id:
            self.keep(origin, ComposerDraft())

    async def draft(self, thread_id: str) -> ComposerDraft:
        """What is written in a thread's composer."""
        waiting = self._unsaved.get((ComposerDraft, thread_id))
        if isinstance(waiting, ComposerDraft):
            return waiting
        stored = await self._service.draft(thread_id)
        self._attached[thread_id] = stored.attachments
        found = self._latest[thread_id] = ComposerDraft(stored.text, stored.attachments)
        return found

    def written(self, thread_id: str) -> ComposerDraft:
        """The same, as far as it was shown."""
        return self._latest.get(thread_id, ComposerDraft())

    def attach(self, thread_id: str, blocks: Sequence[Block]) -> None:
        """One attachment more for what is written in a thread that was shown and is not any more."""
        kept = self.written(thread_id)
        self.keep(thread_id, ComposerDraft(kept.text, (*kept.attachments, *blocks)))

    async def edit(self, thread_id: str) -> Edit:
        """What is being said differently in a thread."""
        waiting = self._unsaved.get((Edit, thread_id))
        return waiting if isinstance(waiting, Edit) else Edit(*await self._service.edited(thread_id))

    async def flush(self) -> None:
        """Save all that is unsaved, before the end. Raises what the store raises."""
        self._again.stop()
        while self._unsaved:
            await self._save_one()

    # -- inside -----------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._saving = True
        self._bridge.spawn(self._save(), name="save draft")

    async def _save(self) -> None:
        try:
            while self._unsaved:
                await self._save_one()
            self._told = False
            self._saving = False
        except KnownError:  # still saving: what is typed meanwhile waits for the next try
            self._again.start()
            if not self._told:
                self._told = True
                raise

    async def _save_one(self) -> None:
        (kind, thread_id), kept = next(iter(self._unsaved.items()))
        if isinstance(kept, Edit):
            await self._service.keep_edited(thread_id, kept.message_id, kept.text)
        else:
            same = self._attached.get(thread_id) == kept.attachments
            await self._service.save_draft(thread_id, kept.text, None if same else kept.attachments)
            self._attached[thread_id] = kept.attachments
        if self._unsaved.get((kind, thread_id)) is kept:
            del self._unsaved[kind, thread_id]
