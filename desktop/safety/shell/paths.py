"""Which paths the words of a command mean, and what the boundary says about them (C-33)."""

from __future__ import annotations

import glob
import itertools
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.boundary import paths
from desktop.safety.boundary.autorun_places import hooks_folder, runs_later
from desktop.safety.boundary.disk_snapshot import StatCache
from desktop.safety.boundary.paths import PathProblem
from desktop.safety.boundary.policy import BoundaryRule, Lists, SecondNames
from desktop.safety.shell.syntax.words import Word, braces

_HARMLESS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero"))
_MAGIC = re.compile(r"[*?\[]")
_DELIMITERS = re.compile(r"[=@:,]")
_SHORTENED = re.compile(r"[$`{}*?\[~\\]|/\.\.")
_SHORT_VALUE = re.compile(r"-[A-Za-z](?:[/~.]|[^/]*/)")
_UNKNOWN_NAME = re.compile(r"/[^/]*[$`].*", re.DOTALL)
"""From the first name on that only running shows."""
_NO_NAME = re.compile(r"[^/]{256}")
MAX_NAME = 255
"""Characters of the longest name that a file can have anywhere (there they are bytes or more)."""
MAX_WORDS = 400
MAX_PARTS = 24
MAX_FOUND = 1000
_UNKNOWN = object()


