"""Saving and managing skill files: atomic, guarded against changes made meanwhile, and undone on request.

Every method blocks; callers use a thread. ``changed`` is called with each path before a method returns, so that no
cache shows what is no longer there (R-SK-13).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from desktop.domain.errors import KnownError
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.files.private import close_to_others, make_folder, mode_of, name_new, unfinished, write_new, write_whole
from desktop.skills.names import is_bare_name
from desktop.systems import open_flags

MAX_BYTES = 1_000_000
TRASH_KEPT = 200
_NOTE = "assent-deleted.json"
_MAINS = ("SKILL.md", "skill.md")


class EditConflict(KnownError):
    """The file is not what it was when it was opened. ``theirs`` is its text now, None when it is gone."""

    code = "skill.conflict"

    def __init__(self, path: str, theirs: str | None) -> None:
        what = "was deleted" if theirs is None else "was changed by another program"
        super().__init__(f"{path} {what} since it was opened.", next_step="Compare, then save over it or reload.")
        self.theirs = theirs


class CannotSave(KnownError):
    """The disk or the rights say no; nothing was changed."""

    code = "skill.not_saved"


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A skill file as it was read. ``digest`` is sha256 of its bytes; ``bom`` whether it began with one.

    ``text`` has the line ends of the file; ``writable`` is False where the person's rights or its place forbid it.
    """

    path: str
    text: str
    digest: str
    bom: bool = False
    writable: bool = True


@dataclass(frozen=True, slots=True)
class Deleted:
    """What was put aside: ``token`` brings it back to ``path``."""

    token: str
    path: str
    name: str
    at: float


