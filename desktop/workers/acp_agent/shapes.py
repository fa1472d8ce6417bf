"""What Assent tells, in the shapes of the protocol's SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from acp import helpers, schema

Told = Mapping[str, Any]
KINDS = frozenset({"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"})


def update_of(told: Told) -> Any:
    """One update of a session; None for what the protocol has no word for."""
    kind = told.get("kind")
    if kind in _CHUNKS:
        return _CHUNKS[kind](str(told.get("text", "")))
    if kind == "call":
        return schema.ToolCallStart(session_update="tool_call", **_call(told))
    if kind == "call-update":
        return schema.ToolCallProgress(session_update="tool_call_update", **_call(told))
    if kind == "title":
        return schema.SessionInfoUpdate(
            session_update="session_info_update", title=str(told["title"]), updated_at=str(told["at"])
        )
    if kind == "usage":
        return schema.UsageUpdate(session_update="usage_update", used=int(told["used"]), size=int(told["size"]))
    if kind == "commands":
        return commands(told["commands"])
    if kind == "options":
        return schema.ConfigOptionUpdate(
            session_update="config_option_update", config_options=config_options(told["options"])
        )
    return None


def _user(text: str) -> Any:
    return helpers.update_user_message(helpers.text_block(text))


_CHUNKS = {"text": helpers.update_agent_message_text, "thought": helpers.update_agent_thought_text, "user": _user}


def asked_call(told: Told) -> schema.ToolCallUpdate:
    """The call that a question is about, as the editor was told of it."""
    return schema.ToolCallUpdate(**_call(told))


def _call(told: Told) -> dict[str, Any]:
    """The fields that both kinds of updates about a call share, as far as they are told."""
    found: dict[str, Any] = {"tool_call_id": str(told["call"])}
    if "title" in told:
        found["title"] = str(told["title"])
    if "tool_kind" in told:
        found["kind"] = told["tool_kind"] if told["tool_kind"] in KINDS else "other"
    if "status" in told:
        found["status"] = told["status"]
    if "content" in told:
        found["content"] = list(_contents(told["content"]))
    if "locations" in told:
        found["locations"] = [schema.ToolCallLocation(path=str(path)) for path in told["locations"]]
    if "input" in told:
        found["raw_input"] = told["input"]
    return found


def _contents(told: Sequence[Told]) -> Iterator[Any]:
    for one in told:
        if one.get("type") == "diff":
            yield helpers.tool_diff_content(str(one["path"]), str(one["new"]), one.get("old"))
        else:
            yield helpers.tool_content(helpers.text_block(str(one.get("text", ""))))


def config_options(told: Sequence[Told]) -> list[Any]:
    """Who answers, and with which model."""
    return [
        schema.SessionConfigOptionSelect(
            type="select",
            id=str(one["id"]),
            name=str(one["name"]),
            category="model" if one["id"] == "model" else None,
            current_value=str(one["value"]),
            options=[
                schema.SessionConfigSelectOption(
                    value=str(choice["value"]), name=str(choice["name"]), description=str(choice["description"]) or None
                )
                for choice in one["choices"]
            ],
        )
        for one in told
    ]


def modes(told: Told) -> Any:
    """How a thread asks."""
    return schema.SessionModeState(
        current_mode_id=str(told["mode"]),
        available_modes=[
            schema.SessionMode(id=str(one["id"]), name=str(one["name"]), description=str(one["description"]))
            for one in told["modes"]
        ],
    )


def commands(told: Sequence[Told]) -> Any:
    """The skills that a message can name."""
    return schema.AvailableCommandsUpdate(
        session_update="available_commands_update",
        available_commands=[
            schema.AvailableCommand(
                name=str(one["name"]),
                description=str(one["description"]) or str(one["name"]),
                input=schema.AvailableCommandInput(schema.UnstructuredCommandInput(hint=str(one["hint"])))
                if one.get("hint")
                else None,
            )
            for one in told
        ],
    )


def permission_options(told: Sequence[Told]) -> list[Any]:
    """The answers to a question."""
    return [
        schema.PermissionOption(option_id=str(one["option"]), name=str(one["name"]), kind=one["kind"]) for one in told
    ]


def session_info(told: Told) -> Any:
    """A thread in the list."""
    return schema.SessionInfo(
        session_id=str(told["thread"]),
        cwd=str(told["cwd"]),
        title=str(told["title"]) or None,
        updated_at=str(told["at"]),
    )


def prompt_blocks(given: Sequence[Any]) -> list[dict[str, Any]]:
    """What a person said, as plain data."""
    return [_block(one) for one in given]


def _block(one: Any) -> dict[str, Any]:
    if isinstance(one, schema.TextContentBlock):
        return {"type": "text", "text": one.text}
    if isinstance(one, schema.ImageContentBlock):
        return {"type": "data", "data": one.data, "name": "", "uri": one.uri or ""}
    if isinstance(one, schema.ResourceContentBlock):
        return {"type": "link", "uri": one.uri, "name": one.name}
    if isinstance(one, schema.EmbeddedResourceContentBlock):
        inside = one.resource
        if isinstance(inside, schema.TextResourceContents):
            return {"type": "file", "uri": inside.uri, "text": inside.text}
        return {"type": "data", "uri": inside.uri, "data": inside.blob}
    return {"type": str(getattr(one, "type", "unknown"))}
