"""What the library's table says of a model: sizes, prices, and what it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
USUAL_EFFORTS = ("low", "medium", "high")
_OPTIONAL = {
    "none": "supports_none_reasoning_effort",
    "minimal": "supports_minimal_reasoning_effort",
    "xhigh": "supports_xhigh_reasoning_effort",
    "max": "supports_max_reasoning_effort",
}
_NO_MODEL = ("chat", "responses", "completion", None)
_CHANCE = ("temperature", "top_p", "top_k")


def row_of(library: Any, name: str) -> Mapping[str, Any]:
    """The row of ``provider/model``, also under its bare name; empty for what is not in it."""
    if not name:
        return {}
    table: Mapping[str, Mapping[str, Any]] = library.model_cost
    row = table.get(name) or table.get(name.partition("/")[2]) or {}
    return row if row.get("mode") in _NO_MODEL else {}


def levels_of(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The levels of effort of a model, the least first; (): it does not think; None: not known."""
    if not row:
        return None
    said = row.get("reasoning_effort_levels")
    if isinstance(said, (list, tuple)):
        return tuple(one for one in EFFORTS if one in said)
    if row.get("supports_reasoning") is not True:
        return ()
    usual = [one for one in USUAL_EFFORTS if row.get(f"supports_{one}_reasoning_effort") is not False]
    return tuple(one for one in EFFORTS if one in usual or row.get(_OPTIONAL.get(one, "")) is True)


def described(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """A row as the app reads it; None for no row."""
    if not row:
        return None
    return {
        "context": _whole(row.get("max_input_tokens") or row.get("max_tokens")),
        "max_output": _whole(row.get("max_output_tokens")),
        "input_price": _million(row.get("input_cost_per_token")),
        "output_price": _million(row.get("output_cost_per_token")),
        "tools": row.get("supports_function_calling"),
        "vision": row.get("supports_vision"),
        "hearing": row.get("supports_audio_input"),
        "settings": _settings(row),
        "efforts": _listed(levels_of(row)),
        "structured": row.get("supports_response_schema"),
    }


def _settings(row: Mapping[str, Any]) -> dict[str, bool]:
    """Those of which the row says something: of the others the library decides with each request."""
    return dict.fromkeys(_CHANCE, False) if row.get("supports_sampling_params") is False else {}


def _listed(levels: Sequence[str] | None) -> list[str] | None:
    return None if levels is None else list(levels)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and value > 0 else None


def _million(value: Any) -> float | None:
    return round(float(value) * 1_000_000, 6) if isinstance(value, (int, float)) else None
