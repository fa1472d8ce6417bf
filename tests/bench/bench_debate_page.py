"""The debate page: two sides streaming at once, and opening a long debate. Offscreen, with real fonts and painting."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer

from desktop.domain.debates import DebateSetup, DebateState, SideMeter, SideSetup, TurnRecord
from desktop.domain.messages import TextBlock, Usage
from desktop.domain.runs.events import MessageOpened, RunStarted, SideTurnStarted, TextArrived
from desktop.domain.threads import MessageRecord
from desktop.presenter.debates.items import TurnItem
from desktop.presenter.debates.open import OpenDebate
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.transcript.items import TextPart
from desktop.presenter.transcript.live_threads import LiveThreads
from desktop.ui.debates.lanes import DebateView
from desktop.ui.theme import Theme
from tests.bench.application import app, in_app_loop
from tests.bench.bench_transcript import percentile, spin
from tests.bench.registry import Figure, bench

TOKENS_A_SECOND, SECONDS = 1000, 5.0
TURNS = 500
WORDS = "A gauge that drifts is **worse** than one that stops, because nobody looks at it twice. "
SETUP = DebateSetup("Topic", SideSetup("pro", "Pro"), SideSetup("con", "Con"), TURNS)


def view() -> DebateView:
    app()
    made = DebateView(Theme.install(app()))
    made.resize(1216, 700)
    made.show()
    app().processEvents()
    return made


class Lateness(QObject):
    """Of a 5 ms timer, in milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self._at = time.perf_counter()
        self._timer = QTimer(self, interval=5)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.late.append(max(0.0, (now - self._at) * 1000 - 5))
        self._at = now


@bench("two debate sides at 1,000 tokens/s each, both drawn: lateness p99", target="<= 10", unit="ms", by="gap")
def two_sides() -> Figure:
    shown = view()
    sides: Sequence[Any] = ("a", "b")
    start = [
        TurnItem(
            f"m{s}",
            s,
            s,
            "turn",
            (TextPart(f"t{s}", WORDS * 20, live=True),),
            live=True,
            number=n + 1,
            started_at=time.time(),
        )
        for n, s in enumerate(sides)
    ]
    shown.set_items(start)
    tokens = WORDS.replace(" ", " |").split("|")
    began, sent = time.perf_counter(), 0

    def feed() -> None:
        nonlocal sent
        due = int((time.perf_counter() - began) * TOKENS_A_SECOND)
        text = "".join(tokens[n % len(tokens)] + ("\n\n" if n % 60 == 59 else "") for n in range(sent, due))
        sent = due
        for side in sides:
            shown.append_text(f"m{side}", f"t{side}", text)

    timer = QTimer(interval=33)
    timer.timeout.connect(feed)
    timer.start()
    late = Lateness()
    work = time.thread_time()
    spin(SECONDS)
    timer.stop()
    used = (time.thread_time() - work) / SECONDS * 100
    p99, worst = percentile(late.late, 0.99), max(late.late)
    shown.close()
    return Figure(p99, note=f"max {worst:.1f} ms, {used:.0f} % of a core, {sent} tokens a side")


class Stored:
    """A debate of ``TURNS`` turns, in memory: what the store takes is measured in its own bench."""

    def __init__(self) -> None:
        self.messages = [MessageRecord("m0", "t", None, "user", (TextBlock("Topic"),), 0.0)]
        self.turns_made: list[TurnRecord] = []
        for n in range(1, TURNS + 1):
            side: Any = "a" if n % 2 else "b"
            text = TextBlock((WORDS * 12 + "\n\n") * 2)
            self.messages.append(MessageRecord(f"m{n}", "t", f"m{n - 1}", "assistant", (text,), float(n), side=side))
            self.turns_made.append(
                TurnRecord("t", n, side, f"m{n}", f"m{n}", "", "response", 1, 0, Usage(), float(n), n + 0.5)
            )

    async def state(self, _: str) -> DebateState:
        return DebateState("t", "Long", SETUP, "paused", TURNS, meters={"a": SideMeter(), "b": SideMeter()})

    async def turns(self, _: str) -> list[TurnRecord]:
        return self.turns_made

    async def path(self, _: str, before: str | None, limit: int) -> list[MessageRecord]:
        end = len(self.messages) if before is None else int(before[1:])
        return self.messages[max(0, end - limit) : end]


def opening() -> tuple[float, float]:
    """Milliseconds until the last screen is painted, and until everything can be scrolled."""
    stored, shown = Stored(), view()

    async def go() -> tuple[float, float]:
        bridge = Bridge()
        opened = OpenDebate(stored, stored.path, bridge)  # type: ignore[arg-type]
        opened.items_reset.connect(shown.set_items)
        opened.items_prepended.connect(shown.prepend_items)
        first: list[float] = []
        opened.items_reset.connect(lambda _: (shown.repaint(), first.append(time.perf_counter())))
        whole: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        opened.loaded.connect(lambda: whole.set_result(time.perf_counter()))
        began = time.perf_counter()
        opened.open("t")
        done = await whole
        await bridge.shutdown()
        return (first[0] - began) * 1000, (done - began) * 1000

    first, whole = in_app_loop(go)
    assert len(shown.page) == TURNS + 1
    shown.close()
    return first, whole


@bench("a debate of 500 turns opens: everything scrollable", target="<= 150", unit="ms")
def open_long() -> Figure:
    first, whole = opening()
    return Figure(whole, note=f"last screen painted after {first:.0f} ms")


AT_ONCE, EACH = 50, 100


@bench("50 debates run at once at 100 tokens/s each, one on screen: lateness p99", target="<= 16", unit="ms", by="gap")
def fifty_at_once() -> Figure:
    stored, shown, board = Stored(), view(), LiveThreads()
    ids = ["t", *(f"other{n}" for n in range(1, AT_ONCE))]

    async def go() -> tuple[float, str]:
        bridge = Bridge()
        opened = OpenDebate(stored, stored.path, bridge)  # type: ignore[arg-type]
        bridge.events.connect(board.take)
        for signal, slot in (
            (opened.items_reset, shown.set_items),
            (opened.item_added, shown.add_item),
            (opened.item_changed, shown.change_item),
            (opened.text_appended, shown.append_text),
        ):
            signal.connect(slot)
        opened.open("t")
        await asyncio.sleep(0.3)
        for thread in ids:
            where: Any = {"thread_id": thread, "run_id": f"r{thread}"}
            bridge.sink(RunStarted(**where, agent="debate", model="m/m", user_message_id=""))
            bridge.sink(SideTurnStarted(**where, side="a", number=TURNS + 1, label="Pro", model="m/m"))
            opened_message = MessageOpened(
                **where, message_id=f"live{thread}", parent_id=None, side="a", author="Pro", round_number=1
            )
            bridge.sink(opened_message)
        late, began, sent = Lateness(), time.perf_counter(), 0
        while (now := time.perf_counter() - began) < SECONDS:
            due = int(now * EACH)
            for number in range(sent, due):
                token = WORDS.split(" ")[number % 16] + " "
                for thread in ids:
                    bridge.sink(
                        TextArrived(thread_id=thread, run_id=f"r{thread}", message_id=f"live{thread}", text=token)
                    )
                await asyncio.sleep(0)
            sent = due
            await asyncio.sleep(0.004)
        note = f"max {max(late.late):.1f} ms, {sent} tokens each; what the runtime itself does is not in it"
        await bridge.shutdown()
        return percentile(late.late, 0.99), note

    found, note = in_app_loop(go)
    shown.close()
    return Figure(found, note=note)
