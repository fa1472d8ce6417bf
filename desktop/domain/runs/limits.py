"""What a limit is, and the question every tool call asks of the limits that hold for it."""

from __future__ import annotations

import math
from typing import Any, Literal, Protocol

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass

LimitKind = Literal["limit", "budget"]
"""``budget``: of a run tree, shared by its agents (R-SUP-7); else of one agent, turn or call."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit with its value and where it was set, all of which a stop has to name (R-LIM-5)."""

    name: str
    value: float
    where: str
    kind: LimitKind = "limit"

    def __str__(self) -> str:
        value = int(self.value) if math.isfinite(self.value) and self.value == int(self.value) else self.value
        return f"{self.name} {value} (set by {self.where})"


USUAL_ROUNDS = Limit("maxIterations", 20, "the loop's default")
"""The limit on the rounds of an answer, where nobody sets one."""


def positive_int(value: Any, name: str) -> int:
    """``value`` if it is a positive integer; booleans, zero, negatives, NaN are configuration errors (R-LIM-7)."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(
            f"{name} must be a whole number of at least 1, not {value!r}.", next_step=f"Correct {name} and try again."
        )
    return value


def tightest(*limits: Limit | None) -> Limit | None:
    """The smallest of the limits that apply; the first of equals (R-LIM-1)."""
    given = [limit for limit in limits if limit is not None]
    return min(given, key=lambda limit: limit.value) if given else None


class CallLimits(Protocol):
    """Gate 8: the limits on tool calls that hold for one caller."""

    def count_call(self) -> None:
        """One more call was asked for; denied, invalid and failed ones count too (R-LIM-8)."""
        ...

    def refuse_call(self) -> Limit | None:
        """The limit that the call just counted breaks, or None."""
        ...
