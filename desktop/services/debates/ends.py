"""How a turn of a debate ended, and whether the debate did (R-SES-9 … R-SES-18, Q-10).

Where several ends meet, the first of these counts: a side ended the session, two empty turns, the number of turns, the
budget, the rounds of the run.
"""

from __future__ import annotations

from collections.abc import Sequence

from desktop.domain.debates import NO_RESPONSE, DebateSetup, DebateStatus, TurnEnd, TurnRecord
from desktop.domain.errors import BugError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, NoticeBlock
from desktop.services.turns.endings import Ending, aborted, failed, reason_of
from desktop.services.turns.side_result import SideResult
from desktop.services.turns.stops import as_text
from desktop.supervision.budgets import BudgetTracker

MAX_OUTCOME = 1_000_000
LAST_TURN = "This is the last time that you speak in this conversation. Come to a close."


@dataclass(frozen=True, slots=True)
class TurnOver:
    """A turn that ended well: how, and what the other side reads of it."""

    by: TurnEnd
    outcome: str
    notices: tuple[NoticeBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class DebateStop:
    """The run is over: how the debate stands now, and why; ``wanted``: the person asked for the pause."""

    status: DebateStatus
    ending: Ending
    wanted: bool = False


def paused(number: int) -> DebateStop:
    """The stop of a debate that a person paused after a turn."""
    return DebateStop("paused", Ending("interrupted", f"Paused after turn {number}."), wanted=True)


def stop_for(ending: Ending) -> DebateStop:
    """The run could not go on: a failure and the app's end can be gone on from, as they stand."""
    return DebateStop("paused" if ending.reason in ("error", "interrupted") else "ended", ending)


def turn_over(result: SideResult, before: int) -> TurnOver | None:
    """The end of a turn that counts; None for one that broke off. ``before`` is how many messages it was given."""
    own = result.loop.messages[before:]
    if result.by == "stop_tool":
        notices = (_missing_value(),) if result.missing else ()
        return TurnOver("stop_tool", as_text(result.value)[:MAX_OUTCOME], notices)
    if result.by == "end_session_tool":
        return TurnOver("end_session_tool", _last_text(own))
    if result.by == "max_steps" or (result.loop.end == "limit" and result.loop.error is None):
        return TurnOver("max_steps", _last_text(own) or NO_RESPONSE)
    if result.loop.end in ("response", "stopped"):
        text = own[-1].text if own and own[-1].role == "assistant" else _last_text(own)
        return TurnOver("response", text) if text.strip() else TurnOver("empty", "", (_EMPTY,))
    return None


def broken_off(result: SideResult, because: str | None) -> Ending:
    """How the run ends with a turn that failed, was stopped or hit a limit."""
    loop = result.loop
    if loop.end == "aborted":
        return aborted(because)
    if loop.error is None:
        raise BugError(f"a turn that ended with {loop.end} is no failure")
    ending = failed(loop.error)
    if loop.end in ("budget", "terminated"):
        reason = reason_of(loop.limit) if loop.end == "budget" else "terminated"
        return Ending(reason, ending.detail, ending.code, ending.next_step, ending.limit)
    return ending


def due(setup: DebateSetup, turns: Sequence[TurnRecord], budget: BudgetTracker, *, begun: bool = True) -> Ending | None:
    """Whether the debate is over after these turns. Not ``begun``: a person lets it go on, also after two empty
    turns."""
    last = turns[-1] if turns else None
    if last is not None and last.ended_by == "end_session_tool":
        side = setup.side(last.side).label or f"Side {last.side.upper()}"
        return Ending("end_session_tool", f"{side} ended it with {setup.side(last.side).end_session_tool}.")
    if begun and len(turns) > 1 and turns[-1].ended_by == turns[-2].ended_by == "empty":
        return Ending(
            "error",
            "Both sides answered with nothing, one after the other.",
            "debate.empty",
            "Change a prompt or a model, and fork before these turns.",
        )
    if len(turns) >= setup.turn_limit:
        return Ending("max_session_turns", f"All {setup.turn_limit} turns are done.", limit="maxSessionTurns")
    broken = budget.broken()
    if broken is not None and reason_of(broken) == "global_limit":
        return Ending(
            "global_limit",
            f"Stopped after {broken.value:g} rounds of one run: {broken}.",
            "limit.rounds",
            "Resume to let it go on.",
            str(broken),
        )
    if broken is not None:
        return Ending("budget", f"The budget is used up: {broken}.", "budget", "Raise it to go on.", str(broken))
    return None


def last_turn_note(setup: DebateSetup, number: int) -> str:
    """For the last turn that a side will get, both sides' (R-SES-17)."""
    return LAST_TURN if number > setup.turn_limit - 2 else ""


def _last_text(own: Sequence[ChatMessage]) -> str:
    """The last text that the side wrote; what the loop says at its limit is none."""
    texts = (m.text for m in reversed(own) if m.role == "assistant" and m.stop_reason != "limit")
    return next((text for text in texts if text.strip()), "")


def _missing_value() -> NoticeBlock:
    return NoticeBlock(
        "The stop tool's result holds no value where the side's stopToolResponseProperty says.",
        "debate.no_outcome",
        "Look at the property's name in the set-up.",
        "warning",
    )


_EMPTY = NoticeBlock(
    "This turn said nothing.", "debate.empty_turn", "Two such turns in a row end the debate.", "warning"
)
