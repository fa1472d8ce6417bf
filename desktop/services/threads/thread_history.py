"""A thread as the history of the agent that talks in it (domain/agent.py, ``HistoryProvider``), over the store.

Nothing is overwritten: what is cleared stays in the thread's tree, beside the way that is shown from then on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from desktop.domain.ids import AgentId, new_id
from desktop.domain.messages import ChatMessage
from desktop.domain.threads import MessageRecord
from desktop.services.threads.history import chat_messages
from desktop.store import Store


class ThreadHistory:
    """Implements ``HistoryProvider`` (R-CTX-4). ``session_id`` is the thread's id; what a person says belongs to every
    agent of the thread, what another agent says to that one alone. Raises NotFound for a thread that is not there."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def append(self, agent_id: AgentId, session_id: str, message: ChatMessage, run_id: str) -> None:
        """One message more, at the end of what the thread shows."""
        await self.append_many(agent_id, session_id, (message,), run_id)

    async def append_many(
        self, agent_id: AgentId, session_id: str, messages: Sequence[ChatMessage], run_id: str
    ) -> None:
        """Several, all or none."""
        parent = (await self._store.threads.get(thread_id=session_id)).active_leaf
        records = []
        for message in messages:
            side = "human" if message.role == "user" else "a"
            record = MessageRecord(
                new_id(),
                session_id,
                parent,
                message.role,
                message.blocks,
                time.time(),
                side=side,
                author="" if message.role == "user" else agent_id.type,
                model=message.model,
                run_id=run_id,
                stop_reason=message.stop_reason,
                usage=message.usage,
            )
            records.append(record)
            parent = record.message_id
        await self._store.messages.add_many(records=records)

    async def read(
        self, agent_id: AgentId, session_id: str, *, limit: int | None = None, offset: int = 0
    ) -> list[ChatMessage]:
        """Messages in order, from ``offset``, at most ``limit``."""
        found = chat_messages(await self._records(agent_id, session_id))[max(0, offset) :]
        return found if limit is None else found[: max(0, limit)]

    async def clear(self, agent_id: AgentId, session_id: str) -> None:
        """The thread shows nothing any more; all agents in it begin anew."""
        await self._store.threads.set_leaf(thread_id=session_id, message_id=None)

    async def clear_run(self, agent_id: AgentId, session_id: str, run_id: str) -> None:
        """Without what one run wrote: what came after it is said again behind what came before."""
        path = await self._store.messages.path(thread_id=session_id)
        first = next((at for at, record in enumerate(path) if record.run_id == run_id), None)
        if first is None:
            return
        later = [record for record in path[first:] if record.run_id != run_id]
        before = path[first - 1].message_id if first else None
        await self._store.threads.set_leaf(thread_id=session_id, message_id=before)
        copies, parent = [], before
        for record in later:
            copies.append(replace(record, message_id=new_id(), parent_id=parent))
            parent = copies[-1].message_id
        if copies:
            await self._store.messages.add_many(records=copies)

    async def count(self, agent_id: AgentId, session_id: str) -> int:
        """How many messages there are."""
        return len(await self.read(agent_id, session_id))

    async def _records(self, agent_id: AgentId, session_id: str) -> list[MessageRecord]:
        await self._store.threads.get(thread_id=session_id)
        path = await self._store.messages.path(thread_id=session_id)
        return [record for record in path if record.author in ("", agent_id.type) or record.role == "user"]
