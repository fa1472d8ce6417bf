"""What is known of a model: what the library's table says of it (sizes, prices, what it takes), and what servers say of
their own. What neither says stays unknown.
"""

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
_STOPS_THINKING = "gemini-2.5-flash"
"""Can be asked not to think, which its row does not say; the larger one of its kind refuses that."""
_NO_MODEL = ("chat", "responses", "completion", None)
_CHANCE = ("temperature", "top_p", "top_k")


def row_of(library: Any, name: str) -> Mapping[str, Any]:
    """The row of ``provider/model``, also under its bare name; empty for what is not in it."""
    if not name:
        return {}
    table: Mapping[str, Mapping[str, Any]] = library.model_cost
    row = table.get(name) or table.get(name.partition("/")[2]) or {}
    return row if row.get("mode") in _NO_MODEL else {}


def levels_of(row: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """The levels of effort of the model of this name, the least first; (): it does not think; None: not known."""
    if not row:
        return None
    said = row.get("reasoning_effort_levels")
    if isinstance(said, (list, tuple)):
        return tuple(one for one in EFFORTS if one in said)
    if row.get("supports_reasoning") is not True:
        return ()
    usual = [one for one in USUAL_EFFORTS if row.get(f"supports_{one}_reasoning_effort") is not False]
    able = {one for one, flag in _OPTIONAL.items() if row.get(flag) is True}
    able |= {"none"} if _STOPS_THINKING in name else set()
    return tuple(one for one in EFFORTS if one in usual or one in able)


def described(row: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """The row of the model of this name as the app reads it; None for no row."""
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
        "efforts": _listed(levels_of(row, name)),
        "structured": is_structured(row),
    }


def is_structured(row: Mapping[str, Any]) -> bool | None:
    """Where the library would do it by a tool that has to be called, other tools could not be."""
    maker = str(row.get("litellm_provider"))
    if maker.startswith(("anthropic", "bedrock")):
        return row.get("supports_native_structured_output") is True
    found = row.get("supports_response_schema")
    return found if isinstance(found, bool) else None


def _settings(row: Mapping[str, Any]) -> dict[str, bool]:
    """Those of which the row says something: of the others the library decides with each request."""
    return dict.fromkeys(_CHANCE, False) if row.get("supports_sampling_params") is False else {}


def _listed(levels: Sequence[str] | None) -> list[str] | None:
    return None if levels is None else list(levels)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and value > 0 else None


def _million(value: Any) -> float | None:
    return round(float(value) * 1_000_000, 6) if isinstance(value, (int, float)) else None


# -- what servers say -------------------------------------------------------------------------------------------------

ON_OFF = ("none", "medium")
"""Of a model that thinks or does not, with nothing between."""
_OPENROUTER = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "top_k": ("top_k",),
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "seed": ("seed",),
    "stop": ("stop",),
    "effort": ("reasoning", "reasoning_effort"),
}


def openrouter(row: Mapping[str, Any]) -> dict[str, Any]:
    """``supported_parameters``, and ``reasoning`` with its levels."""
    named = row.get("supported_parameters")
    if not isinstance(named, list):
        return {}
    settings = {name: any(one in named for one in names) for name, names in _OPENROUTER.items()}
    about = row.get("reasoning")
    levels = about.get("supported_efforts") if isinstance(about, dict) else None
    efforts = _known(levels) if isinstance(levels, list) and levels else USUAL_EFFORTS
    return {
        "settings": settings,
        "efforts": list(efforts) if settings["effort"] else [],
        "structured": "structured_outputs" in named,
    }


def anthropic(row: Mapping[str, Any]) -> dict[str, Any]:
    """``capabilities``, which newer answers have."""
    able = row.get("capabilities")
    if not isinstance(able, dict):
        return {}
    effort = able.get("effort")
    efforts = None
    if isinstance(effort, dict) and isinstance(effort.get("supported"), bool):
        efforts = [one for one in EFFORTS if _supported(effort.get(one))] if effort["supported"] else None
    if _supported(able.get("thinking")) is False and not efforts:
        efforts = []
    return _without_none(
        {
            "efforts": efforts,
            "structured": _supported(able.get("structured_outputs")),
            "vision": _supported(able.get("image_input")),
        }
    )


def gemini(row: Mapping[str, Any]) -> dict[str, Any]:
    """A model without ``topK`` refuses it; ``thinking`` False: it does not."""
    settings = {} if "topK" in row or "topP" not in row else {"top_k": False}
    return {"settings": settings, **({"efforts": []} if row.get("thinking") is False else {})}


def ollama(name: str, able: Sequence[Any]) -> dict[str, Any]:
    """``capabilities`` of a model. Only gpt-oss has levels; its server holds any model to a schema."""
    levels = USUAL_EFFORTS if name.rpartition("/")[2].startswith("gpt-oss") else ON_OFF
    return {"efforts": list(levels) if "thinking" in able else [], "structured": True}


def llamacpp(props: Mapping[str, Any]) -> dict[str, Any]:
    """What its template of chats asks for: nothing else decides whether the model thinks."""
    template = props.get("chat_template")
    if not isinstance(template, str):
        return {"structured": True}
    levels: Sequence[str] = ()
    if "reasoning_effort" in template:
        levels = USUAL_EFFORTS
    elif "enable_thinking" in template:
        levels = ON_OFF
    return {"efforts": list(levels), "structured": True}


def _known(levels: Sequence[Any]) -> tuple[str, ...]:
    return tuple(one for one in EFFORTS if one in levels)


def _supported(about: Any) -> bool | None:
    value = about.get("supported") if isinstance(about, dict) else None
    return value if isinstance(value, bool) else None


def _without_none(known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in known.items() if value is not None}
