"""Settings of a request as the library's arguments, and what of them a model does not take.

Whether it does is said by whoever knows best: a person who corrected it or the server that has the model (both come
with the request as ``takes``), else the library. What is not taken is left out here and told, so that the library never
drops anything in silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop.workers.model_host.capabilities import EFFORTS, USUAL_EFFORTS, is_structured, levels_of, row_of

ARGUMENTS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "seed": "seed",
    "stop": "stop",
    "effort": "reasoning_effort",
}
"""What the library calls each setting in OpenAI's format, which it translates for others."""
TOP_K = frozenset(
    "anthropic gemini bedrock bedrock_access_key openrouter ollama lmstudio llamacpp vllm together fireworks "
    "openai_compatible".split()
)
"""Providers whose format has ``top_k``."""
MADE_A_TOOL = frozenset({"anthropic", "bedrock", "bedrock_access_key"})
"""Providers for whose other models the library makes a schema a tool."""
REGIONAL = frozenset({"bedrock", "bedrock_access_key"})
_REGION = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
"""No more: the address that the key is sent to is made of it."""
_CHANCE = ("temperature", "top_p", "top_k")
_NO_RESPONSES = ("seed", "stop")
"""What OpenAI's newer format has no field for."""
_SURE_EFFORTS = ("none", *USUAL_EFFORTS)
"""What every server that knows effort understands; a level beyond is refused by some, and taken for none by others."""
_MAPS_EFFORTS = "openrouter"
"""The provider that makes of a level what each model has."""
LEAST_THINKING = 1024
"""Tokens, of those who take a number of them."""


@dataclass
class RequestSettings:
    """``arguments`` for the library, and what was ``left_out``, each in words for a person."""

    arguments: dict[str, Any] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def leave(self, name: str, why: str = "") -> None:
        """``name`` is not sent."""
        self.left_out.append(f"{name} ({why})" if why else name)


def request_settings(library: Any, params: Mapping[str, Any]) -> RequestSettings:
    """The settings of a request's ``params``. Only those of the list pass, so that none can redirect a key."""
    made = RequestSettings()
    given = params.get("settings") or {}
    wanted = {name: given[name] for name in (*ARGUMENTS, "top_k", "region") if given.get(name) is not None}
    if not wanted:
        return made
    known = params.get("takes") or {}
    said = {name: value for name, value in (known.get("settings") or {}).items() if isinstance(value, bool)}
    row = row_of(library, str(params.get("table") or ""))
    claude = "claude" in str(params["model"]).lower()
    _fit_effort(wanted, _levels(params, known.get("efforts"), row), said, made, thinks_unasked=not claude)
    mapped = _mapped(library, params, wanted)
    _fit_thinking(wanted, mapped, row, made)
    for name in [*wanted]:
        why = _refusal(name, str(params.get("provider")), said, row, thinks="thinking" in mapped)
        if why is not None:
            made.leave(name, why)
            del wanted[name]
    if claude:
        _fit_claude(wanted, made)
    forced = _drop(library, params, wanted, said, made)
    _take(made, wanted, str(params.get("provider")))
    if forced:
        made.arguments["allowed_openai_params"] = forced
    return made


def _levels(params: Mapping[str, Any], told: Sequence[str] | None, row: Mapping[str, Any]) -> Sequence[str] | None:
    """The levels of effort that may be asked for: as a person or the server told, else as the table says, else those
    that are understood everywhere."""
    if told is not None:
        return told
    levels = levels_of(row, str(params["model"]))
    return _SURE_EFFORTS if levels is None and params.get("provider") != _MAPS_EFFORTS else levels


def _fit_effort(
    wanted: dict[str, Any],
    levels: Sequence[str] | None,
    said: Mapping[str, bool],
    made: RequestSettings,
    *,
    thinks_unasked: bool,
) -> None:
    """Of a model that has other levels of effort the nearest one is asked for, of one that has none no effort. One that
    thinks only when it is asked to is not asked for the least of its levels where none was wanted."""
    asked = wanted.get("effort")
    if asked is None:
        return
    if asked == "none" and levels and "none" not in levels and not thinks_unasked:
        del wanted["effort"]
    elif asked not in EFFORTS or said.get("effort") is False or (levels is not None and not levels):
        del wanted["effort"]
        if asked != "none":
            made.leave("effort")
    elif levels and asked not in levels:
        rank = EFFORTS.index(asked)
        nearest = min(levels, key=lambda one: (abs(EFFORTS.index(one) - rank), EFFORTS.index(one)))
        made.leave(f"effort {asked}", f"{nearest} is the nearest it has")
        wanted["effort"] = nearest


