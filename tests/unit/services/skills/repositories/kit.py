"""Real git repositories in a folder of the test, and the real service over them: git runs, confined as in the app."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from desktop.app.wiring.page_services import declared_servers
from desktop.app.wiring.skills import PinFile
from desktop.domain.errors import KnownError
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import SafetySettings
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from desktop.services.skills.repositories.compare import Item
from desktop.services.skills.repositories.git import MAX_PACK, Git, GitSurroundings
from desktop.services.skills.repositories.service import SkillRepositories, SourceView
from desktop.services.skills.world import SkillWorld
from desktop.skills.catalogue.roots import SearchRoot, conventional_roots
from desktop.skills.repositories.shelf import Shelf
from desktop.skills.resolution.fabric import SkillFabric
from tests.unit.pipeline.kit import Table

AUTHOR = {
    "GIT_AUTHOR_NAME": "Ida",
    "GIT_AUTHOR_EMAIL": "ida@harbour.example",
    "GIT_COMMITTER_NAME": "Ida",
    "GIT_COMMITTER_EMAIL": "ida@harbour.example",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def skill(name: str, description: str = "Compares a gauge with its neighbours.", *, tools: str = "read-file") -> str:
    return f"---\nname: {name}\ndescription: {description}\nallowed-tools: {tools}\n---\n# {name}\n\nDo it well.\n"


class Repository:
    """A git repository with its files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> str:
        env = {**AUTHOR, "PATH": os.environ["PATH"], "HOME": str(self.path.parent)}
        done = subprocess.run(("git", *words), cwd=self.path, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def put(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, files: Mapping[str, str | bytes] | None = None) -> str:
        """Put these in, and commit everything; the commit."""
        self.put(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.git("rev-parse", "HEAD")


class Servers:
    """The servers of mcp.yaml, in a list."""

    def __init__(self, *names: str) -> None:
        self.entries: list[Mapping[str, object]] = [{"name": name} for name in names]

    def names(self) -> frozenset[str]:
        return frozenset(str(entry["name"]) for entry in self.entries)

    def change(self, add: Sequence[Mapping[str, object]], without: Iterable[str]) -> Callable[[], None]:
        before, gone = self.entries, set(without)
        left = [entry for entry in before if entry["name"] not in gone]
        if any(entry["name"] in {one["name"] for one in left} for entry in add):
            raise KnownError("There is a server of this name already.", next_step="Remove it first.")
        self.entries = [*left, *({**entry, "enabled": False} for entry in add)]

        def back() -> None:
            self.entries = before

        return back


class Place:
    """A home with the service on it, as after a start of the app."""

    def __init__(
        self,
        folder: Path,
        servers: Servers | None = None,
        around: GitSurroundings | None = None,
        name: str = "agent",
        most: int = MAX_PACK,
    ) -> None:
        self.home, self.person = folder / name, folder / "person"
        workspace = folder / "workspace"
        for place in (self.home / "skills", self.person, workspace):
            place.mkdir(parents=True, exist_ok=True)
        settings = SafetySettings(workspace=str(workspace))
        policy = BoundaryPolicy(str(self.home), lambda: settings)
        self.confinement = SystemConfinement(policy, lambda: settings)
        self.shelf = Shelf(self.home)
        self.finished = self.shelf.recover()
        self.fabric = SkillFabric.open(self.roots(), pin_store=PinFile(self.home / "data" / "pins.json"))
        self.fabric.refresh()
        self.world = SkillWorld(self.fabric, Table())
        self.servers = servers or Servers()
        runner = GroupRunner()
        git = Git(self.confinement, runner, (lambda: around) if around is not None else GitSurroundings.here, most)
        self.service = SkillRepositories(
            self.shelf, self.world, git, self.servers, declared_servers, lambda: self.fabric.set_roots(self.roots())
        )
        self.said: list[str] = []

    def roots(self) -> tuple[SearchRoot, ...]:
        return conventional_roots(
            home=str(self.person),
            agent_home=str(self.home),
            library=str(self.home / "library"),
            repositories=self.shelf.folders(),
        )

    async def add(self, repository: Repository | Path | str) -> SourceView:
        where = repository.path if isinstance(repository, Repository) else repository
        name = await self.service.add(str(where), CancellationToken(), self.said.append)
        return await self.service.view(name)

    async def look(self, name: str) -> SourceView:
        await self.service.look(name, CancellationToken(), self.said.append)
        return await self.service.view(name)

    async def take(self, view: SourceView, *names: str) -> SourceView:
        keys = [item.key for item in view.items if not names or item.name in names]
        return await self.service.take(view.source.name, view.seen(keys))

    def state(self, name: str) -> str:
        """How the skill that this name means stands, "" for none."""
        found = self.fabric.find_tool(name)
        return found.state if found is not None else ""

    def taken_files(self, name: str) -> dict[str, str]:
        """All that lies in the folder of what was taken of a repository."""
        place = self.shelf.place(name)
        files = sorted(path for path in place.rglob("*") if path.is_file())
        return {path.relative_to(place).as_posix(): path.read_text("utf-8", "replace") for path in files}

    async def close(self) -> None:
        await asyncio.to_thread(self.fabric.close)
        self.confinement.close()


def item(view: SourceView, name: str) -> Item:
    """One thing of a repository, by name."""
    return next(one for one in view.items if one.name == name)
