"""The window over any transcript: side by side, interrupted and repeated calls, results of nobody, thinking, notices;
with every strategy at once: summary, pins, the task, the sliding window, truncation, shortened results.

The examples are the same in each run; to look for others, take ``derandomize`` away and raise their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.agents.loop.shrink import shrink_results
from desktop.agents.loop.window import KEEP_RECENT, SUMMARY_HEAD, PromptWindow
from desktop.domain.context import Overlay
from desktop.domain.errors import ModelContextTooLong
from desktop.domain.estimates import estimate
from desktop.domain.messages import (
    ChatMessage,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    user_message,
)
from tests.unit.agents.test_rounds import valid

SENT = {"text", "tool_call", "tool_result"}


@dataclass(frozen=True)
class Case:
    """A transcript, what stands over it, and the window that it is to fit in."""

    messages: list[ChatMessage]
    overlay: Overlay
    task: str
    last: int
    size: int | None

    @property
    def window(self) -> PromptWindow:
        return PromptWindow(context_window=self.size, last=self.last, task=self.task)

    @property
    def told(self) -> int:
        ids = [m.source_id for m in self.messages]
        return ids.index(self.overlay.upto) + 1 if self.overlay.summary and self.overlay.upto in ids else 0


def result(call_id: str, size: int) -> ChatMessage:
    return ChatMessage("tool", (ToolResultBlock(call_id, "read_file", call_id + "r" * size),))


@st.composite
def rounds(draw: st.DrawFn, number: int) -> list[ChatMessage]:
    """Calls of one message with their results: some missing, in any order, some twice, some of nobody."""
    ids = [f"{number}.{at}" for at in range(draw(st.integers(1, 4)))]
    said = (ReasoningBlock("hm " * 50),) if draw(st.booleans()) else ()
    head = ChatMessage("assistant", (*said, *(ToolCallBlock(i, "read_file", {"path": i}) for i in ids)))
    answered = draw(st.lists(st.sampled_from([*ids, "nobody"]), max_size=5)) if draw(st.booleans()) else ids
    return [head, *(result(i, draw(st.sampled_from((5, 400, 3000)))) for i in answered)]


@st.composite
def transcripts(draw: st.DrawFn) -> list[ChatMessage]:
    messages: list[ChatMessage] = []
    minimum = draw(st.sampled_from((0, 5, 12)))
    for number, kind in enumerate(draw(st.text("uaartttton", min_size=minimum, max_size=25))):
        size = draw(st.sampled_from((1, 60, 1500)))
        if kind == "u":
            messages.append(user_message(f"q{number} " + "u" * size))
        elif kind == "a":
            messages.append(ChatMessage("assistant", (TextBlock(f"a{number} " + "a" * size),)))
        elif kind == "r":
            messages.append(ChatMessage("assistant", (ReasoningBlock("hm"), TextBlock(f"s{number}"))))
        elif kind == "t":
            messages.extend(draw(rounds(number)))
        elif kind == "o":
            messages.append(result(f"orphan{number}", 10))
        else:
            messages.append(ChatMessage("assistant", (NoticeBlock("no network"),)))
    return [replace(m, source_id=f"m{at}") for at, m in enumerate(messages)]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    messages = draw(transcripts())
    ids = st.sampled_from([m.source_id for m in messages] or ["none"])
    summary = draw(st.sampled_from(("", "They spoke of boats. " * 5, "long " * 800)))
    overlay = Overlay(summary, draw(ids), draw(st.frozensets(ids, max_size=2)))
    asked = [m.source_id for m in messages if m.role == "user"]
    task = draw(st.sampled_from((asked[0], asked[-1], ""))) if asked else ""
    size = draw(st.one_of(st.none(), st.integers(300, 8_000)))
    return Case(messages, overlay, task, draw(st.sampled_from((1, 2, 5, 12, 40))), size)


def groups(messages: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
    """A message and the results behind it."""
    found: list[list[ChatMessage]] = []
    for message in messages:
        if message.role == "tool" and found:
            found[-1].append(message)
        else:
            found.append([message])
    return found


def sendable(group: Sequence[ChatMessage]) -> bool:
    return group[0].role != "tool" and any(block.kind in SENT for block in group[0].blocks)


def held(case: Case) -> list[list[ChatMessage]]:
    """What no window may leave out: the last group, the person's latest, the task, what is pinned."""
    latest = next((m.source_id for m in reversed(case.messages) if m.role == "user"), "")
    wanted = {*case.overlay.pins, case.task, latest} - {""}
    told = {m.source_id for m in case.messages[: case.told]}
    found = [g for g in groups(case.messages) if sendable(g)]
    return [
        g
        for at, g in enumerate(found)
        if not wanted.isdisjoint(m.source_id for m in g) or (at == len(found) - 1 and g[0].source_id not in told)
    ]


