"""What a run has used, against the limits that hold for it (R-LIM-5). Qt-free."""

from __future__ import annotations

import math
from collections.abc import Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.limits import Limit
from desktop.presenter.common.words import human_cost, human_count
from desktop.presenter.trace.tree import TraceTree
from desktop.presenter.trace.words import seconds_words

_OTHERS = ("max_tokens", "max_cost_usd", "deadline_s")


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """``fraction`` of the limit, None where there is none; ``where`` says which limit it is and who set it."""

    name: str
    words: str
    fraction: float | None = None
    where: str = ""


def budget_lines(tree: TraceTree, limits: Sequence[Limit], elapsed: float) -> tuple[BudgetLine, ...]:
    """Rounds, tool calls, tokens, cost; time only where it is limited."""
    known = {limit.name: limit for limit in limits}
    rounds = next((limit for limit in limits if limit.name not in _OTHERS), None)
    tokens, usage = tree.usage.input_tokens + tree.usage.output_tokens, tree.usage
    lines = [
        _line("Rounds", tree.own_rounds, str(tree.own_rounds), rounds, _by_agents(tree.rounds - tree.own_rounds)),
        BudgetLine("Tool calls", f"{tree.calls:,}"),
        _line("Tokens", tokens, _tokens(tokens, tree.unmeasured), known.get("max_tokens")),
        _line("Cost", usage.cost_usd or 0.0, _cost(usage.cost_usd, tree.unmeasured), known.get("max_cost_usd")),
    ]
    deadline = known.get("deadline_s")
    if deadline is not None:
        lines.append(_line("Time", elapsed, seconds_words(elapsed), deadline))
    return tuple(lines)


def _tokens(count: int, unmeasured: int) -> str:
    """The tokens that are known; rounds whose provider reported none are not counted as zero."""
    if not unmeasured:
        return human_count(count)
    return f"{human_count(count)} and more" if count else "unknown"


def _cost(cost: float | None, unmeasured: int) -> str:
    return "unknown" if cost is None or unmeasured else human_cost(cost)


def _by_agents(rounds: int) -> str:
    return f", {rounds} more by agents" if rounds else ""


def _line(name: str, used: float, words: str, limit: Limit | None, more: str = "") -> BudgetLine:
    if limit is None or not math.isfinite(limit.value) or limit.value <= 0:
        return BudgetLine(name, words + more)
    maximum = human_count(int(limit.value)) if limit.name == "max_tokens" else f"{limit.value:g}"
    return BudgetLine(name, f"{words} of {maximum}{more}", used / limit.value, f"{limit.name}, set by {limit.where}")
