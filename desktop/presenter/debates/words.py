"""Words of debates: sides, meters, what ends one and what did, hints of cost. What is not known says so."""

from __future__ import annotations

from desktop.domain.debates import DebateRow, DebateSetup, DebateState, SideMeter, SideSetup
from desktop.domain.definitions import SideName
from desktop.domain.models import ModelInfo
from desktop.presenter.common.outcomes import ENDINGS
from desktop.presenter.common.words import human_cost, human_count
from desktop.presenter.debates.cost import about

STATUS = {"ready": "not begun", "running": "running", "pausing": "pausing", "paused": "paused", "ended": "ended"}


def label_of(side: SideSetup, name: SideName) -> str:
    """What a side is called."""
    return side.label.strip() or f"Side {name.upper()}"


def prompt_words(side: SideSetup) -> str:
    """What a side works by: its skill's name, or that its prompt is written in the set-up."""
    return side.prompt or "its own prompt"


def fork_words(row: DebateRow | DebateState) -> str:
    """What tells a fork from its origin, which has the same title; "" for what is none."""
    if not row.forked_from:
        return ""
    return f"fork of turn {row.forked_at}" if row.forked_at else "fork of the topic"


def seconds_words(seconds: float) -> str:
    """``6.1 s``, ``3 min 20 s``."""
    seconds = max(0.0, seconds)
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def end_words(state: DebateState) -> str:
    """Which condition ended the debate, in a sentence: the runtime's where it has one."""
    if state.end_detail and state.end_reason not in ("cancelled", "interrupted"):
        return state.end_detail
    side = label_of(state.setup.side(state.side), state.side)
    tool = state.setup.side(state.side).end_session_tool or "its tool"
    ended = ENDINGS.get(state.end_reason)
    words = ended.debate if ended is not None else ""
    return (words or "It is over.").format(turns=state.setup.turn_limit, side=side, tool=tool)


def status_words(state: DebateState) -> str:
    """Why it stands still, in a sentence; "" while it runs."""
    if state.status == "paused" and not state.end_reason:
        fork = f", {fork_words(state)}: not resumed yet" if state.forked_from and state.turn == state.forked_at else ""
        return f"Paused after turn {state.turn}{fork}. Resume goes on."
    return end_words(state) if state.status in ("paused", "ended") else ""


def conditions(setup: DebateSetup) -> list[tuple[str, str]]:
    """What may end it, as pieces of a sentence; names of tools in mono."""
    found = [[(f"after {setup.turn_limit} turns", "")]]
    tools = [tool for tool in dict.fromkeys((setup.a.end_session_tool, setup.b.end_session_tool)) if tool]
    found += [[("when a side calls ", ""), (tool, "mono")] for tool in tools]
    if setup.max_cost is not None:
        found.append([(f"at ${setup.max_cost:.2f}", "")])
    if setup.max_tokens is not None:
        found.append([(f"at {human_count(setup.max_tokens)} tokens", "")])
    pieces: list[tuple[str, str]] = [("Ends ", "")]
    for at, piece in enumerate(found):
        joint = "" if not at else ", or " if at == len(found) - 1 else ", "
        pieces += [(joint, ""), *piece]
    return [*pieces, (". Neither side sees the other’s tool calls.", "")]


def meter_facts(meter: SideMeter) -> list[tuple[str, str]]:
    """(what, figure) of a side: rounds of its turn, tokens, cost, calls."""
    limit = f" of {meter.round_limit}" if meter.round_limit else ""
    rounds = f"{meter.round}{limit}" if meter.round else str(meter.rounds)
    tokens = meter.usage.input_tokens + meter.usage.output_tokens
    cost = human_cost(meter.usage.cost_usd if tokens else 0.0)
    return [
        ("rounds", rounds),
        ("tokens", human_count(tokens)),
        ("cost", cost.removeprefix("cost ")),
        ("calls", str(meter.calls)),
    ]


def model_hint(info: ModelInfo | None, turn: float | None = None) -> str:
    """A model's window and what it costs, ``turn`` USD of a turn where that can be estimated; unknown says unknown."""
    if info is None:
        return "context size and price unknown"
    window = f"{human_count(info.context_window)} context" if info.context_window else "context size unknown"
    if info.locality == "demo":
        return f"{window}, a script, not an AI. Free"
    if info.locality == "local":
        return f"{window}, runs on this machine"
    if info.input_price is None or info.output_price is None:
        return f"{window}, cost unknown"
    if turn is not None:
        return f"{window}, {about(turn)} a turn"
    return f"{window}, ${info.input_price:g} in and ${info.output_price:g} out per million tokens"
