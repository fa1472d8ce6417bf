"""Makes the service of updates for this installation: where the build looks, and the versions that lie beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from desktop.domain.installation import Installation
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.processes import Child
from desktop.domain.runs.events import Event
from desktop.safety.confinement.shut_in import launcher_file
from desktop.services.updates.build import source_of
from desktop.services.updates.installing import Server
from desktop.services.updates.memory import Memory
from desktop.services.updates.service import Spawn, UpdateParts, UpdateService
from desktop.services.updates.versions import versions_around
from desktop.settings import SettingsService
from desktop.workers.web_child import update_host


@dataclass(frozen=True, slots=True)
class UpdateSurroundings:
    """What updates need of the app."""

    data: Path
    """The home's folder of data."""
    resources: Path
    """The folder of resources of this build."""
    installation: Installation
    """How this Assent came here."""
    settings: SettingsService
    """Whether they are switched on."""
    spawn: Spawn
    """Starts a task."""
    running: Callable[[], tuple[str, ...]]
    """Threads with a run at work."""
    hear: Callable[[Callable[[Event], None]], Callable[[], None]]
    """Hears of runs."""
    restart: Callable[[], None]
    """Ends the app in order and starts the current version."""


def update_service(around: UpdateSurroundings) -> UpdateService:
    """Looks nowhere yet. Reads a few small files."""
    version = around.installation.version
    memory, source = Memory(around.data), source_of(around.resources)
    is_folder = around.installation.kind == "folder"
    return UpdateService(
        UpdateParts(
            version=version,
            resources=around.resources,
            server=Server(source, memory, _host, version) if source is not None else None,
            versions=versions_around(around.resources, version) if is_folder else None,
            memory=memory,
            settings=around.settings,
            spawn=around.spawn,
            running=around.running,
            hear=around.hear,
            restart=around.restart,
        )
    )


def _host(folders: Sequence[str]) -> Child:
    return update_host(folders, launcher=launcher_file)
