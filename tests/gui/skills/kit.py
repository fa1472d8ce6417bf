"""Real skill files in a folder of the test, a real service over them, and the view-models or the page on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from desktop.agents.skill.host import Host
from desktop.app.home.unsaved_texts import UnsavedTextFiles
from desktop.app.wiring.page_services import declared_servers
from desktop.app.wiring.skills import PinFile
from desktop.domain.safety import SafetySettings
from desktop.pipeline.pipeline import CallSettings, Pipeline
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.skills.editing import SkillEditor
from desktop.presenter.skills.importing import SkillImport
from desktop.presenter.skills.models import SkillsModels
from desktop.presenter.skills.page import SkillsViewModel
from desktop.presenter.skills.projects import SkillProjects
from desktop.presenter.skills.repositories import Repositories
from desktop.presenter.skills.trying import SkillTrials
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from desktop.services.skills.editing import SkillService
from desktop.services.skills.repositories.git import Git
from desktop.services.skills.repositories.service import SkillRepositories
from desktop.services.skills.world import SkillWorld
from desktop.settings import SettingsService
from desktop.skills.catalogue.roots import Project, SearchRoot, conventional_roots
from desktop.skills.repositories.shelf import Shelf
from desktop.supervision.tasks import TaskOwner
from tests.harness.definitions import load_agents
from tests.harness.skills import open_fabric
from tests.harness.timeouts import until
from tests.unit.pipeline.kit import FakeTool, Person, Table
from tests.unit.services.skills.repositories.kit import Servers

ROOT = Path(__file__).resolve().parents[3]
PARAMS = """\
  params:
    type: object
    properties:
      path: {type: string, description: What to read.}
      depth: {type: integer, minimum: 1, default: 2}
    required: [path]
