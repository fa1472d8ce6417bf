"""Pictures of the Debates page with sample data. Never in the app."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from PySide6.QtWidgets import QWidget

from desktop.domain.debates import (
    DebateRow,
    DebateSetup,
    DebateState,
    DebateTemplate,
    JudgeVerdict,
    SideMeter,
    SidePreview,
    SideSetup,
    ToolOffer,
    TurnRecord,
)
from desktop.domain.definitions import DefinitionProblem, SideName
from desktop.domain.messages import ChatMessage, TextBlock, Usage
from desktop.domain.models import LocalServer, ModelInfo, ModelRef
from desktop.presenter.debates.items import TurnItem, end_item, head_words, verdict_item
from desktop.presenter.debates.page import DebateModels, DebatesViewModel
from desktop.presenter.debates.setup import DebateSetupViewModel
from desktop.presenter.transcript.items import CallsPart, TextPart, ToolPart, TranscriptItem
from desktop.presenter.transcript.live_threads import LiveThreads
from desktop.ui.debates.page import DebatesPage
from shots import run_panel as run_shots
from shots.chat import StillBridge
from shots.samples import SampleApprovals, SampleSetup, new_file_request

TOPIC = (
    "Should the harbour office publish its raw tide data as it arrives, or only the checked series a day later? "
    "Use what is in docs/ and logs/."
)
A = SideSetup("debate-for", "Open data", "mistral/mistral-large", max_rounds=6, end_session_tool="agree")
B = SideSetup("debate-against", "Caution", "ollama/qwen3:30b", max_rounds=6, end_session_tool="agree")
SETUP = DebateSetup(TOPIC, A, B, 10, 0.5, template="debate")
TEXTS = (
    "Publish the levels as they arrive. The gauges are paid for by the public, three research groups already ask for "
    "the files by mail, and every copy made by hand goes stale. A licence and one page that says what is unchecked "
    "cost a week of work.",
    "Raw is the problem. Gauge 7 lost 63 samples in March and nobody outside knew. A skipper who plans by an unchecked "
    "level has not read the licence. Publish the checked series a day later: it serves research as well, and misleads "
    "nobody.",
    "A day later is too late for those who need it most. I read the log of last winter's surge: the checked series "
    "came out **31 hours after the peak**. And raw with flags is not raw alone. Every sample can carry *good*, "
    "*suspect* or *missing*, and the three gaps in March would have been marked within minutes.",
    "Flags answer half of it. They are only as good as the rule that sets them, and I read the one in use: it marks a "
    "gap, but not a drift. In October gauge 3 stood 9 cm high for six days, and each of those samples was flagged "
    "*good*. So I could accept raw data today if",
)
OFFERS = (
    ToolOffer("read-file", "read", "Reads a file inside the boundary."),
    ToolOffer("list-directory", "read", "Lists a folder."),
    ToolOffer("bash", "write", "Runs a command."),
)
TEMPLATES = tuple(
    DebateTemplate(name, title, hint, icon, replace(SETUP, template=name))
    for name, title, hint, icon in (
        ("debate", "Debate", "Two positions, one topic", "debates"),
        ("red-team", "Red team", "One plans, one attacks", "admin"),
        ("negotiation", "Negotiation", "Ends when both agree", "swap"),
        ("author-critic", "Author and critic", "Draft, notes, next draft", "write"),
        ("worker-reviewer", "Worker and reviewer", "Does it, checks it", "agent"),
    )
)
MODELS = (
    ModelInfo(ModelRef("mistral", "mistral-large"), "mistral-large", 131_000, None, 2.0, 6.0),
    ModelInfo(ModelRef("ollama", "qwen3:30b"), "qwen3:30b", 32_000, locality="local"),
    ModelInfo(ModelRef("demo", "demo"), "Demo", None, locality="demo"),
)
ROWS = (
    ("d1", "Should the harbour office publish its raw tide data?", 0.0),
    ("d2", "Release now or after the audit", 0.1),
    ("d3", "Red team: the nightly merge", 2.0),
    ("d4", "Author and critic: abstract", 3.0),
    ("d5", "Rent negotiation, dry run", 4.0),
)
VERDICT = JudgeVerdict(
    "a",
    "Flags and a licence answer the harm that Caution names; nothing answers the day that is lost.",
    {"a": "Met the strongest objection with a remedy that costs a week.", "b": "Showed that drift goes unseen."},
    {"a": {"Evidence": 8, "Answers the other side": 9, "Clarity": 8}, "b": {"Evidence": 9, "Clarity": 7}},
    "mistral/mistral-large",
    0.0,
    10,
)


class SampleService:
    """Templates, which are read at once; everything else never happens in a picture."""

    def templates(self) -> tuple[DebateTemplate, ...]:
        """Five."""
        return TEMPLATES

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def never(*_: Any, **__: Any) -> None:
            return None

        return never


def _turn(number: int, *, live: bool = False, calls: int = 0, waiting: bool = False) -> TurnItem:
    side: SideName = "a" if number % 2 else "b"
    read = [
        ToolPart(f"c{number}{n}", f"c{number}{n}", "read-file", "logs/surge.log", "read", "done", elapsed_ms=40)
        for n in range(calls)
    ]
    parts: list[Any] = [CallsPart(f"k{number}", tuple(read))] if read else []
    parts.append(TextPart(f"t{number}", TEXTS[(number - 1) % 4], live=live and not waiting))
    if waiting:
        write = ToolPart(
            f"w{number}",
            f"w{number}",
            "write-file",
            "data/gauge-07/2026-03.clean.csv",
            "write",
            "waiting",
            request=new_file_request(),
        )
        parts.append(write)
    words = head_words(number, 2, None, 6) if live else head_words(number, calls + 1, 5.1 + number)
    return TurnItem(
        f"m{number}",
        side,
        A.label if side == "a" else B.label,
        words,
        tuple(parts),
        live=live,
        number=number,
        started_at=time.time() - 8.3,
        footer="2.1k tokens, $0.010",
    )


def _said(text: str, author: str = "Moderator", key: str = "mod") -> TranscriptItem:
    return TranscriptItem(key, "human", author, "14:02", (TextPart(f"{key}t", text),))


def _state(status: str = "running", turn: int = 4, **more: Any) -> DebateState:
    meters = {
        "a": SideMeter(2, 4, 3 if status != "running" else 0, 6, 2, Usage(20_100, 1_700, cost_usd=0.034)),
        "b": SideMeter(2, 3, 2 if status == "running" else 0, 6, 1, Usage(16_000, 1_200, cost_usd=0.0)),
    }
    return DebateState("d1", ROWS[0][1], SETUP, cast(Any, status), turn, "b", cast(Any, meters), **more)


def page(rows: bool = True) -> DebatesPage:
    """The page with its list."""
    bridge, board, nothing = cast(Any, StillBridge2()), LiveThreads(), cast(Any, SampleService())
    debates = DebatesViewModel(nothing, cast(Any, None), bridge, board)
    setup = DebateSetupViewModel(nothing, bridge)
    models = SampleSetup()
    models.servers = (LocalServer("ollama", "Ollama", "http://localhost:11434", True, MODELS),)
    agents = run_shots.SAMPLES["judged"]()
    made = DebatesPage(DebateModels(debates, setup, cast(Any, SampleApprovals()), cast(Any, models), agents))
    now = time.time()
    debates.rows = {key: DebateRow(key, title, now - days * 86_400, "paused") for key, title, days in ROWS if rows}
    if rows:
        debates.rows["f2"] = DebateRow("f2", ROWS[1][1], now - 0.1 * 86_400 - 60, "paused", "d2", "", 4)
    board.state("d1").running = True
    debates.filter("")
    setup.prompts = ("debate-for", "debate-against", "author", "critic")
    setup.offers = {"a": OFFERS, "b": OFFERS}
    setup.set_side("a", tools=("read-file", "list-directory"))
    setup._later.stop()
    setup.loaded.emit()
    return made


class StillBridge2(StillBridge):
    """With the one signal that is listened to."""

    def __init__(self) -> None:
        super().__init__()
        self.events = _Silent()

    def spawn(self, work: Any, *, name: str, on_error: Any = None) -> None:
        """Close what would have run."""
        work.close()


class _Silent:
    def connect(self, _: Any) -> None:
        """Nothing ever comes."""


def _running(items: tuple[TranscriptItem, ...], state: DebateState, view: str = "lanes") -> DebatesPage:
    made = page()
    opened = made._models.debates.open
    opened.thread_id, opened.state = "d1", state
    opened.items = {item.message_id: item for item in items}
    opened.turns = [cast(TurnRecord, None)] * state.turn
    made.open("d1")
    opened.opened.emit(run_shots.THREAD)
    opened.state_changed.emit(state)
    opened.items_reset.emit(items)
    made.running.show_view(view)
    if view in ("a", "b"):
        messages = (
            ChatMessage("user", (TextBlock(TOPIC),)),
            ChatMessage("assistant", (TextBlock(TEXTS[0]),)),
            ChatMessage("user", (TextBlock(TEXTS[1]),)),
            ChatMessage("assistant", (TextBlock(TEXTS[2]),)),
        )
        made._models.debates.side_read.emit(view, "You argue for publishing. Answer the other side.", messages)
    return made


def _mock() -> tuple[TranscriptItem, ...]:
    said = _said("Both of you: read what is in the logs before you answer.")
    return (_turn(1), _turn(2), said, _turn(3, calls=2), _turn(4, live=True, calls=1))


def _ended() -> DebatesPage:
    state = _state("ended", 10, end_reason="max_session_turns", verdict=VERDICT)
    items = (*(_turn(number) for number in range(7, 11)), end_item(state), verdict_item(state, VERDICT))
    return _running(items, state)


def _fork() -> DebatesPage:
    made = _running((_said(TOPIC, "Topic", "topic"), *(_turn(n) for n in range(1, 7))), _state("paused", 6))
    beside = made._models.debates.beside
    beside.items = {f"o{n}": replace(_turn(n), message_id=f"o{n}") for n in range(1, 7)}
    state = replace(_state("paused", 6), forked_from="d0", forked_at=2)
    opened = made._models.debates.open
    opened.state = state
    opened.state_changed.emit(state)
    made.running.compare()
    beside.items = {f"o{n}": replace(_turn(n), message_id=f"o{n}") for n in range(1, 7)}
    beside.state_changed.emit(state)
    beside.items_reset.emit(())
    return made


def _dialog() -> DebatesPage:
    made = _running(_mock(), _state("paused"))
    made.resize(1216, 800)
    made.show()
    made.running.begin_fork(2)
    return made


def _wrong() -> DebatesPage:
    made = page()
    setup = made._models.setup
    setup.problems = (
        DefinitionProblem("sideA.prompt", "prompt.missing", "There is no skill “debate-for”. Choose another prompt."),
        DefinitionProblem("topic", "topic.empty", "Say what it is about."),
    )
    setup.checked.emit(setup.problems)
    return made


def _agents(view: str = "lanes", path: str = "0") -> Callable[[], DebatesPage]:
    """With the agents of the debate beside it."""

    def make() -> DebatesPage:
        made = _running(_mock(), _state(), view)
        made.show_agents(True)
        assert made.side.agents is not None
        made.side.agents.rows.select(path)
        return made

    return make


def _preview() -> DebatesPage:
    made = page()
    made.resize(1216, 800)
    made.show()
    text = "You argue for publishing. " * 30
    side = SidePreview(text, OFFERS[:2], "mistral/mistral-large", ("6 rounds a turn", "10 turns"), 131_000)
    made._models.setup.previewed.emit({"a": side, "b": replace(side, context_window=None)})
    return made


def _chips() -> DebatesPage:
    state = _state(waiting=("Name your sources, please.", "And come to a close soon, both of you."))
    return _running((*_mock()[:-1], _turn(4, live=True, calls=1, waiting=True)), state)


def pictures() -> dict[str, Callable[[], QWidget]]:
    """Name -> how to build it."""
    return {
        "04-debate-running": lambda: _running(_mock(), _state()),
        "04-debate-running-200": lambda: _running(_mock(), _state()),
        "04-debate-running-960": lambda: _running(_mock(), _state()),
        "04-debate-column": lambda: _running(_mock(), _state(), "column"),
        "04-debate-waiting": _chips,
        "04-debate-as-a": lambda: _running(_mock(), _state("paused"), "a"),
        "04-debate-agents": _agents(),
        "04-debate-agents-200": _agents(),
        "04-debate-agents-960": _agents(path="0.2"),
        "04-debate-agents-column": _agents("column", "0.1"),
        "04-debate-ended": _ended,
        "04-debate-fork": _fork,
        "04-debate-fork-dialog": _dialog,
        "05-debate-setup": page,
        "05-debate-setup-200": page,
        "05-debate-setup-960": page,
        "05-debate-setup-wrong": _wrong,
        "05-debate-setup-preview": _preview,
        "05-debate-empty": lambda: page(rows=False),
    }
