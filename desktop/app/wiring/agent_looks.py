"""The icons of agents reach whatever draws an agent: read again when the agents change."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from desktop.domain.definitions import AgentDefinition, AgentRow
from desktop.domain.loading.lazy import lazy_module
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.agents_editing import AgentsViewModel
from desktop.services.definitions.icons import icon_file, read_icon
from desktop.ui.theme import Theme
from desktop.ui.theme.agent_looks import AgentLook, bundled_icon, first_letter

if TYPE_CHECKING:
    from desktop.ui.theme import agent_images
else:
    agent_images = lazy_module("desktop.ui.theme.agent_images")


def shown_agents(rows: Sequence[AgentRow]) -> list[AgentDefinition]:
    """The agents whose file was looked at and that name an icon, the person's own first."""
    return [row.agent for row in rows if row.agent is not None and row.agent.icon and not row.unseen]


def looks_of(agents: Sequence[AgentDefinition]) -> dict[str, AgentLook]:
    """By name, and by title where no other agent is called so. Blocks."""
    looks: dict[str, AgentLook] = {}
    titles: dict[str, AgentLook] = {}
    for agent in agents:
        look = AgentLook(first_letter(agent.shown), bundled_icon(agent.icon))
        path = icon_file(agent) if not look.bundled else None
        if path is not None and (data := read_icon(path, agent_images.IMAGE_BYTES)):
            look = AgentLook(look.letter, image=agent_images.decoded(data))
        looks.setdefault(agent.name, look)
        titles.setdefault(agent.shown, look)
    return {**titles, **looks}


def follow_agents(agents: AgentsViewModel, theme: Theme, bridge: Bridge) -> None:
    """From now on what is drawn for an agent is what its definition says."""

    async def read() -> None:
        theme.set_agent_looks(await asyncio.to_thread(looks_of, shown_agents(agents.rows)))

    def changed() -> None:
        bridge.spawn(read(), name="read icons of agents")

    agents.changed.connect(changed)
    changed()
