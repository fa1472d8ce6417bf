"""Commands that run in copies, and what the kernel and ``diff -r`` say of the same copies: none of it is our code."""

import asyncio
import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from desktop.domain.files.copied_folders import CopyKind
from desktop.domain.files.outcomes import CommandCopy, OutcomeReading
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessOutcome, ProcessSpec
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from desktop.safety.outcomes.copies import Copies
from tests.unit.safety.world import World

KINDS: list[Kind] = ["bubblewrap", "landlock"]
_OVERLAY = 'mount -t overlay overlay -o "lowerdir=$1,upperdir=$2,workdir=$3,userxattr" "$4"'
_TELL = 'LC_ALL=C diff -rq --no-dereference "$1" "$4"; cd "$4"; find . -type f -exec sha256sum {} +; '
_MODES = r'cd "$4"; find . -printf "%P\t%y\t%m\t%l\n"'


@dataclass
class Rehearsals:
    """A world, and what confines commands in it."""

    world: World
    kind: Kind = "bubblewrap"
    copied: CopyKind = "overlay"
    confinement: SystemConfinement = field(init=False)
    copies: Copies = field(init=False)
    kept: list[CommandCopy] = field(default_factory=list)

    def __post_init__(self) -> None:
        world = self.world
        caches = str(world.home / "cache")
        self.confinement = SystemConfinement(world.policy, lambda: world.settings, kinds=(self.kind,), caches=caches)
        self.copies = Copies(f"{caches}/copies", self.confinement, world.policy, kinds=(self.copied,))

    @property
    def works(self) -> bool:
        """Whether this machine has that kind of confinement."""
        return self.confinement.probe().kind == self.kind

    def close(self) -> None:
        for copy in self.kept:
            copy.drop()
        self.confinement.close()

    def run(self, command: str, *, timeout_s: float = 60.0) -> tuple[ProcessOutcome, OutcomeReading, CommandCopy]:
        """Run a command in a copy, which stays until the end of the test."""
        copy = self.copies.make(grants=True)
        self.kept.append(copy)
        argv = ("bash", "--noprofile", "--norc", "-c", command)
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.world.person), "LC_ALL": "C"}
        spec = ProcessSpec(argv, str(self.world.workspace), environment, timeout_s=timeout_s)
        wrapped = self.confinement.wrap(spec, network=False, copy=copy)
        outcome = asyncio.run(GroupRunner().run(wrapped, CancellationToken()))
        assert copy.began(), outcome.output
        return outcome, copy.read(), copy

    def did(self, command: str) -> list[str]:
        """What a command did, a line a change: ``+ made``, ``- deleted``, ``~ changed``, ``m mode``."""
        _, reading, _ = self.run(command)
        return lines(reading, str(self.world.workspace))


@contextmanager
def rehearsals(world: World, kind: Kind = "bubblewrap", copied: CopyKind = "overlay") -> Iterator[Rehearsals]:
    made = Rehearsals(world, kind, copied)
    try:
        yield made
    finally:
        made.close()


def lines(reading: OutcomeReading, root: str) -> list[str]:
    found = []
    for change in reading.changes:
        path, before, after = os.path.relpath(change.path, root), change.before, change.after
        sign = "+" if before.kind == "absent" else "-" if after.kind == "absent" else "~"
        same = (before.kind, before.digest, before.target) == (after.kind, after.digest, after.target)
        sign = "m" if sign == "~" and same else sign
        end = "/" if "folder" in (before.kind, after.kind) else ""
        renamed = f" from {os.path.relpath(change.renamed_from, root)}" if change.renamed_from else ""
        found.append(f"{sign} {path}{end}{renamed}")
    return found


