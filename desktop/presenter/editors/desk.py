"""What an editor's session needs of the runtime, and of the connection to the editor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.loading.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from desktop.domain.files.pictures import PictureOpener
    from desktop.domain.models import ModelInfo
    from desktop.domain.safety import PathPolicy
    from desktop.domain.tools import ToolSpec
    from desktop.services.chats.service import ConversationService
    from desktop.services.definitions.book import AgentBook
    from desktop.services.projects.service import ProjectService
    from desktop.store.composer import StateRepository
    from desktop.store.threads import ThreadRepository
    from desktop.supervision.bus import Bus

EditorAsker = Callable[[PermissionRequest], Awaitable[Decision | None]]
"""Brings a request to the editor; None: it cannot be answered there."""


class SkillCommand(NamedTuple):
    """A skill that a message can name after ``/``."""

    name: str
    description: str
    hint: str


class EditorLink(Protocol):
    """The connection to the program beside the editor."""

    def tell(self, method: str, params: Mapping[str, Any]) -> None: ...

    async def call(self, method: str, params: Mapping[str, Any]) -> Any: ...

    async def drained(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorDesk:
    """The parts of the runtime that a session uses."""

    chats: ConversationService
    """Threads and their runs."""
    agents: AgentBook
    """Who can answer."""
    threads: ThreadRepository
    """Where a thread gets its label."""
    state: StateRepository
    """Where the editor's folder of a thread is kept."""
    bus: Bus
    """What happens."""
    policy: PathPolicy
    """The boundary, which no editor widens by itself."""
    projects: ProjectService
    """The folders that threads work in."""
    workspace: Callable[[], str]
    """Where relative paths begin."""
    spec: Callable[[str], ToolSpec | None]
    """What a tool is, by its name."""
    commands: Callable[[], Awaitable[Sequence[SkillCommand]]]
    """The skills that a message can name."""
    on_commands: Callable[[Callable[[], None]], Callable[[], None]]
    """Calls back, on the loop, when those may have changed; returns how to stop."""
    models: Callable[[], Awaitable[Sequence[ModelInfo]]]
    """Asks for all models that can be used; it may take long."""
    reaches: Callable[[str], bool]
    """Whether a connection leads to a model."""
    default_model: Callable[[], str]
    """The model of new chats."""
    claim: Callable[[str, EditorAsker], Callable[[], None]]
    """From now on questions of this thread are brought to the editor, too; returns what ends that."""
    mask: Callable[[str], str]
    """Takes known secrets out of a text."""
    spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Future[None]]
    """Runs a task that is owned."""
    note: Callable[[str, str], None]
    """Writes down who came and went, for the page about other programs."""
    is_attended: Callable[[], bool]
    """Whether a window is open in which a person sees what goes on."""
    pictures: PictureOpener
    """Opens the pictures that are said in an editor."""