@dataclass(slots=True)
class PathReader:
    """Resolves words against every folder that the command may be in by then. One per command; blocking."""

    lists: Lists
    """The boundary's rules of this moment."""
    moment: StatCache
    """What the disk says at this moment."""
    home: str
    """What ``~`` is."""
    folders: list[str] = field(default_factory=list)
    """The folders that it may be in."""
    folder_unknown: bool = False
    """Whether it may be in another, too."""
    seen: int = 0
    """How many words were looked at."""
    led: dict[str, list[str]] = field(default_factory=dict)
    """Where words lead, by word."""
    meant: dict[str, list[str]] = field(default_factory=dict)
    """The paths that words mean, by word."""
    refused: dict[tuple[str, bool, bool], str] = field(default_factory=dict)
    """What the boundary said, by path and access."""
    finds: dict[tuple[str, bool], str] = field(default_factory=dict)
    """The same of what patterns find."""
    later: dict[str, str] = field(default_factory=dict)
    """Why what is written there runs later, by path."""
    hooks: dict[str, str] = field(default_factory=dict)
    """Where git's hooks are, by folder."""
    hook_places: tuple[str, ...] | None = None
    """Where they are for any of the folders; None: nobody has asked yet."""
    second_names: SecondNames = field(init=False)
    """Finds second names of files."""
    disk: Disk = field(init=False)
    """Looks at each name once."""

    def __post_init__(self) -> None:
        rules = (*self.lists.denied, *self.lists.secret)
        self.second_names = SecondNames(rules)
        self.disk = Disk(rules, self.moment)

    def enter(self, word: Word | None) -> None:
        """Note a ``cd``: later relative paths may start there, too; the folders before stay possible."""
        target = word.known if word is not None else self.home
        if word is not None and (word.glob or word.text == "-" or (word.dynamic and "$" in word.known)):
            self.folder_unknown = True
            return
        for base in list(self.folders):
            found = self.disk.resolve(target, base)
            if found and found not in self.folders and len(self.folders) < 8:
                self.folders.append(found)
        self.led, self.meant, self.refused, self.later, self.hook_places = {}, {}, {}, {}, None

    def resolve(self, word: Word) -> list[str]:
        """Where a literal word leads from each possible folder; empty when only running shows it. Not to be changed."""
        known = word.known
        if word.dynamic and ("$" in known or "`" in known):
            return []
        found = self.meant.get(known)
        if found is None:
            found = self.meant[known] = self._resolved(braces(known) if "{" in known else (known,))
        return found

    def _resolved(self, texts: Sequence[str]) -> list[str]:
        """Where these lead from each folder, each place once."""
        resolve = self.disk.resolve
        if len(texts) == 1 and len(self.folders) == 1:
            path = resolve(texts[0], self.folders[0])
            return [path] if path else []
        return list(dict.fromkeys(path for text in texts for base in self.folders if (path := resolve(text, base))))

    def expanded(self, word: Word) -> list[str]:
        """The paths that a word means, with what its patterns find now."""
        found = [name for path in self.resolve(word) for name in itertools.islice(glob.iglob(path), MAX_FOUND)]
        return [path for name in found if (path := self.disk.resolve(name, self.lists.workspace))]

    def leads(self, word: Word) -> list[str]:
        """Where a word and the parts of it that programs take for paths lead. Not to be changed."""
        found = self._all(word.known)
        return [*found, *self.expanded(word)] if word.glob else found

    def _all(self, known: str) -> list[str]:
        """Where the parts of a word that may be paths lead from each folder, its braces written out."""
        found = self.led.get(known)
        if found is not None:
            return found
        if _is_one_path(known):
            found = self.meant[known] = self._resolved((known,))
        else:
            texts = _candidates(known)
            if "{" in known:
                texts = [one for text in texts for one in (braces(text) if "{" in text else [text])]
            found = self._resolved(texts)
        self.led[known] = found
        return found

    def runs_later(self, path: str) -> str:
        """Why what is written there runs by itself later, or "". Also for where git's settings say the hooks are."""
        found = self.later.get(path)
        if found is None:
            places = self._hook_places() if self.hook_places is None else self.hook_places
            if places and any(paths.is_within(path, place) for place in places):
                found = "git runs the hooks of this project from here"
            else:
                found = runs_later(path, self.lists.workspace, self.home)
            self.later[path] = found
        return found

    def _hook_places(self) -> tuple[str, ...]:
        for folder in (self.lists.workspace, *self.folders):
            if folder not in self.hooks:
                self.hooks[folder] = hooks_folder(folder)
        self.hook_places = tuple(dict.fromkeys(place for place in self.hooks.values() if place))
        return self.hook_places

    def denied(self, word: Word, *, recursive: bool) -> str:
        """Why this word reaches what is denied, or "". ``recursive``: the command goes into folders by itself."""
        self.seen += 1
        if self.seen > MAX_WORDS:
            return "it has too many arguments to look at each"
        known = word.known
        key = (known, word.split, recursive)
        why = self.refused.get(key)
        if why is None:
            why = ""
            for path in self._all(known):
                if why := self._denied_path(path, word, recursive=recursive):
                    break
            self.refused[key] = why
        return why

    def named_in(self, text: str) -> list[str]:
        """Denied paths that a text names in full, as one reason each."""
        found = []
        for rule in (*self.lists.denied, *self.lists.secret):
            spellings = {rule.text, rule.resolved}
            if not any(spelled.removeprefix(self.home) in text for spelled in spellings):
                continue  # what every writing of it ends with
            for spelled in list(spellings):
                if paths.is_within(spelled, self.home):
                    spellings |= {prefix + spelled[len(self.home) :] for prefix in ("~", "$HOME", "${HOME}")}
            named = [spelled for spelled in spellings if spelled in text]
            if any(re.search(re.escape(spelled) + r"(?![\w.\-])", text) for spelled in named):
                found.append(f"it names {rule.text}, which is denied")
        return found

    def _denied_path(self, path: str, word: Word, *, recursive: bool) -> str:
        if not word.split and not recursive and self.disk.is_open(path):
            return ""
        if why := self._denied_place(path, split=word.split, recursive=recursive):
            return why
        pattern = _UNKNOWN_NAME.sub("", path)
        if _MAGIC.search(pattern) is None:
            return ""
        rest = path[len(pattern) :]
        for name in itertools.islice(glob.iglob(pattern), MAX_FOUND):
            if why := self._denied_find(name, rest, recursive=recursive) if word.glob else self._other_name(name):
                return why
        return ""

    def _denied_find(self, name: str, rest: str, *, recursive: bool) -> str:
        """Why what a pattern finds at this moment is denied, or where a link leads that it finds, or ""."""
        key = (name + rest, recursive)
        why = self.finds.get(key)
        if why is None:
            path = self.disk.resolve(key[0], self.lists.workspace)
            why = self.finds[key] = self._denied_place(path, split=rest != "", recursive=recursive) if path else ""
        return why

    def _denied_place(self, path: str, *, split: bool, recursive: bool) -> str:
        """Why a path itself is denied, or ``split`` could mean one that is, or ""."""
        if other := self._other_name(path):
            return other
        if (rule := self.disk.covering(path)) is not None:
            return f"{rule.text} is denied"
        if not split and not recursive:
            return ""
        for rule in self.disk.rules:
            if split and _pattern_meets(path, rule.resolved):
                return f"{rule.text} is denied"
            above = recursive and rule.resolved.startswith(path) and paths.is_within(rule.resolved, path)
            if above and os.path.lexists(rule.resolved):
                return f"it goes through a folder that holds the denied path {rule.text}"
        return ""

    def _other_name(self, path: str) -> str:
        """Why a file is a denied one under a second name, or "" (a hard link has no path of its own to resolve)."""
        status = self.disk.status(path)
        other = self.second_names.entry_of(status) if status is not None else ""
        return f"{path} is another name of a file in {other}, which is denied" if other else ""

    def outside_workspace(self, path: str) -> bool:
        """Whether writing there is outside the workspace (R-BLK-8)."""
        return path not in _HARMLESS and not paths.is_within(path, self.lists.workspace)


