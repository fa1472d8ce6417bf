"""Importing skills: something is looked at, a person sees what it is and where it would go, and keeps or cancels it."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import AssentError, KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import count_words, size_words
from desktop.presenter.skills.import_plan import Choice, Planned, planned
from desktop.presenter.skills.words import KIND_WORDS, source_word
from desktop.services.skills.imports import Candidate, Collision, Fits, ImportResult, Staged, Target

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.presenter.skills.page import SkillsViewModel
    from desktop.services.skills.editing import SkillService

__all__ = ["Candidate", "Fits", "Note", "SkillImport", "Staged", "Target", "facts_of", "notes_of", "target_words"]

UNDONE = 20
SCRIPTS_NAMED = 12
_RUNS = {
    Category.READ: "Its code runs without asking: it says that it only reads. It runs confined, or not at all.",
    Category.WRITE: "Its code asks before it runs. It runs confined, or not at all.",
    Category.ADMIN: "Its code asks each time, as a call that may change anything.",
}


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence about an import that a person should not miss. ``kind``: info | ask | failed."""

    kind: str
    sentence: str


class SkillImport(QObject):
    """One import at a time. ``staged_changed`` after there is something to look at, or nothing any more; ``fitted``
    after it is known how it fits the chosen folder; ``refused`` when it cannot be imported; ``kept`` when it was."""

    staged_changed = Signal()
    fitted = Signal()
    refused = Signal(str)
    kept = Signal()

    def __init__(self, service: SkillService, bridge: Bridge, skills: SkillsViewModel) -> None:
        super().__init__()
        self._imports, self._bridge, self._skills = service.imports, bridge, skills
        self._work: Any = None
        self._number = 0
        self._undo: dict[str, ImportResult] = {}
        self.staged: Staged | None = None
        self.targets: tuple[Target, ...] = ()
        self.target: Target | None = None
        self.ticked: set[int] = set()
        self.fits: dict[int, Fits] = {}
        self.choice: Choice = "both"
        self.busy = False

    # -- looking ------------------------------------------------------------------------------------------------------

    def look_at(self, path: str) -> None:
        """Look at a folder, an archive or a file to import."""
        self._begin(lambda: self._imports.stage(path))

    def look_at_text(self, text: str) -> None:
        """Look at a SKILL.md that was pasted."""
        self._begin(lambda: self._imports.stage_text(text))

    def _begin(self, work: Callable[[], Coroutine[Any, Any, Staged]]) -> None:
        self.cancel()
        self.busy = True
        self._work = self._bridge.spawn(self._look(work, self._number), name="look at import", on_error=self._refused)

    async def _look(self, work: Callable[[], Coroutine[Any, Any, Staged]], number: int) -> None:
        targets = await self._imports.targets()
        staged = await work()  # the last that is waited for: a copy that nobody holds would stay
        self.busy = False
        self.staged, self.targets = staged, targets
        self.target = self.targets[0]
        self.ticked = {0} if len(staged.candidates) == 1 and staged.candidates[0].definition is not None else set()
        self.staged_changed.emit()
        await self._fit(number)

    async def _fit(self, number: int) -> None:
        staged, target = self.staged, self.target
        if staged is None or target is None:
            return
        found = {at: await self._imports.fits(staged, one, target) for at, one in enumerate(staged.candidates)}
        if number == self._number and target is self.target:
            self.fits = found
            self.fitted.emit()

    def cancel(self) -> None:
        """Cancel the import and leave nothing behind."""
        self._number += 1
        self.busy = False
        if self._work is not None and not self._work.done():
            self._work.cancel()
        self._work = None
        staged, self.staged = self.staged, None
        self.ticked, self.fits, self.choice = set(), {}, "both"
        if staged is not None:
            self._bridge.spawn(self._imports.cancel(staged), name="cancel import")
            self.staged_changed.emit()

    # -- choosing -----------------------------------------------------------------------------------------------------

    def go_to(self, at: int) -> None:
        """Choose another target folder."""
        if 0 <= at < len(self.targets) and self.targets[at] is not self.target:
            self.target = self.targets[at]
            self.fits = {}
            self.fitted.emit()
            self._bridge.spawn(self._fit(self._number), name="fit import", on_error=self._refused)

    def tick(self, at: int, on: bool) -> None:
        """Take one along, or not. What holds no skill cannot be taken."""
        if self.staged is not None and on and self.staged.candidates[at].definition is not None:
            self.ticked.add(at)
        else:
            self.ticked.discard(at)
        self.fitted.emit()

    @property
    def collides(self) -> bool:
        """Whether a ticked one has a name that is taken where it would go."""
        return any(at in self.fits and self.fits[at].taken for at in self.ticked)

    def resolve(self, choice: Choice) -> None:
        """Choose what is done where a name is taken."""
        self.choice = choice
        self.fitted.emit()

    @property
    def plan(self) -> dict[int, Planned]:
        """What each ticked one would be called, and why."""
        found = self.staged.candidates if self.staged is not None else ()
        return planned({at: found[at] for at in self.ticked if at < len(found)}, self.fits, self.choice)

    def warning(self) -> str:
        """What the ticked ones would do that nobody may have looked at, or "". For an import of several."""
        if self.staged is None or len(self.staged.candidates) < 2:
            return ""
        ticked = [(self.staged.candidates[at], self.fits[at]) for at in sorted(self.ticked) if at in self.fits]
        code = [one.name for one, fits in ticked if _runs_unasked(one, fits)]
        instead = [one.name for one, fits in ticked if fits.before]
        parts = [f"Agents can run code of {_named(code)} without asking you."] if code else []
        parts += [f"Agents would get {_named(instead)} instead of the ones that have this name now."] if instead else []
        return " ".join(parts)

    @property
    def ready(self) -> bool:
        """Whether there is something to import, and how it fits is known."""
        known = self.staged is not None and not self.busy and self.ticked <= self.fits.keys()
        return known and any(one.name for one in self.plan.values())

    # -- keeping ------------------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Take what is ticked. What was looked at is what is kept: the same staged files."""
        staged, target = self.staged, self.target
        if staged is None or target is None or not self.ready:
            return
        self.busy = True
        plan = self.plan
        wanted = tuple(staged.candidates[at] for at in sorted(plan) if plan[at].name)
        work = self._keep(staged, wanted, target, self.choice)
        self._bridge.spawn(work, name="import skills", on_error=self._refused)

    async def _keep(self, staged: Staged, wanted: tuple[Candidate, ...], target: Target, choice: Choice) -> None:
        collision: Collision = "replace" if choice == "replace" else "both"
        kept = await self._imports.keep(staged, wanted, target, collision)
        self.busy = False
        self.staged = None
        self._number += 1
        self._undo[kept.token] = kept
        while len(self._undo) > UNDONE:
            del self._undo[next(iter(self._undo))]
        self._skills.wrote(*kept.paths)
        self.kept.emit()
        named = kept.names[0] if len(kept.names) == 1 else count_words(len(kept.names), "skill")
        replaced = " in place of the one that was there" if kept.put_aside else ""
        await self._skills.show_new((kept.paths[0], kept.names[0]))
        self._skills.said.emit(f"{named} imported{replaced}", kept.token)

    def undo(self, token: str) -> None:
        """Take out what was imported, and bring back what it replaced."""
        kept = self._undo.pop(token, None)
        if kept is not None:
            self._bridge.spawn(self._take_back(kept), name="undo import", on_error=self._skills.tell)

    async def _take_back(self, kept: ImportResult) -> None:
        try:
            back = await self._imports.undo(kept)
        except KnownError as error:
            self._undo[kept.token] = kept  # another try goes on with the rest
            self._skills.said.emit(error.advice, kept.token)
            return
        self._skills.wrote(*back.paths)
        if back.words:
            self._skills.said.emit(back.words, "")
        self._skills.select(None)
        await self._skills.renew()

    def _refused(self, error: AssentError) -> None:
        self.busy = False
        self.refused.emit(error.advice)


