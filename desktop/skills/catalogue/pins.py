"""Pins: what a person has seen of skills installed from elsewhere.

Such a skill is pinned by the content of its file and, for a folder, of everything beside it. What a folder holds when
it is met for the first time is taken as seen: the person put it there or trusts the project now, and there is nothing
to compare it with. What changes or arrives later is off (``changed``) until it has been looked at and accepted, unless
its content is that of a skill that was seen; the texts that were seen are kept for showing the difference.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Protocol

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.places import FormatError
from desktop.skills.catalogue.index import digest_of
from desktop.skills.catalogue.scan import owning_skill
from desktop.skills.catalogue.snapshot import Snapshot, below
from desktop.skills.formats.loader import read_bytes

MAX_TEXT = 256_000
"""Bytes of one file that are kept for showing differences."""
MAX_TEXTS = 1_000_000
ALL = "skills.pins"
MET = "skills.pinned_folders"
ONE = "skills.pin:"
_ABOVE = "above:"


class SkillPinStore(Protocol):
    """Where pins are kept; called in threads. Values are JSON."""

    def get(self, key: str) -> Any:
        """The value, or None."""
        ...

    def put(self, values: Mapping[str, Any]) -> None:
        """Write all or nothing; None takes a key out."""
        ...


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A skill's content: digests by file name (relative to the skill's file) and one over all of them."""

    path: str
    files: Mapping[str, str]

    @property
    def digest(self) -> str:
        whole = "\n".join(f"{name}\0{digest}" for name, digest in sorted(self.files.items()))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def main(self) -> str:
        """The digest of the skill's file itself."""
        return self.files.get(os.path.basename(self.path), "")


@dataclass(frozen=True, slots=True)
class FileDifference:
    """One file then and now. A text is None where there was no file, or none that can be shown."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed since the skill was seen. ``digest`` is what ``accept`` has to be given: the person agrees to this
    content and no later one."""

    path: str
    digest: str
    files: tuple[FileDifference, ...] = field(default=())


def fingerprints(snapshot: Snapshot) -> dict[str, Fingerprint]:
    """The fingerprint of every skill file of a pinned folder, by ``rel``. A file beside or below a ``SKILL.md`` belongs
    to the nearest one."""
    if snapshot.prints is not None:
        return snapshot.prints
    owned: dict[str, dict[str, str]] = {}
    files, digests = snapshot.listing.files, snapshot.digests
    for rel, stamp in files.items():
        if not stamp.companion and rel in digests:
            owned[rel] = {rel.rpartition("/")[2]: digests[rel]}
    for rel, stamp in files.items():
        owner = owning_skill(rel, owned) if stamp.companion and rel in digests else None
        if owner is not None:
            start = owner.rfind("/") + 1
            owned[owner][rel[start:]] = digests[rel]
    snapshot.prints = {rel: Fingerprint(below(snapshot.folder, rel), found) for rel, found in owned.items()}
    return snapshot.prints


