"""Agent definitions of type ai_human, read from data files (semantics.md 15; the rest of the fields with debates)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop.domain.errors import ConfigurationError, NotFound
from desktop.domain.limits import positive_int
from desktop.skills.frontmatter import FrontmatterError, load_yaml_mapping

DEFAULT_AGENT = "assistant"
SKILL = "skill:"
"""What the name of an agent begins with that is a skill's prompt and nothing else."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """A person and one agent. ``prompt`` names a skill; ``max_rounds`` is ``sideA.maxSteps`` (None: not set)."""

    name: str
    title: str
    prompt: str
    description: str = ""
    icon: str = ""
    label: str = ""
    stop_on_response: bool = True
    max_rounds: int | None = None


def definition_from(data: Mapping[str, Any], where: str) -> AgentDefinition:
    """A definition from its file's mapping. Raises ConfigurationError with every problem at once (R-DEF-14)."""
    side = data.get("sideA")
    side = side if isinstance(side, Mapping) else {}
    problems = list(_problems(data, side))
    if problems:
        raise ConfigurationError(f"{where}: " + "; ".join(problems) + ".", next_step="Correct the file.")
    name = str(data["name"])
    return AgentDefinition(
        name=name,
        title=str(data.get("title") or name.replace("_", " ").capitalize()),
        prompt=str(side["prompt"]),
        description=str(data.get("description") or ""),
        icon=str(data.get("icon") or ""),
        label=str(side.get("label") or data.get("title") or name),
        stop_on_response=side.get("stopOnResponse", True) is not False,
        max_rounds=side.get("maxSteps"),
    )


def _problems(data: Mapping[str, Any], side: Mapping[str, Any]) -> list[str]:
    found = []
    if not isinstance(data.get("name"), str) or not _NAME.fullmatch(data["name"]):
        found.append("name must be a lower-case letter, then up to 63 letters, digits or underscores")
    if data.get("type", "ai_human") != "ai_human":
        found.append("type must be ai_human")
    if not isinstance(side.get("prompt"), str) or not str(side.get("prompt")).strip():
        found.append("sideA.prompt must name a skill")
    if side.get("maxSteps") is not None:
        try:
            positive_int(side["maxSteps"], "sideA.maxSteps")
        except ConfigurationError as error:
            found.append(str(error).rstrip("."))
    elif side.get("stopOnResponse") is False:
        found.append("sideA.stopOnResponse false needs sideA.maxSteps")
    return found


@dataclass(frozen=True, slots=True)
class AgentBook:
    """The definitions by name, and the problems of files that could not be used."""

    agents: Mapping[str, AgentDefinition]
    problems: tuple[str, ...] = ()

    def get(self, name: str) -> AgentDefinition:
        """One definition, or NotFound."""
        if name.startswith(SKILL):
            skill = name.removeprefix(SKILL)
            return AgentDefinition(name, skill, skill, label=skill)
        found = self.agents.get(name or DEFAULT_AGENT)
        if found is None:
            raise NotFound(f"There is no agent named {name!r}.", next_step="Choose another agent.")
        return found


def load_agents(folder: Path) -> AgentBook:
    """Read every ``*.yaml`` of a folder. Blocks and imports PyYAML: use a thread."""
    agents: dict[str, AgentDefinition] = {}
    problems: list[str] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            found = definition_from(load_yaml_mapping(path.read_text("utf-8")), path.name)
        except FrontmatterError as error:
            problems.append(f"{path.name}:{error.line}:{error.column}: {error}")
        except (ConfigurationError, OSError, UnicodeDecodeError) as error:
            problems.append(str(error))
        else:
            if found.name in agents:
                problems.append(f"{path.name}: the name {found.name} is already taken")
            else:
                agents[found.name] = found
    return AgentBook(agents, tuple(problems))
