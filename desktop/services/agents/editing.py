"""The agents as a person edits them: files, checks while typing, what each side could use, a dry run (R-DEF-11 … 16).

Nothing here asks a model. ``AgentFileService`` holds one file; its methods block, as those of every file do.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.domain.agent_names import file_stem_of
from desktop.domain.debates import SidePreview, ToolOffer
from desktop.domain.definitions import SIDES, AgentDefinition, AgentRow, DefinitionProblem, SideName
from desktop.domain.errors import ConfigurationError, KnownError
from desktop.domain.loading.lazy import lazy_module, load
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import ModelRef
from desktop.domain.skills import SkillProblem
from desktop.domain.text.suggestions import nearest
from desktop.files.private import make_folder
from desktop.services.definitions.book import AgentFile, AgentFiles
from desktop.services.definitions.text import MAX_BYTES, AgentText, read_text
from desktop.services.skills.side_prompt import in_place_of
from desktop.services.threads.masking import HOLDS_A_KEY, Mask, place_of_key
from desktop.services.turns.runtime import Runtime
from desktop.skills.patterns import matching, parse_patterns
from desktop.tools.person_file import CannotSaveTools, PersonFile, ToolsFile
from desktop.yaml_text.change import change_key

if TYPE_CHECKING:
    from desktop.services.turns import dry_run as turns_dry_run
    from desktop.services.turns import spec as turns_spec
    from desktop.services.turns.spec import SideSpec
else:
    turns_dry_run = lazy_module("desktop.services.turns.dry_run")
    turns_spec = lazy_module("desktop.services.turns.spec")

DEFAULT_TURNS = 50
_MAX_IDLE = 5
"""Patterns that select nothing are named, of one list."""
_COPY = re.compile(r"(.*?)(?:_(\d+))?(_agent)?")
_TEMPLATE = """\
name: {name}
title: {title}
description: ""
sideA:
  prompt: assistant
"""


@dataclass(frozen=True, slots=True)
class AgentCheck:
    """What a text says while it is typed. ``problems`` are for an editor, with line and column."""

    said: AgentText
    problems: tuple[SkillProblem, ...] = ()

    @property
    def definition(self) -> AgentDefinition | None:
        """What it would be; None while there is an error."""
        return self.said.definition


class AgentFileService:
    """One file, for the text's view-model. ``saved`` is called after every write; a text that ``mask`` would change
    holds a key and is not saved."""

    def __init__(
        self, path: Path, saved: Callable[[], object], taken: Callable[[str, str], str], mask: Mask = lambda text: text
    ) -> None:
        self.path = path
        self._file = PersonFile(path, MAX_BYTES)
        self._saved = saved
        self._taken = taken
        self._mask = mask

    def read(self) -> ToolsFile:
        """Read the file's text from the disk."""
        return self._file.read()

    def check(self, text: str) -> AgentCheck:
        """Everything that can be said about a text without looking at skills."""
        path = str(self.path)
        said = read_text(text, path)
        taken = self._taken(said.definition.name, path) if said.definition is not None else ""
        if taken:
            problem = DefinitionProblem("name", "name.duplicate", f"the name is already taken by {taken}")
            said = replace(said, definition=None, problems=(*said.problems, problem))
        return AgentCheck(said, (*placed(said, path), *self._keys(text)))

    def _keys(self, text: str) -> Sequence[SkillProblem]:
        """A key in a file is not masked, for a file says what the person wrote: it is refused, with its place."""
        found = place_of_key(text, self._mask)
        if found is None:
            return ()
        before = text[: found[0]]
        line, column = before.count("\n") + 1, found[0] - before.rfind("\n")
        return (SkillProblem(str(self.path), f"{HOLDS_A_KEY}; no file holds one.", line, column, "error", "agent.key"),)

    def save(self, text: str, stamp: str, *, over: bool = False) -> ToolsFile:
        """Write it and put it in force. Raises ToolsFileConflict, or CannotSaveTools, also for a text with errors."""
        wrong = [problem for problem in self.check(text).problems if problem.severity == "error"]
        if wrong:
            raise CannotSaveTools(f"Line {wrong[0].line}: {wrong[0].message}", next_step="Correct it, then save.")
        written = self._file.write(text, stamp, over=over)
        self._saved()
        return written

    def reload(self) -> None:
        """Read the folders again."""
        self._saved()

    def reload_if_changed(self) -> None:
        """Does nothing: the watch of the agents' folders reads changes by itself."""


