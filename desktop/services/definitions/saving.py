"""Definitions written as files: YAML with the names of R-DEF-1, read back before anything is stored (R-DEF-16)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from desktop.domain.agent_names import file_stem_of
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.errors import ConfigurationError, KnownError
from desktop.files.private import make_folder, write_new
from desktop.services.definitions.text import read_text
from desktop.services.threads.masking import Mask, clean
from desktop.yaml_text.change import change_key


def definition_text(definition: AgentDefinition) -> str:
    """The definition as the text of its file, without what is at its default.

    Values are JSON, which YAML reads as it is, but for prompts that are written in place: they stay readable. Blocks.
    """
    text = "\n".join(_lines(_fields(definition), "")) + "\n"
    for key, side in (("sideA", definition.side_a), ("sideB", definition.side_b)):
        if side is not None and side.prompt_text:
            text = change_key(text, (key, "promptText"), side.prompt_text)
    return text


def _fields(definition: AgentDefinition) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": definition.name,
        "title": definition.title,
        "type": definition.type,
        "description": definition.description,
        "icon": definition.icon,
        "maxSessionTurns": definition.max_turns,
        "exposeAsTool": definition.expose_as_tool,
        "toolDescription": definition.tool_description,
        "handoff": definition.handoff if definition.handoff != "call" else "",
        "priority": definition.priority.name.lower() if definition.priority is not None else "",
        "sideA": _side(definition.side_a),
        "tenvs": dict(definition.environment),
    }
    if definition.side_b is not None:
        fields["sideB"] = _side(definition.side_b)
    return fields


def _side(side: SideDefinition) -> dict[str, Any]:
    return {
        "label": side.label,
        "prompt": side.prompt,
        "stopOnResponse": None if side.stop_on_response else False,
        "stopTool": side.stop_tool,
        "stopToolResponseProperty": side.stop_property,
        "maxSteps": side.max_rounds,
        "endSessionTool": side.end_session_tool,
        "allowedTools": side.allowed_tools,
        "model": dict(side.model),
    }


def _lines(fields: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in fields.items():
        if isinstance(value, Mapping):
            if value:
                yield f"{indent}{key}:"
                yield from _lines(value, indent + "  ")
        elif value is False and key == "stopOnResponse":
            yield f"{indent}{key}: false"
        elif (value is not None and value is not False and value != "") or (value == "" and key == "allowedTools"):
            # a temperature of 0 is one, and an empty list of tools means no tool at all
            yield f"{indent}{key}: {json.dumps(value)}"


def saver(folder: Path, mask: Mask = lambda text: text) -> Callable[[AgentDefinition], Awaitable[str]]:
    """How definitions get into ``folder``, without known secrets. The function raises ConfigurationError for one that
    is none or whose file is there already, KnownError when it cannot be written; it returns the file's path."""

    async def save(definition: AgentDefinition) -> str:
        return await asyncio.to_thread(_save, folder, clean(definition, mask))

    return save


def _save(folder: Path, definition: AgentDefinition) -> str:
    text = definition_text(definition)
    path = folder / f"{file_stem_of(definition.name)}.yaml"
    said = read_text(text, path.name)
    wrong = "; ".join(problem.shown for problem in said.problems if not problem.warning)
    if said.definition is None:
        raise ConfigurationError(f"This cannot be saved as an agent: {wrong}.", next_step="Correct it and try again.")
    try:
        make_folder(folder)
        write_new(path, text.encode())
    except FileExistsError:
        raise ConfigurationError(
            f"There is an agent file {path.name} already.", next_step="Choose another name."
        ) from None
    except OSError as error:
        raise KnownError(
            f"{path} cannot be written: {error.strerror or error}.",
            next_step="Look at the folder's permissions.",
            code="agents.unwritable",
        ) from error
    return str(path)
