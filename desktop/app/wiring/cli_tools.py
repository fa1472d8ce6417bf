"""The tools of tools.yaml in the running app: confined as every other tool, read in the background."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.domain.loading.lazy import lazy_module
from desktop.safety.confinement.environment import needs_admin
from desktop.services.skills.world import SkillWorld
from desktop.supervision.tasks import TaskOwner
from desktop.tools.cli.reads import nothing_opens
from desktop.tools.cli.services import CliServices
from desktop.tools.cli.tools import CliTools
from desktop.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from desktop.tools.cli import tool as cli_tool
else:
    cli_tool = lazy_module("desktop.tools.cli.tool")

TOOLS = "tools.yaml"
_OWN = ("agent", "finish", "invoke", "context-manager")


def cli_tools(
    home: Path, registry: ToolRegistry, services: CliServices, skills: SkillWorld, owner: TaskOwner
) -> CliTools:
    """The service of tools.yaml; the file is read in the background."""
    found = CliTools(
        home / TOOLS,
        registry,
        lambda definition: cli_tool.CliTool(definition, services),
        needs_admin=needs_admin,
        reserved=lambda name: reserved_by(skills, name),
        opens=services.places.judge if services.places is not None else nothing_opens,
    )
    if services.places is not None:
        services.places.on_change(found.retell)
    found.on_change(skills.shown.refresh)
    owner.spawn(asyncio.to_thread(found.reload), "tools.yaml: read")
    return found


def reserved_by(skills: SkillWorld, name: str) -> str:
    """The owner within Assent of a name that models and skills know as its own, as words, or "". Blocks."""
    if name in _OWN or name.startswith("agent-"):
        return "Assent's own"
    found = skills.fabric.find_tool(name)
    return "a skill of Assent" if found is not None and found.source == "library" else ""
