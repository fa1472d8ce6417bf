"""The skills of the process, wired for calls: table, cascade, prompts, lists, topics.

One of these serves all runs. What blocks (files) happens in threads; ``shared`` is every context's ``globals``.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import ChainMap
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from desktop.agents.middleware.response_cache import Account, ResponseCache, nobody
from desktop.agents.middleware.sessions import SessionConfig, Sessions
from desktop.agents.middleware.start_limits import RunLog, Starts
from desktop.domain.errors import BoundaryViolation, KnownError, ToolFailure
from desktop.domain.files.work_place import NOWHERE, WorkPlace
from desktop.domain.loading.lazy import lazy_module, load
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.safety import Access, GuardedFiles, SettingsProvider
from desktop.domain.skills import SkillDef
from desktop.pipeline.context import CallContext
from desktop.pipeline.names import AllowedTools
from desktop.pipeline.skills.run import ConfinedWorker, SkillRuns, context_of
from desktop.pipeline.skills.side import SkillSide
from desktop.pipeline.table import Registered, SkillTable
from desktop.services.skills.activation import arguments_in, arguments_of, chosen, fitting, given_in
from desktop.services.skills.files import SkillsInUse
from desktop.services.skills.levels import Levels
from desktop.services.skills.shown_tools import ShownTools
from desktop.services.skills.text import ARGUMENTS, Marked, marked, of_agent_skills, with_folder
from desktop.settings.groups.middleware import MiddlewareSettings
from desktop.skills.cascade.effective import Cascade, Cascades, Promotions, promotions
from desktop.skills.formats.folder import folder_files
from desktop.skills.patterns.lists import AllowedList, Intersection, NamedBy
from desktop.skills.resolution.fabric import SkillChanges, SkillFabric
from desktop.skills.values.kinds import MISSING
from desktop.supervision.topics import Topics

if TYPE_CHECKING:
    from desktop.skills import directives as skills_directives
    from desktop.skills.directives import DirectiveCall, Resolver
else:
    skills_directives = lazy_module("desktop.skills.directives")

MAX_INLINE = 200_000
"""Bytes of one file that ``:inline[]`` puts in."""


TIMEOUT_S = 20.0
"""Seconds for the directives of one text, all together."""

_OWN = frozenset({"host", "permissions"})
SESSION = "session"
"""The middleware whose entries a prompt reads as ``:context[session]``."""


class SkillWorld:
    """``files`` reads for ``:inline[]`` inside the boundary; ``safety`` gives the workspace and the variables that
    ``:env[]`` may name; ``python`` runs code that is not the library's; ``data`` is the app's data folder;
    ``timeout`` in seconds bounds the expansion of one text; ``middleware`` is what the settings say of it, ``account``
    tells whose answers may be kept, ``mask`` cleans what is logged."""

    def __init__(
        self,
        fabric: SkillFabric,
        registered: Registered,
        *,
        files: GuardedFiles | None = None,
        safety: SettingsProvider | None = None,
        python: ConfinedWorker | None = None,
        data: str = "",
        timeout: float = TIMEOUT_S,
        middleware: Callable[[], MiddlewareSettings] = MiddlewareSettings,
        account: Account = nobody,
        mask: Callable[[str], str] = lambda text: text,
    ) -> None:
        self.fabric = fabric
        self._files = files
        self._safety = safety
        self._timeout = timeout
        self.topics = Topics()
        self.runs = SkillRuns(self.allowed_of, python)
        self.table = SkillTable(registered, fabric, self.runs)
        self.in_use = SkillsInUse(fabric.read_beside)
        self.shown = ShownTools(fabric, registered)
        self.shown.refresh()
        self.shared: dict[str, Any] = {
            "tools": self.table,
            "topics": self.topics,
            "skills": fabric,
            "data": data,
            "sessions": Sessions(data),
            "cached": {},
            "answers": ResponseCache(account),
            "starts": Starts(),
            "run_log": RunLog(mask),
        }
        self.levels = Levels(fabric, self.runs, self.shared, middleware)
        cache, levels = fabric.globals.cache, self.levels
        self.cascades = self.shared["cascades"] = Cascades(fabric, cache, levels.is_on, levels.chosen)
        self.side = SkillSide(self.table, self.cascades, self.prompt, self._promoted)
        self._own = frozenset(self.shared)
        self._given: dict[str, Any] = {}
        self._promoting = threading.Lock()
        self._end = fabric.on_change(self._changed)

    def close(self) -> None:
        """Stop watching the folders. Blocks for a moment."""
        self._end()
        self.fabric.close()

    async def listed(self) -> list[SkillDef]:
        """Every skill that a name can mean."""
        return await asyncio.to_thread(self.fabric.list_tools)

    async def brought_in(self, text: str) -> list[SkillDef]:
        """The skills that a person's message brings in (S-SK-5)."""
        return await asyncio.to_thread(lambda: chosen(text, self.fabric.list_tools()))

    async def fitting(self, text: str) -> list[tuple[str, str]]:
        """Names of skills in words that may fit a message, with a line each: the model's choice."""
        found = await asyncio.to_thread(lambda: fitting(text, self.fabric.list_tools()))
        return [(skill.name, skill.description) for skill in found]

    # -- lists of allowed tools ---------------------------------------------------------------------------------------

    def allowed(self, text: str | None) -> AllowedTools:
        """A pattern list, its paths taken against the workspace (R-PAT-17)."""
        workspace = self._safety().workspace if self._safety is not None else ""
        return _list_of(text, workspace, os.path.expanduser("~"))

    def allowed_of(self, definition: SkillDef) -> AllowedTools:
        """The list of a skill, for the calls that it makes itself (R-INV-3)."""
        return self.allowed(definition.allowed_tools)

    @staticmethod
    def together(parent: AllowedTools, child: AllowedTools, named_by: NamedBy = "child") -> AllowedTools:
        """What both allow (R-AG-5)."""
        return Intersection(parent, child, named_by)  # type: ignore[arg-type]  # every list of a run is from ``allowed``

    # -- prompts ------------------------------------------------------------------------------------------------------

    async def find(self, name: str) -> SkillDef | None:
        """The skill of this name or reference; off the loop where files have to be read."""
        known, found = self.fabric.find_cached(name)
        return found if known else await asyncio.to_thread(self.fabric.find_tool, name)

    async def cascade(self, definition: SkillDef, args: Mapping[str, Any]) -> Cascade:
        """What the frontmatter of a prompt comes to with what stands above it, as for a call of that skill (R-INV-12).
        Raises ConfigurationError for a cascade that cannot be made."""
        return await asyncio.to_thread(self.cascades.of, definition, args)

    async def effective(self, definition: SkillDef) -> Mapping[str, Any]:
        """The metadata of its cascade."""
        return (await self.cascade(definition, {})).metadata

    async def prompt(self, definition: SkillDef, args: Mapping[str, Any], call: CallContext) -> str:
        """A markdown skill's body, its directives expanded once (R-SK-12). Raises ToolFailure."""
        inherited, meta = await self.inherited(call), call.meta
        return await self.expanded(
            definition, args, call.cascade.metadata, inherited, token=meta.cancellation, place=meta.work_place
        )

    async def inherited(self, call: CallContext) -> dict[str, Any]:
        """What ``:context[]`` finds in the text of a skill. Raises ToolFailure for a session that is none."""
        found = {key: value for key, value in call.invocation.inherited.items() if key not in _OWN}
        session = next((entry for entry in call.cascade.chain if entry.name == SESSION), None)
        if session is not None:  # before the text is made: the middleware itself stands around what is done with it
            read = SessionConfig.of(session.value)
            found[SESSION] = await self.shared["sessions"].recall(context_of(call), read)
        return found

    async def named(self, definition: SkillDef, asked: str, *, token: CancellationToken, place: WorkPlace) -> str:
        """The text of a skill that a person's message brings in; what follows its name there are its arguments, and the
        text says of the others that they are not given. Raises like ``expanded``, and ConfigurationError."""
        wanted: Mapping[str, Any] = {}
        with suppress(KnownError):  # said below
            wanted = arguments_of(definition, await asyncio.to_thread(self._body, definition))
        found: dict[str, Any] = dict(given_in(asked, definition.name, tuple(wanted)))
        for name, schema in wanted.items():
            usual = schema.get("default", MISSING) if isinstance(schema, Mapping) else MISSING
            found.setdefault(name, f"({name}: not given)" if usual is MISSING else usual)
        args = {ARGUMENTS: arguments_in(asked, definition.name), **found}
        config = await self.effective(definition)
        return await self.expanded(definition, args, config, {}, token=token, place=place)

    async def expanded(
        self,
        definition: SkillDef,
        args: Mapping[str, Any],
        config: Mapping[str, Any],
        context: Mapping[str, Any],
        *,
        token: CancellationToken,
        place: WorkPlace = NOWHERE,
    ) -> str:
        """The body for these values, in a thread that works in ``place``. Raises ToolFailure when the file
        cannot be read, a directive failed, or all of it takes too long (a file on a disk that does not answer);
        CancellationError as soon as the token is cancelled."""
        try:
            async with Interrupt(token, seconds=self._timeout):
                return await self._expanded(definition, args, config, context, place)
        except TimeoutError as error:
            raise ToolFailure(
                f"The text of {definition.name} was not ready after {self._timeout:g} s.",
                next_step="Look at the files that its directives name.",
            ) from error

    async def _expanded(
        self,
        definition: SkillDef,
        args: Mapping[str, Any],
        config: Mapping[str, Any],
        context: Mapping[str, Any],
        place: WorkPlace,
    ) -> str:
        try:
            body = await asyncio.to_thread(self._body, definition)
        except KnownError as error:
            raise ToolFailure(f"{definition.name} cannot be read: {error}", next_step=error.next_step) from error
        places = _marked(definition, body, args)
        resolvers = self._resolvers(definition, args, config, context, place)
        done = await skills_directives.expand(places.text, resolvers)
        failed = next((problem for problem in done.problems if problem.code in ("failed", "limit")), None)
        if failed is not None:
            raise ToolFailure(f"{definition.name}, line {failed.line} of its text: {failed.message}.")
        if not of_agent_skills(definition):
            return done.text
        return await asyncio.to_thread(self._told, definition, places.filled(done.text))

    def _body(self, definition: SkillDef) -> str:
        """The skill's text, with the code that fills in its directives loaded. Blocks."""
        load(skills_directives)
        return self.fabric.body(definition)

    def _told(self, definition: SkillDef, text: str) -> str:
        """The text with its folder, whose files can be read from now on. Blocks."""
        self.in_use.add(definition)
        return with_folder(text, definition, folder_files(definition))

    def _resolvers(
        self,
        definition: SkillDef,
        args: Mapping[str, Any],
        config: Mapping[str, Any],
        context: Mapping[str, Any],
        place: WorkPlace,
    ) -> dict[str, Resolver]:
        safety, environment = self._safety() if self._safety is not None else None, place.environment
        allowed = {*(safety.environment_allowlist if safety is not None else ()), *environment}
        folder, values = self._folder(definition, place), skills_directives.value_resolver
        return {
            "arg": values(args),
            "config": values(config),
            "context": values(context),
            "env": skills_directives.env_resolver(ChainMap(dict(environment), os.environ), allowed),
            "skill": self._named,
            "tool": self._named,
            "path": lambda call: os.path.normpath(os.path.join(folder, call.arg)),
            "inline": lambda call: self._inline(definition, call.arg, place),
        }

    def _folder(self, definition: SkillDef, place: WorkPlace) -> str:
        """Where relative paths of its text begin: beside its file, else where the thread works."""
        if definition.path or self._safety is None:
            return os.path.dirname(definition.path)
        return place.project or self._safety().workspace

    async def _named(self, call: DirectiveCall) -> str | None:
        """``:skill[ref]`` and ``:tool[ref]``: its name and what it does."""
        found = await self.find(call.arg)
        if found is not None:
            return f"`{found.name}` ({found.description})"
        tool = self.table.find(call.arg)
        return f"`{tool.spec.provider_name}` ({tool.spec.description})" if tool is not None else None

    async def _inline(self, definition: SkillDef, given: str, place: WorkPlace) -> str:
        """The text of a file: in a folder skill's own folder, or anywhere that read_file may read (S-SK-1)."""
        data = await asyncio.to_thread(self._read, definition, given, place)
        if len(data) > MAX_INLINE:
            raise ToolFailure(f"{given} is larger than {MAX_INLINE} bytes")
        return data.decode("utf-8", "replace")

    def _read(self, definition: SkillDef, given: str, place: WorkPlace) -> bytes:
        """What is denied is denied beside a skill too (R-FS-3). Never waits for a pipe: see ``open_read``."""
        path = os.path.join(self._folder(definition, place), given)
        try:
            real = os.path.realpath(path)
        except ValueError as error:
            raise ToolFailure(f"{given!r} is no path") from error
        files = self._files.within(place) if self._files is not None else None
        verdict = files.explain(real, Access.READ) if files is not None else None
        if verdict is not None and verdict.rule.startswith(("denied", "protected")):
            raise BoundaryViolation(verdict.sentence)
        try:
            return self.fabric.read_beside(definition, real)
        except KnownError as error:
            if error.code != "skills.not_beside":
                raise
        return self._within_boundary(files, path)

    @staticmethod
    def _within_boundary(files: GuardedFiles | None, path: str) -> bytes:
        if files is None:
            raise ToolFailure(f"{path} is not of the skill's own folder, and there is nothing here to read it with")
        try:
            with files.open_read(path) as file:
                return file.read(MAX_INLINE + 1)
        except OSError as error:
            raise ToolFailure(f"{path} cannot be read: {error.strerror}") from error

    # -- promotions ---------------------------------------------------------------------------------------------------

    def _promoted(self) -> Promotions:
        """The promotions of the project's main skill; from memory, worked out by ``promote`` (R-INV-13)."""
        found = self.fabric.globals.cache.promotions
        return found if isinstance(found, Promotions) else Promotions()

    def promote(self) -> None:
        """Work out the promotions anew. Blocks: after opening, and in the thread that saw a change."""
        main = self.fabric.find_authority(_ANYTHING)
        found = promotions(main if main is not None and main.source == "project" else None)
        with self._promoting:
            self.fabric.globals.cache.promotions = found
            given = {key: value for key, value in found.shared.items() if key not in self._own}
            for key, value in self._given.items():  # of a main skill that no longer counts
                if key not in given and self.shared.get(key) is value:
                    del self.shared[key]
            self.shared.update(given)
            self._given = given

    def _changed(self, _changes: SkillChanges) -> None:
        self.promote()
        self.levels.refresh()


def _marked(definition: SkillDef, body: str, args: Mapping[str, Any]) -> Marked:
    if not of_agent_skills(definition):
        return Marked(body, (), "")
    return marked(body, str(args.get(ARGUMENTS) or ""), os.path.dirname(definition.path))


_ANYTHING = SkillDef("anything", "", "program", "program")
"""A programmatic tool: its authority is the project's main skill (R-RES-16)."""


@lru_cache(maxsize=512)
def _list_of(text: str | None, workspace: str, home: str) -> AllowedList:
    return AllowedList.of(text, cwd=workspace, home=home)
