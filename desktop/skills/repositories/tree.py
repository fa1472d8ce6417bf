"""The list of files of one commit: read from ``git ls-tree``, and which of them a skill, agent or server needs.

A repository is no import: most of its files are none of ours, and are never written. What is hostile in a skill's own
folder is that skill's problem, and takes no other with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import NamedTuple

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import size_words
from desktop.skills.catalogue.scan import FOLDER_FILES, is_skill_file, owning_skill
from desktop.skills.importing.limits import LEFT_OUT, MAX_FILE, ImportRefused, relative_parts
from desktop.skills.repositories.plugins import DECLARATIONS, is_agent, is_command

MAX_ENTRIES = 300_000
MAX_LISTING = 64_000_000
"""Bytes of the list of files."""
MAX_SKILLS = 2_000
MAX_WANTED = 50_000
"""Files of all of them."""
MAX_OF_ONE = 1_000
"""Files of one skill."""
MAX_BYTES_OF_ONE = 50_000_000
MAX_TEXT = 1_000_000
"""Bytes of a skill's own file, of an agent, of a declaration."""
_FILE, _RUNNABLE, _LINK, _MODULE = "100644", "100755", "120000", "160000"


class TreeEntry(NamedTuple):
    """One file of a commit. ``size`` is -1 for what has none (a submodule)."""

    path: str
    mode: str
    size: int
    oid: str


@dataclass(slots=True)
class Wanted:
    """What is to be written of a commit. ``wrong``: by the file of a skill, why it cannot be taken; ``links`` of its
    folder were left out. ``more``: there are skills beyond the limit."""

    files: list[TreeEntry] = field(default_factory=list)
    wrong: dict[str, str] = field(default_factory=dict)
    links: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    modules: int = 0
    more: bool = False


def entries_of(listing: bytes) -> Iterator[TreeEntry]:
    """Read the output of ``git ls-tree -r -z -l``. Raises ImportRefused beyond the limit."""
    for number, line in enumerate(listing.split(b"\0")):
        if number > MAX_ENTRIES:
            raise ImportRefused(
                f"The repository holds more than {MAX_ENTRIES:,} files.", next_step="Import the folder of one skill."
            )
        head, tab, name = line.partition(b"\t")
        words = head.split()
        if not tab or len(words) != 4:
            continue
        mode, _, oid, size = (word.decode("ascii", "replace") for word in words)
        yield TreeEntry(name.decode("utf-8", "surrogateescape"), mode, int(size) if size.isdigit() else -1, oid)


def wanted_of(entries: Iterable[TreeEntry]) -> Wanted:
    """Choose the files that belong to something that can be taken."""
    found = Wanted()
    kept = [one for one in entries if LEFT_OUT.isdisjoint(one.path.split("/"))]
    plain = {one.path: one for one in kept if one.mode in (_FILE, _RUNNABLE)}
    mains = sorted((path for path in plain if is_skill_file(_name(path))), key=lambda path: (path.count("/"), path))
    found.more = len(mains) > MAX_SKILLS
    mains = mains[:MAX_SKILLS]
    folders = {path for path in mains if _name(path) in FOLDER_FILES}
    beside: dict[str, list[TreeEntry]] = {path: [] for path in mains}
    alone: list[TreeEntry] = []
    for one in kept:
        owner = None if one.path in beside else owning_skill(one.path, folders)
        if one.mode == _MODULE:
            found.modules += 1
        elif one.mode == _LINK:
            found.links[owner or ""] += 1
        elif one.path not in beside and (owner is None or "/" not in owner) and _stands_alone(one):
            alone.append(one)
        elif owner is not None:
            beside[owner].append(one)
    names: set[str] = set()
    for main in mains:
        own = {one.path.casefold() for one in (plain[main], *beside[main])}
        if own & names:
            found.wrong[main] = "Its files have the names of another skill's, but for capital letters."
            continue
        names |= own
        _with_skill(found, plain[main], beside[main])
    for one in alone:
        if not _why_not([one]) and one.size <= MAX_TEXT and one.path.casefold() not in names:
            names.add(one.path.casefold())
            found.files.append(one)
    return found


def _stands_alone(one: TreeEntry) -> bool:
    return is_agent(one.path) or is_command(one.path) or one.path.endswith(DECLARATIONS)


def _with_skill(found: Wanted, main: TreeEntry, beside: list[TreeEntry]) -> None:
    """The files of one skill, or why it cannot be had."""
    why = _why_not([main, *beside])
    if main.size > MAX_TEXT:
        why = f"Its file has {size_words(main.size)}; a skill has {size_words(MAX_TEXT)} at most."
    elif len(beside) > MAX_OF_ONE:
        why = f"It holds {len(beside):,} files; a skill from a repository has {MAX_OF_ONE:,} at most."
    elif sum(one.size for one in beside) > MAX_BYTES_OF_ONE:
        why = f"Its files are larger than {size_words(MAX_BYTES_OF_ONE)} together."
    if why:
        found.wrong[main.path] = why
        beside = []
    if main.size <= MAX_TEXT and not _why_not([main]):
        found.files += [main, *beside]


def _why_not(files: list[TreeEntry]) -> str:
    """What is wrong with these names and sizes, or ""."""
    seen: set[str] = set()
    for one in files:
        if not one.path.isprintable():  # surrogates among them: a name that is no text
            return f"It holds a file that is called {one.path[:120]!a}, which is no plain name inside it."
        try:
            relative_parts(one.path)
        except ImportRefused as error:
            return str(error)
        if one.path.casefold() in seen:
            return f"It holds two files that are called {one.path!a}."
        seen.add(one.path.casefold())
        if one.size > MAX_FILE:
            return f"{one.path} is larger than {size_words(MAX_FILE)}."
    return ""


def _name(path: str) -> str:
    return path.rpartition("/")[2]
