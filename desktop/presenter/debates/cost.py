"""What a debate may cost before it begins: an estimate from known prices, with what it assumes; else "unknown".

Nobody knows how much two models will say. The estimate counts one round a turn and answers of ``ANSWER`` tokens; each
turn reads all that was said before it. Where a price is not known there is no figure.
"""

from __future__ import annotations

from collections.abc import Mapping

from desktop.domain.debates import DebateSetup
from desktop.domain.definitions import SIDES, SideName
from desktop.domain.models import ModelInfo
from desktop.presenter.common.words import human_cost

ANSWER, PROMPT, LETTERS = 400, 600, 4
"""Tokens of an answer, tokens of a prompt with its tools, letters of a token."""
SMALLEST = 0.001
ASSUMED = (
    f"An estimate: one round a turn, answers of about {ANSWER} tokens, each turn reads all before it. Tool calls add "
    "to it. What it really costs is counted while it runs."
)
Infos = Mapping[SideName, ModelInfo | None]


def per_turn(setup: DebateSetup, side: SideName, info: ModelInfo | None) -> float | None:
    """USD of one turn of a side, on average over all of its turns; None: unknown, or there is no number of turns."""
    turns = _turns(setup, side)
    whole = _side_cost(setup, side, info)
    return whole / len(turns) if whole is not None and turns else None


def in_all(setup: DebateSetup, infos: Infos) -> float | None:
    """USD of all turns of both sides, whatever else may end it; None: unknown."""
    costs = [_side_cost(setup, side, infos.get(side)) for side in SIDES]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def in_all_words(setup: DebateSetup, infos: Infos) -> str:
    """``About $0.05 in all``; what is not known says so, and that a limit holds is known."""
    whole = in_all(setup, infos)
    if whole is None:
        limit = f", ends at ${setup.max_cost:.2f}" if setup.max_cost is not None else ""
        return f"Cost in all unknown{limit}"
    if setup.max_cost is not None and whole > setup.max_cost:
        return f"Ends at ${setup.max_cost:.2f}"
    return "No cost: both run on this machine" if whole == 0 and _own(infos) else f"{about(whole).capitalize()} in all"


def about(cost: float) -> str:
    """The cost in words: ``about $0.009``, or less than the smallest figure."""
    if cost == 0:
        return "$0"
    return f"less than ${SMALLEST}" if cost < SMALLEST else f"about {human_cost(cost)}"


def _own(infos: Infos) -> bool:
    return all(info is not None and info.locality in ("local", "demo") for info in infos.values())


def _turns(setup: DebateSetup, side: SideName) -> range:
    """The numbers of its turns, counted over both sides from 1."""
    return range(1 if side == "a" else 2, (setup.max_turns or 0) + 1, 2)


def _side_cost(setup: DebateSetup, side: SideName, info: ModelInfo | None) -> float | None:
    if info is not None and info.locality in ("local", "demo"):
        return 0.0
    if setup.max_turns is None or info is None or info.input_price is None or info.output_price is None:
        return None
    begin = PROMPT + (len(setup.topic) + len(setup.side(side).prompt_text)) // LETTERS
    turns = _turns(setup, side)
    read = sum(begin + (number - 1) * ANSWER for number in turns)
    return (read * info.input_price + len(turns) * ANSWER * info.output_price) / 1_000_000
