"""What a person does with threads without running anything: list, search, rename, drafts, branches, export."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from desktop.domain.errors import ConfigurationError, KnownError
from desktop.domain.ids import new_id
from desktop.domain.messages import Block
from desktop.domain.model_settings import UNSAID, ModelSettings, read_settings
from desktop.domain.runs.events import ThreadChanged
from desktop.domain.text.hidden_characters import without_hidden
from desktop.domain.threads import DraftRecord, MessageRecord, SearchHit, ThreadEnd, ThreadRecord
from desktop.recovery.resume import unfinished_above
from desktop.services.threads.export import render
from desktop.services.threads.held_queue import HeldQueue
from desktop.services.threads.masking import masked_blocks
from desktop.services.threads.variables import environment_problems
from desktop.store import Store
from desktop.supervision.bus import Bus


def settings_key(thread_id: str) -> str:
    """Where the settings of a thread's model are kept."""
    return f"settings:{thread_id}"


class ThreadService:
    """Reads and small writes; every write is told on the bus as ``ThreadChanged``. Errors are the store's.

    ``mask`` takes known secrets out of what a person wrote, before it is stored (R-SEC-1).
    """

    def __init__(self, store: Store, bus: Bus, mask: Callable[[str], str] = lambda text: text) -> None:
        self._store = store
        self._bus = bus
        self._mask = mask
        self._queue = HeldQueue(store)

    async def queued(self, thread_id: str) -> list[tuple[str, str]]:
        """(queue id, text) of what waits, the next first."""
        return [(record.queue_id, record.text) for record in await self._store.queue.waiting(thread_id=thread_id)]

    async def held(self, thread_id: str) -> frozenset[str]:
        """The queue ids of what a Stop has held back."""
        return await self._queue.held(thread_id)

    async def clear_queue(self, thread_id: str) -> None:
        """Take all waiting messages back."""
        await self._queue.clear(thread_id)
        self._changed(thread_id, "queue")

    async def remove_queued(self, thread_id: str, queue_id: str) -> bool:
        """Take a waiting message back; False when it has gone out already."""
        removed = await self._store.queue.remove(queue_id=queue_id)
        self._changed(thread_id, "queue")
        return removed

    def _changed(self, thread_id: str, what: str) -> None:
        self._bus.publish(ThreadChanged(thread_id=thread_id, run_id="", what=what))

    # -- threads ------------------------------------------------------------------------------------------------------

    async def create_thread(
        self, *, agent: str = "assistant", model: str = "", title: str = "", thread_id: str = "", project: str = ""
    ) -> ThreadRecord:
        """A new, empty thread (R-SES-1). ``thread_id``: one that ``new_id`` made for it before. ``project``: the folder
        that was chosen for it; no thread takes over another's by itself."""
        now = time.time()
        record = ThreadRecord(
            thread_id or new_id(),
            self._mask(title),
            now,
            now,
            agent,
            model,
            titled_by="person" if title else "none",
            project=project,
        )
        await self._store.threads.create(record=record)
        self._changed(record.thread_id, "created")
        return record

    async def thread(self, thread_id: str) -> ThreadRecord:
        """One thread by its id. Raises NotFound."""
        return await self._store.threads.get(thread_id=thread_id)

    async def threads(self) -> list[ThreadRecord]:
        """All threads, pinned first, then the latest."""
        return await self._store.threads.list_all()

    async def rename(self, thread_id: str, title: str) -> None:
        """Set the title that a person chose; it is never replaced by an automatic one."""
        await self._store.threads.rename(thread_id=thread_id, title=self._mask(without_hidden(title)), by_person=True)
        self._changed(thread_id, "title")

    async def pin(self, thread_id: str, pinned: bool) -> None:
        """Keep a thread at the top of the list, or no longer."""
        await self._store.threads.pin(thread_id=thread_id, pinned=pinned)
        self._changed(thread_id, "pinned")

    async def archive(self, thread_id: str, archived: bool) -> None:
        """Put it out of the list by day, or back into it; search finds it all the same."""
        await self._store.threads.archive(thread_id=thread_id, archived=archived)
        self._changed(thread_id, "archived")

    async def delete(self, thread_id: str) -> None:
        """Out of the list; ``undo_delete`` brings it back."""
        await self._store.threads.delete(thread_id=thread_id, at=time.time())
        self._changed(thread_id, "deleted")

    async def undo_delete(self, thread_id: str) -> None:
        """Bring a deleted thread back into the list."""
        await self._store.threads.restore(thread_id=thread_id)
        self._changed(thread_id, "restored")

    async def set_model(self, thread_id: str, model: str) -> None:
        """The model of the next run, ``connection/model``."""
        await self._store.threads.set_model(thread_id=thread_id, model=model)
        self._changed(thread_id, "model")

    async def set_agent(self, thread_id: str, agent: str) -> None:
        """Choose the agent of the thread's next run."""
        await self._store.threads.set_agent(thread_id=thread_id, agent=agent)
        self._changed(thread_id, "agent")

    async def set_project(self, thread_id: str, project: str) -> None:
        """The folder of the thread's next run, resolved; "": none."""
        await self._store.threads.set_project(thread_id=thread_id, project=project)
        self._changed(thread_id, "project")

    async def search(self, text: str) -> list[SearchHit]:
        """Threads whose title has the words, then those with messages that have them."""
        titles = await self._store.search.titles(text=text)
        return [*titles, *await self._store.search.messages(text=text)]

    # -- environment (R-DEF-15) ---------------------------------------------------------------------------------------

    async def environment(self, thread_id: str) -> dict[str, str]:
        """The thread's own variables: they stand over those of its agent (D-6)."""
        kept = await self._store.state.get(key=f"environment:{thread_id}", default={})
        return {str(name): str(value) for name, value in kept.items()} if isinstance(kept, Mapping) else {}

    async def set_environment(self, thread_id: str, values: Mapping[str, str]) -> None:
        """Replace the thread's variables. Raises ConfigurationError with all problems, for what looks like a secret
        too."""
        if problems := environment_problems(values):
            said = "; ".join(problem.shown for problem in problems)
            words = f"This cannot be saved with the chat: {said}."
            raise ConfigurationError(words, next_step="Correct it and try again.")
        kept = {name: self._mask(value) for name, value in values.items()}
        await self._store.state.put(key=f"environment:{thread_id}", value=kept)
        self._changed(thread_id, "environment")

    # -- settings of its model (R-MOD-1) ------------------------------------------------------------------------------

    async def model_settings(self, thread_id: str) -> ModelSettings:
        """What was said for this thread of how its model is to answer: it stands over what its agent says."""
        kept = await self._store.state.get(key=settings_key(thread_id), default={})
        return read_settings(kept)[0] if isinstance(kept, Mapping) else UNSAID

    async def set_model_settings(self, thread_id: str, given: ModelSettings) -> None:
        """Replace them; they hold from the next run on."""
        await self._store.state.put(key=settings_key(thread_id), value=given.plain())
        self._changed(thread_id, "settings")

    # -- drafts -------------------------------------------------------------------------------------------------------

    async def draft(self, thread_id: str) -> DraftRecord:
        """What was written and not sent; "" is the chat that has no thread yet."""
        return await self._store.drafts.get(thread_id=thread_id) or DraftRecord(thread_id, "")

    async def save_draft(self, thread_id: str, text: str, attachments: Sequence[Block] | None = ()) -> None:
        """Save the thread's draft; an empty one is deleted. ``attachments`` None: the stored ones stay."""
        text = self._mask(text)
        if attachments is None:
            await self._store.drafts.put_text(thread_id=thread_id, text=text, at=time.time())
        else:
            blocks = await asyncio.to_thread(masked_blocks, attachments, self._mask)
            await self._store.drafts.put(draft=DraftRecord(thread_id, text, blocks, time.time()))

    async def edited(self, thread_id: str) -> tuple[str, str]:
        """(message, its new text) of a message that is being said differently and was not sent; else empty."""
        kept = await self._store.state.get(key=f"edit:{thread_id}", default={})
        found = kept if isinstance(kept, Mapping) else {}
        return str(found.get("message") or ""), str(found.get("text") or "")

    async def keep_edited(self, thread_id: str, message_id: str, text: str) -> None:
        """Keep the text of a message that is being edited; without a message it is deleted."""
        key = f"edit:{thread_id}"
        if message_id:
            await self._store.state.put(key=key, value={"message": message_id, "text": self._mask(text)})
        else:
            await self._store.state.delete(key=key)

    async def context_used(self, thread_id: str, leaf: str | None) -> int | None:
        """Tokens that the last request of the path ending in ``leaf`` filled of the window; None: not known."""
        kept = await self._store.state.get(key=f"context:{thread_id}", default={})
        known = isinstance(kept, Mapping) and kept.get("leaf") == leaf and isinstance(kept.get("used"), int)
        return int(kept["used"]) if known else None

    # -- messages and branches ----------------------------------------------------------------------------------------

    async def message(self, message_id: str) -> MessageRecord:
        """One message by its id. Raises NotFound."""
        return await self._store.messages.get(message_id=message_id)

    async def path(
        self, thread_id: str, *, before: str | None = None, limit: int | None = None, end: str = ""
    ) -> list[MessageRecord]:
        """The last ``limit`` messages of the path that is shown, or of that down to ``end`` (above ``before``), oldest
        first."""
        return await self._store.messages.path(thread_id=thread_id, before=before, limit=limit, end=end)

    async def sibling_places(self, message_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """message id -> (1-based place, how many), only where there are several."""
        return await self._store.messages.sibling_places(message_ids=message_ids)

    async def go_sibling(self, message_id: str, delta: int) -> str:
        """Show the sibling ``delta`` places on and what follows it; the id of what is shown. Stops at the ends."""
        record = await self.message(message_id)
        siblings = await self._store.messages.siblings(message_id=message_id)
        place = min(max(siblings.index(message_id) + delta, 0), len(siblings) - 1)
        leaf = await self._store.messages.leaf_below(message_id=siblings[place])
        await self._show(record.thread_id, leaf)
        return siblings[place]

    async def branch_from(self, message_id: str) -> str:
        """Go on after this message: what follows stays as a branch. Of an answer its last message is meant."""
        record = await self.message(message_id)
        leaf = record.message_id
        if record.role != "user":
            leaf = await self._end_of_answer(record)
        await self._show(record.thread_id, leaf)
        return leaf

    async def _end_of_answer(self, record: MessageRecord) -> str:
        """The last message of the answer that ``record`` belongs to, before a person speaks again."""
        last = record.message_id
        bottom = await self._store.messages.leaf_below(message_id=last)
        path = await self._store.messages.path_to(message_id=bottom)
        ids = [message.message_id for message in path]
        for message in path[ids.index(last) :]:
            if message.role == "user":
                break
            last = message.message_id
        return last

    async def _leaf(self, thread_id: str) -> MessageRecord:
        thread = await self.thread(thread_id)
        if thread.active_leaf is None:
            raise KnownError("This chat is empty.", next_step="Write a message.", code="thread.empty")
        return await self.message(thread.active_leaf)

    async def _question_of(self, record: MessageRecord) -> MessageRecord:
        """The person's message that ``record`` answers: itself, or the nearest above it, else the first of all."""
        while record.role != "user" and record.parent_id is not None:
            above = await self._store.messages.path(thread_id=record.thread_id, before=record.message_id, limit=50)
            record = next((message for message in reversed(above) if message.role == "user"), above[0])
        return record

    async def _end_of(self, message_id: str) -> str:
        record = await self.message(message_id)
        return message_id if record.role == "user" else await self._end_of_answer(record)

    async def thread_end(self, thread_id: str) -> ThreadEnd:
        """What the thread's last run has left there, and whether the person had stopped it."""
        leaf = (await self.thread(thread_id)).active_leaf
        if not leaf:
            return ThreadEnd()
        left = await unfinished_above(self._store, thread_id, leaf)
        end = await self.message(leaf)
        asked = left is not None and left.message.message_id == leaf and end.role == "user"
        run_id = left.runs[-1] if left is not None and left.runs and asked else end.run_id
        run = await self._store.runs.get(run_id=run_id) if run_id else None
        begun = left.begun if left is not None else frozenset()
        cut = asked and run is not None and run.end_reason == "interrupted"
        return ThreadEnd(begun, stopped=run is not None and run.end_reason == "cancelled", unanswered=cut)

    async def _show(self, thread_id: str, leaf: str) -> None:
        await self._store.threads.set_leaf(thread_id=thread_id, message_id=leaf)
        self._changed(thread_id, "leaf")

    # -- export -------------------------------------------------------------------------------------------------------

    async def export(self, thread_id: str, fmt: str) -> bytes:
        """The path that is shown as ``md``, ``json`` or ``html``, UTF-8. Raises ConfigurationError for others. A key
        that became known only after it was said is not in it either."""
        thread = await self.thread(thread_id)
        messages = await self.path(thread_id)
        return await asyncio.to_thread(lambda: render(thread, messages, fmt, self._mask))
