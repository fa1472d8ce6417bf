"""What a model reads of a long chat: a summary kept up to date, pinned messages, and never less than that says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.loop.summarising import SYSTEM
from desktop.agents.loop.window import SUMMARY_HEAD
from desktop.domain.context import MAX_PINS, Overlay
from desktop.domain.errors import KnownError, ModelServerError, NotFound
from desktop.domain.messages import NoticeBlock, TextBlock, ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.models import ModelRequest
from desktop.domain.runs.events import ContextMeasured
from desktop.domain.threads import MessageRecord
from desktop.services.chats.service import ConversationService
from desktop.services.threads.context import ContextService
from desktop.services.threads.history import RECENT
from tests.harness.store import add_all
from tests.unit.agents.script import Script, call, calls, says
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import World, world

LONG = "word " * 1_500
SMALL = 12_000
"""A window that a few long answers fill."""


def is_summary(request: ModelRequest) -> bool:
    return request.system == SYSTEM


class Chat:
    """A chat whose model answers at length, and summaries in few words."""

    def __init__(self, made: World, script: Script, allowed: list[bool]) -> None:
        self.world, self.script = made, script
        self.context = ContextService(made.store)
        runtime = replace(
            made.runtime, context=self.context, summaries=lambda: bool(allowed), context_window=lambda _ref: SMALL
        )
        self.service = made.service = ConversationService(runtime, made.owner)

    async def talk(self, thread_id: str, *texts: str) -> None:
        for text in texts:
            await self.world.ask(thread_id, text)

    @property
    def asked(self) -> list[ModelRequest]:
        return [request for request in self.script.requests if not is_summary(request)]

    @property
    def summaries(self) -> list[ModelRequest]:
        return [request for request in self.script.requests if is_summary(request)]

    @property
    def account(self) -> Any:
        return [event for event in self.world.events if isinstance(event, ContextMeasured)][-1].account


@asynccontextmanager
async def chat(
    path: Path,
    answer: Callable[[ModelRequest], Any] | None = None,
    *tools: FakeTool,
    allowed: bool = True,
    **options: Any,
) -> AsyncIterator[Chat]:
    def reply(request: ModelRequest) -> Any:
        if is_summary(request):
            return says("They spoke of boats.")
        return says(f"{LONG}")

    script = Script(last=answer or reply)
    async with world(path, script, *tools, **options) as made:
        yield Chat(made, script, [True] if allowed else [])


@pytest.mark.spec("R-CTX-3", "R-CTX-6")
async def test_what_no_longer_fits_is_summarised_once_and_the_transcript_stays(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        thread_id = await c.world.thread()
        await c.talk(thread_id, *(f"question {n} {LONG}" for n in range(5)))
        assert c.summaries
        first = c.asked[-1].messages[0]
        assert first.text.startswith(SUMMARY_HEAD)
        assert "They spoke of boats." in first.text
        assert "question 4" in c.asked[-1].messages[-1].text
        assert "question 0" not in "".join(message.text for message in c.asked[-1].messages)
        assert (c.account.summarised > 0, c.account.dropped) == (True, 0)
        shown = await c.service.path(thread_id)
        assert [m.text.split()[1] for m in shown if m.role == "user"] == ["0", "1", "2", "3", "4"]


async def test_a_person_who_asks_for_a_summary_gets_one_before_the_next_request_and_no_second(tmp_path: Path) -> None:
    async with chat(tmp_path, lambda r: says("They spoke of boats." if is_summary(r) else "Yes."), allowed=False) as c:
        thread_id, other = await c.world.thread(), await c.world.thread()
        await c.talk(thread_id, *(f"question {n}" for n in range(6)))
        await c.context.sum_up(thread_id)
        await c.talk(other, "elsewhere")
        assert not c.summaries, "another chat's next request is its own"
        await c.talk(thread_id, "question 6")
        assert len(c.summaries) == 1
        assert "They spoke of boats." in c.asked[-1].messages[0].text
        assert "question 0" not in "".join(message.text for message in c.asked[-1].messages)
        assert c.asked[-1].messages[-1].text == "question 6"
        await c.talk(thread_id, "question 7")
        assert len(c.summaries) == 1


@pytest.mark.spec("S-CTX-2")
async def test_a_later_summary_brings_the_earlier_up_to_date_and_counts_in_the_threads_tokens(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        thread_id = await c.world.thread()
        await c.talk(thread_id, *(f"question {n} {LONG}" for n in range(8)))
        assert len(c.summaries) >= 2
        assert "They spoke of boats." in c.summaries[-1].messages[0].text
        assert "question 0" in c.summaries[0].messages[0].text
        assert "question 0" not in c.summaries[-1].messages[0].text
        assert sum(SUMMARY_HEAD in m.text for m in c.asked[-1].messages) == 1
        answered = len(c.script.requests)
        total = (await c.service.thread(thread_id)).usage
        one = Usage(total.input_tokens // answered, total.output_tokens // answered)
        assert (total.input_tokens, total.output_tokens) == (one.input_tokens * answered, one.output_tokens * answered)


@pytest.mark.spec("R-CTX-7")
async def test_when_no_summary_can_be_made_the_oldest_is_dropped_and_the_run_goes_on(tmp_path: Path) -> None:
    def reply(request: ModelRequest) -> Any:
        return [ModelServerError("The server is away.")] if is_summary(request) else says(LONG)

    async with chat(tmp_path, reply) as c:
        thread_id = await c.world.thread()
        await c.talk(thread_id, *(f"question {n} {LONG}" for n in range(5)))
        assert len(c.summaries) == 1, "not again with each message"
        assert {end.reason for end in c.world.ends()} == {"response"}
        assert c.account.dropped > 0
        assert (await c.context.overlay(thread_id)) == Overlay()
        await c.world.store.threads.set_model(thread_id=thread_id, model="test/other")
        await c.talk(thread_id, f"another model {LONG}")
        assert len(c.summaries) == 2


@pytest.mark.spec("R-CTX-6")
async def test_summaries_are_off_unless_a_person_switched_them_on(tmp_path: Path) -> None:
    async with chat(tmp_path, allowed=False) as c:
        thread_id = await c.world.thread()
        await c.talk(thread_id, *(f"question {n} {LONG}" for n in range(4)))
        assert c.summaries == []
        assert c.account.dropped > 0


async def test_a_summary_that_is_taken_back_gives_the_messages_back_and_no_other_is_made(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        thread_id = await c.world.thread()
        await c.talk(thread_id, *(f"question {n} {LONG}" for n in range(4)))
        made = len(c.summaries)
        assert made
        assert await c.context.undo_summary(thread_id) == Overlay(off=True)
        await c.talk(thread_id, "and now?")
        assert len(c.summaries) == made
        assert SUMMARY_HEAD not in "".join(message.text for message in c.asked[-1].messages)
        await c.context.allow_summaries(thread_id)
        await c.talk(thread_id, "and then?")
        assert len(c.summaries) == made + 1


async def test_a_pinned_message_is_in_every_request_whatever_is_dropped_or_summarised(tmp_path: Path) -> None:
    for allowed in (True, False):
        (tmp_path / str(allowed)).mkdir()
        async with chat(tmp_path / str(allowed), allowed=allowed) as c:
            thread_id = await c.world.thread()
            await c.talk(thread_id, "the harbour code is 4711")
            first = (await c.service.path(thread_id))[0]
            await c.context.pin(thread_id, first.message_id, True)
            await c.talk(thread_id, *(f"question {n} {LONG}" for n in range(5)))
            assert "4711" in "".join(message.text for message in c.asked[-1].messages)
            assert c.account.pinned == 1
            assert await c.context.pinned_texts(thread_id) == [(first.message_id, "the harbour code is 4711", True)]
            await c.context.pin(thread_id, first.message_id, False)
            await c.talk(thread_id, f"last {LONG}")
            assert "4711" not in "".join(message.text for message in c.asked[-1].messages)


async def test_a_summary_of_one_branch_is_not_read_in_another(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        thread_id = await c.world.thread()
        await c.talk(thread_id, *(f"question {n} {LONG}" for n in range(5)))
        assert (await c.context.overlay(thread_id)).summary
        second = [m for m in await c.service.path(thread_id) if m.role == "user"][1]
        await c.context.pin(thread_id, second.message_id, True)
        await c.service.edit(second.message_id, "something else")
        await c.world.settled(thread_id)
        assert [one.here for one in await c.context.pinned_texts(thread_id)] == [False]
        sent = "".join(message.text for message in c.asked[-1].messages)
        assert SUMMARY_HEAD not in sent
        assert "question 0" in sent
        assert (await c.context.overlay(thread_id)).summary == ""


async def test_pins_are_bounded_and_belong_to_their_thread(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        thread_id, other = await c.world.thread(), await c.world.thread()
        await c.talk(thread_id, "hello")
        shown = await c.service.path(thread_id)
        for wrong, message_id in ((other, shown[0].message_id), (thread_id, "no such message")):
            with pytest.raises(NotFound):
                await c.context.pin(wrong, message_id, True)
        full = Overlay(pins=frozenset(str(n) for n in range(MAX_PINS)))
        await c.world.store.overlays.put(thread_id=thread_id, overlay=full)
        with pytest.raises(KnownError, match="At most 50"):
            await c.context.pin(thread_id, shown[0].message_id, True)
        with pytest.raises(NotFound):
            await c.world.store.overlays.put(thread_id="nowhere", overlay=full)
        await c.world.store.threads.delete(thread_id=thread_id, at=1.0)
        await c.world.store.threads.purge(thread_id=thread_id)
        assert await c.context.overlay(thread_id) == Overlay()


async def test_a_summary_that_comes_after_the_person_changed_something_does_not_undo_that(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        thread_id = await c.world.thread()
        await c.talk(thread_id, "hello")
        first, leaf = [m.message_id for m in await c.service.path(thread_id)]
        made = Overlay("They spoke.", leaf, summarised=2)  # begun before the person pinned and declined
        await c.context.pin(thread_id, first, True)
        assert await c.context.summarised(thread_id, made) == replace(made, pins=frozenset({first}))
        await c.context.undo_summary(thread_id)
        assert await c.context.summarised(thread_id, made) == Overlay(pins=frozenset({first}), off=True)
        assert await c.context.overlay(thread_id) == Overlay(pins=frozenset({first}), off=True)
        assert await c.context.overlay("nowhere") == Overlay()


@pytest.mark.spec("R-CTX-3", "R-CTX-5")
async def test_of_a_chat_longer_than_what_is_read_the_pinned_are_sent_and_everything_is_counted(tmp_path: Path) -> None:
    async with chat(tmp_path, lambda _request: says("so"), allowed=False) as c:
        store, thread_id = c.world.store, await c.world.thread()
        records: list[MessageRecord] = []
        for n in range(RECENT):
            above = records[-1].message_id if records else None
            blocks: tuple[Any, ...] = (TextBlock(f"m {n}"),)
            if n == 3:  # an answer that only tells of a failure is no message for a model
                blocks = (NoticeBlock("It failed.", "x"),)
            if n % 20 == 5:
                blocks = tuple(ToolCallBlock(f"c{n}.{at}", "read-file", {"path": "p"}) for at in range(2))
            role = "assistant" if n % 2 else "user"
            records.append(MessageRecord(f"m{n}", thread_id, above, role, blocks, 1.0 + n))  # type: ignore[arg-type]
            if n % 20 == 5:
                done = tuple(ToolResultBlock(f"c{n}.{at}", "read-file", f"result {n}.{at}") for at in range(2))
                records.append(MessageRecord(f"r{n}", thread_id, f"m{n}", "tool", done, 1.5 + n))
        await add_all(store.messages, records)
        for pinned in ("m0", "m5", "m16"):
            await c.context.pin(thread_id, pinned, True)
        await c.talk(thread_id, "now")
        sent = c.asked[-1].messages
        assert [message.text for message in sent[:1]] == ["m 0"]
        assert [block.text for message in sent[2:4] for block in message.blocks] == ["result 5.0", "result 5.1"]
        assert (sent[4].text, sent[-1].text) == ("m 16", "now")
        read = RECENT - 1 + RECENT // 20 * 2 + 1
        account = c.account
        assert account.kept == len(sent)
        assert (account.kept + account.dropped, account.pinned, account.summarised) == (read, 3, 0)

        told = Overlay("They spoke of boats.", "m7", frozenset(), False, 10)
        await store.overlays.put(thread_id=thread_id, overlay=told)
        await c.talk(thread_id, "and now")
        account = c.account
        assert c.asked[-1].messages[0].text.startswith(SUMMARY_HEAD)
        assert account.summarised == 10
        assert account.kept + account.dropped + account.summarised == read + 2


@pytest.mark.spec("R-CTX-9")
async def test_what_a_person_pins_or_takes_back_counts_from_the_next_round_of_a_run_at_work(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        thread_id = await c.world.thread()
        await c.talk(thread_id, *(f"question {n} {LONG}" for n in range(5)))
        first, begun = (await c.service.path(thread_id))[0], len(c.asked)
        usual, stream = c.script.last, c.script.stream
        changed: list[bool] = []

        async def meanwhile(request: ModelRequest, meta: Any) -> AsyncIterator[Any]:
            at_first = not changed and not is_summary(request)
            if at_first:
                changed.append(True)
                await c.context.pin(thread_id, first.message_id, True)
                await c.context.undo_summary(thread_id)
            c.script.last = (lambda _request: calls(call("c1", "no-such-tool"))) if at_first else usual
            async for item in stream(request, meta):
                yield item

        c.script.stream = meanwhile  # type: ignore[method-assign]
        await c.talk(thread_id, "go on")
        before, after = ("".join(message.text for message in one.messages) for one in c.asked[begun : begun + 2])
        assert (SUMMARY_HEAD in before, "question 0" in before) == (True, False)
        assert (SUMMARY_HEAD in after, "question 0" in after) == (False, True)


@pytest.mark.spec("S-CTX-2")
async def test_a_person_has_older_messages_summed_up_once_where_all_would_still_fit(tmp_path: Path) -> None:
    short = "word " * 100

    def reply(request: ModelRequest) -> Any:
        return says("They spoke of boats.") if is_summary(request) else says(short)

    async with chat(tmp_path, reply, allowed=False) as c:
        thread_id = await c.world.thread()
        await c.talk(thread_id, *(f"question {n} {short}" for n in range(6)))
        assert c.summaries == []
        await c.context.undo_summary(thread_id)
        assert (await c.context.sum_up(thread_id)).off is False, "what was switched off for this chat is on again"
        await c.talk(thread_id, "question 6", "question 7")
        assert len(c.summaries) == 1, "asked for once"
        assert "question 0" in c.summaries[0].messages[0].text
        last = c.asked[-1].messages
        assert last[0].text.startswith(SUMMARY_HEAD)
        assert "question 5" in "".join(message.text for message in last), "the newer half stays as it is"
        assert len(last) < 16
        assert [m.text.split()[1] for m in await c.service.path(thread_id) if m.role == "user"] == list("01234567")


async def test_a_chat_with_nothing_older_is_not_summed_up_whoever_asks(tmp_path: Path) -> None:
    async with chat(tmp_path) as c:
        thread_id = await c.world.thread()
        await c.context.sum_up(thread_id)
        await c.talk(thread_id, "one")
        assert c.summaries == []


async def test_what_fills_the_window_is_told_as_instructions_messages_and_what_was_read(tmp_path: Path) -> None:
    tool = FakeTool("read-file", body=lambda _args, _context: text_of(4_000))
    rounds = iter([calls(call("read_file", path="a.txt")), says("done")])
    async with chat(tmp_path, lambda _request: next(rounds), tool) as c:
        await c.talk(await c.world.thread(), "x" * 400)
        shares = [event.shares for event in c.world.events if isinstance(event, ContextMeasured)]
    assert [one.read for one in shares] == [0, 1_000]
    assert shares[0].messages == 104
    assert shares[0].instructions > 100
    assert shares[0].tools == len(c.asked[0].tools) > 0


async def text_of(length: int) -> str:
    return "y" * length
