"""The agents that can be chosen: definitions of all folders, by name, and what is wrong with their files
(R-DEF-16, R-DEF-17).

Files of a project are pinned like its skills: what is there when the folder is met for the first time has been seen;
what changes or arrives later, by whomever it was written, is off until the person has looked at it (R-FS-10).
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from desktop.domain.definitions import AgentDefinition, DefinitionProblem
from desktop.domain.errors import KnownError, NotFound
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.supervision import Priority
from desktop.services.definitions.others import PREFIX
from desktop.services.definitions.text import SUFFIXES, AgentText, read_raw, read_text, text_of
from desktop.skills.catalogue.index import digest_of
from desktop.skills.catalogue.pins import Fingerprint, Pins
from desktop.skills.resolution.folders import admit

DEFAULT_AGENT = "assistant"
MAX_FILES = 500
_LOG = logging.getLogger(__name__)
AgentSource = Literal["mine", "library", "project"]


@dataclass(frozen=True, slots=True)
class AgentFolder:
    """A folder of definitions. Of two with one name the one of the earlier folder counts."""

    path: str
    source: AgentSource = "mine"


@dataclass(frozen=True, slots=True)
class AgentFile:
    """A file as it is now. ``kept``: it is broken, and ``definition`` is what it said before; None: it never was a
    definition, or another file has its name. ``unseen``: the digest of a content that is off until a person has seen
    it; empty for what is in force."""

    path: str
    source: AgentSource
    definition: AgentDefinition | None
    problems: tuple[DefinitionProblem, ...] = ()
    kept: bool = False
    unseen: str = ""

    @property
    def broken(self) -> bool:
        """Whether an error stands in the file as it is now."""
        return any(not problem.warning for problem in self.problems)


class AgentBook:
    """The definitions by name. What it holds is replaced as a whole when files change, in any thread: a run reads its
    agent once, so a change counts for the next one. Listeners are called in the thread that saw the change."""

    def __init__(self, agents: Mapping[str, AgentDefinition] | None = None, files: Sequence[AgentFile] = ()) -> None:
        self.agents: Mapping[str, AgentDefinition] = dict(agents or {})
        self.files: tuple[AgentFile, ...] = tuple(files)
        self._listeners: list[Callable[[], None]] = []
        self._others: Mapping[str, AgentDefinition] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with files, a sentence each; warnings are left out."""
        return tuple(sentence_of(file) for file in self.files if file.broken)

    def get(self, name: str) -> AgentDefinition:
        """One definition, or NotFound."""
        found = self.agents.get(name or DEFAULT_AGENT)
        if found is None and name.startswith(PREFIX):
            what = f"{name.removeprefix(PREFIX)} is off, or its program has changed since you looked at it."
            raise NotFound(what, next_step="Switch it on in Settings, Other agents, or choose another agent.")
        if found is None:
            raise NotFound(f"There is no agent named {name!r}.", next_step="Choose another agent.")
        return found

    def priority_of(self, name: str, usual: Priority) -> Priority:
        """What a definition says; ``usual`` where it says nothing, or is gone."""
        found = self.agents.get(name or DEFAULT_AGENT)
        return found.priority if found is not None and found.priority is not None else usual

    def chat(self) -> tuple[AgentDefinition, ...]:
        """The agents that a person can talk to, in order of their names."""
        return tuple(one for _, one in sorted(self.agents.items()) if one.type == "ai_human")

    def put(self, files: Sequence[AgentFile]) -> None:
        """Replace all definitions by those of these files."""
        agents = {file.definition.name: file.definition for file in files if file.definition is not None}
        self.agents, self.files = {**self._others, **agents}, tuple(files)
        self._tell()

    def put_others(self, others: Mapping[str, AgentDefinition]) -> None:
        """Replace those that are in no file: a file takes no name away from the person, so theirs win."""
        agents = {name: agent for name, agent in self.agents.items() if self._others.get(name) is not agent}
        self._others = dict(others)
        self.agents = {**self._others, **agents}
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Called after every change; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


def sentence_of(file: AgentFile) -> str:
    """A file's errors in one sentence, with what counts meanwhile."""
    errors = "; ".join(problem.shown for problem in file.problems if not problem.warning)
    kept = " What it said before counts until it is corrected." if file.kept else ""
    return f"{Path(file.path).name}: {errors}.{kept}"