def minimum(case: Case) -> int:
    """Tokens of what is held, with its results shortened: an estimate of a window's least, from below."""
    ids = [{c.call_id for c in g[0].tool_calls} for g in held(case)]
    kept = [
        m
        for g, asked in zip(held(case), ids, strict=True)
        for m in shrink_results(g)
        if m.role != "tool" or m.blocks[0].call_id in asked
    ]
    return sum(estimate(replace(m, blocks=tuple(b for b in m.blocks if b.kind in SENT))) for m in kept)


@pytest.mark.spec("R-CTX-3", "R-CTX-5", "R-CTX-6", "R-CTX-7", "R-CTX-10")
@settings(max_examples=300, derandomize=True)
@given(cases())
def test_no_window_over_any_transcript_breaks_a_rule(case: Case) -> None:
    before = list(case.messages)
    try:
        view = case.window.view(case.messages, case.overlay)
    except ModelContextTooLong:
        assert case.size is not None
        room = case.size - case.size // 4
        assert minimum(case) + 60 > room, "it was given up although it would have fitted"
        return
    assert all(one is other for one, other in zip(before, case.messages, strict=True))
    sent = list(view.messages)
    assert valid(sent)
    assert {block.kind for m in sent for block in m.blocks} <= SENT
    summaries = [at for at, m in enumerate(sent) if m.text.startswith(SUMMARY_HEAD)]
    assert summaries in (([0], []) if case.overlay.summary else ([],))
    if case.overlay.summary and not summaries:
        assert case.size is not None
        told = min(len(case.overlay.summary) // 4, (case.size - case.size // 4) // 2)
        assert minimum(case) + told + 150 > case.size - case.size // 4
        case = replace(case, overlay=Overlay(pins=case.overlay.pins))
    places = [int(m.source_id[1:]) for m in sent if m.source_id]
    heads = [int(m.source_id[1:]) for m in sent if m.source_id and m.role != "tool"]
    assert heads == sorted(set(heads))
    assert {g[0].source_id for g in held(case)} <= {m.source_id for m in sent}
    free = set(places) - {int(m.source_id[1:]) for g in held(case) for m in g}
    assert all(place >= case.told for place in free), "what the summary tells was sent as well"
    assert len(heads) <= case.last + len(held(case))
    if case.size is not None:
        assert view.tokens <= case.size - case.size // 4
    account = view.account
    known = {m.source_id for g in groups(case.messages) if sendable(g) for m in g}
    assert account.kept + account.shrunk + account.summarised + account.dropped <= len(case.messages)
    assert account.kept + account.shrunk >= len(places)
    assert account.pinned == sum(m.source_id in case.overlay.pins for m in sent if m.source_id)
    if not case.overlay.summary and len(places) == len(known) == len(case.messages):
        assert account.dropped == 0


@pytest.mark.spec("R-CTX-5", "R-CTX-6", "R-CTX-9")
@settings(max_examples=150, derandomize=True)
@given(cases())
def test_what_a_summary_takes_is_whole_rounds_in_order_and_never_the_last_one(case: Case) -> None:
    window, overlay, messages = case.window, case.overlay, case.messages
    for _ in range(len(messages) + 1):
        old = list(window.to_summarise(messages, overlay))
        if not old:
            break
        ids = [m.source_id for m in messages]
        start = ids.index(old[0].source_id)
        end = start + len(old)
        assert ids[start:end] == [m.source_id for m in old]
        assert start == 0 or not overlay.summary or messages[start].role != "tool"
        assert end < len(messages)
        assert messages[end].role != "tool"
        assert sum(map(estimate, messages[end:])) <= KEEP_RECENT or len(groups(messages[end:])) == 1
        overlay = replace(overlay, summary="Boats.", upto=old[-1].source_id)
        try:
            sent = window.view(messages, overlay).messages
        except ModelContextTooLong:
            continue
        assert valid(sent)
        if not sent[0].text.startswith(SUMMARY_HEAD):
            continue  # it left no room for what must stay
        assert not {m.source_id for m in sent if m.source_id} & {
            m.source_id
            for m in old
            if m.role == "assistant"
            and m.source_id not in overlay.pins
            and not any(r.source_id in overlay.pins for g in groups(messages) if g[0] is m for r in g)
        }
    else:
        raise AssertionError("there is always more to summarise")


@pytest.mark.spec("R-CTX-9")
@settings(max_examples=60, derandomize=True)
@given(cases())
def test_a_window_that_has_seen_other_rounds_gives_what_a_new_one_gives(case: Case) -> None:
    kept = case.window
    for end in range(0, len(case.messages), 3):
        part = case.messages[: end + 1]
        views = []
        for window in (kept, case.window):
            try:
                views.append(window.view(part, case.overlay))
            except ModelContextTooLong:
                views.append(None)
        assert views[0] == views[1]