class Disk:
    """What the disk says while one command is read. ``rules`` are what is denied."""

    def __init__(self, rules: Sequence[BoundaryRule], moment: StatCache) -> None:
        self.rules = tuple(rules)
        self._names = frozenset(rule.resolved.casefold() for rule in self.rules)
        self._odd = not all(rule.resolved.isascii() for rule in self.rules)
        self._identities = frozenset(rule.identity for rule in self.rules if rule.identity is not None)
        self._moment = moment
        self._resolved: dict[tuple[str, str], str] = {}
        self._covering: dict[str, BoundaryRule | None] = {}
        self._open = "\0"
        self.status = moment.status

    def resolve(self, text: str, base: str) -> str:
        """The path resolved as ``paths.resolve`` does; "" for what is no path."""
        if plain := self._moment.plain(text, base):
            return plain
        key = (text, base)
        found = self._resolved.get(key)
        if found is None:
            try:
                found = self._moment.resolve(text, base)
            except PathProblem:
                found = ""
            self._resolved[key] = found
        return found

    def state_of(self, path: str) -> str:
        """What an approval is bound to at a resolved path: a file with its size and time, of a folder only which one,
        as they were when the command was judged."""
        status = self.status(path)
        if status is None:
            return "absent"
        if stat.S_ISLNK(status.st_mode):
            try:
                status = os.stat(path)
            except (OSError, ValueError):
                return "absent"
        if stat.S_ISDIR(status.st_mode):
            return f"{status.st_dev}:{status.st_ino}"
        return paths.describe_identity(status)

    def covering(self, path: str) -> BoundaryRule | None:
        """The denied entry that a resolved path is, or is below."""
        found = self._covering.get(path, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._covering[path] = None if self.is_open(path) else self._covered_by(path)
        return found  # type: ignore[return-value]

    def is_open(self, path: str) -> bool:
        """Whether it lies in a folder that is not there and that no entry covers, nor is below, whatever the case of
        their letters: then there is nothing that could be compared, nor found if it is a pattern."""
        gone = self._moment.gone
        if not path.startswith(gone) or not path.isascii():
            return False
        if gone != self._open:
            folded = gone.casefold()
            below = any(name.startswith(folded) for name in self._names)
            if self._odd or below or _MAGIC.search(gone) or self.covering(gone[:-1]) is not None:
                return False
            self._open = gone
        return True

    def _covered_by(self, path: str) -> BoundaryRule | None:
        """An entry covers a path when it is the path or covers what is above it; so only the path itself is compared,
        by its identity and, however it is spelled, by its name."""
        deep = self._moment.is_deep(path)
        above = (path.rpartition("/")[0] or "/") if os.sep == "/" else os.path.dirname(path)
        if not deep and above != path and (rule := self.covering(above)) is not None:
            return rule
        alike = deep or self._odd or not path.isascii() or path.casefold() in self._names
        if not alike:
            status = self.status(path)
            if status is None or (status.st_dev, status.st_ino) not in self._identities:
                return None
        line = set(self._moment.line(path))
        return next((rule for rule in self.rules if rule.covers(path, line)), None)


def harmless_target(path: str) -> bool:
    """Files that are no files, such as /dev/null."""
    return path in _HARMLESS or path.startswith("/dev/fd/")


def _is_one_path(text: str) -> bool:
    """Whether no part of a word can be another path than the whole."""
    parted = "=" in text or "@" in text or ":" in text or "," in text or "{" in text
    return not parted and text[:1] not in ("-", "")


def _candidates(text: str) -> list[str]:
    """The word, and the parts of it that programs take for paths: after = (--file=, if=), @ (curl -d), : and -X."""
    if _is_one_path(text):
        return [text]
    prose = len(text) > MAX_NAME and _SHORTENED.search(text) is None  # no file can have such a name
    slashless, found = "/" not in text, dict[str, None]()
    for start, end in _ranges(text):
        if start == end or text[start] == "-":
            continue
        if prose and end - start > MAX_NAME and (slashless or _NO_NAME.search(text, start, end)):
            continue
        found[text[start:end]] = None
        if len(found) == MAX_PARTS:
            break
    return list(found)


def _ranges(text: str) -> Iterator[tuple[int, int]]:
    """Where the parts of a word begin and end."""
    length = len(text)
    yield 0, length
    for mark in _DELIMITERS.finditer(text):
        yield mark.end(), length
        yield 0, mark.start()
    if _SHORT_VALUE.match(text):
        yield 2, length
    if (at := text.find("file://")) >= 0:
        yield at + 7, length


def _pattern_meets(path: str, denied: str) -> bool:
    """Whether a path with patterns or variables in it could mean the denied one or something below it."""
    mine, theirs = paths.parts_of(path), paths.parts_of(denied)
    for at, part in enumerate(mine):
        if at >= len(theirs):
            return True
        if "$" in part or "`" in part:
            return True  # could be any text, with slashes in it
        if not _component(part).fullmatch(theirs[at]):
            return False
    return len(mine) >= len(theirs)


def _component(pattern: str) -> re.Pattern[str]:
    """One component of a shell pattern; what is not understood fits everything."""
    if re.search(r"[{(!]", pattern):
        return re.compile(r".*", re.DOTALL)
    text = re.sub(r"\[[^\]]*\]", "?", pattern)
    return re.compile("".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in text), re.DOTALL)
