"""The view-model of the chat page: the open thread and everything a person can do with it.

Every call returns at once; the work runs in tasks that the bridge owns, and its outcome arrives as a signal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from desktop.domain.approval.thread_modes import ThreadMode
from desktop.domain.errors import KnownError, NotFound
from desktop.domain.messages import Block
from desktop.domain.threads import ThreadRecord
from desktop.presenter.chat.attaching import KeepElsewhere
from desktop.presenter.chat.drafts import ComposerDraft, Edit
from desktop.presenter.chat.open_thread import OpenThread
from desktop.presenter.common.exporting import write_bytes

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.presenter.transcript.live_threads import LiveThreads
    from desktop.services.chats.service import ConversationService


async def _just(action: Callable[[], Awaitable[object]]) -> None:
    await action()


async def _as_they_are(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Where no server gives anything."""
    return tuple(blocks)


async def _nobody(_address: str, _text: str) -> None:
    """Where no agent can be written to but that of the thread."""


async def _asks(_thread_id: str, _mode: ThreadMode) -> None:
    """Where there are no modes: each chat asks each time."""


DEMO_BEGINS = "start"
"""What the demo model is told to play its scene."""

GONE = "This agent’s chat is no longer kept. Settings, Chats, says how long chats of called agents are kept."


class ChatViewModel(OpenThread):
    """What a person does: send, stop, edit, regenerate, branch, choose, export."""

    exported = Signal(str, bytes)
    returned = Signal(str, object)
    """(text, attachments) that could not be stored, so that the composer has them again."""

    def __init__(self, service: ConversationService, bridge: Bridge, board: LiveThreads) -> None:
        super().__init__(service, bridge, board)
        self._sending = asyncio.Lock()
        self.post: Callable[[str, str], Coroutine[Any, Any, None]] = _nobody
        self.read_in: Callable[[Sequence[Block]], Awaitable[tuple[Block, ...]]] = _as_they_are
        self.begin_in: Callable[[str, ThreadMode], Awaitable[None]] = _asks
        """Has a new thread work in the mode that was chosen for it."""
        self._made = (0, "")

    def open_child(self, thread_id: str) -> None:
        """Show what an agent that was called has said, if that is still kept; else what is open stays open."""
        self._spawn(self._open_child(thread_id, self._opening), "open conversation")

    async def _open_child(self, thread_id: str, opening: int) -> None:
        try:
            await self._service.thread(thread_id)
        except NotFound:
            raise NotFound(GONE, next_step="Its answer is in this card.") from None
        if opening == self._opening:
            self.open_thread(thread_id)

    def _act(self, action: Callable[[], Awaitable[object]], name: str, *, reload: bool = True) -> None:
        self._spawn(self._do(action) if reload else _just(action), name)

    async def _do(self, action: Callable[[], Awaitable[object]]) -> None:
        """Act, then draw anew; what the run says in between belongs to a path that is not shown yet."""
        self._held += 1
        try:
            await action()
            await self._reload()
        finally:
            self._held -= 1
        answer = self._board.state(self._thread_id).answer
        self._redraw = answer is None or answer.ended or answer.message_id not in self._shown
        if answer is not None and not answer.ended:
            self._answer_changed(self._thread_id)

    def send(self, text: str, attachments: tuple[Block, ...] = ()) -> None:
        """Send, or queue while a run is under way. The draft is forgotten once the message is stored."""
        if text.strip() or attachments:
            said = ComposerDraft(text, attachments)
            self._spawn(self._send(self._thread_id, self._opening, said, self.chosen_mode), "send message")

    def draft_here(self) -> KeepElsewhere:
        """What keeps an attachment that is still being read with what is written here, once another chat is open."""
        opening, thread_id = self._opening, self._thread_id

        def keep(blocks: Sequence[Block]) -> bool:
            made = self._made[1] if not thread_id and self._made[0] == opening else thread_id
            if made != self._thread_id:
                self.drafts.attach(made, blocks)
            return made != self._thread_id

        return keep

    def write_to(self, address: str, text: str) -> None:
        """Say something to a persistent agent that works on a skill in this thread."""
        self._spawn(self.post(address, text), "write to an agent")

    def start_demo(self) -> None:
        """A new chat in which the demo model plays its scene."""
        self.new_thread()
        self.send(DEMO_BEGINS)

    async def _send(self, thread_id: str, opening: int, said: ComposerDraft, mode: ThreadMode) -> None:
        """Into the thread that was open when it was said, whatever is open by now."""
        self.drafts.keep(thread_id, said)  # until the message itself is stored: the composer is empty already
        origin = thread_id
        try:
            async with self._sending:
                attachments = await self.read_in(said.attachments)
                thread_id = thread_id or await self._thread_for(opening, mode)
                await self._service.send(thread_id, said.text, attachments)
        except KnownError:
            self.drafts.unsent(origin, thread_id, said)
            if thread_id == self._thread_id:
                self.returned.emit(said.text, said.attachments)
            raise
        self.drafts.sent(origin, thread_id, said)

    async def _thread_for(self, opening: int, mode: ThreadMode) -> str:
        """The thread that the first message of a new chat makes, once that chat is shown: what is sent right after
        Ctrl+N is not shown as an empty chat."""
        if self._showing is not None:
            await asyncio.wait({self._showing})
        if self._made[0] != opening:
            made = await self._service.create_thread(
                agent=self._chosen_agent, model=self._chosen_model, project=self._chosen_project
            )
            self._made = (opening, made.thread_id)
            if mode != "ask" and made.project:
                await self.begin_in(made.thread_id, mode)
            if opening == self._opening:
                self._record, self._thread_id = made, made.thread_id
                self.opened.emit(made.thread_id)
        return self._made[1]

    def stop(self) -> None:
        """Stop the run; the window shows it at once (within 100 ms)."""
        self._board.mark_stopping(self._thread_id)
        thread_id = self._thread_id
        self._act(lambda: self._service.stop(thread_id), "stop run", reload=False)

    def edit(self, message_id: str, text: str) -> None:
        """Edit a message: a sibling of it with a new answer is made. The old branch stays reachable."""
        thread_id = self._thread_id
        self.drafts.keep(thread_id, Edit(message_id, text))

        async def work() -> None:
            try:
                await self._service.edit(message_id, text)
            except KnownError:
                if thread_id == self._thread_id:
                    self.edit_loaded.emit(message_id, text)
                raise
            self.drafts.keep(thread_id, Edit())

        self._act(work, "edit message")

    def regenerate(self, message_id: str) -> None:
        """Make another answer beside this one."""
        self._act(lambda: self._service.regenerate(message_id), "regenerate")

    def branch_from(self, message_id: str) -> None:
        """Go on from this message; what follows it stays as a branch."""
        self._act(lambda: self._service.branch_from(message_id), "branch")

    def go_sibling(self, message_id: str, delta: int) -> None:
        """Show the previous (-1) or next (+1) sibling and what follows it."""
        self._act(lambda: self._service.go_sibling(message_id, delta), "switch branch")

    def continue_answer(self, message_id: str = "") -> None:
        """Go on with an interrupted or cut answer."""
        thread_id = self._thread_id
        self._act(lambda: self._service.continue_answer(thread_id), "continue answer")

    def retry(self) -> None:
        """Try the last message again after a failure."""
        thread_id = self._thread_id
        self._act(lambda: self._service.retry(thread_id), "retry")

    def set_draft(self, text: str, attachments: tuple[Block, ...] = ()) -> None:
        """Keep what is written; survives a restart."""
        self.drafts.keep(self._thread_id, ComposerDraft(text, attachments))

    def set_edit(self, message_id: str, text: str) -> None:
        """Keep how a message is being said differently; without a message, forget it."""
        self.drafts.keep(self._thread_id, Edit(message_id, text))

    def set_model(self, ref: str) -> None:
        """The model of this thread and of the next new one."""
        self._chosen_model = ref
        self._set(replace(self._record, model=ref) if self._record else None, self._service.set_model, ref)

    def set_model_of_new_chats(self, ref: str) -> None:
        """Chats that have a model keep it: what was said there may not go to another provider unasked."""
        if self._record is not None and not self._record.model:
            self.set_model(ref)
        else:
            self._chosen_model = ref
            self._tell_all()

    def set_agent(self, name: str) -> None:
        """The agent of this thread and of the next new one."""
        self._chosen_agent = name
        self._set(replace(self._record, agent=name) if self._record else None, self._service.set_agent, name)

    def set_project(self, path: str) -> None:
        """The folder of this chat, which ``ProjectsViewModel`` has judged and stored; a next new one has none."""
        if self._record is None:
            self._chosen_project = path
        else:
            self._record = replace(self._record, project=path)
        self.project_changed.emit(path)

    def _set(self, record: ThreadRecord | None, save: Callable[[str, str], Awaitable[object]], value: str) -> None:
        self._record = record
        thread_id = self._thread_id
        if thread_id:
            self._act(lambda: save(thread_id, value), "save choice", reload=False)
        self._tell_all()

    def remove_queued(self, queue_id: str) -> None:
        """Take a waiting message back."""
        self._waiting.drop(queue_id)
        thread_id = self._thread_id
        self._act(lambda: self._service.remove_queued(thread_id, queue_id), "remove queued", reload=False)

    def send_next(self) -> None:
        """Send the first of what waits while nothing runs."""
        thread_id = self._thread_id
        self._act(lambda: self._service.release_queue(thread_id), "send next", reload=False)

    def clear_queue(self) -> None:
        """Take all back that waits."""
        self._waiting.show(())
        thread_id = self._thread_id
        self._act(lambda: self._service.clear_queue(thread_id), "clear queue", reload=False)

    def export(self, fmt: str) -> None:
        """``md``, ``json`` or ``html``: the bytes arrive through ``exported``."""
        thread_id = self._thread_id

        async def work() -> None:
            self.exported.emit(fmt, await self._service.export(thread_id, fmt))

        if thread_id:
            self._spawn(work(), "export")

    def save_export(self, path: str, data: bytes) -> None:
        """Write an export where the person chose: whole or not at all."""
        self.save_file(path, lambda: data, "Exported.")

    def save_file(
        self, path: str, make: Callable[[], bytes], said: str = "Saved.", then: Callable[[], None] = lambda: None
    ) -> None:
        """The same of anything, which is made in a thread, with what is said and done then."""

        async def work() -> None:
            await self._bridge.in_thread(write_bytes, path, make)
            self.announced.emit(said)
            then()

        self._spawn(work(), "save a file")