class Pins:
    """What was seen, by absolute path. Thread-safe; blocks where the store does."""

    def __init__(self, store: SkillPinStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        found = store.get(ALL)
        entries = found.items() if isinstance(found, dict) else ()
        self._seen: dict[str, tuple[str, str]] = {
            path: (value[0], value[1])
            for path, value in entries
            if isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)
        }
        met = store.get(MET)
        self._met = frozenset(one for one in met if isinstance(one, str)) if isinstance(met, list) else frozenset()

    def has_met(self, folder: str) -> bool:
        """Whether what a folder held has been taken as seen; what arrives from then on is not."""
        return folder in self._met

    def knows(self, path: str) -> bool:
        """Whether some content of this file was seen."""
        return path in self._seen

    def is_changed(self, path: str, digest: str) -> bool:
        """Whether a skill with this content is off: it is not the one that was seen there, or it arrived unseen."""
        seen = self._seen.get(path)
        return self._is_late(path) if seen is None else seen[0] != digest

    def allows(self, path: str, data: bytes) -> bool:
        """Whether these are the bytes that were seen: asked of what is about to be used."""
        seen = self._seen.get(path)
        return not self._is_late(path) if seen is None else seen[1] == digest_of(data)

    def _is_late(self, path: str) -> bool:
        return any(path.startswith(folder.rstrip(os.sep) + os.sep) for folder in self._met)

    def allows_beside(self, path: str, name: str, data: bytes) -> bool:
        """Whether a file of the skill's folder, by its name from there, has the bytes that were seen."""
        if path not in self._seen:
            return not self._is_late(path)
        kept = self._store.get(ONE + path)
        files = kept.get("files") if isinstance(kept, dict) else None
        return isinstance(files, dict) and files.get(name) == digest_of(data)

    def admit(self, folder: str, found: Iterable[Fingerprint]) -> list[str]:
        """Pin what is new in a folder: all of it when the folder is met for the first time, later only what has been
        seen elsewhere (it was moved). Returns the paths."""
        with self._lock:
            known = {digest for digest, _ in self._seen.values()}
            first = not self.has_met(folder)
            new = [one for one in found if one.path not in self._seen and (first or one.digest in known)]
            if new or first:
                self._write(new, self._met | {folder})
            return [one.path for one in new]

    def forget(self, folders: Iterable[str]) -> None:
        """The person trusts these no longer, or they are gone: once they are back, what is there then has been seen."""
        gone = tuple(folder.rstrip(os.sep) + os.sep for folder in folders)
        with self._lock:
            kept = frozenset(folder for folder in self._met if not (_place(folder) + os.sep).startswith(gone))
            lost = {ONE + path: None for path in self._seen if path.startswith(gone)}
            self._seen = {path: seen for path, seen in self._seen.items() if not path.startswith(gone)}
            self._write((), kept, lost)

    def accept(self, found: Fingerprint, *, seen: str) -> None:
        """The person has seen the difference. Raises KnownError when the content is no longer what was ``seen``."""
        if found.digest != seen:
            raise KnownError(
                "The skill has changed once more since its difference was shown.",
                next_step="Look at the difference again.",
                code="skills.changed_again",
            )
        with self._lock:
            self._write([found])

    def see(self, found: Iterable[Fingerprint]) -> None:
        """The person has seen these as they are now."""
        with self._lock:
            self._write(tuple(found))

    def difference(self, found: Fingerprint) -> Difference:
        """What a person has to see before ``accept``. Blocks: reads the files."""
        kept = self._store.get(ONE + found.path)
        before = kept if isinstance(kept, dict) else {}
        digests, texts = before.get("files", {}), before.get("texts", {})
        now = _texts(found)
        names = [name for name in sorted({*digests, *found.files}) if digests.get(name) != found.files.get(name)]
        return Difference(
            found.path, found.digest, tuple(FileDifference(name, texts.get(name), now.get(name)) for name in names)
        )

    def _write(
        self, found: Iterable[Fingerprint], met: frozenset[str] | None = None, lost: Mapping[str, None] | None = None
    ) -> None:
        seen = dict(self._seen)
        values: dict[str, Any] = {**(lost or {})}
        for one in found:
            seen[one.path] = (one.digest, one.main)
            values[ONE + one.path] = {"files": dict(one.files), "texts": _texts(one)}
        met = self._met if met is None else met
        self._store.put({**values, ALL: {path: list(value) for path, value in seen.items()}, MET: sorted(met)})
        self._seen, self._met = seen, met


def above(project: str) -> str:
    """The name under which the files above a project's skill folders are met together."""
    return _ABOVE + project


def _place(folder: str) -> str:
    return folder.removeprefix(_ABOVE)


def fingerprint_of_file(path: str) -> Fingerprint:
    """The fingerprint of a file outside of all searched folders; it has no files when the file cannot be read.
    Blocks."""
    try:
        data, _ = read_bytes(path)
    except FormatError:
        return Fingerprint(path, {})
    return Fingerprint(path, {os.path.basename(path): digest_of(data)})


def _texts(found: Fingerprint) -> dict[str, str]:
    """Files that can be shown, the skill's own first, as far as they have the content of the fingerprint."""
    folder, own = os.path.split(found.path)
    texts: dict[str, str] = {}
    left = MAX_TEXTS
    for name in sorted(found.files, key=lambda name: (name != own, name)):
        text = _text(os.path.join(folder, *name.split("/")), found.files[name])
        if text is not None and len(text) <= left:
            texts[name] = text
            left -= len(text)
    return texts


def _text(path: str, digest: str) -> str | None:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_TEXT + 1)
    except OSError:
        return None
    if len(data) > MAX_TEXT or digest_of(data) != digest:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