def digest_of(data: bytes) -> str:
    """The sha256 of the data in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


class SkillFiles:
    """``trash`` is a folder of the app's data; ``writable_roots`` are where skills may be made, changed and deleted."""

    def __init__(
        self, trash: Path, writable_roots: Callable[[], tuple[str, ...]], changed: Callable[[str], None]
    ) -> None:
        self._trash = trash
        self._roots = writable_roots
        self._changed = changed
        self._open: set[str] = set()

    # -- reading and saving -------------------------------------------------------------------------------------------

    def open(self, path: str) -> OpenFile:
        """Raises CannotSave (a KnownError) for a file that cannot be read as UTF-8 text."""
        data = _read(path)
        bom = data.startswith(b"\xef\xbb\xbf")
        try:
            text = data[3 if bom else 0 :].decode("utf-8")
        except UnicodeDecodeError as error:
            raise CannotSave(f"{path} is not UTF-8 text (byte {error.start}).", code="skill.not_text") from error
        return OpenFile(path, text, digest_of(data), bom, self.may_change(path))

    def may_change(self, path: str) -> bool:
        """Whether this file lies in a folder of the person's and can be written."""
        real = os.path.realpath(path)
        inside = any(_within(real, os.path.realpath(root)) for root in self._roots())
        return inside and os.access(real if os.path.exists(real) else os.path.dirname(real), os.W_OK)

    def save(self, opened: OpenFile, text: str, *, over: bool = False) -> OpenFile:
        """Replace the file at once or not at all. Raises EditConflict when it changed meanwhile, unless ``over``."""
        path = os.path.realpath(opened.path)
        self._require(path)
        data = (b"\xef\xbb\xbf" if opened.bom else b"") + text.encode("utf-8")
        if len(data) > MAX_BYTES:
            raise CannotSave(f"A skill file has at most {MAX_BYTES} bytes; this has {len(data)}.")
        self._unchanged(opened, path, over)
        _replace(path, data)
        self._changed(opened.path)
        return OpenFile(opened.path, text, digest_of(data), opened.bom, True)

    @staticmethod
    def _unchanged(opened: OpenFile, path: str, over: bool) -> None:
        if over:
            return
        try:
            now = _read(path)
        except CannotSave:
            if not os.path.exists(path):
                raise EditConflict(opened.path, None) from None
            raise
        if digest_of(now) != opened.digest:
            raise EditConflict(opened.path, now.decode("utf-8", "replace").removeprefix("\ufeff"))

    # -- making, moving, deleting -------------------------------------------------------------------------------------

    def create(self, root: str, name: str, text: str, *, folder: bool) -> str:
        """A new skill in ``root``: ``name/SKILL.md`` or ``name.skill.md``; the path. Never over an existing one."""
        _require_name(name)
        path = os.path.join(root, name, "SKILL.md") if folder else os.path.join(root, f"{name}.skill.md")
        return self.create_file(path, text)

    def create_file(self, path: str, text: str) -> str:
        """A new file with this text. Raises CannotSave when there is one already."""
        self._require(path)
        try:
            make_folder(os.path.dirname(path))
            write_new(path, text.encode("utf-8"))
        except FileExistsError as error:
            raise CannotSave(f"{path} exists already.", next_step="Choose another name.") from error
        except OSError as error:
            raise CannotSave(f"{path} could not be made: {error.strerror}.") from error
        self._changed(path)
        return path

    def duplicate(self, path: str, root: str, name: str) -> str:
        """A copy in ``root`` under another name, with everything that belongs to it; the new path. The name inside
        the file is the caller's to change."""
        _require_name(name)
        source = Path(path)
        if source.name == "SKILL.md":
            target = Path(root) / name
            self._require(str(target))
            if target.exists():
                raise CannotSave(f"{target} exists already.", next_step="Choose another name.")
            _copy_folder(source.parent, target)
            self._changed(str(target / "SKILL.md"))
            return str(target / "SKILL.md")
        return self.create_file(str(Path(root) / f"{name}{_kind_of(source)}"), self.open(path).text)

    def bring_in(self, staged: Path, files: Sequence[str], root: str, name: str) -> str:
        """A copy in ``root`` of a skill that lies elsewhere, under a name; its path. ``files`` are what comes along
        beside a ``SKILL.md``, relative to its folder. All or nothing, and never over an existing one."""
        target = self.place_of(staged, root, name)
        self._require(str(target))
        if target.exists():
            raise CannotSave(f"{target} exists already.", next_step="Choose another name.")
        fresh = Path(unfinished(target))
        own_folder = staged.name in _MAINS
        try:
            make_folder(target.parent)
            if own_folder:
                _copy_files(staged, files, fresh)
            else:
                shutil.copyfile(staged, fresh, follow_symlinks=False)
            close_to_others(fresh)
            _name(fresh, target)
            path = str(target / "SKILL.md") if own_folder else str(target)
            self._told_or_gone(path, target, fresh)
        except (OSError, shutil.Error) as error:
            raise CannotSave(f"{target} could not be made: {error}.") from error
        finally:  # nothing of it is left once it has its name
            shutil.rmtree(fresh, ignore_errors=True) if own_folder else fresh.unlink(missing_ok=True)
        return path

    def _told_or_gone(self, path: str, target: Path, fresh: Path) -> None:
        try:
            self._changed(path)
        except BaseException:
            os.rename(target, fresh)
            raise

    @staticmethod
    def place_of(source: Path, root: str, name: str) -> Path:
        """The folder or file in ``root`` which a skill of this kind and name has. Raises CannotSave for no name."""
        _require_name(name)
        return Path(root) / (name if source.name in _MAINS else f"{name}{_kind_of(source)}")

    def rename(self, path: str, name: str) -> str:
        """Move a skill's file or folder to another name in the same place; the new path."""
        _require_name(name)
        source = Path(path)
        own_folder = source.name in _MAINS
        moved = source.parent if own_folder else source
        target = moved.with_name(name if own_folder else f"{name}{_kind_of(source)}")
        if target == moved:
            return path
        self._require(str(moved))
        if target.exists():
            raise CannotSave(f"{target} exists already.", next_step="Choose another name.")
        try:
            os.rename(moved, target)
        except OSError as error:
            raise CannotSave(f"{moved} could not be renamed: {error.strerror}.") from error
        self._changed(path)
        new = str(target / source.name) if own_folder else str(target)
        self._changed(new)
        return new

    def delete(self, path: str, name: str, *, replacing: bool = False) -> Deleted:
        """Put a skill aside, with its folder when it has one of its own; ``undo`` brings it back. ``replacing``: it
        is brought back by the next start as well, unless ``settle`` is called before."""
        source = Path(path)
        moved = source.parent if source.name in _MAINS else source
        self._require(str(moved))
        aside = Deleted(new_id(), str(moved), name, time.time())
        place = self._trash / aside.token
        try:
            make_folder(place)
            note = {"path": aside.path, "name": name, "at": aside.at}
            write_new(place / _NOTE, json.dumps(note).encode())
            if replacing:
                make_folder(self._under_way)
                write_new(self._under_way / aside.token, b"")
            _move(moved, place / moved.name)
        except OSError as error:
            self._forget_if_empty(aside)
            raise CannotSave(f"{moved} could not be deleted: {error.strerror or error}.") from error
        try:
            self._changed(path)
        except BaseException:
            _move(place / moved.name, moved)
            raise
        self._open.add(aside.token)
        self._sweep()
        return aside

    def undo(self, deleted: Deleted, *, beside: bool = False) -> str:
        """Bring back what ``delete`` put aside; the skill's path. Where its place is taken, it comes back under a free
        name ``beside`` it, or CannotSave is raised."""
        place, target = self._trash / deleted.token, Path(deleted.path)
        held = place / target.name
        if os.path.lexists(target):
            if not beside:
                raise CannotSave(f"{target} exists again already.", next_step="Rename that first.")
            target = _free_beside(target)
        try:
            make_folder(target.parent)
            _move(held, target)
        except (OSError, shutil.Error) as error:
            words = f"{target} could not be brought back: {error}."
            raise CannotSave(words, next_step=f"It lies in {held}.") from error
        self._forget_if_empty(deleted)
        path = str(target / _main_of(target)) if target.is_dir() else str(target)
        self._changed(path)
        return path

    def settle(self, deleted: Deleted) -> None:
        """What took its place is there to stay: the next start leaves it aside."""
        with contextlib.suppress(OSError):
            (self._under_way / deleted.token).unlink()

    def bring_back_unfinished(self) -> list[str]:
        """What an import put aside that was cut off before its end, each at its place or beside what is there now."""
        try:
            tokens = sorted(os.listdir(self._under_way))
        except OSError:
            return []
        back = []
        for token in tokens:
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, CannotSave):
                note = json.loads((self._trash / token / _NOTE).read_text("utf-8"))
                one = Deleted(token, str(note["path"]), str(note["name"]), float(note["at"]))
                if os.path.lexists(self._trash / token / Path(one.path).name):
                    back.append(self.undo(one, beside=True))
                self._forget_if_empty(one)
        return back

    @property
    def _under_way(self) -> Path:
        """One empty file for each skill that was put aside by an import that has not ended."""
        return self._trash.with_name(f"{self._trash.name}-under-way")

    def _forget_if_empty(self, aside: Deleted) -> None:
        """Where nothing but the note is left of it; a part of a skill is never removed."""
        place = self._trash / aside.token
        if os.path.lexists(place / Path(aside.path).name):
            return
        self._open.discard(aside.token)
        with contextlib.suppress(OSError):
            (place / _NOTE).unlink(missing_ok=True)
            place.rmdir()
        self.settle(aside)

    def _sweep(self) -> None:
        """Forget the oldest of what was put aside, and nothing that somebody can still bring back: what was put aside
        since the app began, and what an import that was cut off left there."""
        with contextlib.suppress(OSError):
            needed = self._open | (set(os.listdir(self._under_way)) if self._under_way.is_dir() else set())
            swept = [entry for entry in self._trash.iterdir() if entry.name not in needed]
            for entry in sorted(swept, key=lambda entry: entry.stat().st_mtime)[:-TRASH_KEPT]:
                shutil.rmtree(entry, ignore_errors=True)

    def _require(self, path: str) -> None:
        if not any(_within(os.path.realpath(path), os.path.realpath(root)) for root in self._roots()):
            raise CannotSave(
                f"{path} is not in a skills folder of yours.",
                next_step="Duplicate the skill into your own skills, and change the copy.",
            )


