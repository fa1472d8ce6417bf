"""Drafts on their way to a store that is slow or refuses: the latest counts, nothing is lost, nothing is said twice."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from desktop.domain.errors import StoreError
from desktop.domain.messages import Block, FileBlock
from desktop.presenter.chat import drafts as module
from desktop.presenter.chat.drafts import ComposerDraft, Drafts, Edit
from desktop.presenter.events.bridge import Bridge
from tests.harness.timeouts import until

FILE = FileBlock("a.txt", "attached")


class DraftStore:
    """A store of drafts whose disk may be full."""

    def __init__(self) -> None:
        self.full = False
        self.drafts: dict[str, tuple[str, tuple[Block, ...]]] = {}
        self.edits: dict[str, tuple[str, str]] = {}
        self.writes: list[Any] = []

    async def draft(self, thread_id: str) -> Any:
        text, attachments = self.drafts.get(thread_id, ("", ()))
        return SimpleNamespace(text=text, attachments=attachments)

    async def save_draft(self, thread_id: str, text: str, attachments: tuple[Block, ...] | None = ()) -> None:
        await asyncio.sleep(0)
        if self.full:
            raise StoreError("The disk is full.", code="store.full")
        self.writes.append((thread_id, text, attachments))
        kept = self.drafts.get(thread_id, ("", ()))[1] if attachments is None else attachments
        self.drafts[thread_id] = (text, kept)

    async def edited(self, thread_id: str) -> tuple[str, str]:
        return self.edits.get(thread_id, ("", ""))

    async def keep_edited(self, thread_id: str, message_id: str, text: str) -> None:
        self.edits[thread_id] = (message_id, text)


@pytest.fixture
async def kept(qapp):
    store, bridge = DraftStore(), Bridge()
    told: list[Exception] = []
    bridge.failed.connect(told.append)
    yield SimpleNamespace(store=store, bridge=bridge, told=told, drafts=Drafts(store, bridge))  # type: ignore[arg-type]
    await bridge.shutdown(2.0)


async def test_of_many_states_the_latest_is_stored_and_attachments_once(kept):
    for text in ("a", "ab", "abc"):
        kept.drafts.keep("t", ComposerDraft(text, (FILE,)))
    await until(lambda: not kept.bridge.task_names)
    kept.drafts.keep("t", ComposerDraft("abcd", (FILE,)))
    assert await kept.drafts.draft("t") == ComposerDraft("abcd", (FILE,)), "what is unsaved counts already"
    await until(lambda: not kept.bridge.task_names)
    assert kept.store.writes == [("t", "abc", (FILE,)), ("t", "abcd", None)]


async def test_what_a_full_disk_refuses_is_said_once_and_stored_when_there_is_room(kept):
    kept.drafts._again.setInterval(20)
    kept.store.full = True
    kept.drafts.keep("t", ComposerDraft("half a thought"))
    await until(lambda: kept.told)
    kept.drafts.keep("t", ComposerDraft("half a thought more"))
    await asyncio.sleep(0.1)
    assert len(kept.told) == 1
    assert await kept.drafts.draft("t") == ComposerDraft("half a thought more")
    kept.store.full = False
    await until(lambda: kept.store.drafts)
    assert kept.store.drafts == {"t": ("half a thought more", ())}


async def test_a_sent_message_is_forgotten_where_it_was_written_and_what_came_after_it_is_not(kept):
    said = ComposerDraft("first message", (FILE,))
    kept.drafts.keep("", said)
    kept.drafts.keep("", ComposerDraft("typed since"))
    kept.drafts.sent("", "made", said)
    await kept.drafts.flush()
    assert kept.store.drafts == {"": ("", ()), "made": ("typed since", ())}
    again = ComposerDraft("second")
    kept.drafts.keep("made", again)
    kept.drafts.sent("made", "made", again)
    await kept.drafts.flush()
    assert kept.store.drafts["made"] == ("", ())


async def test_a_message_that_could_not_be_sent_stays_before_what_was_typed_since(kept):
    said = ComposerDraft("first", (FILE,))
    kept.drafts.keep("", said)
    kept.drafts.keep("", ComposerDraft("second"))
    kept.drafts.unsent("", "made", said)
    assert await kept.drafts.draft("made") == ComposerDraft("first\n\nsecond", (FILE,))
    assert await kept.drafts.draft("") == ComposerDraft()


async def test_an_edit_is_kept_beside_the_draft(kept):
    kept.drafts.keep("t", ComposerDraft("new"))
    kept.drafts.keep("t", Edit("m1", "other words"))
    assert await kept.drafts.edit("t") == Edit("m1", "other words")
    await kept.drafts.flush()
    assert (kept.store.drafts["t"][0], kept.store.edits["t"]) == ("new", ("m1", "other words"))
    assert await kept.drafts.edit("t") == Edit("m1", "other words")
    assert module.RETRY <= 5000, "a person who frees the disk does not wait"
