"""The skills fabric of the running app: its folders, index, pins and workers, kept current in the background."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any

from desktop.agents.middleware.response_cache import Account, nobody
from desktop.domain.models import ModelRef, SecretStore
from desktop.domain.safety import Confinement, GuardedFiles, SettingsProvider
from desktop.domain.skills import SkillDef
from desktop.files.private import make_folder, write_whole
from desktop.models.credentials import credentials
from desktop.pipeline.skills.python_worker import PythonWorker
from desktop.pipeline.table import Registered
from desktop.services.skills.world import SkillWorld
from desktop.settings import SettingsService
from desktop.skills.catalogue.roots import Project, SearchRoot, conventional_roots
from desktop.skills.editing.files import SkillFiles
from desktop.skills.repositories.shelf import Shelf, taken_files
from desktop.skills.resolution.fabric import SkillFabric

INDEX = "skills.index"
DELETED = "deleted-skills"
PINS = "skill-pins.json"
KEYS = frozenset({"skills.projects", "skills.trusted_projects"})


class PinFile:
    """The pins in one JSON file of the app's data, written atomically: a ``SkillPinStore``, used in threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._values: dict[str, Any] | None = None

    def get(self, key: str) -> Any:
        """The value, or None."""
        with self._lock:
            return self._read().get(key)

    def put(self, values: Mapping[str, Any]) -> None:
        """Write all or nothing; None takes a key out. Raises OSError."""
        with self._lock:
            merged = {**self._read(), **values}
            make_folder(self._path.parent)
            merged = {name: value for name, value in merged.items() if value is not None}
            parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in merged.items()]  # in short steps:
            write_whole(self._path, ("{" + ", ".join(parts) + "}").encode(), lasting=False)  # no other thread waits
            self._values = merged

    def _read(self) -> dict[str, Any]:
        if self._values is None:
            try:
                found = json.loads(self._path.read_text("utf-8"))
            except (OSError, ValueError):
                found = {}
            self._values = found if isinstance(found, dict) else {}
        return self._values


def roots_of(settings: SettingsService, home: Path, library: Path) -> tuple[SearchRoot, ...]:
    """The folders by convention, with the projects that the settings name."""
    at = settings.current.skills
    trusted = {os.path.expanduser(path) for path in at.trusted_projects}
    named = dict.fromkeys(os.path.expanduser(path) for path in (*at.projects, *at.trusted_projects))
    projects = [Project(path, path in trusted) for path in named]
    person = os.path.expanduser("~")
    taken = Shelf(home).folders()
    return conventional_roots(
        home=person, agent_home=str(home), library=str(library), projects=projects, repositories=taken
    )


def project_of(roots: Iterable[SearchRoot]) -> str:
    """The project at hand: the first one that is trusted, or ""."""
    return next((root.project for root in roots if root.project and root.trusted), "")


def open_skills(
    home: Path,
    library: Path,
    settings: SettingsService,
    registered: Registered,
    files: GuardedFiles,
    confinement: Confinement,
    safety: SettingsProvider,
    account: Account = nobody,
    mask: Callable[[str], str] = lambda text: text,
) -> SkillWorld:
    """Open the skills from their index. Blocks for some 30 ms: use a thread; then ``keep_current`` goes on in the
    background."""
    SkillFiles(home / "data" / DELETED, lambda: (), lambda _path: None).bring_back_unfinished()
    finished = Shelf(home).recover()
    roots = roots_of(settings, home, library)
    fabric = SkillFabric.open(
        roots,
        str(home / "data" / INDEX),
        cwd=safety().workspace,
        project=project_of(roots),
        pin_store=PinFile(home / "data" / PINS),
    )
    for source in finished:
        fabric.seen(*taken_files(Shelf(home), source))
    worker = PythonWorker(confinement, lambda: safety().workspace, fabric.body)
    return SkillWorld(
        fabric,
        registered,
        files=files,
        safety=safety,
        python=worker,
        data=str(home / "data"),
        middleware=lambda: settings.current.middleware,
        account=account,
        mask=mask,
    )


def account_of(settings: SettingsService, secrets: SecretStore) -> Account:
    """One account at one server, told from any other by how the connection is set up and by its keys."""

    async def account(model: ModelRef) -> str | None:
        known = settings.current.models.connections
        connection = next((one for one in known if one.connection_id == model.connection_id), None)
        if connection is None:
            return None
        found = await credentials(secrets, connection)
        return repr((connection, found.values))

    return account


async def named_in_messages(world: SkillWorld) -> list[SkillDef]:
    """What ``/`` and ``$`` bring into a message: skills that are text, ready and shown."""
    return [
        skill
        for skill in await world.listed()
        if skill.kind in ("markdown", "folder")
        and skill.state == "ready"
        and skill.visibility != "hidden"
        and skill.user_invocable
    ]


async def keep_current(world: SkillWorld) -> None:
    """Watch the folders, compare the index with the disk, work out the promotions; each in a thread."""
    for step in (world.fabric.watch, world.fabric.refresh, world.promote, world.levels.refresh):
        await asyncio.to_thread(step)


def follow_settings(
    world: SkillWorld,
    settings: SettingsService,
    home: Path,
    library: Path,
    spawn: Callable[[Coroutine[Any, Any, Any], str], Any],
) -> None:
    """Follow the settings: search in other project folders, or with another trust in them, from the change on."""

    def changed(_settings: object, keys: frozenset[str]) -> None:
        if keys & KEYS:
            roots = roots_of(settings, home, library)
            change = asyncio.to_thread(world.fabric.set_roots, roots, project=project_of(roots))
            spawn(change, "skills: other folders")

    settings.subscribe(changed)
