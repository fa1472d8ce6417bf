"""An agent of another maker in the running app: real services, a real confined process, a person who answers."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import sysconfig
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop.app.wiring.runtime import build_services
from desktop.app.wiring.services import Services
from desktop.domain.approval.audit import AuditFilter
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.messages import TextBlock, ToolCallBlock, ToolResultBlock
from desktop.domain.threads import MessageRecord
from desktop.services.definitions.others import name_of
from desktop.settings import SettingsService
from desktop.tools.acp.known import AcpAgent
from tests.harness.timeouts import WAIT_S

SERVERS = Path(__file__).resolve().parents[3] / "servers" / "acp"
PYTHON = os.path.realpath(sys.executable)
"""The interpreter by its own name. Of one in an environment all packages are pinned with it, 16,000 files that are
looked through before each start and are no part of these tests. Scripts are told where the packages are."""
PACKAGES = sysconfig.get_path("purelib")
Answer = Callable[[PermissionRequest], str] | str


class Asked:
    """A person who gives one answer after the other, the last one for all that follow."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers or ("deny",))
        self.requests: list[PermissionRequest] = []
        self.waiting = asyncio.Event()
        self.go_on: asyncio.Event | None = None

    def answers(self, *answers: Answer) -> None:
        """Give these from now on."""
        self._answers = list(answers)

    async def ask(self, request: PermissionRequest) -> Decision:
        self.requests.append(request)
        self.waiting.set()
        if self.go_on is not None:
            await self.go_on.wait()
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        choice: Any = answer(request) if callable(answer) else answer
        return Decision(choice, request.digest, by="user")

    def closed(self, _request_id: str) -> None: ...


class Desk:
    """The app with agents of other makers."""

    def __init__(self, services: Services, asked: Asked) -> None:
        self.services = services
        self.asked = asked
        self.events: list[Any] = []
        services.bus.listen(self.events.append)
        self.workspace = services.home / "workspace"

    async def switched_on(self, name: str = "honest", script: str = "honest.py", *args: str, **terms: Any) -> None:
        """An agent that a person has added, looked at and switched on."""
        await self.added(name, PYTHON, str(SERVERS / script), *args, PACKAGES)
        await self.switched(name, **terms)

    async def added(self, name: str, command: str, *args: str) -> None:
        agents = self.services.others.agents
        await agents.opened()
        await agents.add(AcpAgent(name, name.capitalize(), command, args, origin="added"))

    async def switched(self, name: str, **terms: Any) -> None:
        """Looked at as it is now, and on with these terms."""
        agents = self.services.others.agents
        row = agents.row(name)
        assert row.program is not None
        await agents.agree(name, replace(row.terms, on=True, **{"network": False, **terms}), row.program.digest)

    async def thread(self, name: str = "honest") -> str:
        return (await self.services.chats.create_thread(agent=name_of(name), model="")).thread_id

    async def says(self, thread: str, *orders: str) -> list[str]:
        """Send orders, and what the chat shows when the run is over."""
        await self.services.chats.send(thread, "\n".join(orders))
        assert await self.services.chats.wait(thread, WAIT_S)
        return shown(await self.services.chats.path(thread))

    async def log(self) -> list[str]:
        """The activity log, the newest first: tools with decisions."""
        page = await self.services.store.audit.page(AuditFilter(), limit=500)
        calls = [row.entry for row in page.rows if row.entry.tool not in ("", "agent-acp")]
        return [f"{one.tool} {one.decision}" for one in calls]


def shown(records: list[MessageRecord]) -> list[str]:
    found = []
    for record in records:
        for block in record.blocks:
            if isinstance(block, TextBlock):
                found.append(f"{record.role}: {block.text.strip()}")
            elif isinstance(block, ToolCallBlock):
                found.append(f"calls {block.tool}")
            elif isinstance(block, ToolResultBlock):
                found.append(f"{block.facts.get('state')} {block.text.strip()}")
            else:
                found.append(f"{block.kind}: {getattr(block, 'text', '')}")
    return found


@asynccontextmanager
async def desk(home: Path, *answers: Answer) -> AsyncIterator[Desk]:
    (home / "workspace").mkdir(parents=True, exist_ok=True)
    settings = SettingsService(home)
    await settings.load() if hasattr(settings, "load") else None
    asked = Asked(*answers)
    services = await build_services(home, settings, asked, windows=lambda _ref: None)
    try:
        yield Desk(services, asked)
    finally:
        services.gate.close()
        await services.stop_children()
        await services.close()
        shutil.rmtree(home / "cache", ignore_errors=True)
