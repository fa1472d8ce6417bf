"""The budget of a running agent: what is used of each limit, who set it, and what a person types instead. Qt-free."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.runs.tree import BY_HAND, NodeFacts
from desktop.presenter.common.words import human_cost, human_count
from desktop.presenter.run_panel.words import cost_words, time_words, tokens_of, tokens_words

LIMITS = (("max_tokens", "Tokens"), ("max_cost_usd", "Cost"), ("max_rounds", "Rounds"), ("deadline_s", "Time"))
_WHOLE = frozenset({"max_tokens", "max_rounds"})
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000}
_SECONDS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}
_FORMS = {
    "max_tokens": "Write a whole number, such as 50000 or 50k; nothing means no limit.",
    "max_cost_usd": "Write an amount in dollars, such as 0.50; nothing means no limit.",
    "max_rounds": "Write a whole number of at least 1; nothing means no limit of its own.",
    "deadline_s": "Write a time with its unit, such as 90 s, 5 min or 1 h; nothing means no limit.",
}
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)\s*(h|min|m|sec|s)\s*)+")
_THOUSANDS = re.compile(r"^\$?\s*[1-9]\d{0,2}(,\d{3})+(\.\d+)?$")
_DECIMAL_COMMA = re.compile(r"^\$?\s*(\d+,\d{1,2}|0,\d+)$")
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(h|min|m|sec|s)")


@dataclass(frozen=True, slots=True)
class LimitLine:
    """One limit: the text in its field, what is used, and who set it or which limit holds instead."""

    name: str
    label: str
    text: str
    used: str
    where: str
    fraction: float | None = None


def limit_lines(facts: NodeFacts, above: Iterable[NodeFacts] = ()) -> tuple[LimitLine, ...]:
    """The lines of all four limits. ``above``: the agents over it, the nearest first."""
    over = tuple(above)
    return tuple(_line(name, label, facts, over) for name, label in LIMITS)


def _line(name: str, label: str, facts: NodeFacts, above: tuple[NodeFacts, ...]) -> LimitLine:
    value: float | None = getattr(facts.budget, name)
    used, words = used_of(facts, name)
    if value is not None:
        origin = dict(facts.budget_changed).get(name, facts.budget_from)
        fraction = used / value if value > 0 else None
        where = "; ".join(part for part in (f"set by {origin}", _own_rounds(name, facts)) if part)
        return LimitLine(name, label, shown(name, value), words, where, fraction)
    bounds = [part for part in (_own_rounds(name, facts), _bound_above(name, above)) if part]
    return LimitLine(name, label, "", words, "; ".join(bounds))


def _own_rounds(name: str, facts: NodeFacts) -> str:
    """The limit on the rounds of an answer that its agent brings along, while a person has set nothing else."""
    by_hand = facts.budget.max_rounds is not None and dict(facts.budget_changed).get(name) == BY_HAND
    if name != "max_rounds" or not facts.own_rounds or by_hand or facts.state.over:
        return ""
    return f"{facts.own_rounds:,} for an answer, set by {facts.own_rounds_from}; a number here replaces that"


def _bound_above(name: str, above: tuple[NodeFacts, ...]) -> str:
    """The tightest limit of the branches that it is in, by what is left of it."""
    found = [
        (value - used_of(facts, name)[0], facts, value)
        for facts in above
        if (value := getattr(facts.budget, name)) is not None
    ]
    if not found:
        return ""
    left, facts, value = min(found, key=lambda one: one[0])
    return f"{shown(name, value)} for all of {facts.agent}, {shown(name, max(0, left))} left"


def used_of(facts: NodeFacts, name: str) -> tuple[float, str]:
    """How much of a limit is used, as a figure and in words."""
    if name == "max_tokens":
        count = tokens_of(facts)
        return count, "unknown" if not count and facts.rounds else f"{human_count(count)} used"
    if name == "max_cost_usd":
        words = cost_words(facts)
        return facts.cost_usd, "unknown" if words.endswith("unknown") else f"{words} used"
    if name == "max_rounds":
        return facts.rounds, f"{facts.rounds:,} used"
    return facts.elapsed_s, f"{time_words(facts.elapsed_s)} used"


def shown(name: str, value: float) -> str:
    """A limit as it stands in its field; ``read_limit`` reads it back as the same value."""
    if name in _WHOLE:
        return f"{int(value):,}"
    if name == "max_cost_usd":
        cut = f"{value:.10f}".rstrip("0")
        return f"${cut}" if len(cut.partition(".")[2]) >= 2 else f"${value:.2f}"
    return _duration(value)


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole != seconds or whole < 120:
        return f"{seconds:.10g} s"
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    parts = (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "", f"{rest} s" if rest else "")
    return " ".join(part for part in parts if part)


def read_limit(name: str, text: str) -> float | int | None:
    """What a person typed; None for nothing. Raises ConfigurationError with a sentence for the field."""
    clean = text.strip().lower()
    if not clean:
        return None
    value = _number(name, _plain(name, clean.replace("\u202f", "")))
    if value is None or not math.isfinite(value) or value <= 0:
        raise ConfigurationError(_FORMS[name])
    if name not in _WHOLE:
        return value
    if value != int(value):
        raise ConfigurationError(_FORMS[name])
    return int(value)


def _plain(name: str, text: str) -> str:
    """Without commas between thousands, and with a dot for the decimal comma that half the world writes. What may mean
    a thousand times as much (``1,234`` dollars, ``1.000`` tokens) keeps its comma, and is refused."""
    if name == "max_cost_usd" and _DECIMAL_COMMA.search(text):
        return text.replace(",", ".")
    if _THOUSANDS.search(text) and (name != "max_cost_usd" or "." in text):
        return text.replace(",", "")
    return "," if name in _WHOLE and "." in text and text[-1:] not in "km" else text


def _number(name: str, text: str) -> float | None:
    if name == "deadline_s":
        if not _DURATION.fullmatch(text):
            return None
        return sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(text))
    unit = ""
    if name == "max_cost_usd":
        text = text.removeprefix("$").strip()
    elif text[-1:] in _SCALE:
        text, unit = text[:-1].strip(), text[-1:]
    if not re.fullmatch(r"\d{1,15}(\.\d{1,10})?", text):
        return None
    return round(float(text) * _SCALE[unit], 10)


def read_budget(facts: NodeFacts, texts: Mapping[str, str]) -> tuple[ExecutionBudget | None, dict[str, str]]:
    """The budget that the fields say, or what is wrong with each of them."""
    values: dict[str, float | int | None] = {}
    wrong: dict[str, str] = {}
    for name, _ in LIMITS:
        before = getattr(facts.budget, name)
        if before is not None and texts[name] == shown(name, before):
            values[name] = before
            continue
        try:
            values[name] = read_limit(name, texts[name])
        except ConfigurationError as error:
            wrong[name] = str(error)
            continue
        wrong |= _too_small(facts, name, values[name])
    return (None, wrong) if wrong else (ExecutionBudget.from_plain(values), {})


def _too_small(facts: NodeFacts, name: str, value: float | None) -> dict[str, str]:
    used, _ = used_of(facts, name)
    if value is None or value >= used:
        return {}
    words = {
        "max_tokens": tokens_words(facts),
        "max_cost_usd": human_cost(facts.cost_usd),
        "max_rounds": f"{facts.rounds:,} rounds" if facts.rounds != 1 else "1 round",
    }.get(name, time_words(used))
    verb = "is" if words in ("1 round",) or name in ("max_cost_usd", "deadline_s") else "are"
    return {name: f"{words} {verb} used already. Give it more, or cancel the agent."}
