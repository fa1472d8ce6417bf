"""Which paths the words of a command mean, and what the boundary says about them (C-33)."""

from __future__ import annotations

import glob
import itertools
import os
import re
from dataclasses import dataclass, field

from desktop.safety import paths
from desktop.safety.boundary import Lists, SecondNames
from desktop.safety.paths import PathProblem
from desktop.safety.shell_words import Word, braces

_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.\-]*://([^/\s@]*@)?(\[[^\]]+\]|[^/:\s]+)")
_REMOTE = re.compile(r"^(?:[\w.\-]+@)?([\w.\-]+):(?!//)[^\s]*$")
_HARMLESS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero"))
_DELIMITERS = re.compile(r"[=@:,]")
MAX_WORDS = 400
MAX_FOUND = 1000


@dataclass(slots=True)
class PathReader:
    """Resolves words against every folder that the command may be in by then. One per command; blocking."""

    lists: Lists
    home: str
    folders: list[str] = field(default_factory=list)
    folder_unknown: bool = False
    seen: int = 0
    second_names: SecondNames = field(init=False)

    def __post_init__(self) -> None:
        self.second_names = SecondNames((*self.lists.denied, *self.lists.secret))

    def enter(self, word: Word | None) -> None:
        """``cd``: later relative paths may start there, too; the folders before stay possible."""
        target = word.known if word is not None else self.home
        if word is not None and (word.glob or word.text == "-" or (word.dynamic and "$" in word.known)):
            self.folder_unknown = True
            return
        for base in list(self.folders):
            found = self._resolve(target, base)
            if found and found not in self.folders and len(self.folders) < 8:
                self.folders.append(found)

    def resolve(self, word: Word) -> list[str]:
        """Where a literal word leads from each possible folder; empty when only running shows it."""
        if word.dynamic and re.search(r"[$`]", word.known):
            return []
        spelled = braces(word.known) if "{" in word.known else [word.known]
        found = [self._resolve(text, base) for text in spelled for base in self.folders]
        return list(dict.fromkeys(path for path in found if path))

    def denied(self, word: Word, *, recursive: bool) -> str:
        """Why this word reaches what is denied, or "". ``recursive``: the command goes into folders by itself."""
        self.seen += 1
        if self.seen > MAX_WORDS:
            return "it has too many arguments to look at each"
        for text in _candidates(word.known):
            if why := self._denied_text(text, word, recursive=recursive):
                return why
        return ""

    def named_in(self, text: str) -> list[str]:
        """Denied paths that a text names in full, as one reason each."""
        found = []
        for rule in (*self.lists.denied, *self.lists.secret):
            spellings = {rule.text, rule.resolved}
            for spelled in list(spellings):
                if paths.is_within(spelled, self.home):
                    spellings |= {prefix + spelled[len(self.home) :] for prefix in ("~", "$HOME", "${HOME}")}
            if any(re.search(re.escape(spelled) + r"(?![\w.\-])", text) for spelled in spellings):
                found.append(f"it names {rule.text}, which is denied")
        return found

    def _denied_text(self, text: str, word: Word, *, recursive: bool) -> str:
        rules = (*self.lists.denied, *self.lists.secret)
        for spelled in braces(text) if "{" in text else [text]:
            for base in self.folders:
                path = self._resolve(spelled, base)
                if not path:
                    continue
                line = paths.existing_identities(path)
                if other := self._other_name(path):
                    return other
                for rule in rules:
                    if rule.covers(path, line) or (word.split and _pattern_meets(path, rule.resolved)):
                        return f"{rule.text} is denied"
                    if recursive and paths.is_within(rule.resolved, path) and os.path.lexists(rule.resolved):
                        return f"it goes through a folder that holds the denied path {rule.text}"
        return ""

    def _other_name(self, path: str) -> str:
        """Why a file, or one that a pattern finds now, is a denied one under a second name, or "" (a hard link has no
        path of its own to be resolved to)."""
        found = itertools.islice(glob.iglob(path), MAX_FOUND) if glob.has_magic(path) else (path,)
        for name in found:
            if other := self.second_names.entry_of(_status(name)):
                return f"{name} is another name of a file in {other}, which is denied"
        return ""

    def _resolve(self, text: str, base: str) -> str:
        try:
            return paths.resolve(text, base)
        except PathProblem:
            return ""

    def outside_workspace(self, path: str) -> bool:
        """Whether writing there is outside the workspace (R-BLK-8)."""
        return path not in _HARMLESS and not paths.is_within(path, self.lists.workspace)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def hosts_in(word: Word) -> list[str]:
    """The hosts that a word names, as an address or like scp."""
    if found := _SCHEME.match(word.text):
        return [found[2]]
    found = _REMOTE.match(word.text)
    return [found[1]] if found and not word.text.startswith(("/", ".", "-")) and "." in found[1] else []


def harmless_target(path: str) -> bool:
    """Files that are no files, such as /dev/null."""
    return path in _HARMLESS or path.startswith("/dev/fd/")


def _candidates(text: str) -> list[str]:
    """The word, and the parts of it that programs take for paths: after = (--file=, if=), @ (curl -d), : and -X."""
    found = [text]
    for mark in _DELIMITERS.finditer(text):
        found.append(text[mark.end() :])
        found.append(text[: mark.start()])
    if re.match(r"-[A-Za-z][/~.]", text):
        found.append(text[2:])
    found.append(text.partition("file://")[2])
    unique = dict.fromkeys(part for part in found if part and not part.startswith("-"))
    return list(unique)[:24]


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
