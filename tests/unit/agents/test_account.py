"""The account of a request is exact, whatever was dropped, shortened, summarised or pinned; and a summary takes whole
rounds from the oldest on, never the last."""

from __future__ import annotations

import pytest

from desktop.agents.loop.window import LAST_MESSAGES, RESERVE, PromptWindow
from desktop.domain.context import Account, Overlay
from desktop.domain.messages import ChatMessage, TextBlock, ToolCallBlock, ToolResultBlock


def talk(count: int, size: int = 4, begin: int = 0) -> list[ChatMessage]:
    roles = ("user", "assistant")
    return [ChatMessage(roles[n % 2], (TextBlock("w" * size),), source_id=f"m{begin + n}") for n in range(count)]


def made(calls: int, size: int, name: str = "c") -> list[ChatMessage]:
    """A round with so many calls, each with a result of ``size`` characters."""
    ids = [f"{name}{n}" for n in range(calls)]
    asked = ChatMessage("assistant", tuple(ToolCallBlock(i, "read_file", {}) for i in ids), source_id=name)
    text = "r" * size
    done = [ChatMessage("tool", (ToolResultBlock(i, "read_file", text),), source_id=f"r{name}") for i in ids]
    return [asked, *done]


TOLD = Overlay("s" * 4_000, "m49", frozenset(), False, 50)
PINNED = Overlay("s" * 4_000, "m49", frozenset({"m10", "of another branch"}), False, 50)


@pytest.mark.spec("R-CTX-3", "R-CTX-6", "R-CTX-7")
@pytest.mark.parametrize(
    ("messages", "size", "overlay", "older", "account"),
    [
        (talk(5), None, Overlay(), 0, Account(kept=5)),
        (talk(150), None, Overlay(), 0, Account(kept=100, dropped=50)),
        (talk(150), None, Overlay(pins=frozenset({"m3", "gone"})), 0, Account(kept=101, dropped=49, pinned=1)),
        ([*talk(1), *made(2, 10_000)], 2_000, Overlay(), 0, Account(kept=2, shrunk=2)),
        ([*talk(1), *made(1, 10_000), *made(1, 40, name="d")], 2_000, Overlay(), 0, Account(kept=3, dropped=2)),
        (talk(60), None, TOLD, 0, Account(kept=10, summarised=50)),
        (talk(60), None, PINNED, 0, Account(kept=11, summarised=49, pinned=1)),
        (talk(60), None, Overlay("s", "m49", frozenset(), False, 70), 30, Account(kept=10, summarised=70, dropped=10)),
        (talk(60), None, Overlay("s", "old", frozenset(), False, 70), 80, Account(kept=60, summarised=70, dropped=10)),
        (talk(60), None, Overlay(), 30, Account(kept=60, dropped=30)),
        (talk(60, 400), 8_000, TOLD, 0, Account(kept=10, summarised=50)),
        (talk(100, 400), 8_000, TOLD, 0, None),
        (talk(60, 4_000), 100_000, Overlay(), 0, None),
    ],
)
def test_each_message_is_counted_once_and_what_is_sent_leaves_room_for_the_answer(
    messages: list[ChatMessage], size: int | None, overlay: Overlay, older: int, account: Account | None
) -> None:
    window = PromptWindow(context_window=size)
    window.older = older
    view = window.view(messages, overlay)
    got = view.account
    if account is not None:
        found = (got.kept, got.shrunk, got.summarised, got.dropped, got.pinned)
        assert found == (account.kept, account.shrunk, account.summarised, account.dropped, account.pinned)
    assert got.kept + got.shrunk + got.summarised + got.dropped == len(messages) + older
    assert view.compacted == bool(got.dropped or got.summarised or got.shrunk)
    if size is not None:
        room = size - min(RESERVE, size // 4)
        assert view.tokens <= room
        least = room - room // 4 - 1_200
        assert got.dropped == 0 or size < 5_000 or view.tokens > least, "more than a quarter too much is dropped"


@pytest.mark.spec("R-CTX-5", "R-CTX-6", "S-CTX-2")
@pytest.mark.parametrize(
    ("messages", "size", "overlay", "end"),
    [
        (talk(LAST_MESSAGES), None, Overlay(), 0),
        (talk(LAST_MESSAGES + 1), None, Overlay(), LAST_MESSAGES + 1 - LAST_MESSAGES // 2),
        ([*talk(60), *made(60, 4), *talk(20, begin=100)], None, Overlay(), 60),
        ([*talk(60), *made(60, 4)], None, Overlay(), 60),
        ([*talk(10, 400), *made(1, 400), *talk(1, 40_000)], 12_000, Overlay(), 12),
        ([*talk(50), *talk(120, begin=50)], None, TOLD, 120 - LAST_MESSAGES // 2),
        (talk(20, 1_000), 8_000, Overlay(), 0),
        (talk(40, 1_000), 8_000, Overlay(), None),
        (talk(90, 4_000), 60_000, Overlay(), None),
    ],
)
def test_a_summary_tells_whole_rounds_from_the_oldest_on_and_leaves_the_newest_alone(
    messages: list[ChatMessage], size: int | None, overlay: Overlay, end: int | None
) -> None:
    old = list(PromptWindow(context_window=size).to_summarise(messages, overlay))
    begin = 50 if overlay.summary else 0
    assert old == messages[begin : begin + len(old)]
    rest = messages[begin + len(old) :]
    assert not rest or rest[0].role != "tool"
    if end is not None:
        assert len(old) == end
    elif size is not None:
        room = size - min(RESERVE, size // 4)
        left = sum(len(message.text) for message in rest) // 4
        newest = min(20_000, room // 2)
        assert newest * 0.8 <= left <= newest
