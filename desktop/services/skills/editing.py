"""What the Skills page does: list, read, check, change, try.

Each answer comes from the function that decides when a skill is called: who may call it from the pattern lists,
shadowing from the search order, problems from the loader. Coroutines read and write files in threads.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop.agents.skill.host import HOST, PERMISSIONS, Host
from desktop.agents.skill.settings import named_by
from desktop.domain.approval.judgement import Category
from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.domain.errors import KnownError, NotFound
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ToolCallBlock, Usage
from desktop.domain.model_settings import UNSAID, ModelSettings
from desktop.domain.models import ModelRef
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.events import EventSink
from desktop.domain.runs.meta import RunMeta
from desktop.domain.skills import SkillDef, SkillProblem
from desktop.domain.text.places import FormatError
from desktop.domain.tools import ToolSpec
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.pipeline.skill_tool import category_of, spec_of
from desktop.services.definitions.book import AgentBook
from desktop.services.skills.imports import SkillImports
from desktop.services.skills.side_prompt import prompt_skill_now
from desktop.services.skills.world import SkillWorld
from desktop.skills.cascade.effective import Cascade
from desktop.skills.catalogue.pins import Difference
from desktop.skills.catalogue.search import SkillCatalog
from desktop.skills.editing.code_text import change_literal, literal_of
from desktop.skills.editing.files import CannotSave, Deleted, OpenFile, SkillFiles
from desktop.skills.formats import load_from_bytes
from desktop.skills.formats.folder import FolderFile, folder_files
from desktop.skills.formats.markdown import SkillSection, sections
from desktop.skills.importing.staging import Staging
from desktop.skills.patterns.lists import AllowedList, ListJudgement
from desktop.skills.resolution.fabric import SkillChanges
from desktop.yaml_text import values
from desktop.yaml_text.change import NotEditable, change_key

Key = tuple[str, str]
"""(path, name): a skill across catalogues."""


@dataclass(frozen=True, slots=True)
class MayCall:
    """Whether one caller may call a skill, and by which rule of its list. ``kind``: agent | skill."""

    kind: str
    name: str
    allowed: bool
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class SkillDetail:
    """All that the page shows of one skill."""

    key: Key
    """The path and name of the skill."""
    definition: SkillDef | None
    """The skill; None for a file without a usable skill in it."""
    text: str
    """The whole file."""
    body: str
    """The part that is its text."""
    problems: tuple[SkillProblem, ...]
    """What is wrong with it."""
    category: Category | None = None
    """The effective category."""
    spec: ToolSpec | None = None
    """What models see of it."""
    cascade: Cascade | None = None
    """The metadata in force, with the skill that set each key."""
    cascade_problem: str = ""
    """Why there is no cascade, or ""."""
    middleware: tuple[str, ...] = ()
    """What stands around its calls, outermost first."""
    shadowed_by: str = ""
    """The path of the skill that has its name, or ""."""
    shadows: tuple[str, ...] = ()
    """The paths of skills that it hides."""
    files: tuple[FolderFile, ...] = ()
    """The files beside it."""
    may_call: tuple[MayCall, ...] = ()
    """Who may call it, and why."""
    peers: tuple[str, ...] = ()
    """The skills by way of which it can call itself."""
    writable: bool = False
    """Whether Assent may change the file."""
    pinned: bool = False
    """Whether it is off once it changes."""


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A text as it would be loaded: what is in it, and what is wrong with it. ``raw`` is the frontmatter as it is
    written, also where it is wrong; None where it cannot be read at all."""

    definitions: tuple[SkillDef, ...]
    problems: tuple[SkillProblem, ...]
    raw: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SkillCall:
    """A call that a person makes: ``work`` has not begun; cancelling ``token`` stops it."""

    run_id: str
    token: CancellationToken
    work: Coroutine[Any, Any, CallResult]
    host: Host | None

    @property
    def usage(self) -> Usage:
        """What models were asked for so far, all agents in it together."""
        return self.host.budget.total if self.host is not None else Usage(cost_usd=0.0)