"""


def skill(
    name: str,
    description: str = "Does something useful.",
    *,
    tags: str = "data",
    extra: str = "",
    body: str = "# Title\n\nDo it *well*.\n",
) -> str:
    return f"---\nname: {name}\ndescription: {description}\nmetadata:\n  tags: [{tags}]\n{extra}---\n{body}"


class SkillsBench:
    """One home with skills of one's own, installed ones, a project that is not trusted, and the library."""

    def __init__(self, folder: Path, tools: tuple[FakeTool, ...], host: Callable[[], Host | None]) -> None:
        self.home, self.person, self.project = folder / "agent", folder / "person", folder / "project"
        self.mine = self.home / "skills"
        self.shared = self.person / ".agents" / "skills"
        self.of_project = self.project / ".agents" / "skills"
        for place in (self.mine, self.shared, self.of_project):
            place.mkdir(parents=True)
        self.settings = SettingsService(self.home)
        self._tools, self._host = tools, host
        self.owner = TaskOwner()
        self.person_answers = Person()
        self.model = ""
        self.said: list[tuple[str, str]] = []
        self.failed: list[str] = []
        self.broken: list[Exception] = []

    def put(self, name: str, text: str | bytes = "", where: Path | None = None) -> Path:
        """A file among one's own skills: ``name.skill.md`` unless the name has an ending."""
        path = (where or self.mine) / (name if "." in name else f"{name}.skill.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else (text or skill(name)).encode())
        return path

    async def open(self) -> SkillsModels:
        """Read what is there, and make the view-models."""
        await self.settings.load()
        roots = conventional_roots(
            home=str(self.person),
            agent_home=str(self.home),
            library=str(ROOT / "skills"),
            projects=[Project(str(self.project))],
        )
        self.fabric = open_fabric(roots, pin_store=PinFile(self.home / "data" / "pins.json"))
        await asyncio.to_thread(self.fabric.refresh)
        self.world = SkillWorld(self.fabric, Table(*self._tools))
        pipeline = Pipeline(
            self.world.table,
            self.owner.spawn,
            trust=self.person_answers,
            settings=CallSettings(margin_s=0.05),
            skills=self.world.side,
        )
        self.world.runs.pipeline = pipeline
        self.bench = SkillService(
            self.world,
            pipeline,
            load_agents(ROOT / "resources" / "agents"),
            mine=self.mine,
            trash=self.home / "data" / "deleted",
            host=lambda _own: self._host(),
        )
        self.bridge = Bridge()
        self.bridge.failed.connect(self.broken.append)
        self.skills = SkillsViewModel(self.bench, self.bridge)
        self.unsaved = UnsavedTextFiles(self.home / "data", lambda text: text.replace("hunter2", "***"))
        self.editor = SkillEditor(self.bench, self.bridge, self.skills.wrote, self.unsaved)
        self.trials = SkillTrials(self.bench, self.bridge, lambda: self.model)
        self.projects = SkillProjects(self.settings, self.bridge)
        self.skills.said.connect(lambda text, token: self.said.append((text, token)))
        for one in (self.skills.failed, self.editor.failed, self.projects.failed):
            one.connect(self.failed.append)
        self.skills.touched.connect(self.editor.look_at_disk)
        self.imports = SkillImport(self.bench, self.bridge, self.skills)
        self.imports.refused.connect(self.failed.append)
        self.repositories = Repositories(self._taken_from(roots), self.bridge, self.skills)
        self.repositories.said.connect(lambda text, token: self.said.append((text, token)))
        self.repositories.failed.connect(self.failed.append)
        return SkillsModels(self.skills, self.editor, self.trials, self.projects, self.imports, self.repositories)

    def _taken_from(self, roots: tuple[SearchRoot, ...]) -> SkillRepositories:
        """The real service, with the git of the system in a sandbox."""
        settings = SafetySettings(workspace=str(self.person))
        policy = BoundaryPolicy(str(self.home), lambda: settings)
        self.confinement = SystemConfinement(policy, lambda: settings)
        self.shelf, self.servers = Shelf(self.home), Servers()

        def follow() -> None:
            taken = [SearchRoot(folder, "shared", repository=name) for name, folder in self.shelf.folders()]
            at = 1 + next(number for number, root in enumerate(roots) if root.source == "mine")
            self.fabric.set_roots((*roots[:at], *taken, *roots[at:]))

        git = Git(self.confinement, GroupRunner())
        return SkillRepositories(self.shelf, self.world, git, self.servers, declared_servers, follow)

    async def listed(self) -> None:
        self.skills.start()
        await until(lambda: self.skills.loaded and not self.bridge.task_names, "the list")

    async def on_disk(self) -> None:
        """Another program wrote something: have it seen, as the watching thread would."""
        await asyncio.to_thread(self.fabric.refresh)
        await self.rest()

    async def rest(self) -> None:
        """Until nothing is under way."""
        await asyncio.sleep(0.02)
        await until(lambda: not self.bridge.task_names, "rest")

    async def show(self, name: str, source: str = "") -> None:
        """Open a skill by name."""
        self.skills.select(self.key(name, source))
        await until(lambda: self.skills.detail is not None and self.skills.detail.key == self.skills.key, name)

    def key(self, name: str, source: str = "") -> tuple[str, str]:
        catalog = self.skills.catalog
        rows = [catalog.row(number) for number in range(len(catalog))]
        return next(row.key for row in rows if row.name == name and source in ("", row.source))

    @property
    def names(self) -> list[str]:
        """The names in the list, those of the library left out."""
        model = self.skills.model
        rows = [model.row_at(place) for place in range(model.rowCount())]
        return [row.name for row in rows if row is not None and row.source != "library"]

    async def edit(self, name: str) -> None:
        """Open a skill's file in the editor."""
        await self.show(name)
        self.editor.open(*self.skills.key)
        await until(lambda: self.editor.definition is not None or self.editor.problems, "the editor")

    async def end(self) -> None:
        assert not self.broken, self.broken
        self.editor.close()
        self.skills.end()
        await self.bridge.shutdown(3.0)
        await self.owner.close()
        await asyncio.to_thread(self.world.close)
        self.confinement.close()