def _fit_claude(wanted: dict[str, Any], made: RequestSettings) -> None:
    """Its makers take one of the two settings of chance, and a narrower range (wherever it is asked)."""
    if wanted.get("temperature", 0) > 1:
        made.leave("temperature", "at most 1 here")
        del wanted["temperature"]
    if "temperature" in wanted and "top_p" in wanted:
        made.leave("top_p", "not beside temperature")
        del wanted["top_p"]


def _fit_thinking(
    wanted: dict[str, Any], mapped: dict[str, Any], row: Mapping[str, Any], made: RequestSettings
) -> None:
    """Where effort is a number of tokens, it has to leave some of the answer's: half of them are for thinking. Where
    nobody said how long an answer may be, it stays as long as without effort: the library would shorten it."""
    thinking, most = mapped.get("thinking"), wanted.get("max_tokens")
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    if isinstance(budget, int) and most is None:
        longest = row.get("max_output_tokens")
        if isinstance(longest, int) and longest > budget:
            wanted["max_tokens"] = longest
        return
    if not isinstance(budget, int) or not isinstance(most, int) or budget < most:
        return
    if most < 2 * LEAST_THINKING:
        made.leave("effort", f"an answer of {most:,} tokens has no room for it")
        del mapped["thinking"], wanted["effort"]
    else:
        wanted["thinking"] = {"type": "enabled", "budget_tokens": most // 2}


def _refusal(name: str, provider: str, said: Mapping[str, bool], row: Mapping[str, Any], *, thinks: bool) -> str | None:
    """Why a setting is not sent, "" where there is nothing to add; None: it may be."""
    if name in said:
        return None if said[name] else ""
    elsewhere = (name == "region" and provider not in REGIONAL) or (name == "top_k" and provider not in TOP_K)
    newer = row.get("mode") == "responses" and name in _NO_RESPONSES
    fixed = name in _CHANCE and row.get("supports_sampling_params") is False
    endless = name == "stop" and provider == "xai" and row.get("supports_reasoning") is True
    if elsewhere or newer or fixed or endless:
        return ""
    return "not while it thinks" if name in _CHANCE and thinks else None


def _drop(
    library: Any, params: Mapping[str, Any], wanted: dict[str, Any], said: Mapping[str, bool], made: RequestSettings
) -> list[str]:
    """Leave out what the library would drop. The arguments that it is made to send: what somebody knows that the model
    takes, and all for a server that the library knows nothing of."""
    whole, forced = _mapped(library, params, wanted), []
    for name in [name for name in wanted if name in ARGUMENTS]:
        without = {other: value for other, value in wanted.items() if other != name}
        if _mapped(library, params, without) != whole:
            continue
        if said.get(name) or not params.get("table"):
            forced.append(ARGUMENTS[name])
        else:
            made.leave(name)
            del wanted[name]
    return forced


def _mapped(library: Any, params: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What the library makes of them for this provider and model; where it is not there, all go as they are."""
    if library is None:
        return dict(wanted)
    try:
        model, provider, *_ = library.get_llm_provider(model=str(params["model"]))
        given = {ARGUMENTS[name]: value for name, value in wanted.items() if name in ARGUMENTS}
        found = library.utils.get_optional_params(model=model, custom_llm_provider=provider, drop_params=True, **given)
    except Exception:  # the boundary of a foreign library: the request itself will say what is wrong
        return dict(wanted)
    return dict(found)


def response_format(row: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """What holds the model's texts to the request's ``schema``; nothing where the library would make it a tool that has
    to be called, so that no other could be."""
    schema = params.get("schema")
    if not isinstance(schema, dict) or (params.get("provider") in MADE_A_TOOL and is_structured(row) is not True):
        return {}
    named = {"name": "result", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _take(made: RequestSettings, wanted: dict[str, Any], provider: str) -> None:
    if "thinking" in wanted:
        wanted.pop("effort", None)
    if provider == "llamacpp" and (effort := wanted.pop("effort", None)) is not None:
        # its templates of chats decide what they make of it
        kwargs = {"enable_thinking": effort != "none", "reasoning_effort": effort}
        made.arguments["extra_body"] = {"chat_template_kwargs": kwargs}
    region = wanted.pop("region", None)
    if region is not None and _REGION.fullmatch(str(region)):
        made.arguments["aws_region_name"] = region
    made.arguments |= {ARGUMENTS.get(name, name): value for name, value in wanted.items()}
