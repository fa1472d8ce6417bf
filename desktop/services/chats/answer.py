"""How a called agent ended and what it has to say, and how that is kept with its run: the process may die before the
caller's log has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.services.turns.endings import Ending
from desktop.services.turns.side_result import SideResult, last_text

KEPT = "answer"
"""Where it stands in ``RunRecord.extra``."""


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """How a called agent ended, and what it has to say."""

    ending: Ending
    text: str = ""
    value: Any = None


def answer_of(result: SideResult | None, ending: Ending) -> AgentAnswer:
    """The stop tool's property or the promised value, and the last text; a sentence of ours is none."""
    if result is None:
        return AgentAnswer(ending)
    value = result.value if ending.reason == "stop_tool" else None
    return AgentAnswer(ending, last_text(result.loop), value)


def answer_to_extra(answer: AgentAnswer) -> Mapping[str, Any]:
    """The form of an answer for ``RunRecord.extra``; empty for one that was cut off, which is gone on with."""
    if answer.ending.reason in ("interrupted", "cancelled"):
        return {}
    return {KEPT: {"ending": asdict(answer.ending), "text": answer.text, "value": answer.value}}


def answer_from_extra(extra: Mapping[str, Any]) -> AgentAnswer | None:
    """Read an answer back from ``RunRecord.extra``. None: the agent has not ended, or the answer cannot be read."""
    plain = extra.get(KEPT)
    try:
        return None if plain is None else AgentAnswer(Ending(**plain["ending"]), plain["text"], plain["value"])
    except (TypeError, KeyError):
        return None


def as_json(value: Any) -> str:
    """What an agent was called with, as it is told it."""
    return json.dumps(value, ensure_ascii=False, default=str)
