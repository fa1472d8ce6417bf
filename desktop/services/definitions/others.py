"""Agents of other makers as agents that a person can talk to: one definition for each that is switched on.

They are in no file. Whoever takes one away takes away its name alone: its chats stay, and say that it is off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.models import ModelRef
from desktop.tools.acp.asks import ASKS, DID
from desktop.tools.builtin.catalogue import BUILT_IN

if TYPE_CHECKING:
    from desktop.tools.acp.agents import AcpRow

PROVIDER = "agent-acp"
PREFIX = "acp_"
OWN_MODEL = "its own model"
TOOLS = (*BUILT_IN, ASKS, DID)
"""What an agent of another maker gets of ours, with the two calls that stand for what it asks and does by itself."""
_PROMPT = (
    "You work inside Assent, which asks the person before anything is changed. Your files are in the folder that you "
    "were started in. Where your own tools may not write, use those of the server `assent`: write_file for files, bash "
    "for commands."
)


def name_of(agent: str) -> str:
    """The name of the definition of an agent of another maker."""
    return PREFIX + agent.replace("-", "_")


def definitions_of(rows: Iterable[AcpRow]) -> dict[str, AgentDefinition]:
    """The definitions of those that are switched on, by name."""
    found = {}
    for row in rows:
        if row.standing != "on":
            continue
        agent, name = row.agent, name_of(row.agent.name)
        tools = " ".join(dict.fromkeys((*TOOLS, *row.terms.tools)))
        model = {"agent": PROVIDER, "acp": agent.name, "model": f"{agent.name}/{OWN_MODEL}"}
        side = SideDefinition("", label=agent.title, prompt_text=_PROMPT, allowed_tools=tools, model=model)
        about = "An agent of another maker, by ACP. It uses its own model and account."
        found[name] = AgentDefinition(name, side, title=agent.title, description=about, icon="/icons/agent.svg")
    return found


def own_model_of(side: SideDefinition) -> ModelRef | None:
    """The model of an agent that brings its own: nobody chooses it here."""
    return ModelRef(str(side.model["acp"]), OWN_MODEL) if side.model.get("agent") == PROVIDER else None