def target_words(target: Target) -> str:
    """Where it goes, for a list to choose from."""
    if not target.project:
        return "Your own skills"
    return f"Project {os.path.basename(target.project) or target.project}"


def facts_of(candidate: Candidate, fits: Fits | None) -> tuple[tuple[str, str, bool], ...]:
    """(caption, words, as code) of what a person should know before keeping it."""
    definition = candidate.definition
    if definition is None:
        return ()
    allowed = definition.allowed_tools
    found = [("Is", KIND_WORDS.get(definition.kind, definition.kind), False)]
    if definition.is_code and fits is not None and fits.category is not None:
        found.append(("Runs", _RUNS[fits.category], False))
    if definition.role not in ("", "context"):
        found.append(("Role", definition.role, False))
    calls = "every skill that is not hidden" if allowed is None else allowed or "nothing"
    found.append(("May call", calls, bool(allowed)))
    number = len(candidate.files) + 1
    found.append(("Files", f"{count_words(number, 'file')}, {size_words(candidate.size)}", False))
    named = ", ".join(candidate.scripts[:SCRIPTS_NAMED])
    more = len(candidate.scripts) - SCRIPTS_NAMED
    scripts = f"{named} and {more:,} more" if more > 0 else named
    found.append(("Scripts", scripts or "none", bool(scripts)))
    if definition.tags:
        found.append(("Tags", " ".join(f"#{tag}" for tag in definition.tags), False))
    return tuple(found)


def notes_of(candidate: Candidate, fits: Fits | None, target: Target | None) -> tuple[Note, ...]:
    """What should not be missed, gravest first."""
    found: list[Note] = []
    definition = candidate.definition
    if definition is None:
        found.append(Note("failed", "This cannot be imported: it holds no skill that could be called."))
    elif definition.state == "broken":
        found.append(Note("failed", "It has mistakes and does not run until you correct them."))
    if fits is not None:
        found += _standing(candidate, fits)
        if _runs_unasked(candidate, fits):
            found.append(Note("ask", "An agent can run this code without asking you. Import it only if you trust it."))
    if target is not None and target.project and not target.trusted:
        found.append(Note("info", "The project is not trusted, so agents cannot see it until you trust the project."))
    if candidate.scripts:
        words = "Importing runs nothing. An agent that wants to run a script asks you, as for any command."
        found.append(Note("info", words))
    return tuple(found)


def _standing(candidate: Candidate, fits: Fits) -> list[Note]:
    found = []
    if fits.taken:
        found.append(Note("ask", f"You have something called {candidate.name} there already."))
    if fits.before:
        whose = " and ".join(source_word(source) for source in fits.before)
        words = f"There is another {candidate.name} ({whose}). Agents would get this one instead of it."
        found.append(Note("ask", words))
    if fits.behind:
        word = source_word(fits.behind)
        words = f"There is another {candidate.name} ({word}), which agents keep using instead of this one."
        found.append(Note("info", words))
    return found


def _runs_unasked(candidate: Candidate, fits: Fits) -> bool:
    return candidate.definition is not None and candidate.definition.is_code and fits.category is Category.READ


def _named(names: list[str]) -> str:
    more = f" and {len(names) - SCRIPTS_NAMED:,} more" if len(names) > SCRIPTS_NAMED else ""
    return ", ".join(names[:SCRIPTS_NAMED]) + more