class SkillService:
    """``mine`` is the folder of the person's own skills; ``trash`` keeps what was deleted; ``host`` lends a model to a
    markdown skill that is tried: the one that it is called with where none is chosen, or None without any."""

    def __init__(
        self,
        world: SkillWorld,
        pipeline: Pipeline,
        agents: AgentBook,
        *,
        mine: Path,
        trash: Path,
        host: Callable[[ModelRef | None], Host | None] = lambda _own: None,
    ) -> None:
        self._world = world
        self._pipeline = pipeline
        self._agents = agents
        self._host = host
        self.mine = str(mine)
        self._files = SkillFiles(trash, self._writable, self._saved)
        self.imports = SkillImports(world, self._files, Staging(trash.parent / "imports"), self._renamed_inside)

    # -- what there is ------------------------------------------------------------------------------------------------

    def catalog(self) -> SkillCatalog:
        """The catalogue of all skills, from memory; see ``SkillCatalog``."""
        return self._world.fabric.catalog()

    def on_change(self, listener: Callable[[SkillChanges], None]) -> Callable[[], None]:
        """Call ``listener`` after every change, in whatever thread saw it; returns what ends that."""
        return self._world.fabric.on_change(listener)

    def folders(self) -> tuple[tuple[str, str, bool], ...]:
        """(path, source, trusted) of each folder of the search path, in order."""
        return tuple((root.path, root.source, root.trusted) for root in self._world.fabric.roots)

    async def detail(self, key: Key) -> SkillDetail:
        """Everything about one skill. Raises NotFound when it is gone."""
        return await asyncio.to_thread(self._detail, key)

    def _detail(self, key: Key) -> SkillDetail:
        catalog = self.catalog()
        row = catalog.find(key)
        if row is None:
            raise NotFound(f"The skill {key[1]} is gone.", next_step="Choose another.")
        definition, shadowing = catalog.definition(row), catalog.shadowing(row)
        path = key[0]
        text = body = ""
        writable = False
        if path:
            try:
                opened = self._files.open(path)
                text, writable = opened.text, opened.writable
                body = self._world.fabric.body(definition) if definition is not None else text
            except KnownError as error:
                body = body or str(error)
        won = shadowing.wins
        detail = SkillDetail(
            key,
            definition,
            text,
            body,
            tuple(catalog.problems(row)),
            shadowed_by=catalog.row(won).path if won not in (row, -1) else "",
            shadows=tuple(catalog.row(other).path for other in shadowing.others) if won == row else (),
            writable=writable,
            pinned=(root := catalog.root(row)) is not None and root.pinned,
        )
        return self._with_definition(detail, definition) if definition is not None else detail

    def _with_definition(self, detail: SkillDetail, definition: SkillDef) -> SkillDetail:
        cascade, problem = None, ""
        try:
            cascade = self._world.cascades.of(definition, {})
        except KnownError as error:
            problem = str(error)
        spec = definition.tool.spec if definition.tool is not None else spec_of(definition)
        return replace(
            detail,
            category=spec.category if definition.tool is not None else category_of(definition),
            spec=spec,
            cascade=cascade,
            cascade_problem=problem,
            middleware=tuple(entry.name for entry in cascade.chain) if cascade is not None else (),
            files=folder_files(definition).files,
            may_call=tuple(self._may_call(spec, definition)),
            peers=self._world.fabric.peers_of(definition) if not detail.shadowed_by else (),
        )

    def _may_call(self, spec: ToolSpec, definition: SkillDef) -> list[MayCall]:
        """Agents first, then skills with a list of their own; by the lists that gate 6 asks, and nobody may call what
        is off."""
        found = []
        off = _OFF.get(definition.state, "")
        for agent in self._agents.agents.values():
            for side in filter(None, (agent.side_a, agent.side_b)):
                prompt = prompt_skill_now(self._world, agent, side)
                if prompt is not None:
                    shown = _side_of(agent, side)
                    found.append(_judged("agent", shown, self._world.allowed_of(prompt), spec, off))
        for other in self._world.fabric.list_tools():
            if other.allowed_tools is not None and other.name != definition.name:
                found.append(_judged("skill", other.name, self._world.allowed_of(other), spec, off))
        return found

    # -- checking and changing ----------------------------------------------------------------------------------------

    async def open(self, path: str) -> OpenFile:
        """Open a file for editing. Raises KnownError for a file that is no text or cannot be read."""
        return await asyncio.to_thread(self._files.open, path)

    async def check(self, path: str, text: str, name: str = "") -> CheckedText:
        """What the text would be as this file: problems with line and column, while a person types. ``name`` says whose
        frontmatter ``raw`` is in a file of several skills."""
        return await asyncio.to_thread(self._check, path, text, name)

    def _check(self, path: str, text: str, name: str) -> CheckedText:
        root = next((r for r in self._world.fabric.roots if path.startswith(r.path.rstrip(os.sep) + os.sep)), None)
        source = root.source if root is not None else "mine"
        loaded = load_from_bytes(
            text.encode("utf-8", "surrogatepass"), path, source=source, root=root.path if root is not None else ""
        )
        return CheckedText(loaded.definitions, loaded.problems, _raw(path, text, name))

    async def with_key(self, path: str, text: str, where: Sequence[str], value: Any, name: str = "") -> str:
        """The text with one key of a frontmatter changed, every other byte kept; ``REMOVE`` takes it out. ``name`` says
        which skill of a file that holds several. Raises NotEditable where a form cannot do that."""
        return await asyncio.to_thread(_with_key, path, text, tuple(where), value, name)

    async def save(self, opened: OpenFile, text: str, *, over: bool = False) -> OpenFile:
        """Raises EditConflict (with their text) when the file changed meanwhile, CannotSave when the disk says no."""
        return await asyncio.to_thread(lambda: self._files.save(opened, text, over=over))

    async def create(self, name: str, kind: str = "folder") -> str:
        """A new skill of one's own from a template; its path. ``kind``: folder | markdown | python."""
        return await asyncio.to_thread(self._create, name, kind)

    def _create(self, name: str, kind: str) -> str:
        if kind == "python":
            return self._files.create_file(os.path.join(self.mine, f"{name}.skill.py"), _PYTHON.format(name=name))
        return self._files.create(self.mine, name, _MARKDOWN.format(name=name), folder=kind == "folder")

    def holder(self, name: str) -> str:
        """The owner of this name now, in any folder or as a tool's name with providers; "" where it is free."""
        catalog, tools = self._world.fabric.catalog(), self._world.table
        for row in catalog.named(name):
            return catalog.row(row).path or f"the skill {name}"
        found = tools.find(name) or tools.find(name.replace("-", "_"))
        return f"the tool {found.spec.name}" if found is not None else ""

    async def register(self, name: str, text: str) -> str:
        """A new skill of one's own with this text, seen by the person who agreed to it; its path. Raises CannotSave."""
        return await asyncio.to_thread(self._register, name, text)

    def _register(self, name: str, text: str) -> str:
        return self._files.create(self.mine, name, text, folder=False)

    async def duplicate(self, path: str, name: str) -> str:
        """A copy among one's own skills under another name, also inside the file; the new path."""
        return await asyncio.to_thread(self._duplicate, path, name)

    def _duplicate(self, path: str, name: str) -> str:
        if path.endswith(".skill.py") and any(
            path.startswith(root.path.rstrip(os.sep) + os.sep) and root.source == "library"
            for root in self._world.fabric.roots
        ):
            raise CannotSave(
                "This skill is a part of Assent: its code runs inside the app, and a copy could not.",
                next_step="Make a new Python skill, and call this one with ctx.manager.invoke.",
            )
        copy = self._files.duplicate(path, self.mine, name)
        self._renamed_inside(copy, name)
        return copy

    async def rename(self, path: str, name: str) -> str:
        """Rename a skill, its file or folder and the name inside; returns the new path."""
        return await asyncio.to_thread(self._rename, path, name)

    def _rename(self, path: str, name: str) -> str:
        moved = self._files.rename(path, name)
        self._renamed_inside(moved, name)
        return moved

    def _renamed_inside(self, path: str, name: str) -> None:
        """A file whose frontmatter a form cannot change keeps its old name inside, which the page then says."""
        opened = self._files.open(path)
        try:
            self._files.save(opened, _with_key(path, opened.text, ("name",), name))
        except NotEditable:
            return

    async def delete(self, path: str, name: str) -> Deleted:
        """Put a skill aside; ``undo`` brings it back."""
        return await asyncio.to_thread(self._files.delete, path, name)

    async def undo(self, deleted: Deleted) -> str:
        """Bring back what was deleted; its path."""
        return await asyncio.to_thread(self._files.undo, deleted)

    # -- pins ---------------------------------------------------------------------------------------------------------

    async def difference(self, path: str) -> Difference:
        """What changed in a pinned skill since the person saw it."""
        return await asyncio.to_thread(self._world.fabric.difference, path)

    async def accept(self, path: str, digest: str) -> None:
        """The person has seen the difference with this digest. Raises KnownError when it changed once more."""
        await asyncio.to_thread(lambda: self._world.fabric.accept(path, seen=digest))

    # -- trying -------------------------------------------------------------------------------------------------------

    def try_it(
        self,
        name: str,
        args: Mapping[str, Any],
        sink: EventSink,
        said: str = "",
        ref: str = "",
        settings: ModelSettings = UNSAID,
        project: str = "",
    ) -> SkillCall:
        """Call a skill as a person, through every gate; requests come like those of any run. ``said`` is told to the
        agent that works on a skill in words; ``ref`` is its file, where another skill may have its name; ``settings``
        stand over those of the skill; ``project`` is the folder that it works in. The caller owns the task, and cancels
        the token to stop it."""
        run_id, token = new_id(), CancellationToken()
        everything = AllowedList.of(f"* {name}")
        _, skill = self._world.fabric.find_cached(ref or name)
        host = self._host(named_by(skill))
        inherited: dict[str, Any] = {PERMISSIONS: everything, "rootContextId": run_id}
        if host is not None:
            host = inherited[HOST] = replace(host, settings=settings, request=settings)
        root = Invocation(RunMeta(run_id, token, "", project=project), inherited=inherited, shared=self._world.shared)
        caller = Caller("skill" if ref else "native", ("You",), everything)  # a model names no file, a person may
        request = CallRequest(ToolCallBlock(new_id(), ref or name, dict(args)), caller, root, sink, said=said)
        return SkillCall(run_id, token, self._pipeline.invoke(request), host)

    def problems_near(self, name: str) -> tuple[SkillProblem, ...]:
        """What is wrong with files and folders of this name that hold no skill that could be called by it."""
        catalog = self.catalog()
        found = [problem for row in catalog.named(name) for problem in catalog.problems(row)]
        return tuple(problem for problem in found if problem.severity == "error")

    # -- inside -------------------------------------------------------------------------------------------------------

    def _writable(self) -> tuple[str, ...]:
        return tuple(root.path for root in self._world.fabric.roots if root.source != "library")

    def _saved(self, path: str) -> None:
        """Every cache is told before a save returns (R-SK-13)."""
        self._world.fabric.invalidate_file(path, by_person=True)


