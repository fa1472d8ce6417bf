"""What a request to a server of OpenAI's format says, and to which of them it goes without the model library."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

Wire = dict[str, Any]
PATH = "/chat/completions"
AS_THEY_ARE = frozenset({"openrouter"})
"""Providers that are given schemas of tools as they stand."""
NAMELESS = frozenset({"mistral"})
"""Providers that take no schema's own name, and refuse fields that they do not know."""
OPEN = frozenset({"vllm"})
"""Providers whose servers are given them without the word that nothing may be added."""
_DATA = ("default", "examples", "const", "enum")
"""What in a schema is no schema."""
SPELLED = frozenset(
    {
        "temperature",
        "top_p",
        "top_k",
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "seed",
        "reasoning_effort",
        "tool_choice",
        "parallel_tool_calls",
        "frequency_penalty",
        "presence_penalty",
        "response_format",
    }
)
"""Settings that are called in this format as they are here."""
_MESSAGE = ("role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content", "reasoning_details")
_USER = re.compile(r"\w+://[^/?#]*@")
_TRANSLATED = re.compile(r"mistral/.*magistral", re.IGNORECASE)
"""Models for which the library writes a system text where effort is asked for."""
_OPENAIS_OWN = re.compile(r"(?:.*/)?(?:o\d|gpt-[5-9])(?![a-z0-9]*oss)", re.IGNORECASE)
"""Models for which the library renames settings, wherever they are offered."""


def is_direct(params: Mapping[str, Any]) -> bool:
    """Whether the app says that a provider is asked directly, and nothing has to be translated for this model."""
    own = _OPENAIS_OWN.match(_model(params)) or _TRANSLATED.match(str(params["model"]))
    return params.get("direct") is True and bool(params.get("base_url")) and not own


def _model(params: Mapping[str, Any]) -> str:
    return str(params["model"]).partition("/")[2]


def address(params: Mapping[str, Any]) -> str:
    """Where the request goes; an address that was copied with the path is good as it is."""
    base = str(params["base_url"]).rstrip("/")
    return base if base.endswith(PATH) else base + PATH


def headers(params: Mapping[str, Any]) -> dict[str, str]:
    """With the key, unless the address holds a name and a password, and with nothing about this machine."""
    made = {
        "Accept": "application/json, text/event-stream",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "Assent",
    }
    if params.get("key") and not _USER.match(str(params["base_url"])):
        made["Authorization"] = f"Bearer {params['key']}"
    if organization := (params.get("extra") or {}).get("organization"):
        made["OpenAI-Organization"] = str(organization)
    if params.get("provider") == "openrouter":
        made["HTTP-Referer"] = os.environ.get("OR_SITE_URL", "")
        made["X-Title"] = os.environ.get("OR_APP_NAME", "")
    return made


def body(params: Mapping[str, Any], made: Mapping[str, Any]) -> Wire:
    """The request's JSON out of what the library would be called with."""
    written = {name: value for name, value in made.items() if name in SPELLED}
    written |= made.get("extra_body") or {}
    messages = made["messages"]
    options: Wire = {"stream_options": {"include_usage": True}}
    if params.get("provider") == "openrouter":
        messages = [_mark_inside(message) for message in messages]
        written["usage"] = {"include": True}
        if written.get("reasoning_effort") == "max":
            written["reasoning_effort"] = "xhigh"
    if params.get("provider") in NAMELESS:
        written |= {"random_seed": written.pop("seed")} if "seed" in written else {}
        options = {}  # it tells what it used unasked
    told = [{name: message[name] for name in _MESSAGE if name in message} for message in messages]
    written |= {"model": _model(params), "messages": told, "stream": True, **options}
    if made.get("tools"):
        written["tools"] = [_tool(tool, str(params.get("provider"))) for tool in made["tools"]]
    return written


def _mark_inside(message: Wire) -> Wire:
    """OpenRouter looks for the mark of a message in its last part."""
    if "cache_control" not in message:
        return message
    bare = {name: value for name, value in message.items() if name != "cache_control"}
    content = bare.get("content")
    parts = [*content] if isinstance(content, list) else [{"type": "text", "text": content}]
    parts[-1:] = [{**part, "cache_control": message["cache_control"]} for part in parts[-1:]]
    return {**bare, "content": parts}


def _tool(tool: Wire, provider: str) -> Wire:
    if provider in AS_THEY_ARE:
        return tool
    written = _opened if provider in OPEN else _nameless if provider in NAMELESS else _plain
    return {
        **tool,
        "function": {**tool["function"], "parameters": _schema(tool["function"].get("parameters"), written)},
    }


def _schema(value: Any, written: Callable[[Wire], Wire]) -> Any:
    """A schema with ``written`` done to each in it."""
    if isinstance(value, list):
        return [_schema(one, written) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: one if name in _DATA else _schema(one, written) for name, one in written(value).items()}


def _nameless(schema: Wire) -> Wire:
    return {name: value for name, value in schema.items() if name not in ("$id", "$schema")}


def _opened(schema: Wire) -> Wire:
    closed = schema.get("additionalProperties") is False
    return {name: value for name, value in schema.items() if not (closed and name == "additionalProperties")}


def _plain(schema: Wire) -> Wire:
    """Without expressions for which servers that check them with Python refuse the whole request. What a property's
    name has to look like is dropped with what it then is, which in a closed object any further one may be."""
    made = {name: value for name, value in schema.items() if name != "pattern" or not _is_odd(value)}
    named = schema.get("patternProperties")
    named = named if isinstance(named, dict) else {}
    odd = [value for name, value in named.items() if _is_odd(name)]
    if odd:
        made["patternProperties"] = {name: value for name, value in named.items() if not _is_odd(name)}
        if made.get("additionalProperties") is False:
            made["additionalProperties"] = odd[0] if len(odd) == 1 else {"anyOf": odd}
    return made


def _is_odd(pattern: Any) -> bool:
    return isinstance(pattern, str) and not _is_expression(pattern)


def _is_expression(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