class AgentFiles:
    """Reads the folders into a book, and again when they change. Every method blocks: use a thread. ``pins`` is what
    was seen of the files of projects; without it they are as good as one's own."""

    def __init__(self, folders: Sequence[AgentFolder], book: AgentBook | None = None, pins: Pins | None = None) -> None:
        self.book = book if book is not None else AgentBook()
        self._folders = tuple(folders)
        self._pins = pins
        self._good: dict[str, AgentDefinition] = {}
        self._lock = threading.Lock()

    @property
    def folders(self) -> tuple[AgentFolder, ...]:
        """The folders in order: an earlier one wins."""
        return self._folders

    def set_folders(self, folders: Sequence[AgentFolder]) -> None:
        """Search these from now on. What was seen in a folder that goes is forgotten: whoever trusts it again has seen
        what is there then."""
        with self._lock:
            gone = {one.path for one in self._folders} - {one.path for one in folders}
            self._folders = tuple(folders)
            if self._pins is not None and gone:
                _forget(self._pins, gone)
        self.reload()

    def accept(self, path: str, digest: str) -> None:
        """A person has seen a project's file with this content: it is in force. Raises KnownError when it has another
        one by now, or is not a project's."""
        with self._lock:
            folder = next((one for one in self._folders if one.path == os.path.dirname(path)), None)
            if self._pins is None or folder is None or folder.source != "project":
                raise NotFound(f"{path} is not an agent of a project.")
            found = _print_of(path)
            if found is None or found.main != digest:
                raise KnownError(
                    "The file has changed once more since it was shown.",
                    next_step="Look at it again.",
                    code="agents.changed_again",
                )
            self._pins.accept(found, seen=found.digest)
        self.reload()

    def reload(self) -> AgentBook:
        """Read all files again; the last good version of a file that is broken now stays in force."""
        with self._lock:
            files = [file for folder in self._folders for file in self._files_of(folder)]
            self._good = {file.path: file.definition for file in files if file.definition is not None}
            self.book.put(_without_doubles(files))
        return self.book

    def _files_of(self, folder: AgentFolder) -> Iterator[AgentFile]:
        paths, pinned = _paths(folder), self._pins is not None and folder.source == "project"
        if self._pins is not None and pinned:
            admit(self._pins, folder.path, [found for found in map(_print_of, paths) if found is not None])
        for path in paths:
            yield self._read(path, folder, self._pins if pinned else None)

    def _read(self, path: str, folder: AgentFolder, pins: Pins | None) -> AgentFile:
        try:
            raw = read_raw(path)
            if pins is not None and not pins.allows(path, raw):
                return AgentFile(path, folder.source, None, (_UNSEEN,), unseen=digest_of(raw))
            said = read_text(text_of(raw), path, places=False)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            said = AgentText(None, (DefinitionProblem("", "file.unreadable", f"it cannot be read: {reason}"),))
        last = self._good.get(path) if said.definition is None else None
        return AgentFile(path, folder.source, said.definition or last, said.problems, kept=last is not None)


_UNSEEN = DefinitionProblem(
    "", "file.unseen", "it is new or has changed since you looked at it, and is off until you have"
)


def _forget(pins: Pins, folders: Iterable[str]) -> None:
    try:
        pins.forget(folders)
    except (KnownError, OSError) as error:  # the folders are no longer read whatever was kept of them
        _LOG.warning("what was seen of agents could not be forgotten: %s", error)


def _print_of(path: str) -> Fingerprint | None:
    """A file's content as pins know it; None where there is none."""
    try:
        return Fingerprint(path, {os.path.basename(path): digest_of(read_raw(path))})
    except (OSError, ValueError):
        return None


def _paths(folder: AgentFolder) -> list[str]:
    """The files of a folder, and not of those in it; hidden ones are left out."""
    try:
        names = sorted(entry.name for entry in Path(folder.path).iterdir())
    except OSError:
        return []
    found = [name for name in names if name.endswith(SUFFIXES) and not name.startswith(".")]
    return [str(Path(folder.path) / name) for name in found[:MAX_FILES]]


def _without_doubles(files: Sequence[AgentFile]) -> list[AgentFile]:
    """Keep the first of several files with the same name; the others get an error (R-DEF-17)."""
    taken: dict[str, str] = {}
    found = []
    for file in files:
        name = file.definition.name if file.definition is not None else ""
        if name and name in taken:
            text = f"the name {name} is already taken by {taken[name]}"
            problem = DefinitionProblem("name", "name.duplicate", text)
            file = AgentFile(file.path, file.source, None, (*file.problems, problem))
        elif name:
            taken[name] = file.path
        found.append(file)
    return found
