"""What stands in a thread already, for an editor that opens it: the path that is shown, its newest messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

from desktop.domain.messages import (
    FileBlock,
    ImageBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    with_media,
)
from desktop.domain.threads import MessageRecord
from desktop.presenter.common.shown import shown_line
from desktop.presenter.editors.fences import quoted
from desktop.presenter.editors.updates import EditorCalls, Update, notice_words
from desktop.services.threads.service import ThreadService

PAGE, MOST = 200, 2_000
"""Messages read at once; messages shown of a thread."""
EARLIER = "What was said before this is in Assent."


async def messages_of(chats: ThreadService, thread_id: str) -> tuple[list[MessageRecord], bool]:
    """The newest messages of the path that is shown, oldest first, and whether there are earlier ones."""
    found: list[MessageRecord] = []
    before: str | None = None
    while len(found) < MOST:
        page = await chats.path(thread_id, before=before, limit=PAGE)
        found = [*page, *found]
        if len(page) < PAGE:
            return found, False
        before = page[0].message_id
    return found, True


async def replayed(chats: ThreadService, thread_id: str, calls: EditorCalls) -> AsyncIterator[list[Update]]:
    """The updates that say it, a message at a time."""
    messages, more = await messages_of(chats, thread_id)
    if more:
        yield [{"kind": "text", "message": "", "text": quoted((EARLIER,))}]
    for message in messages:
        if said := list(_message(message, calls)):
            yield said


def said_by_person(message: MessageRecord) -> list[Update]:
    """A message of a person."""
    return list(_person(message))


def _message(message: MessageRecord, calls: EditorCalls) -> Iterator[Update]:
    if message.role == "user":
        yield from _person(message)
        return
    results = {result.call_id: result for result in with_media(message.blocks)}
    for block in message.blocks:
        if isinstance(block, TextBlock) and block.text:
            yield {"kind": "text", "message": message.message_id, "text": block.text}
        elif isinstance(block, ReasoningBlock) and block.text:
            yield {"kind": "thought", "message": message.message_id, "text": block.text}
        elif isinstance(block, ToolCallBlock):
            yield calls.announced(message.thread_id, block.call_id, block.tool, block.arguments)
        elif isinstance(block, NoticeBlock):
            yield {"kind": "text", "message": message.message_id, "text": notice_words(block)}
    yield from _results(message.thread_id, list(results.values()), calls)


def _results(thread_id: str, results: Sequence[ToolResultBlock], calls: EditorCalls) -> Iterator[Update]:
    for result in results:
        if not calls.knows(thread_id, result.call_id):
            yield calls.announced(thread_id, result.call_id, result.tool, None)
        done = result.facts.get("state", "failed" if result.is_error else "done") == "done"
        yield calls.result(calls.name(thread_id, result.call_id), done, result.text, result.media)


def _person(message: MessageRecord) -> Iterator[Update]:
    for block in message.blocks:
        if isinstance(block, TextBlock) and block.text:
            yield {"kind": "user", "message": message.message_id, "text": block.text}
        elif isinstance(block, FileBlock | ImageBlock):
            name = shown_line(block.name)[:200] or "image"
            yield {"kind": "user", "message": message.message_id, "text": f"[attached: {name}] "}