_OFF = {
    "untrusted": "It is in a project folder that is not trusted.",
    "changed": "It has changed since you last looked at it.",
    "broken": "It has problems that keep it from running.",
}


def _side_of(agent: AgentDefinition, side: SideDefinition) -> str:
    """An agent by name, with its side where it has two."""
    if agent.side_b is None:
        return agent.shown
    return f"{agent.shown}, {side.label or side.prompt or agent.label_of('a' if side is agent.side_a else 'b')}"


def _judged(kind: str, name: str, allowed: Any, spec: ToolSpec, off: str = "") -> MayCall:
    if off:
        return MayCall(kind, name, False, "", off)
    judged: ListJudgement = allowed.explain(spec)
    if judged.allowed and spec.visibility == "hidden" and not allowed.names(spec.name):
        return MayCall(kind, name, False, judged.rule_text, "It is hidden, and the list does not name it exactly.")
    return MayCall(kind, name, judged.allowed, judged.rule_text, judged.reason)


def _with_key(path: str, text: str, where: Sequence[str], value: Any, name: str = "") -> str:
    """The file's text with a key set, written as its kind of file has it. Raises NotEditable."""
    if path.endswith(".skill.py"):
        return change_literal(text, where, value)
    if not path.endswith((".skill.md", "SKILL.md")):
        raise NotEditable("This kind of file is edited as text.")
    try:
        section = _section(text, name)
    except FormatError as error:
        raise NotEditable(f"Line {error.line}: {error}.", next_step="Correct it as text first.") from error
    at = sum(len(line) + 1 for line in text.split("\n")[: section.first_line - 1])
    return text[:at] + change_key(section.head, where, value) + text[at + len(section.head) :]


