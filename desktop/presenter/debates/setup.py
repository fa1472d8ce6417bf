"""Setting up a debate: what a person chose so far, what is wrong with it, what each side could use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.debates import DebateSetup, DebateTemplate, SidePreview, SideSetup, ToolOffer
from desktop.domain.definitions import SIDES, DefinitionProblem, SideName
from desktop.domain.errors import AssentError, KnownError

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.debates.service import DebateService

DELAY = 250
"""Milliseconds after the last change before it is looked at."""


class DebateFolder(QObject):
    """The folder of the debate that is set up, as ``ProjectsViewModel`` chooses it."""

    project_changed = Signal(str)

    def __init__(self, setup: DebateSetupViewModel) -> None:
        super().__init__(setup)
        self._setup = setup
        setup.changed.connect(lambda: self.project_changed.emit(self.project))

    @property
    def thread_id(self) -> str:
        """It has no thread before it is started."""
        return ""

    @property
    def project(self) -> str:
        """The folder, or ""."""
        return self._setup.setup.project

    def set_project(self, path: str) -> None:
        """Both sides work in this folder."""
        self._setup.set(project=path)
        self._setup.changed.emit()


class DebateSetupViewModel(QObject):
    """One set-up under way. Problems and previews of an older state of it are dropped."""

    loaded = Signal()
    changed = Signal()
    checked = Signal(object)
    previewed = Signal(object)
    offers_changed = Signal(str)
    created = Signal(str)
    said = Signal(str)
    settled = Signal(object)
    """The set-up a moment after it was changed: to be kept."""

    def __init__(self, service: DebateService, bridge: Bridge) -> None:
        super().__init__()
        self._service, self._bridge = service, bridge
        self.templates: tuple[DebateTemplate, ...] = ()
        self.definitions: tuple[DebateTemplate, ...] = ()
        self.prompts: tuple[str, ...] = ()
        self.offers: dict[SideName, tuple[ToolOffer, ...]] = {"a": (), "b": ()}
        self.problems: tuple[DefinitionProblem, ...] = ()
        self.default_model = ""
        self.setup = DebateSetup("", SideSetup(""), SideSetup(""))
        self._aside: dict[SideName, SideSetup] = {}
        """Of a side whose kind of prompt was changed: what it had with the other kind."""
        self._number = 0
        self.starting = False
        self._later = bridge.later(self, self._settle, DELAY)

    # -- what is chosen -----------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read templates, agents and prompts; the first template is chosen."""
        self.templates = tuple(self._service.templates())
        if self.templates and not self.setup.template:
            self.choose(self.templates[0].name)
        self.reload()

    def reload(self) -> None:
        """Read agents and prompts again: what was written meanwhile is offered, ``loaded`` says that there is more."""
        self._bridge.spawn(self._load(), name="read prompts", on_error=self._failed)

    async def _load(self) -> None:
        before = (self.prompts, self.definitions)
        self.prompts = tuple(await self._service.prompts())
        self.definitions = tuple(await self._service.definitions())
        if (self.prompts, self.definitions) != before:
            self.loaded.emit()

    def choose(self, name: str) -> None:
        """Begin with a template; a topic that a person typed is kept."""
        template = next((t for t in self.templates if t.name == name), None)
        if template is None:
            return
        self._begin(replace(template.setup, template=name))

    def choose_agent(self, name: str) -> None:
        """Begin with an agent of two sides, as it is now; a topic that a person typed is kept."""

        async def work() -> None:
            await self._load()
            found = next((one for one in self.definitions if one.name == name), None)
            if found is None:
                self.said.emit("This agent is not there any more, or has one side only.")
            else:
                self._begin(found.setup)

        self._bridge.spawn(work(), name="begin with agent", on_error=self._failed)

    def _begin(self, setup: DebateSetup) -> None:
        examples = {t.setup.topic for t in self.templates}
        typed = self.setup.topic if self.setup.topic not in examples else ""
        setup = replace(setup, topic=typed or setup.topic, project=self.setup.project)
        for side in SIDES:
            if not setup.side(side).model:
                setup = setup.with_side(side, replace(setup.side(side), model=self.default_model))
        self.take(setup)

    def take(self, setup: DebateSetup) -> None:
        """Replace the whole set-up."""
        self._aside.clear()
        self.setup = setup
        self.changed.emit()
        for side in SIDES:
            self.read_offers(side)
        self._later.start()

    def set(self, **changes: Any) -> None:
        """Something of the whole: topic, turns, cost, tokens."""
        self.setup = replace(self.setup, **changes)
        self._later.start()

    def set_side(self, side: SideName, **changes: Any) -> None:
        """Something of a side; another prompt brings its own tools."""
        before = self.setup.side(side)
        if "prompt" in changes and changes["prompt"] != before.prompt:
            changes = {"tools": None, "prompt_text": "", **changes}
        self.setup = self.setup.with_side(side, replace(before, **changes))
        if "prompt" in changes:
            self.read_offers(side)
        self._later.start()

    def write_here(self, side: SideName, here: bool) -> None:
        """A prompt that is written in the set-up, or again a skill. What the side had with the other kind comes back; a
        prompt that is written has no tools until a person adds some."""
        before = self.setup.side(side)
        if here == (not before.prompt):
            return
        fresh = SideSetup("", tools=()) if here else SideSetup(next(iter(self.prompts), ""))
        known = self._aside.get(side, fresh)
        self._aside[side] = before
        changed = replace(before, prompt=known.prompt, prompt_text=known.prompt_text, tools=known.tools)
        self.setup = self.setup.with_side(side, changed)
        self.changed.emit()
        self.read_offers(side)
        self._later.start()

    def set_end_tool(self, tool: str) -> None:
        """The tool with which any side that has it ends everything, or none."""
        for side in SIDES:
            has = not self.offers[side] or any(offer.name == tool for offer in self.offers[side])
            self.set_side(side, end_session_tool=tool if has else "")

    def tools_of(self, side: SideName) -> tuple[str, ...]:
        """The tools that are chosen for a side: all that are offered, or those that are named."""
        chosen = self.setup.side(side).tools
        return tuple(offer.name for offer in self.offers[side]) if chosen is None else chosen

    def read_offers(self, side: SideName) -> None:
        """What the prompt's skill allows at most, or a prompt that is written here."""
        prompt = self.setup.side(side).prompt

        async def work() -> None:
            try:
                found = tuple(await self._service.tools_of(prompt))
            except KnownError:
                found = ()  # the check says what is wrong with the prompt
            if prompt == self.setup.side(side).prompt:
                self.offers[side] = found
                self.offers_changed.emit(side)

        self._bridge.spawn(work(), name="read tools")

    # -- checking -----------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        self.settled.emit(self.setup)
        self.check()

    def check(self) -> None:
        """Look now for what keeps the debate from starting."""
        self._later.stop()
        self._number += 1
        number, setup = self._number, self.setup

        async def work() -> None:
            problems = tuple(await self._service.problems(setup))
            if number == self._number:
                self.problems = problems
                self.checked.emit(problems)

        self._bridge.spawn(work(), name="check debate", on_error=self._failed)

    @property
    def errors(self) -> tuple[DefinitionProblem, ...]:
        """What keeps it from starting, as last checked."""
        return tuple(problem for problem in self.problems if not problem.warning)

    def preview(self) -> None:
        """Preview both sides as they would run; ``previewed`` follows."""
        setup = self.setup

        async def work() -> None:
            found: Mapping[SideName, SidePreview] = await self._service.preview(setup)
            self.previewed.emit(found)

        self._bridge.spawn(work(), name="preview debate", on_error=self._failed)

    # -- acting -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Store it and begin, unless something is wrong with it as it is now: what was last checked may be older."""
        if self.starting:
            return
        self.starting, setup = True, self.setup

        async def work() -> None:
            try:
                wrong = [problem for problem in await self._service.problems(setup) if not problem.warning]
                if wrong:
                    self.said.emit(wrong[0].text)
                    return
                thread_id = await self._service.create(setup)
                if self.setup.project:  # the next one has none until it is chosen
                    self.setup = replace(self.setup, project="")
                    self.changed.emit()
                self.created.emit(thread_id)
                await self._service.start(thread_id)
            finally:
                self.starting = False

        self._bridge.spawn(work(), name="start debate", on_error=self._failed)
        self.check()

    def save_as_agent(self, name: str, description: str) -> None:
        """Save the set-up as the definition of an agent."""

        async def work() -> None:
            path = await self._service.save_as_agent(self.setup, name, description)
            self.said.emit(f"Saved as {path}.")
            self.reload()

        self._bridge.spawn(work(), name="save agent", on_error=self._failed)

    def _failed(self, error: AssentError) -> None:
        self.said.emit(error.advice)


def problem_of(problems: Sequence[DefinitionProblem], path: str) -> str:
    """What is wrong at a place, in a sentence; "" where nothing is."""
    return next((p.text for p in problems if p.path == path and not p.warning), "")
