"""Whether each of our modules would be imported on another computer: its packages are laid down as pip does it there,
and every import is followed by reading, through the packages too. Nothing of it is run."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.architecture.rules import sources
from tests.architecture.system_rules import SYSTEMS, systems_of
from tests.harness.foreign_system import modules, names_of
from wheels.finding import Finder, Import, Module
from wheels.resolving import Found, ResolvingFailed
from wheels.targets import Locked, Target

ROOT = Path(__file__).resolve().parents[2]
OURS = ("desktop", "skills")
MADE = ("six.moves",)
"""Modules that only running their makers would show."""
MACHINES = {"AMD64": (0x8664, 0x01000007), "ARM64": (0xAA64, 0), "arm64": (0, 0x0100000C), "x86_64": (0, 0x01000007)}
"""How machine code says which machine it is for: on Windows, on macOS."""


def lay(wanted: Sequence[Locked], found: Found, target: Target, python: str, into: Path) -> None:
    """What there is of the lock, each wheel held against its hash. Raises ResolvingFailed."""
    lines = [one.line for one in wanted if one.name not in found.missing]
    listed = into.with_suffix(".txt")
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tags = [word for tag in target.tags for word in ("--platform", tag)]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install", "--target", str(into)]
    command += ["--require-hashes", "--no-deps", "--no-compile", "--only-binary", ":all:", "--implementation", "cp"]
    command += ["--python-version", python, *tags, "-r", str(listed)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise ResolvingFailed(f"{target.name}, Python {python}: {done.stderr.strip()[-600:]}")


class Walk:
    """Follows imports from our modules; ``wrong`` says which lead nowhere, ``seen`` is all that was read."""

    def __init__(self, packages: Path, target: Target, python: str, absent: Sequence[str], root: Path = ROOT) -> None:
        self._root, self._target = root, target
        self._packages, self._own = Finder([packages], target, python), Finder([root], target, python)
        self._lacking = frozenset.union(*(frozenset(modules(one)) for one in SYSTEMS)) - modules(target.system)
        self._absent = tuple(name.replace("-", "_") for name in absent)
        self.seen: dict[str, Module] = {}
        self.wrong: list[str] = []
        self.ours = 0
        left = list(self._of_ours())
        while left:
            module = left.pop()
            ours = module.name.partition(".")[0] in OURS
            self.ours += ours
            for one in module.imports(target.system, ours=ours):
                left += self._follow(module, one)

    def _of_ours(self) -> Iterator[Module]:
        """Those that this system may import."""
        for file in sources(self._root, *OURS):
            if self._target.system in systems_of(file):
                name = file.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                path = self._root / file.name
                module = Module(name, path.parent if path.name == "__init__.py" else path, path, file.tree)
                self.seen[name] = module
                yield module

    def _follow(self, module: Module, one: Import) -> Iterator[Module]:
        """Those that were not read yet."""
        top = one.module.partition(".")[0]
        beside = module.path if module.path.is_dir() else module.path.parent
        if one.module.startswith(MADE) or (top not in OURS and (beside / f"{top}.py").is_file()):
            return
        if top in sys.stdlib_module_names and self._find(top) is None:
            self._of_library(module, one, top)
            return
        parts = one.module.split(".")
        for name in (".".join(parts[: count + 1]) for count in range(len(parts))):
            found = self._find(name)
            if found is None:
                self._lacks(module, one, name)
                return
            if name not in self.seen:
                self.seen[name] = found
                yield found
        if one.name and one.name != "*":
            yield from self._name(module, one, self.seen[one.module])

    def _find(self, name: str) -> Module | None:
        return (self._own if name.partition(".")[0] in OURS else self._packages).find(name)

    def _name(self, module: Module, one: Import, holder: Module) -> Iterator[Module]:
        name = f"{one.module}.{one.name}"
        below = self._find(name) if holder.path.is_dir() else None
        if below is not None and name not in self.seen:
            self.seen[name] = below
            yield below
        elif below is None and holder.names is not None and one.name not in holder.names:
            self._lacks(module, one, name)

    def _of_library(self, module: Module, one: Import, top: str) -> None:
        system = self._target.system
        known = names_of(one.module, system)
        if top in self._lacking:
            self._lacks(module, one, one.module)
        elif known and not (one.name in ("", "*") or one.name.startswith("_") or one.name in known):
            if names_of(f"{one.module}.{one.name}", system):
                return
            self._lacks(module, one, f"{one.module}.{one.name}")

    def _lacks(self, module: Module, one: Import, name: str) -> None:
        why = (
            "no wheel of it is there for this computer"
            if name.startswith(self._absent or ("\0",))
            else "it is not there"
        )
        self.wrong.append(f"{module.name}, line {one.line}: imports {name}, and {why}")


def for_other_machines(packages: Path, target: Target) -> list[str]:
    """Machine code in wheels that is for another machine than their names say."""
    windows, mac = MACHINES[target.machine]
    found = []
    for path in sorted(packages.rglob("*")):
        if path.suffix in (".pyd", ".dll", ".so", ".dylib") and path.is_file() and not path.is_symlink():
            machines = machines_of(path.read_bytes())
            if (windows or mac) not in machines:
                found.append(f"{path.relative_to(packages)}: it is for {machines or 'no machine that is known'}")
    return found


def machines_of(code: bytes) -> set[int]:
    """By the head of a file of Windows or macOS, which may hold code for several."""
    if code[:2] == b"MZ" and len(code) > 0x40:
        start = struct.unpack_from("<I", code, 0x3C)[0]
        return {struct.unpack_from("<H", code, start + 4)[0]} if code[start : start + 4] == b"PE\0\0" else set()
    if code[:4] == b"\xcf\xfa\xed\xfe":
        return {struct.unpack_from("<I", code, 4)[0]}
    if code[:4] == b"\xca\xfe\xba\xbe":
        count = struct.unpack_from(">I", code, 4)[0]
        return {struct.unpack_from(">I", code, 8 + 20 * index)[0] for index in range(min(count, 8))}
    return set()