def _require_name(name: str) -> None:
    if not is_bare_name(name):
        raise CannotSave(
            f"{name[:80]!r} cannot be a skill's name.",
            next_step="Use 1 to 64 of a to z, 0 to 9, and single hyphens between them.",
        )


def _kind_of(path: Path) -> str:
    """``.skill.md``, ``.skill.py``, ``.skill.js``: what follows the name."""
    at = path.name.find(".skill.")
    return path.name[at:] if at >= 0 else path.suffix


def _main_of(folder: Path) -> str:
    return next((name for name in _MAINS if (folder / name).exists()), _MAINS[0])


def _free_beside(target: Path) -> Path:
    """``tide-2`` or ``tide-2.skill.md``, and so on: what is not there yet."""
    kind = "" if ".skill." not in target.name else _kind_of(target)
    stem = target.name[: len(target.name) - len(kind)]
    free = (target.with_name(f"{stem}-{number}{kind}") for number in itertools.count(2))
    return next(one for one in free if not os.path.lexists(one))


def _within(path: str, root: str) -> bool:
    return path != root and path.startswith(root.rstrip("/\\") + os.sep)


def _read(path: str) -> bytes:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | open_flags.NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise CannotSave(f"{path} is not a regular file.")
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CannotSave(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > MAX_BYTES:
        raise CannotSave(f"{path} is larger than {MAX_BYTES} bytes.")
    return data


def _replace(path: str, data: bytes) -> None:
    """Write beside, then rename over; the mode of the old file is kept."""
    try:
        write_whole(path, data, mode=mode_of(path))
    except OSError as error:
        raise CannotSave(f"{path} could not be saved: {error.strerror}.") from error


def _move(source: Path, target: Path) -> None:
    """To its new place whole, or not at all, also where that is on another disk. Ended in the middle, it is whole at
    one of the two. Raises OSError."""
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:  # copying what may not be moved, and then removing it, would tear it apart
            raise
    else:
        return
    fresh, leaving = Path(unfinished(target)), Path(unfinished(source))
    try:
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, fresh, symlinks=True)
        else:
            shutil.copy2(source, fresh, follow_symlinks=False)
        os.rename(fresh, target)
        try:
            os.rename(source, leaving)
        except OSError:
            os.rename(target, fresh)
            raise
    except BaseException:
        _remove(fresh)
        raise
    _remove(leaving)


def _name(fresh: Path, target: Path) -> None:
    """Give it its name, and never to the loss of what has got that name meanwhile. Raises OSError."""
    if fresh.is_dir():
        os.rename(fresh, target)  # takes the place of nothing but an empty folder
    else:
        name_new(fresh, target)


def _remove(path: Path) -> None:
    """Remove a file or folder, as far as that is possible."""
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _copy_folder(source: Path, target: Path) -> None:
    """The whole folder, links left out: a copy holds nothing that points elsewhere."""

    def links(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if os.path.islink(os.path.join(folder, name))]

    fresh = Path(unfinished(target))
    try:
        make_folder(target.parent)
        shutil.copytree(source, fresh, ignore=links)
        close_to_others(fresh)
        os.rename(fresh, target)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(fresh, ignore_errors=True)
        raise CannotSave(f"{source} could not be copied: {error}.") from error


def _copy_files(main: Path, files: Sequence[str], target: Path) -> None:
    target.mkdir()
    shutil.copyfile(main, target / "SKILL.md", follow_symlinks=False)
    for rel in files:
        beside = target / rel
        beside.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(main.parent / rel, beside, follow_symlinks=False)
