"""What servers say of their models: which settings one takes, how much it thinks, whether a schema holds it. What a
server does not say stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from desktop.workers.model_host.table import EFFORTS, USUAL_EFFORTS

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
