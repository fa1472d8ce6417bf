"""What an agent tells of its work, as plain events for the app: capped, and nothing in them trusted.

The library's own models are not used for this: for one field that is not as the protocol has it they refuse the whole
message, and agents of this year tell more than last year's library knows.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from desktop.workers.acp_host import limits

Event = dict[str, Any]
_KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode")
_STATES = ("pending", "in_progress", "completed", "failed")


def event_of(params: Any) -> Event | None:
    """The event of a ``session/update``; None: nothing that the app knows."""
    update = params.get("update") if isinstance(params, Mapping) else None
    if not isinstance(update, Mapping):
        return None
    kind = update.get("sessionUpdate")
    made = _MADE.get(kind) if isinstance(kind, str) else None
    return made(update) if made is not None else {"event": "unknown", "kind": cut(kind, 80)}


def _text(update: Mapping[str, Any]) -> Event | None:
    return {"event": "text", "text": content_text(update.get("content"))}


def _thought(update: Mapping[str, Any]) -> Event | None:
    return {"event": "thought", "text": content_text(update.get("content"))}


def content_text(content: Any) -> str:
    """A piece of content as text; what is none is named."""
    if not isinstance(content, Mapping):
        return ""
    kind = content.get("type")
    if kind == "text":
        return cut(content.get("text"), limits.MESSAGE_MAX)
    if kind == "resource_link":
        return f"[{cut(content.get('name'), 200) or 'link'}: {cut(content.get('uri'), 500)}]"
    if kind == "resource":
        found = content.get("resource")
        text = found.get("text") if isinstance(found, Mapping) else None
        return cut(text, limits.MESSAGE_MAX) if isinstance(text, str) else "[a file that is no text: not shown]"
    return f"[{cut(kind, 40) or 'something'}: not shown]"


def act_of(update: Any) -> Event:
    """A tool call of the agent: what it says that it does, with what it says of its files and commands."""
    update = update if isinstance(update, Mapping) else {}
    kind, status = update.get("kind"), update.get("status")
    found: Event = {"event": "act", "id": cut(update.get("toolCallId"), 200)}
    if isinstance(update.get("title"), str):
        found["title"] = cut(update["title"], limits.TITLE_MAX)
    if kind is not None:
        found["kind"] = kind if kind in _KINDS else "other"
    if status in _STATES:
        found["status"] = status
    content = update.get("content")
    if isinstance(content, list):
        found |= _content(content)
    places = update.get("locations")
    if isinstance(places, list):
        found["paths"] = [
            cut(one.get("path"), limits.PATH_MAX)
            for one in places[: limits.PATHS_MAX]
            if isinstance(one, Mapping) and isinstance(one.get("path"), str)
        ]
    given = update.get("rawInput")
    if given is not None:
        found["input"] = as_json(given, limits.INPUT_MAX)
        command = command_in(given)
        if command:
            found["command"] = command
    return found


def command_in(given: Any) -> str:
    """The shell command in what an agent says that its tool was given, or ""."""
    command = given.get("command") if isinstance(given, Mapping) else None
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        return shlex.join(command)
    return command[: limits.MESSAGE_MAX] if isinstance(command, str) else ""


def _content(content: list[Any]) -> Event:
    texts: list[str] = []
    diffs: list[dict[str, str]] = []
    terminals: list[str] = []
    for one in content[:200]:
        if not isinstance(one, Mapping):
            continue
        if one.get("type") == "diff" and isinstance(one.get("path"), str) and len(diffs) < limits.DIFFS_MAX:
            new = one.get("newText")
            if isinstance(new, str):
                old = one.get("oldText")
                known = {"old": old} if isinstance(old, str) else {}
                diffs.append({"path": cut(one["path"], limits.PATH_MAX), "new": new, **known})
        elif one.get("type") == "terminal":
            terminals.append(cut(one.get("terminalId"), 200))
        elif one.get("type") == "content":
            texts.append(content_text(one.get("content")))
    return {"text": "\n".join(texts)[: limits.TEXT_MAX], "diffs": diffs, "terminals": terminals[:20]}


def _plan(update: Mapping[str, Any]) -> Event | None:
    entries = update.get("entries")
    rows = []
    for one in entries[: limits.PLAN_MAX] if isinstance(entries, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("content"), str):
            status = one.get("status")
            state = status if status in ("pending", "in_progress", "completed") else "pending"
            rows.append({"text": cut(one["content"], limits.PLAN_TEXT), "status": state})
    more = len(entries) - limits.PLAN_MAX if isinstance(entries, list) else 0
    return {"event": "plan", "entries": rows, "more": max(0, more)}


def _mode(update: Mapping[str, Any]) -> Event | None:
    return {"event": "mode", "id": cut(update.get("currentModeId"), 200)}


def _options(update: Mapping[str, Any]) -> Event | None:
    return {"event": "choices", "choices": choices_of({"configOptions": update.get("configOptions")})}


def _usage(update: Mapping[str, Any]) -> Event | None:
    cost = update.get("cost")
    said = cost if isinstance(cost, Mapping) else {}
    dollars = said.get("amount") if said.get("currency") == "USD" else None
    return {"event": "usage", "used": number(update.get("used")), "size": number(update.get("size")), "usd": dollars}


def _commands(update: Mapping[str, Any]) -> Event | None:
    found = update.get("availableCommands")
    rows = [
        {"name": cut(one.get("name"), 100), "about": cut(one.get("description"), 300)}
        for one in (found[: limits.COMMANDS_MAX] if isinstance(found, list) else ())
        if isinstance(one, Mapping) and isinstance(one.get("name"), str)
    ]
    return {"event": "commands", "commands": rows}


def _nothing(_update: Mapping[str, Any]) -> Event | None:
    return None


_MADE: Mapping[str, Callable[[Mapping[str, Any]], Event | None]] = {
    "agent_message_chunk": _text,
    "agent_thought_chunk": _thought,
    "user_message_chunk": _nothing,
    "tool_call": act_of,
    "tool_call_update": act_of,
    "plan": _plan,
    "current_mode_update": _mode,
    "config_option_update": _options,
    "usage_update": _usage,
    "available_commands_update": _commands,
    "session_info_update": _nothing,
}


def choices_of(answer: Any) -> list[dict[str, Any]]:
    """What can be chosen in a session (a mode, a model), whichever way the agent tells of it:
    ``{id, kind, name, by, current, options: [{value, name, about}]}``; ``by`` is how it is set."""
    answer = answer if isinstance(answer, Mapping) else {}
    found = [one for one in map(_option, _list(answer.get("configOptions"))) if one is not None]
    kinds = {one["kind"] for one in found}
    modes, models = answer.get("modes"), answer.get("models")
    if isinstance(modes, Mapping) and "mode" not in kinds:
        found.append(_told("mode", "Mode", modes.get("currentModeId"), modes.get("availableModes"), "id"))
    if isinstance(models, Mapping) and "model" not in kinds:
        found.append(_told("model", "Model", models.get("currentModelId"), models.get("availableModels"), "modelId"))
    return [one for one in found if one["options"]][:20]


def _option(one: Any) -> dict[str, Any] | None:
    if not isinstance(one, Mapping) or one.get("type") != "select" or not isinstance(one.get("id"), str):
        return None
    flat: list[Any] = []
    for part in _list(one.get("options")):
        inner = part.get("options") if isinstance(part, Mapping) else None
        flat += inner if isinstance(inner, list) else [part]
    kind = one.get("category")
    known = kind if kind in ("mode", "model") else "other"
    made = _told(known, one.get("name"), one.get("currentValue"), flat, "value")
    return {**made, "id": cut(one["id"], 200), "by": "option"}


def _told(kind: str, name: Any, current: Any, options: Any, key: str) -> dict[str, Any]:
    rows = [
        {
            "value": cut(one.get(key), 300),
            "name": cut(one.get("name"), 200) or cut(one.get(key), 200),
            "about": cut(one.get("description"), 300),
        }
        for one in _list(options)[: limits.CHOICES_MAX]
        if isinstance(one, Mapping) and isinstance(one.get(key), str)
    ]
    return {
        "id": kind,
        "kind": kind,
        "by": kind,
        "name": cut(name, 100) or kind.capitalize(),
        "current": cut(current, 300),
        "options": rows,
    }


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def number(value: Any) -> int:
    """A count that an agent says; what is none is 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else 0


def as_json(value: Any, size: int) -> str:
    """A value as JSON, cut; "" for what is none."""
    try:
        return json.dumps(value, ensure_ascii=False)[:size]
    except (TypeError, ValueError, RecursionError):
        return ""


def cut(value: Any, size: int = limits.WORDS_MAX) -> str:
    """A text, cut; "" for anything else."""
    return value[:size] if isinstance(value, str) else ""
