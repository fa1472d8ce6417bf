"""What an earlier process did with a call: one of four things (``Past``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.tools import ToolResult

VALUE_UNKNOWN = "value.unknown"
"""The code of a result of which it is known that the call was done, and not what it gave."""
OUTCOME_UNKNOWN = "call.unknown"
"""The code of a result that does not say whether the call was done."""
OUTCOME_UNKNOWN_STATE = "unknown"
"""The state of such a result, for its card."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A person had changed the arguments of the call before it began."""

    asked: Mapping[str, Any]
    """What the model had asked for."""
    made: Mapping[str, Any]
    """With what the call began."""


@dataclass(frozen=True, slots=True)
class NeverBegun:
    """Nothing is known of the call, or it only read: it is made as any new one."""


@dataclass(frozen=True, slots=True)
class Done:
    """The call is over, and is not made again."""

    result: ToolResult
    """What came of it, or that this is not kept any more."""
    edited: Edited | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """The call had begun, and nobody knows whether it was done: a person is asked."""

    question: str
    """What the person reads."""
    edited: Edited | None = None
    unrepeatable: str = ""
    """Why it cannot be made again, whatever the person says."""
    inside: tuple[str, ...] = ()
    """The calls that it had made and that did something, a line each."""


@dataclass(frozen=True, slots=True)
class InProgress:
    """The call had begun, and may go on without a question: by itself it only reads, and each call inside it has a past
    of its own."""

    edited: Edited | None = None
    unrepeatable: str = ""
    """Why it cannot go on: then it is refused."""
    inside: tuple[str, ...] = ()
    """The calls that it had made and that did something, a line each."""
    allowed_before: bool = False
    """It was allowed then, with the tool as it is now."""


Past = NeverBegun | Done | Unknown | InProgress
NEVER_BEGUN = NeverBegun()


def edited_of(past: Past) -> Edited | None:
    """What a person had made of the call's arguments, if anything."""
    return None if isinstance(past, NeverBegun) else past.edited


def question_of(past: Past) -> str:
    """What a person is asked before the call is made again; "" where nobody has to be."""
    return past.question if isinstance(past, Unknown) else ""


def unrepeatable_of(past: Past) -> str:
    """Why the call cannot be made again; "" where it can."""
    return past.unrepeatable if isinstance(past, Unknown | InProgress) else ""


def inside_of(past: Past) -> tuple[str, ...]:
    """The calls that it had made and that did something; of one that is done they count as its own."""
    return past.inside if isinstance(past, Unknown | InProgress) else ()
