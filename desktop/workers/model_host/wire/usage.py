"""What an answer used: tokens as the provider reports them, of them those that came from its cache, and their price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

COUNT_MAX, COST_MAX = 10**9, 10.0**6
"""More tokens, and more USD, no answer has."""


def usage(library: Any, reports: Sequence[Any], params: Mapping[str, Any], answered: str) -> dict[str, Any] | None:
    """Tokens as in ``reports``, ``cached`` of the ``input`` read from the cache and ``written`` to it; their ``cost``
    if the model's price is known and this is its own server, and what the cache ``saved`` of it, which is less than
    nothing where more was written than read. None: nothing was reported."""
    counts = {
        name: max((_count(r, name) for r in reports), default=0) for name in ("prompt_tokens", "completion_tokens")
    }
    if not any(counts.values()):
        return None
    counts["completion_tokens"] += _thought_apart(reports[-1])
    used = _UsedTokens(reports, counts)
    names = _names(params, answered) if params.get("priced") else ()
    return {
        "input": counts["prompt_tokens"],
        "output": counts["completion_tokens"],
        "reasoning": _count(getattr(reports[-1], "completion_tokens_details", None), "reasoning_tokens"),
        "cached": used.cached,
        "written": used.written,
        "cost": used.cost(library, names, told=params.get("provider") == "openrouter") if names else None,
        "saved": used.saved(library, names) if names else None,
    }


def _thought_apart(report: Any) -> int:
    """Tokens of thinking that a provider (xAI) counts beside the answer's and not among them: the sum says so."""
    thought = _count(getattr(report, "completion_tokens_details", None), "reasoning_tokens")
    beside = sum(_count(report, name) for name in ("prompt_tokens", "completion_tokens")) + thought
    return thought if _count(report, "total_tokens") == beside else 0


class _UsedTokens:
    """The reports of one answer, of which the last may know less than one before it."""

    def __init__(self, reports: Sequence[Any], counts: Mapping[str, int]) -> None:
        self._last = reports[-1]
        self._counts = counts
        given = [getattr(report, "prompt_tokens_details", None) for report in reports]
        self.cached = max(_count(one, "cached_tokens") for one in given)
        self.written = max(_count(one, "cache_creation_tokens") for one in given)

    def cost(self, library: Any, names: Sequence[str], *, told: bool) -> float | None:
        """USD, as the provider says it where it does (``told``), or by the library's table; None when neither knows
        the model."""
        known = self._told(zero=told)
        reckoned = None if told and known is not None else self._by_table(library, names)
        return known if reckoned is None else reckoned

    def _told(self, *, zero: bool) -> float | None:
        """What the provider says of the cost: its own, and what another one bills for it with the person's own key
        there. ``zero``: to say that it cost nothing is to say something."""
        said = _price(getattr(self._last, "cost", None))
        if said is None:
            return None
        more = _price(_field(getattr(self._last, "cost_details", None), "upstream_inference_cost"))
        whole = said + (more or 0.0 if getattr(self._last, "is_byok", None) is True else 0.0)
        return whole if whole > 0 or zero else None

    def saved(self, library: Any, names: Sequence[str]) -> float | None:
        """By the table: what the same tokens had cost without a cache, less what they cost with it."""
        if not (self.cached or self.written):
            return 0.0
        cost, without = self._by_table(library, names), self._by_table(library, names, cached=False)
        return None if cost is None or without is None else without - cost

    def _by_table(self, library: Any, names: Sequence[str], *, cached: bool = True) -> float | None:
        priced = (
            self._priced(library, name, self.cached if cached else 0, self.written if cached else 0) for name in names
        )
        return next((cost for cost in priced if cost is not None), None)

    def _priced(self, library: Any, name: str, cached: int, written: int) -> float | None:
        try:
            whole = library.Usage(
                **self._counts,
                total_tokens=sum(self._counts.values()),
                prompt_tokens_details={"cached_tokens": cached, "cache_creation_tokens": written},
                completion_tokens_details=_details(self._last),
                cache_read_input_tokens=cached,
                cache_creation_input_tokens=written,
            )
            cost = float(sum(library.cost_per_token(model=name, usage_object=whole)))
        except Exception:  # the boundary of a foreign library: it raises a bare one for a model it has no price for
            return None
        return cost if 0 < cost <= COST_MAX else None


def _field(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)


def _price(value: Any) -> float | None:
    """A cost as a server says it, which may be anything."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= COST_MAX
    return float(value) if known else None


def _details(report: Any) -> Any:
    """As the library takes them."""
    details = getattr(report, "completion_tokens_details", None)
    return vars(details) if isinstance(details, SimpleNamespace) else details


def _count(record: Any, name: str) -> int:
    value = getattr(record, name, None)
    return min(value, COUNT_MAX) if isinstance(value, int) and value > 0 else 0


def _names(params: Mapping[str, Any], answered: str) -> Sequence[str]:
    """The names under which the table may have a price: as asked, and as the provider says that it answered. Azure
    is asked by the name of a deployment, which says nothing."""
    asked = str(params["priced"])
    names = (asked, f"{asked.partition('/')[0]}/{answered}") if answered else (asked,)
    return names[1:] if params.get("provider") == "azure" else names
