"""What the app does for `assent acp`: an editor's room, with the parts of the runtime that it uses (R-ACP-3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from desktop.app.door.host import Guest
from desktop.app.door.peer import Peer
from desktop.app.wiring.services import Services
from desktop.app.wiring.skills import named_in_messages
from desktop.domain.models import ModelRef
from desktop.domain.tools import ToolSpec
from desktop.presenter.editors.desk import EditorDesk, SkillCommand
from desktop.presenter.editors.room import EditorRoom


def editor_room(services: Services, peer: Peer, guest: Guest) -> EditorRoom:
    """Of one editor, from when it comes in until it has left."""
    return EditorRoom(_desk(services), peer, guest.name)


def _desk(services: Services) -> EditorDesk:
    return EditorDesk(
        chats=services.chats,
        agents=services.agents,
        threads=services.store.threads,
        state=services.store.state,
        bus=services.bus,
        policy=services.policy,
        projects=services.projects,
        workspace=lambda: str(services.home / "workspace"),
        spec=lambda name: _spec(services, name),
        commands=lambda: _commands(services),
        on_commands=lambda changed: _on_skills(services, changed),
        models=services.models.catalogue.models,
        reaches=lambda ref: services.models.reaches(ModelRef.parse(ref)),
        default_model=lambda: services.settings.current.models.default,
        claim=services.askers.claim,
        mask=services.redactor.mask_known,
        spawn=services.owner.spawn,
        note=services.outside.note,
        is_attended=lambda: services.askers.has_window,
        pictures=services.pictures,
    )


def _spec(services: Services, name: str) -> ToolSpec | None:
    tool = services.tools.find(name)
    return tool.spec if tool is not None else None


def _on_skills(services: Services, changed: Callable[[], None]) -> Callable[[], None]:
    """Skills are compared with the disk in a thread."""
    loop = asyncio.get_running_loop()

    def seen(_changes: object) -> None:
        loop.call_soon_threadsafe(changed)

    return services.skills.fabric.on_change(seen)


async def _commands(services: Services) -> Sequence[SkillCommand]:
    return [
        SkillCommand(one.name, one.description, one.argument_hint) for one in await named_in_messages(services.skills)
    ]