class AgentService:
    """``mine`` is the person's folder, ``trash`` keeps what was deleted; ``tool_problems`` are agents whose name as a
    tool is not free."""

    def __init__(
        self,
        files: AgentFiles,
        runtime: Callable[[], Runtime],
        *,
        mine: Path,
        trash: Path,
        tool_problems: Callable[[], Mapping[str, DefinitionProblem]] = dict,
        cycles: Callable[[], Mapping[str, tuple[str, ...]]] = dict,
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        self._files = files
        self._runtime = runtime
        self._mine = mine
        self._trash = trash
        self._tool_problems = tool_problems
        self._cycles = cycles
        self._changed = changed

    # -- what there is ------------------------------------------------------------------------------------------------

    def rows(self) -> tuple[AgentRow, ...]:
        """All files, the person's first; from memory."""
        wrong, ways = self._tool_problems(), self._cycles()
        return tuple(self._row(file, wrong, ways) for file in self._files.book.files)

    def _row(
        self, file: AgentFile, wrong: Mapping[str, DefinitionProblem], ways: Mapping[str, tuple[str, ...]]
    ) -> AgentRow:
        name = file.definition.name if file.definition is not None else ""
        problem = wrong.get(name)
        writable = file.source == "mine"
        return AgentRow(
            file.path,
            file.source,
            file.definition,
            file.problems,
            file.kept,
            writable,
            problem.text if problem else "",
            file.unseen,
            ways.get(name, ()),
        )

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Called in whatever thread saw the change."""
        return self._files.book.on_change(listener)

    def file(self, path: str) -> AgentFileService:
        """The agent's file, for the editor."""
        return AgentFileService(Path(path), self._reload, self._taken, self._runtime().mask)

    def _taken(self, name: str, path: str) -> str:
        files = self._files.book.files
        owners = (file.path for file in files if file.definition is not None and file.definition.name == name)
        return next((Path(owner).name for owner in owners if owner != path), "")

    def _reload(self) -> None:
        self._files.reload()
        self._changed()

    def accept(self, path: str, stamp: str) -> None:
        """The person has looked at a project's file as it was read with this stamp: it counts. Blocks; raises
        KnownError when it is another one by now."""
        self._files.accept(path, stamp)
        self._changed()

    # -- files (all of these block) -----------------------------------------------------------------------------------

    def draft(self) -> tuple[str, str]:
        """The path and text of a new agent, the least that is one; no file before it is saved."""
        name = self._free("new_agent")
        return str(self._mine / f"{name}.yaml"), _TEMPLATE.format(name=name, title=_title(name))

    def place_of(self, text: str) -> str:
        """Where a draft is saved: a file called as the agent is. Raises CannotSaveTools when another stands there, or
        for a text with mistakes."""
        said = read_text(text, "")
        if said.definition is None:
            raise CannotSaveTools("An agent with mistakes cannot be saved.", next_step="Correct it, then save.")
        path = self._mine / f"{file_stem_of(said.definition.name)}.yaml"
        if os.path.lexists(path):
            raise CannotSaveTools(f"There is a file {path.name} already.", next_step="Choose another name.")
        return str(path)

    def name_for(self, title: str) -> str:
        """A free name that says what the title says; "" for a title without a Latin letter."""
        return self._free(f"{stem}_agent") if (stem := _stem(title)) else ""

    def duplicate(self, path: str) -> str:
        """A copy of the person's own, under a name that is free; its path. Raises CannotSaveTools."""
        text = self.file(path).read().text
        said = read_text(text, path)
        if said.definition is None:
            raise CannotSaveTools("A file with mistakes cannot be copied.", next_step="Correct it first.")
        name = self._free(said.definition.name)
        title = f"{said.definition.shown} (copy)"
        if path.endswith(".json"):
            return self._write(name, text.replace(f'"{said.definition.name}"', f'"{name}"', 1), ".json")
        copied = change_key(change_key(text, ["name"], name), ["title"], title)
        return self._write(name, copied)

    def delete(self, path: str) -> str:
        """Put a file of the person's away; what ``restore`` takes to bring it back. Raises CannotSaveTools."""
        if not self._is_mine(path):
            raise CannotSaveTools("Only agents of your own folder can be deleted.", next_step="Make a copy instead.")
        kept = self._trash / f"{time.time_ns()}-{Path(path).name}"
        try:
            make_folder(self._trash)
            os.replace(path, kept)
        except OSError as error:
            raise CannotSaveTools(f"{Path(path).name} cannot be deleted: {error.strerror or error}.") from error
        self._reload()
        return str(kept)

    def restore(self, kept: str, path: str) -> None:
        """Undo ``delete``. Raises CannotSaveTools when another file has the name now."""
        if os.path.lexists(path):
            raise CannotSaveTools(f"There is another {Path(path).name} now.", next_step="Rename that one first.")
        try:
            os.replace(kept, path)
        except OSError as error:
            raise CannotSaveTools(f"{Path(path).name} cannot be brought back: {error.strerror or error}.") from error
        self._reload()

    def _write(self, name: str, text: str, suffix: str = ".yaml") -> str:
        path = self._mine / f"{file_stem_of(name)}{suffix}"
        if os.path.lexists(path):
            raise CannotSaveTools(f"There is a file {path.name} already.", next_step="Rename that one first.")
        PersonFile(path, MAX_BYTES).write(text, "absent", over=False)
        self._reload()
        return str(path)

    def _is_mine(self, path: str) -> bool:
        return os.path.dirname(os.path.realpath(path)) == os.path.realpath(self._mine)

    def _free(self, name: str) -> str:
        """The name, or the next one with a number that neither an agent nor a file has."""
        match = _COPY.fullmatch(name)
        stem, number, tail = (match[1], int(match[2] or 1), match[3] or "") if match else (name, 1, "")
        while name in self._files.book.agents or os.path.lexists(self._mine / f"{file_stem_of(name)}.yaml"):
            number += 1
            name = f"{stem[:50]}_{number}{tail}"
        return name

    # -- without a model ----------------------------------------------------------------------------------------------

    async def problems(self, agent: AgentDefinition) -> tuple[DefinitionProblem, ...]:
        """What keeps it from running now: a prompt or a tool that is not there (R-DEF-11, R-DEF-13)."""
        found: list[DefinitionProblem] = []
        for name in SIDES:
            spec = await self._spec(agent, name)
            if spec is not None:
                found += await self._of_side(spec, f"side{name.upper()}")
        return tuple(found)

    async def _of_side(self, spec: SideSpec, at: str) -> list[DefinitionProblem]:
        found = await turns_dry_run.side_problems(self._runtime(), spec, at)
        if not any(problem.path == f"{at}.prompt" for problem in found):
            found += await asyncio.to_thread(self._nothing_matched, spec, f"{at}.allowedTools")
        return found

    def _nothing_matched(self, spec: SideSpec, path: str) -> list[DefinitionProblem]:
        """Problems of the list beside a prompt that is written in place: patterns that select no existing tool.
        Blocks."""
        text = spec.in_place.allowed_tools if spec.in_place is not None else None
        if not text:
            return []
        tools = [tool.spec for tool in self._runtime().skills.table.tools()]
        idle = [one.text for one in parse_patterns(text).patterns if not matching(one.text, tools)]
        if not idle:
            return []
        named = ", ".join(one[:80] for one in idle[:_MAX_IDLE]) + (", …" if len(idle) > _MAX_IDLE else "")
        words = f"{named} {'matches' if len(idle) == 1 else 'match'} no tool that is here"
        if len(idle) == 1 and (suggested := nearest(idle[0].lower().replace("_", "-"), [tool.name for tool in tools])):
            words = f"{words}; did you mean {suggested[0]}?"
        return [DefinitionProblem(path, "tools.none", words, warning=True)]

    async def preview(self, agent: AgentDefinition, model: str = "") -> Mapping[SideName, SidePreview]:
        """The dry run: each side's system text, tools and limits as they would be."""
        problems = await self.problems(agent)
        found: dict[SideName, SidePreview] = {}
        for name in SIDES:
            spec = await self._spec(agent, name, model)
            if spec is not None:
                own = tuple(one for one in problems if one.path.startswith(f"side{name.upper()}"))
                limits = limits_of(agent, spec, self._runtime())
                found[name] = await turns_dry_run.dry_run(self._runtime(), spec, str(spec.model), limits, own)
        return found

    async def _spec(self, agent: AgentDefinition, name: SideName, model: str = "") -> SideSpec | None:
        side = agent.side_a if name == "a" else agent.side_b
        if side is None:
            return None
        await asyncio.to_thread(load, turns_dry_run)
        return turns_spec.SideSpec(
            agent=agent.name,
            shown=agent.shown,
            prompt=side.prompt,
            model=ModelRef.parse(model),
            side=name,
            where=f"side{name.upper()}.prompt",
            stop_on_response=side.stop_on_response,
            stop_tool=side.stop_tool,
            stop_property=side.stop_property,
            end_session_tool=side.end_session_tool,
            max_rounds=side.max_rounds,
            environment=agent.environment,
            in_place=in_place_of(agent, side),
        )

    async def prompts(self) -> Sequence[str]:
        """Skills that can be a side's prompt."""
        found = await self._runtime().skills.listed()
        text = (one for one in found if one.kind in ("markdown", "folder") and one.state == "ready")
        return sorted(one.name for one in text if one.role not in ("middleware", "main"))

    async def tools(self, prompt: str) -> Sequence[ToolOffer]:
        """What a prompt's skill allows at most; () for one that is none."""
        await asyncio.to_thread(load, turns_dry_run)
        spec = turns_spec.SideSpec(agent=prompt, shown=prompt, prompt=prompt, model=ModelRef("", ""))
        try:
            return turns_dry_run.offers(await turns_spec.ready(self._runtime(), spec))
        except KnownError:
            return ()

    def changed_text(self, text: str, path: Sequence[str], value: object) -> str:
        """The text with one field set, and everything else as it stands. Raises ConfigurationError."""
        try:
            return change_key(text, path, value)
        except KnownError as error:
            raise ConfigurationError(str(error), next_step="Change it in the text.") from error

    async def reload(self) -> None:
        """Read the folders again, in a thread."""
        await asyncio.to_thread(self._reload)


def limits_of(agent: AgentDefinition, spec: SideSpec, runtime: Runtime) -> Sequence[str]:
    """The limits under which a side would run, in words."""
    limit = turns_spec.round_limit(
        spec.max_rounds, f"the agent {agent.name}", runtime.tracker(), runtime.usual_rounds()
    )
    found = [f"at most {limit.value:g} rounds in a turn"]
    if agent.type == "dual_ai":
        set_here = agent.max_turns is not None
        found.append(f"{agent.max_turns or DEFAULT_TURNS} turns of both{'' if set_here else ' (not set here)'}")
    if spec.stop_tool:
        found.append(f"{spec.stop_tool} ends a turn; its {spec.stop_property} is the result")
    if not spec.stop_on_response:
        found.append("a reply does not end a turn")
    if spec.end_session_tool:
        found.append(f"{spec.end_session_tool} ends everything")
    return found


def placed(said: AgentText, path: str) -> tuple[SkillProblem, ...]:
    """The problems as an editor marks them."""
    return tuple(
        SkillProblem(path, one.shown, *said.place(one.path), "warning" if one.warning else "error", one.code)
        for one in said.problems
    )


def _stem(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "_", plain).lstrip("_0123456789").rstrip("_")
    return words.removesuffix("_agent")[:50].strip("_") if words != "agent" else ""


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()
