"""A power cut, as hard as a disk may take it: what a program did to a folder is read from its system calls, and every
state is made that the disk may be in afterwards.

A name that was made, moved or taken away is there for sure only after its folder was synced, and until then each such
step may be on the disk or not, whatever came of the others; what a file holds is there only after the file was.
"""

import ast
import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.harness.timeouts import WAIT_S

CALLS = "rename,renameat,renameat2,symlink,symlinkat,unlink,unlinkat,openat,write,fsync,fdatasync,sync,syncfs"
_CALL = re.compile(r"^\d+ +(?P<name>\w+)\((?P<rest>.*)\) += (?P<result>\d+)(?P<made><.*>)?$")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_OPEN = re.compile(r"<([^>]*)>")
HAS_STRACE = shutil.which("strace") is not None


@dataclass(eq=False)
class Entry:
    """What a name leads to: a link's target, a folder, or what a file holds."""

    kind: str
    content: str = ""
    synced: bool = True


Names = dict[str, Entry]
Step = Mapping[str, Entry | None]


def traced(command: Sequence[str], log: Path, *, code: int = 0) -> list[str]:
    """The calls of a program and its children that change what is on a disk, in order."""
    watch = ["strace", "-f", "-y", "-s", "65536", "-e", f"trace={CALLS}", "-o", str(log)]
    done = subprocess.run([*watch, *command], capture_output=True, text=True, timeout=WAIT_S, stdin=subprocess.DEVNULL)
    if done.returncode != code and "strace: ptrace(" in done.stderr:
        pytest.skip("no program may be traced here")
    assert done.returncode == code, done.stderr
    return _whole(log.read_text(errors="replace").splitlines())


def _whole(lines: Sequence[str]) -> list[str]:
    """Calls that others came between, put together at their end."""
    begun: dict[str, str] = {}
    found = []
    for line in lines:
        number = line.split(" ", 1)[0]
        if line.endswith("<unfinished ...>"):
            begun[number] = line.removesuffix("<unfinished ...>").rstrip()
        elif "resumed>" in line:
            found.append(begun.pop(number) + line.partition("resumed>")[2])
        else:
            found.append(line)
    return found


@dataclass
class PowerCut:
    """Follows what was done to the names in ``folder``; those that are not ``watched`` matter to nobody."""

    folder: Path
    watched: Sequence[str]
    names: Names = field(default_factory=dict)
    unsynced: set[str] = field(default_factory=set)
    """Files that were written anywhere, and may be empty yet."""
    _pending: list[Step] = field(default_factory=list)
    _written: dict[str, Entry] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, watched: Sequence[str]) -> "PowerCut":
        """From what is there now, all of it on the disk."""
        names: Names = {}
        for path in folder.iterdir():
            if path.is_symlink():
                names[path.name] = Entry("link", os.readlink(path))
            else:
                names[path.name] = Entry("folder") if path.is_dir() else Entry("file", path.read_text())
        return cls(folder, watched, names)

    def states(self, calls: Sequence[str]) -> list[Names]:
        """Every state that the watched names may be in if the power went at any moment."""
        seen: dict[tuple[tuple[str, str, str], ...], Names] = {}
        now = dict(self.names)  # as programs see it
        for call in calls:
            found = _CALL.match(call)
            if found is None:
                continue
            barrier = self._take(found["name"], found["rest"], found["made"] or "", now)
            if barrier:
                seen.update((_key(one), one) for one in self._possible())
                self._settle()
        seen.update((_key(one), one) for one in self._possible())
        return list(seen.values())

    def _take(self, name: str, rest: str, made: str, now: Names) -> bool:
        """Take a call in; whether it is one after which all names are on the disk."""
        paths = [str(ast.literal_eval(text)) for text in _TEXT.findall(rest)]
        if name == "openat" and ("O_CREAT" in rest or "O_TRUNC" in rest):
            entry = Entry("file", synced=False)
            self._written[made[1:-1]] = entry
            self.unsynced.add(made[1:-1])
            self._change({made[1:-1]: entry}, now)
        elif name == "write" and (entry := self._written.get(_OPEN.findall(rest)[0])) is not None:
            entry.content += paths[0]
        elif name.startswith("symlink"):
            self._change({paths[1]: Entry("link", paths[0])}, now)
        elif name.startswith("unlink"):
            self._change({paths[0]: None}, now)
        elif name.startswith("rename"):
            self._moved(paths[0], paths[1], now)
        elif name in ("sync", "syncfs"):
            for entry in self._written.values():
                entry.synced = True
            self.unsynced.clear()
            return True
        elif name in ("fsync", "fdatasync"):
            path = _OPEN.findall(rest)[0]
            if path in self._written:
                self._written[path].synced = True
                self.unsynced.discard(path)
            return path == str(self.folder)
        return False

    def _moved(self, source: str, target: str, now: Names) -> None:
        left = [path for path in self.unsynced if path.startswith(f"{source}/")]
        assert not left, f"{target} gets its name before {left[:3]} are on the disk"
        name = os.path.basename(source)
        entry = now.get(name, Entry("folder")) if os.path.dirname(source) == str(self.folder) else Entry("folder")
        self._change({source: None, target: entry}, now)

    def _change(self, changes: Mapping[str, Entry | None], now: Names) -> None:
        ours = {
            os.path.basename(path): one for path, one in changes.items() if os.path.dirname(path) == str(self.folder)
        }
        for name, entry in ours.items():
            _put(now, name, entry)
        if ours:
            self._pending.append(ours)

    def _settle(self) -> None:
        for step in self._pending:
            for name, entry in step.items():
                _put(self.names, name, entry)
        self._pending.clear()

    def _possible(self) -> Iterator[Names]:
        steps = [step for step in self._pending if any(name in self.watched for name in step)]
        for kept in itertools.product((False, True), repeat=len(steps)):
            names = dict(self.names)
            for step in itertools.compress(steps, kept):
                for name, entry in step.items():
                    _put(names, name, entry)
            yield from _emptied({name: one for name, one in names.items() if name in self.watched})


def _put(names: Names, name: str, entry: Entry | None) -> None:
    if entry is None:
        names.pop(name, None)
    else:
        names[name] = entry


def _emptied(names: Names) -> Iterator[Names]:
    """The same, and with each file empty that was not synced."""
    doubtful = [name for name, entry in names.items() if not entry.synced]
    for lost in itertools.product((False, True), repeat=len(doubtful)):
        gone = set(itertools.compress(doubtful, lost))
        yield {name: Entry(one.kind, "" if name in gone else one.content) for name, one in names.items()}


def _key(names: Names) -> tuple[tuple[str, str, str], ...]:
    return tuple(sorted((name, one.kind, one.content) for name, one in names.items()))


def lay_state(names: Names, folder: Path, kept: Path) -> None:
    """Make a folder be in this state; what is a folder in it is copied from ``kept``."""
    folder.mkdir(parents=True)
    for name, entry in names.items():
        if entry.kind == "link":
            (folder / name).symlink_to(entry.content)
        elif entry.kind == "folder":
            shutil.copytree(kept / name, folder / name, symlinks=True)
        else:
            (folder / name).write_text(entry.content)
