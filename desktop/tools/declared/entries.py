"""A list of entries below one key of a YAML file, and the problems of each with their places.

One bad entry costs itself only (R-CLI-1); a file that is no such list is ``broken``, and then nothing that was in force
changes (R-CLI-14). Blocks and loads PyYAML: use a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import Severity, SkillProblem
from desktop.domain.text.places import FormatError
from desktop.domain.text.suggestions import nearest
from desktop.yaml_text import tree
from desktop.yaml_text.tree import Node


class Definition(Protocol):
    """What an entry declares."""

    @property
    def name(self) -> str: ...

    @property
    def line(self) -> int: ...


D = TypeVar("D", bound=Definition)


@dataclass(frozen=True)
class DeclaredEntries(Generic[D]):
    """What a text declares. ``broken``: it cannot be read as such a list at all."""

    definitions: tuple[D, ...] = ()
    problems: tuple[SkillProblem, ...] = ()
    broken: bool = False


class EntryProblems:
    """Problems of one entry of the file ``source``, each with field, line and column."""

    def __init__(self, where: str, source: str) -> None:
        self.where = where
        self.source = source
        self.found: list[SkillProblem] = []

    @property
    def failed(self) -> bool:
        """Whether the entry cannot be used."""
        return any(problem.severity == "error" for problem in self.found)

    def error(self, node: Node, at: str, message: str) -> None:
        """Note an error, because of which the entry is skipped."""
        self._note("error", node, at, message)

    def warn(self, node: Node, at: str, message: str) -> None:
        """Note a warning: the entry works, and is perhaps not what was meant."""
        self._note("warning", node, at, message)

    def _note(self, severity: Severity, node: Node, at: str, message: str) -> None:
        where = f"{self.where}.{at}" if at else self.where
        self.found.append(problem(self.source, severity, f"{where}: {message}", node.line, node.column))


def problem(
    source: str, severity: Severity, message: str, line: int = 1, column: int = 1, code: str = "cli.entry"
) -> SkillProblem:
    """A problem of the file, in the words of the page."""
    text = message if message.endswith((".", "?")) else f"{message}."
    return SkillProblem(source, text, line, column, severity, code)


@dataclass(frozen=True, slots=True)
class DeclaredList:
    """The file ``source`` holds a list below ``key``, of ``most`` entries at most."""

    source: str
    key: str
    most: int

    def read(self, text: str, read_entry: Callable[[Node, EntryProblems], D | None]) -> DeclaredEntries[D]:
        """A whole file, each entry by ``read_entry``; never raises for what it says."""
        try:
            root = tree.read(text)
            entries = self._entries(root)
        except FormatError as error:
            return self.broken(str(error), error.line, error.column)
        found: dict[str, D] = {}
        problems = self._top_level(root)
        for index, entry in enumerate(entries):
            notes = EntryProblems(f"{self.key}[{index}]", self.source)
            definition = read_entry(entry, notes)
            if definition is not None and definition.name in found:
                first = found[definition.name]
                notes.error(entry, "name", f"{definition.name} is declared in line {first.line} already")
            elif definition is not None and not notes.failed:
                found[definition.name] = definition
            problems += notes.found
        return DeclaredEntries(tuple(found.values()), tuple(problems))

    def broken(self, message: str, line: int = 1, column: int = 1) -> DeclaredEntries[D]:
        """Why the file as a whole cannot be used."""
        return DeclaredEntries((), (problem(self.source, "error", message, line, column, "cli.file"),), broken=True)

    def _entries(self, root: Node | None) -> list[Node]:
        """Raises FormatError when the file as a whole is something else."""
        key = self.key
        if root is None:
            return []
        if root.kind != "map":
            raise FormatError(f"the file has to begin with `{key}:`", root.line, root.column)
        if root.own_faults:
            first = root.own_faults[0]
            raise FormatError(first.message, first.line, first.column)
        found = root.get(key)
        if found is None:
            raise FormatError(f"there is no list `{key}:` in the file", root.line, root.column)
        if found.empty:
            return []
        if found.kind != "list" or found.own_faults:
            raise FormatError(f"{key} has to be a list: one `- name: …` for each", found.line, found.column)
        if len(found.items) > self.most:
            raise FormatError(f"there are more than {self.most} {key}", found.line, found.column)
        return found.items

    def _top_level(self, root: Node | None) -> list[SkillProblem]:
        keys = root.entries if root is not None else {}
        words = f"nothing reads this key; {self.key} stand below `{self.key}:`"
        return [
            problem(self.source, "warning", f"{name[:60]}: {words}", key.line, key.column, "cli.file")
            for name, (key, _) in keys.items()
            if name != self.key
        ]


class EntryReader:
    """Reads one entry; what is wrong goes into ``notes``, and ``notes.failed`` says whether it may be used."""

    def __init__(self, node: Node, notes: EntryProblems) -> None:
        self.node = node
        self.notes = notes

    def is_entry(self) -> bool:
        """Whether there are names with values; notes what may not stand anywhere in it."""
        node, notes = self.node, self.notes
        for fault in node.faults():
            words = f"{notes.where}: {fault.message}"
            notes.found.append(problem(notes.source, "error", words, fault.line, fault.column))
        if node.kind != "map":
            notes.error(node, "", "an entry has to hold names with values, such as command: npx")
        return node.kind == "map"

    def at(self, key: str) -> Node:
        """Where a problem of this key stands."""
        return self.node.get(key) or self.node

    def text(self, key: str) -> str | None:
        """A text that has to be one, or None; a value of another kind is noted."""
        node = self.node.get(key)
        if node is None:
            return None
        if node.kind != "text" or node.empty:
            self.notes.error(node, key, "this has to be a text")
            return None
        if hidden := no_argument(node.text):
            self.notes.error(node, key, hidden)
            return None
        return node.text

    def flag(self, key: str, inside: Node | None = None, at: str = "") -> bool | None:
        """True or false, None where nothing is said: of the entry, or of a mapping ``inside`` it, called ``at``."""
        found = (inside or self.node).get(key)
        if found is None:
            return None
        flag = found.flag()
        if flag is None:
            self.notes.error(found, f"{at}.{key}" if at else key, "this has to be true or false")
        return flag

    def timeout(self, most: int, inside: Node | None = None, at: str = "") -> float | None:
        """A time limit in seconds, read as ``flag`` reads its value."""
        found = (inside or self.node).get("timeout")
        if found is None:
            return None
        seconds = found.number()
        if seconds is None or not 0 < seconds <= most:
            words = f"this has to be a number of seconds up to {most:,}"
            self.notes.error(found, f"{at}.timeout" if at else "timeout", words)
            return None
        return float(seconds)


def unknown_keys(node: Node, known: tuple[str, ...], notes: EntryProblems, at: str) -> None:
    """Note an error for each unknown key, with the key that was perhaps meant."""
    for name, (key, _) in node.entries.items():
        if name not in known:
            suggested = nearest(name, known)
            hint = f": did you mean {suggested[0]}?" if suggested else f"; there are {', '.join(known)}"
            notes.error(key, at, f"there is no key {name[:60]!r}{hint}")


def no_argument(text: str) -> str:
    """What no argument, name or variable can hold, or "" (R-CLI-9)."""
    if "\0" in text:
        return "there is a NUL character in it"
    return "there is half a character in it" if any("\ud800" <= c <= "\udfff" for c in text) else ""
