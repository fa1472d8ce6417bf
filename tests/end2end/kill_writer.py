"""The process that is killed: three conversations at once, and a line on stdout for everything a person would see.

`python -m tests.end2end.kill_writer HOME LIFE`. Each line is JSON: `at` on the machine's monotonic clock, `kind`, and
what it is about. The text of a message follows from its id, so that the other side can tell what it must be.
"""

import asyncio
import json
import os
import random
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop.app.home.folder import open_home
from desktop.domain.approval.permission import AuditEntry
from desktop.domain.messages import TextBlock, ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.threads import DraftRecord, MessageRecord, RunRecord, ThreadRecord
from desktop.store import Store
from tests.samples import markdown

LONGEST = 6_000  # bytes of one message


def text_of(message_id: str) -> str:
    """What the message of this id says when it is complete."""
    seed = int.from_bytes(message_id.encode(), "big") % (1 << 61)
    return markdown(random.Random(seed).randint(20, LONGEST), seed)


def seen(kind: str, **what: Any) -> None:
    """This is on screen now. One write, so that a line is never cut."""
    line = json.dumps({"at": time.monotonic(), "kind": kind, **what}) + "\n"
    os.write(1, line.encode())


class Conversation:
    """A person and an agent who never stop."""

    def __init__(self, store: Store, thread_id: str, life: str) -> None:
        self.store = store
        self.thread_id = thread_id
        self.name = f"{life}.{thread_id}"
        self.rng = random.Random(self.name)
        self.count = 0
        self.known: list[str] = []

    def new_id(self, kind: str) -> str:
        self.count += 1
        return f"{self.name}.{kind}{self.count}"

    def record(self, kind: str, parent: str | None, role: str, **more: Any) -> MessageRecord:
        values = {"blocks": (), "created_at": time.time(), "status": "complete"} | more
        return MessageRecord(self.new_id(kind), self.thread_id, parent, role, **values)  # type: ignore[arg-type]

    async def talk(self) -> None:
        parent = (await self.store.threads.get(thread_id=self.thread_id)).active_leaf
        while True:
            if self.known and self.rng.random() < 0.25:  # a branch: something was edited or regenerated
                parent = self.rng.choice(self.known)
            parent = await self.exchange(parent)

    async def exchange(self, parent: str | None) -> str:
        store = self.store
        draft = f"draft {self.count}"
        await store.drafts.put(draft=DraftRecord(self.thread_id, draft))
        seen("draft", thread=self.thread_id, text=draft)
        user = self.record("u", parent, "user")
        user = replace(user, blocks=(TextBlock(text_of(user.message_id)),))
        await store.messages.add(record=user)
        seen("whole", id=user.message_id, leaf=True, thread=self.thread_id)
        run_id = self.new_id("r")
        await store.runs.start(record=RunRecord(run_id, self.thread_id, time.time(), "assistant", "demo/demo"))
        seen("run", id=run_id, ended=False)
        call = await self.answer(user.message_id, run_id, tools=True)
        result = self.record("t", call, "tool", blocks=(ToolResultBlock(f"{call}.call", "bash", text_of(f"{call}.t")),))
        await store.messages.add(record=result)
        seen("result", id=result.message_id, call=call)
        await store.audit.add(
            entry=AuditEntry(
                time.time(), run_id, self.thread_id, f"{call}.call", (), "bash", "write", "allow_once", "user", "x"
            )
        )
        seen("audit", call=f"{call}.call")
        last = await self.answer(result.message_id, run_id, tools=False)
        await store.runs.end(run_id=run_id, reason="response", at=time.time(), usage=Usage(1, 1))
        seen("run", id=run_id, ended=True)
        self.known = [*self.known[-20:], user.message_id, last]
        return last

    async def answer(self, parent: str, run_id: str, *, tools: bool) -> str:
        record = self.record("a", parent, "assistant", status="open", run_id=run_id)
        text = text_of(record.message_id)
        opened = await self.store.messages.open(record=record)
        at = 0
        speed = self.rng.choice((3, 12, 60, 400))
        while at < len(text):
            size = self.rng.randint(1, speed)
            opened.add_text(text[at : at + size])
            at = min(len(text), at + size)
            seen("part", id=record.message_id, length=at)
            await asyncio.sleep(self.rng.choice((0.001, 0.004, 0.016)))
        blocks = (ToolCallBlock(f"{record.message_id}.call", "bash", {"command": "ls"}),) if tools else ()
        await opened.close(stop_reason="tool_calls" if tools else "end", blocks=blocks)
        seen("whole", id=record.message_id, leaf=False)
        return record.message_id


async def read_a_lot(store: Store) -> None:
    """The person scrolls and searches meanwhile: reads wait in the same queue as writes."""
    while True:
        for thread in await store.threads.list_all():
            await store.messages.path(thread_id=thread.thread_id)
        await store.search.messages(text="the server")
        await asyncio.sleep(0.02)


async def main(home: Path, life: str) -> None:
    _held = open_home(home)  # until this process is killed
    store = Store(home / "data" / "assent.db")
    await store.open()
    names = ("x", "y", "z")
    known = {thread.thread_id for thread in await store.threads.list_all()}
    for name in names:
        if name not in known:
            await store.threads.create(record=ThreadRecord(name, name, time.time(), time.time()))
    seen("ready")
    async with asyncio.TaskGroup() as group:
        group.create_task(read_a_lot(store))
        for name in names:
            group.create_task(Conversation(store, name, life).talk())


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