def _raw(path: str, text: str, name: str) -> Mapping[str, Any] | None:
    """The frontmatter as it is written, whatever it is worth."""
    try:
        if path.endswith(".skill.py"):
            return literal_of(text)
        return values.read(_section(text, name).head).data
    except (FormatError, NotEditable):
        return None


def _section(text: str, name: str) -> SkillSection:
    """The frontmatter of this skill in a file of several, or the first. Raises FormatError."""
    found = sections(text)
    own = re.compile(rf"^name *: *[\"']?{re.escape(name)}[\"']? *(#.*)?$", re.MULTILINE)
    return next((section for section in found if name and own.search(section.head)), found[0])


_MARKDOWN = """\
---
name: {name}
description: What this skill does, and when to use it.
metadata:
  tags: []
---
Say here what is to be done, step by step, as you would tell a colleague.
"""

_PYTHON = '''\
"""What this skill does."""

frontmatter = {{
    "name": "{name}",
    "description": "What this skill does, and when to use it.",
    "metadata": {{
        "category": "read",
        "tags": [],
        "params": {{
            "type": "object",
            "properties": {{"text": {{"type": "string", "description": "What it works on."}}}},
            "required": ["text"],
        }},
    }},
}}


async def run(ctx, args):
    """It runs in a process of its own; ctx.manager.invoke(name, args) calls other skills and tools.

    As category read it runs without a question and can change nothing; give it the category write if it has to.
    """
    return args["text"].upper()
'''

__all__ = ["CannotSave", "CheckedText", "MayCall", "SkillDetail", "SkillService"]
