"""Debates that are looked at: set up, listed, forked, shown as a side sees them, exported (``domain.debates``)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from desktop.domain.context import Overlay
from desktop.domain.debates import (
    DebateRow,
    DebateSetup,
    DebateState,
    DebateTemplate,
    SidePreview,
    ToolOffer,
    TurnRecord,
)
from desktop.domain.definitions import AgentDefinition, DefinitionProblem, SideName
from desktop.domain.errors import ConfigurationError, KnownError, NotFound
from desktop.domain.ids import new_id
from desktop.domain.loading import lazy
from desktop.domain.messages import ChatMessage, TextBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.events import DebateChanged, ThreadChanged
from desktop.domain.threads import MessageRecord, SearchHit, ThreadRecord
from desktop.files.private import write_whole
from desktop.services.debates.context import side_overlays
from desktop.services.debates.setup import DEBATE, definition_of, setup_of, templates, to_plain
from desktop.services.debates.state import Debate, load, moderated
from desktop.services.projects.service import ProjectService
from desktop.services.threads.masking import clean
from desktop.services.threads.titles import topic_title
from desktop.services.turns.runtime import Runtime

if TYPE_CHECKING:
    from desktop.services.debates import checks as debates_checks
    from desktop.services.debates import export as debates_export
    from desktop.services.debates import perspectives
    from desktop.services.debates.checks import DebateChecks
    from desktop.services.debates.run import DebateRun
else:
    debates_checks = lazy.lazy_module("desktop.services.debates.checks")
    debates_export = lazy.lazy_module("desktop.services.debates.export")
    perspectives = lazy.lazy_module("desktop.services.debates.perspectives")

SaveAgent = Callable[[AgentDefinition], Awaitable[str]]
"""Writes a definition into the person's ``agents/``; the file's path."""
_TITLE_LOOK = 4_000
FOUND = 500
"""Messages that a search finds at most."""


class DebateLibrary:
    """The part of the service that runs nothing. Those that run are in ``_active``, with what is newest of them."""

    def __init__(
        self, runtime: Runtime, save_agent: SaveAgent | None = None, projects: ProjectService | None = None
    ) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._save_agent = save_agent
        self._projects = projects
        self._active: dict[str, DebateRun] = {}
        self._judging: dict[str, CancellationToken] = {}

    async def _checks(self) -> DebateChecks:
        """Their code is loaded with the first debate that is looked at."""
        await asyncio.to_thread(lazy.load, debates_checks)
        return debates_checks.DebateChecks(self._runtime)

    # -- setting up ---------------------------------------------------------------------------------------------------

    def templates(self) -> Sequence[DebateTemplate]:
        """The templates from which a person can begin a debate."""
        return templates()

    async def definitions(self) -> Sequence[DebateTemplate]:
        """The agents of two sides, by title."""
        book = self._runtime.agents.agents
        found = []
        for one in book.values():
            if one.type == "dual_ai" and one.side_b is not None:
                setup = await (await self._checks()).modelled(setup_of(one, "", ""))
                found.append(DebateTemplate(one.name, one.shown, one.description, "debates", setup))
        return sorted(found, key=lambda one: (one.title.casefold(), one.name))

    async def prompts(self) -> Sequence[str]:
        """Skills that can be a side's prompt."""
        return await (await self._checks()).prompts()

    async def tools_of(self, prompt: str) -> Sequence[ToolOffer]:
        """What a prompt's skill allows at most."""
        return await (await self._checks()).tools_of(prompt)

    async def problems(self, setup: DebateSetup) -> Sequence[DefinitionProblem]:
        """All that keeps it from starting, then warnings."""
        found = list(await (await self._checks()).problems(setup))
        try:
            await self._folder(setup)
        except KnownError as error:
            found.insert(0, DefinitionProblem("project", error.code, error.advice))
        return found

    async def _folder(self, setup: DebateSetup) -> str:
        """Where both sides will work, really; "": in no folder. Raises KnownError where it cannot be used."""
        if not setup.project:
            return ""
        if self._projects is None:
            raise KnownError("No debate can work in a folder here.", code="project.none")
        return (await self._projects.usable(setup.project)).path

    async def preview(self, setup: DebateSetup) -> Mapping[SideName, SidePreview]:
        """Both sides as they would run, without asking a model."""
        checks = await self._checks()
        return await checks.preview(await checks.modelled(setup), await self.problems(setup))

    async def create(self, setup: DebateSetup) -> str:
        """Store it, not begun. Raises ConfigurationError with all problems."""
        setup = await (await self._checks()).modelled(self._clean(setup))
        await self._refuse(setup)
        project = await self._folder(setup)
        if project and self._projects is not None:
            await self._projects.instructions.met(project)
        record = replace(self._thread(setup), project=project)
        topic = MessageRecord(new_id(), record.thread_id, None, "user", (TextBlock(setup.topic),), record.created_at)
        await self._store.debates.create(thread=record, setup=to_plain(setup), topic=topic)
        self._told(record.thread_id, "created")
        return record.thread_id

    async def save_as_agent(self, setup: DebateSetup, name: str, description: str) -> str:
        """A definition file of it. Raises ConfigurationError for a name that is none."""
        if self._save_agent is None:
            raise KnownError("Agents cannot be saved here.", code="agents.none")
        return await self._save_agent(definition_of(self._clean(setup), name, description))

    # -- looking ------------------------------------------------------------------------------------------------------

    async def debates(self) -> Sequence[DebateRow]:
        """All debates, the latest first."""
        return await self._store.debates.rows()

    async def search(self, text: str) -> Sequence[SearchHit]:
        """Messages of debates with all these words."""
        return await self._store.search.messages(text=text, debates=True, limit=FOUND)

    async def state(self, thread_id: str) -> DebateState:
        """The state of a debate."""
        return (await self._newest(thread_id)).state()

    async def turns(self, thread_id: str) -> Sequence[TurnRecord]:
        """All finished turns on its path."""
        run = self._active.get(thread_id)
        return tuple(run.debate.turns) if run is not None else await self._store.debates.turns(thread_id=thread_id)

    async def interrupted_turn(self, thread_id: str) -> Sequence[MessageRecord]:
        """What stands of the turn that the end of the app cut off, also a half-written answer; nothing for most."""
        debate = await self._newest(thread_id)
        if debate.status != "paused" or debate.end_reason != "interrupted":
            return ()
        left = await self._store.debates.left(thread_id=thread_id)
        if not any(message.role == "assistant" for message in left) or not left[-1].run_id:
            return ()
        run = await self._store.runs.get(run_id=left[-1].run_id)
        return tuple(left) if run.end_reason == "interrupted" else ()

    async def as_side(self, thread_id: str, side: SideName) -> tuple[str, Sequence[ChatMessage]]:
        """What the side's next request would hold."""
        debate = await load(self._store, thread_id)
        seen = perspectives.Perspectives()
        path = await self._store.debates.since(message_id=debate.head, after="")
        seen.add(path, debate.turns)
        overlay = (await side_overlays(self._runtime, thread_id, path)).get(side, Overlay())
        for one in await self._store.queue.waiting(thread_id=thread_id):  # both read it before the next turn
            seen.add([moderated(one, parent_id=debate.head, run_id="", mask=self._runtime.mask)], ())
        checks = await self._checks()
        request = await checks.next_request(debate.setup, side, seen, len(debate.turns) + 1, overlay)
        return request.instructions, request.messages

    async def export(self, thread_id: str, path: Path, form: Literal["md", "html", "json"]) -> None:
        """Export a debate to a file. Raises KnownError when it cannot be written."""
        if form not in ("md", "html", "json"):
            raise ConfigurationError(f"There is no export format {form!r}.", next_step="Choose md, json or html.")
        debate = await load(self._store, thread_id)
        messages = await self._store.debates.since(message_id=debate.head, after="")
        mask = self._runtime.mask

        def write() -> None:
            data = mask(debates_export.render_debate(debate, messages, form)).encode("utf-8", "replace")
            write_whole(path, data, lasting=False)

        try:
            await asyncio.to_thread(write)
        except OSError as error:
            raise KnownError(
                f"{path} cannot be written: {error.strerror or error}.",
                next_step="Choose another place.",
                code="export.failed",
            ) from error

    # -- changing what is kept ----------------------------------------------------------------------------------------

    async def fork(self, thread_id: str, turn: int, setup: DebateSetup) -> str:
        """Make a debate that goes on after ``turn``: a pointer, no copy. The topic stays, for it was said."""
        origin = await self._newest(thread_id)
        turns = origin.turns
        if not 0 <= turn <= len(turns):
            raise KnownError(f"There is no turn {turn} in this debate.", next_step="Choose another one.")
        setup = self._clean(replace(setup, topic=origin.setup.topic))
        await self._refuse(setup)
        first = turns[turn - 1].last_message_id if turn else (await self._topic(origin)).message_id
        record = self._thread(replace(setup, title=setup.title or origin.thread.title))
        record = replace(record, project=origin.thread.project)
        await self._store.debates.fork(
            thread=record, setup=to_plain(setup), origin=thread_id, turn=turn, message_id=first
        )
        self._told(record.thread_id, "created")
        origin.forks = (*origin.forks, record.thread_id)
        state = origin.state()
        self._runtime.bus.publish(DebateChanged(thread_id=thread_id, run_id=state.run_id, state=state))
        return record.thread_id

    async def rename(self, thread_id: str, title: str) -> None:
        """Set the title that a person chose."""
        await self._store.threads.rename(thread_id=thread_id, title=self._runtime.mask(title), by_person=True)
        run = self._active.get(thread_id)
        if run is not None:
            run.debate.thread = await self._store.threads.get(thread_id=thread_id)
        self._told(thread_id, "title")

    async def restore(self, thread_id: str) -> None:
        """Bring a deleted debate back into the list."""
        await self._store.threads.restore(thread_id=thread_id)
        self._told(thread_id, "restored")

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _newest(self, thread_id: str) -> Debate:
        """The debate as it is now; while it runs, as its run has it. Raises NotFound."""
        run = self._active.get(thread_id)
        debate = run.debate if run is not None else await load(self._store, thread_id)
        debate.judging = thread_id in self._judging
        return debate

    async def _refuse(self, setup: DebateSetup) -> None:
        """Raise ConfigurationError with everything that is wrong (R-DEF-14)."""
        wrong = [problem for problem in await self.problems(setup) if not problem.warning]
        if wrong:
            told = "; ".join(f"{problem.path}: {problem.text}" for problem in wrong)
            raise ConfigurationError(f"This debate cannot start: {told.rstrip('.')}.", next_step="Correct the set-up.")

    def _clean(self, setup: DebateSetup) -> DebateSetup:
        """The set-up without known secrets, since it is stored and sent (R-SEC-1)."""
        setup = clean(setup, self._runtime.mask)
        sides = [replace(side, label=side.label.strip()[:80]) for side in (setup.a, setup.b)]
        return replace(setup, title=setup.title[:200], a=sides[0], b=sides[1])

    def _thread(self, setup: DebateSetup) -> ThreadRecord:
        now = time.time()
        title = setup.title or topic_title(self._runtime.redact(setup.topic[:_TITLE_LOOK])) or "Debate"
        return ThreadRecord(
            new_id(),
            title,
            now,
            now,
            setup.agent or DEBATE,
            setup.a.model,
            titled_by="person" if setup.title else "auto",
        )

    async def _topic(self, debate: Debate) -> MessageRecord:
        path = await self._store.debates.since(message_id=debate.head, after="")
        if not path:
            raise NotFound("The topic of that debate no longer exists.")
        return path[0]

    async def _changed(self, thread_id: str) -> None:
        state = await self.state(thread_id)
        self._runtime.bus.publish(DebateChanged(thread_id=thread_id, run_id=state.run_id, state=state))

    def _told(self, thread_id: str, what: str) -> None:
        self._runtime.bus.publish(ThreadChanged(thread_id=thread_id, run_id="", what=what))
