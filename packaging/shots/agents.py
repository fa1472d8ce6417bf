"""Settings, Agents with the agents of the library, in pictures."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.agents_editing import AgentsViewModel
from desktop.services.agents.editing import AgentService
from desktop.services.definitions.book import AgentFiles, AgentFolder

LIBRARY = Path(__file__).resolve().parents[2] / "resources/agents"


def sample_agents() -> AgentsViewModel:
    """The list of agents. Its loop is closed: nothing can be opened or changed."""
    files = AgentFiles([AgentFolder(str(LIBRARY), "library")])
    files.reload()
    runtime = cast(Any, SimpleNamespace(mask=str))
    service = AgentService(files, lambda: runtime, mine=LIBRARY, trash=LIBRARY)
    loop = asyncio.new_event_loop()
    loop.close()
    return AgentsViewModel(service, Bridge(loop=loop), lambda: "demo/demo")