def tree(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything in a real folder, down to the last bit."""
    found: dict[str, tuple[object, ...]] = {}
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(here, name)
            status = os.lstat(path)
            content = Path(path).read_bytes() if os.path.isfile(path) and not os.path.islink(path) else b""
            found[path] = (status.st_mode, status.st_mtime_ns, status.st_ino, content)
    return found


def differences(real: str, copy: CommandCopy) -> tuple[set[str], dict[str, str], set[str]]:
    """What ``diff -r`` says of a folder and its copy as the kernel shows it (its topmost paths), the SHA-256 of each
    file in the copy, and the paths whose rights differ."""
    layer = next(layer for layer in copy.layers if layer.real == real)
    where = os.path.join(os.path.dirname(layer.made), "merged")
    os.makedirs(where, exist_ok=True)
    if layer.work:
        script = f"{_OVERLAY} && {{ {_TELL} echo ==; {_MODES}; }}"
        shell = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
        told = subprocess.run([*shell, real, layer.made, layer.work, where], capture_output=True, check=False)
    else:
        where = layer.made
        shell = ["sh", "-c", f"{_TELL} echo ==; {_MODES}", "sh"]
        told = subprocess.run([*shell, real, "", "", where], capture_output=True, check=False)
    assert b"==" in told.stdout, told.stderr
    first, second = os.fsdecode(told.stdout).split("\n==\n") if b"\n==\n" in told.stdout else ("", told.stdout.decode())
    digests = {
        line[66:].removeprefix("./"): line[:64] for line in first.splitlines() if re.match(r"^[0-9a-f]{64}  ", line)
    }
    paths = {_told(line, real, where) for line in first.splitlines() if not re.match(r"^\\?[0-9a-f]{64}  ", line)}
    modes = _modes(second)
    own = _modes(os.fsdecode(subprocess.run(["sh", "-c", _MODES, "sh", "", "", "", real], capture_output=True).stdout))
    other = {path for path in own if path in modes and own[path] != modes[path]}
    return {path for path in paths if path}, digests, other


def _modes(text: str) -> dict[str, tuple[str, ...]]:
    """Kind and rights of folders and files, by path."""
    rows = (line.split("\t") for line in text.removeprefix("==\n").splitlines())
    return {row[0] or ".": tuple(row[1:3]) for row in rows if len(row) == 4 and row[1] in "df"}


def _told(line: str, real: str, merged: str) -> str:
    """The path, relative to the folder, that a line of ``diff -rq`` is about."""
    if found := re.fullmatch(r"Only in (.*?): (.*)", line):
        folder = _unquoted(found[1])
        root = merged if (folder + "/").startswith(merged + "/") else real
        return os.path.normpath(os.path.join(os.path.relpath(folder, root), _unquoted(found[2])))
    if found := re.match(rf"(?:Files|Symbolic links|File) ('?{re.escape(real)}/.*?) (?:and|is a) ", line):
        return os.path.relpath(_unquoted(found[1]), real)
    return ""


def _unquoted(name: str) -> str:
    """A name as newer ones of ``diff`` (3.12 does) put it: in the quotes of a shell, where it needs some."""
    if not name.startswith(("'", '"')):
        return name
    try:
        words = shlex.split(name)
    except ValueError:  # an older one, which quotes nothing
        return name
    return words[0] if len(words) == 1 else name


def topmost(reading: OutcomeReading, root: str) -> tuple[set[str], set[str]]:
    """The same of what was read: the topmost paths whose content differs, and those whose rights do."""
    content, rights = set(), set()
    whole = {c.path for c in reading.changes if "folder" not in (c.before.kind,) or c.after.kind != "folder"}
    for change in reading.changes:
        relative = os.path.relpath(change.path, root)
        before, after = change.before, change.after
        same = (before.kind, before.digest, before.target) == (after.kind, after.digest, after.target)
        if not same and not _within_one(os.path.dirname(change.path), whole, root):
            content.add(relative)
        if before.kind == after.kind and before.mode != after.mode:
            rights.add(relative)
    for one in reading.left_out:
        if one.kind == "special" and not _within_one(os.path.dirname(one.path), whole, root):
            content.add(os.path.relpath(one.path, root))
    return content, rights


def _within_one(folder: str, whole: set[str], root: str) -> bool:
    """Whether a folder above was made, deleted or replaced as a whole."""
    while len(folder) > len(root):
        if folder in whole:
            return True
        folder = os.path.dirname(folder)
    return False


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
