"""Where an import lies until a person keeps or cancels it, and which skills are in it.

The place is a folder of the app's data, outside of every folder that is searched for skills. Looking reads the files
as the list of skills does: nothing in them runs. Every method blocks; callers use a thread.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef, SkillProblem
from desktop.domain.text.places import FormatError
from desktop.files.private import make_folder, write_new
from desktop.skills.catalogue.scan import FOLDER_FILES, is_skill_file, owning_skill
from desktop.skills.formats.folder import FolderFile
from desktop.skills.formats.loader import decode, load_from_bytes, read_bytes
from desktop.skills.importing.archives import unpack
from desktop.skills.importing.limits import ImportRefused, StagedFiles
from desktop.skills.importing.reading import copy_folder, open_plain

MAX_SKILLS = 200
MAX_PASTED = 1_000_000
_SCRIPTS = frozenset(
    f".{ending}"
    for ending in "py js mjs cjs ts sh bash zsh fish ps1 bat cmd rb pl php lua r jar exe so dylib dll wasm".split()
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill in an import. ``rel`` is its file below the staged folder.

    ``definition`` is as it would be once it is kept, None where the file holds no skill that can be called, or several.
    ``files`` lie beside it and come along, ``scripts`` are those of them that a program can run.
    """

    rel: str
    definition: SkillDef | None
    problems: tuple[SkillProblem, ...]
    text: str
    files: tuple[FolderFile, ...] = ()
    scripts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The skill's name as its file says, or as its file is called."""
        if self.definition is not None:
            return self.definition.name
        return os.path.basename(os.path.dirname(self.rel)) or os.path.basename(self.rel)

    @property
    def size(self) -> int:
        """Bytes of all that comes along."""
        return len(self.text.encode("utf-8", "replace")) + sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class Staged:
    """An import that waits for an answer. ``links`` were left out; ``more``: there are skills beyond the limit."""

    folder: Path
    candidates: tuple[Candidate, ...]
    links: int = 0
    more: bool = False


class Staging:
    """``place`` is the app's folder for imports that nobody has kept yet. What an earlier run left there goes with the
    first import of this one."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._swept = False
        self._lock = threading.Lock()

    def from_path(self, path: str, stop: threading.Event) -> Staged:
        """A folder, an archive or a single skill file, whichever it is. Raises ImportRefused."""
        chosen = Path(path)
        if chosen.is_dir():
            return self._staged(lambda into: copy_folder(chosen, into), stop)
        if is_skill_file(chosen.name) or chosen.suffix == ".md":
            return self._staged(lambda into: _copy_file(chosen, into), stop)
        return self._staged(lambda into: unpack(chosen, into), stop)

    def from_text(self, text: str, stop: threading.Event) -> Staged:
        """The text of a SKILL.md. Raises ImportRefused."""
        data = text.encode("utf-8", "replace")
        if not text.strip() or len(data) > MAX_PASTED:
            raise ImportRefused("Paste the text of a SKILL.md: it begins with a line of three hyphens.")

        def write(into: StagedFiles) -> None:
            write_new(into.folder / "SKILL.md", data)

        return self._staged(write, stop)

    def discard(self, staged: Staged) -> None:
        """Delete what was staged."""
        shutil.rmtree(staged.folder, ignore_errors=True)

    def _staged(self, fill: Callable[[StagedFiles], None], stop: threading.Event) -> Staged:
        folder = self._fresh()
        try:
            into = StagedFiles(folder, stop)
            fill(into)
            staged = looked_at(folder, into.links)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if not staged.candidates:
            self.discard(staged)
            raise ImportRefused(
                "There is no skill in it: no SKILL.md and no file that ends with .skill.md, .skill.py or .skill.js.",
                next_step="Choose the folder that the SKILL.md lies in.",
            )
        return staged

    def _fresh(self) -> Path:
        try:
            with self._lock:
                if not self._swept:
                    shutil.rmtree(self._place, ignore_errors=True)
                    self._swept = True
                make_folder(self._place)
            return Path(tempfile.mkdtemp(prefix="import-", dir=self._place))
        except OSError as error:
            raise ImportRefused(f"There is no place to look at it: {error.strerror}.") from error


def _copy_file(path: Path, into: StagedFiles) -> None:
    """Copy a single file: any ``.md`` that is no skill file becomes a SKILL.md."""
    name = path.name if is_skill_file(path.name) else "SKILL.md"
    try:
        with open_plain(path) as source:
            into.write(into.wanted(name), source)
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror}.") from error


# -- what is in it ----------------------------------------------------------------------------------------------------


def looked_at(folder: Path, links: int = 0, *, most: int = MAX_SKILLS) -> Staged:
    """The skills below a folder, at most so many. Blocks."""
    sizes = dict(_sizes(folder))
    skills = [rel for rel in sizes if is_skill_file(rel.rpartition("/")[2])]
    mains = sorted(skills, key=lambda rel: (rel.count("/"), rel))
    folders = {rel for rel in mains if rel.rpartition("/")[2] in FOLDER_FILES}
    beside: dict[str, list[FolderFile]] = {}
    for rel, size in sizes.items():
        owner = None if rel in mains else owning_skill(rel, folders)
        if owner is not None:
            below = rel[len(owner.rpartition("/")[0]) :].lstrip("/")
            beside.setdefault(owner, []).append(FolderFile(below, size))
    found = tuple(candidate_of(folder, rel, beside.get(rel, ())) for rel in mains[:most])
    return Staged(folder, found, links, len(mains) > most)


def _sizes(folder: Path) -> Iterable[tuple[str, int]]:
    for above, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(above, name)
            yield os.path.relpath(path, folder).replace(os.sep, "/"), os.lstat(path).st_size


def candidate_of(folder: Path, rel: str, files: Iterable[FolderFile] = ()) -> Candidate:
    """One skill below a folder, with the files beside it. Blocks."""
    try:
        data, _ = read_bytes(str(folder / rel))
        text = decode(data)
    except FormatError as error:
        problem = SkillProblem(rel, f"{error}.", error.line, error.column, code=error.code)
        return Candidate(rel, None, (problem,), "")
    loaded = load_from_bytes(data, str(folder / rel), source="mine", root=str(folder))
    if len(loaded.definitions) > 1:  # only one would be looked at, and rules for the names of the others would fit
        names = ", ".join(one.name for one in loaded.definitions[:10])
        what = f"This file holds several skills ({names}). Put each in a file of its own, so that you can look at each."
        return Candidate(rel, None, (SkillProblem(rel, what, code="import.several"),), text)
    definition = loaded.definitions[0] if loaded.definitions else None
    problems = tuple(problem for problem in loaded.problems if problem.code != "name.folder")
    listed = tuple(sorted(files, key=lambda file: (file.path.count("/"), file.path)))
    scripts = tuple(file.path for file in listed if _is_script(folder / os.path.dirname(rel) / file.path))
    return Candidate(rel, definition, problems, text, listed, scripts)


def _is_script(path: Path) -> bool:
    return path.suffix.lower() in _SCRIPTS or os.access(path, os.X_OK)
