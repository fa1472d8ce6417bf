"""A finished tree that carries its own interpreter: nothing in it that may not be there, nothing that nobody explains.

The package command calls ``add_to`` when all files lie there, and ``problems_of`` at the very end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from .collector import FONT_SUFFIXES
from .command import FOLDER, LOCK, decided, site_packages
from .components import LIBRARY, RUNTIME, WHEEL, Component, Texts
from .decisions import DecidedPart, Decisions
from .expressions import NotAllowed, chosen
from .listing import LIST, add_list, keep_rows, missing_texts, read_list
from .wheels import InstalledWheel, canonical, installed, is_native, matches, read_lock

OWN = "assent"
SHOWS = {"python.exe": "windows", "Info.plist": "macos"}
"""A file at the top of a tree that is for another system than Linux."""
OURS = ("desktop/", "resources/", "skills/")
"""Assent's own folders, which may lie among the packages."""
SITE = "site-packages"
STANDARD_LIBRARY = "lib-dynload"
INTERPRETER = ("python3*", "python", "libpython3*", "python.exe", "pythonw.exe", "python3*.dll", "vcruntime*.dll")


def problems_of(root: Path, site: Path | None = None) -> list[str]:
    """Why the tree must not be handed out. ``site`` is the environment that it was made of."""
    tree = _Tree(root, decided(), installed(site or site_packages(), read_lock(LOCK)))
    found = list(tree.problems())
    lists = [path.parent for path in root.rglob(f"licences/{LIST}")]
    if not lists:
        found.append("The list of licences (resources/licences) is not in it.")
    for folder in lists:
        found += [f"{folder.relative_to(root)}: {one}." for one in missing_texts(folder)]
        missing = sorted(tree.rows_needed() - {one.name for one in read_list(folder) if not one.inside})
        found += [f"{folder.relative_to(root)}: {name} is in the tree, and not in the list." for name in missing]
    return found


def add_to(root: Path, resources: Path, python: str, versions: Mapping[str, str] | None = None) -> list[Component]:
    """Writes the licences of the interpreter and of the system's libraries that lie in the tree beside the others.
    ``python`` is the interpreter's version, ``versions`` those of libraries by the names that the decisions give."""
    tree = _Tree(root, decided(), {})
    texts = Texts(FOLDER / "texts")
    found = tree.added(texts, python, versions or {})
    keep_rows(resources / "licences", tree.is_there)
    add_list(resources / "licences", found, texts.kept)
    return found


def _package_name(metadata: Path) -> str:
    lines = metadata.read_text("utf-8", "replace").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("Name:")), metadata.parent.name)


class _Tree:
    def __init__(self, root: Path, decisions: Decisions, wheels: Mapping[str, InstalledWheel]) -> None:
        self._root, self._decisions = root, decisions
        self._owners = {path: name for name, wheel in wheels.items() for path in wheel.files}
        self._left_out = [
            (pattern, one.why) for wheel in decisions.wheels.values() for one in wheel.left_out for pattern in one.files
        ]
        self.files = sorted(self._walk())
        self._system = next((name for file, name in SHOWS.items() if file in self.files), "linux")
        found = [path.rpartition("/")[0] for path in self.files if path.endswith(".dist-info/METADATA")]
        named = [_package_name(self._root / path / "METADATA") for path in found]
        self._packages = {canonical(name): name for name in named if canonical(name) != OWN}

    def _walk(self) -> Iterator[str]:
        for folder, _folders, names in os.walk(self._root):
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self._root).replace(os.sep, "/")

    def problems(self) -> Iterator[str]:
        for path in self.files:
            name = path.rpartition("/")[2]
            inside = f"/{path}".rpartition(f"/{SITE}/")[2]
            if f"/{SITE}/" in f"/{path}" and not inside.startswith(OURS):
                yield from self._package_file(path, inside)
            elif name.endswith(FONT_SUFFIXES):
                if not self._is_ours(path):
                    yield f"{path}: nobody wrote down its licence."
            elif is_native(str(self._root / path)):
                yield from self._native(path, name)

    def is_there(self, row: Component) -> bool:
        """Whether a row of the common list is of something that lies in this tree: some packages are left out whole."""
        if row.kind == WHEEL:
            return canonical(row.name) in self._packages
        return not row.inside or any(name in self._packages for name in row.inside)

    def rows_needed(self) -> set[str]:
        """Names that the list has to have for what lies here: packages, the interpreter, the system's libraries."""
        needed = set(self._packages.values())
        own = [path for path in self.files if f"/{SITE}/" not in f"/{path}"]
        needed |= {part.name for path in own if (part := self._system_part(path.rpartition("/")[2]))}
        needed |= {part.name for part in self._decisions.system if self._system in part.linked}
        shown = any(f"/{STANDARD_LIBRARY}/" in path or path.endswith("/os.py") for path in self.files)
        if shown or self._system != "linux":
            needed.add("Python")
        return needed

    def added(self, texts: Texts, python: str, versions: Mapping[str, str]) -> list[Component]:
        named = self.rows_needed()
        found = []
        if "Python" in named:
            one = self._decisions.interpreter
            itself = DecidedPart("Python", one.licence, python, "", one.copyright, one.source, one.texts)
            found.append(self._row(texts, itself, RUNTIME, ""))
            found += [self._row(texts, part, LIBRARY, "Python") for part in one.parts]
        for part in self._decisions.system:
            if part.name in named:
                found.append(self._row(texts, part, LIBRARY, "", versions.get(part.name, "")))
        return found

    def _row(self, texts: Texts, part: DecidedPart, kind: str, inside: str, version: str = "") -> Component:
        used = chosen(part.licence, tuple(self._decisions.licences))
        names = [texts.add(part.name, title, (FOLDER / "texts" / title).read_text("utf-8")) for title in part.texts]
        if not names:
            wanted = [name for one in used for name in (one, *self._decisions.licences[one].with_)]
            names = [texts.standard(piece) for name in wanted for piece in name.split(" WITH ")]
        return Component(
            part.name,
            part.version or version,
            kind,
            part.licence,
            used,
            (inside,) if inside else (),
            part.copyright,
            part.source,
            about=part.inside,
            texts=tuple(dict.fromkeys(names)),
        )

    def _package_file(self, path: str, inside: str) -> Iterator[str]:
        why = next((why for pattern, why in self._left_out if matches(inside, (pattern,))), "")
        if why:
            yield f"{path} must not be handed out: {why}."
        elif inside.endswith(FONT_SUFFIXES) and self._is_ours(path):
            return  # Assent lies among the packages, too
        elif inside not in self._owners and (is_native(str(self._root / path)) or inside.endswith(FONT_SUFFIXES)):
            yield f"{path}: no wheel of the lock has it."

    def _native(self, path: str, name: str) -> Iterator[str]:
        refused = self._decisions.interpreter.refused
        why = next((why for pattern, why in refused.items() if matches(name, (pattern,))), "")
        if why:
            yield f"{path} must not be handed out: {why}."
            return
        module = name.endswith(".pyd") and name.partition(".")[0] in sys.stdlib_module_names
        if module or f"/{STANDARD_LIBRARY}/" in f"/{path}" or matches(name, INTERPRETER):
            return
        part = self._system_part(name)
        if part is None:
            yield f"{path}: nobody wrote down what it is and under which licence."
            return
        try:
            chosen(part.licence, tuple(self._decisions.licences))
        except NotAllowed as error:
            yield f"{path}: {error} is not among the licences that are allowed."

    def _system_part(self, name: str) -> DecidedPart | None:
        return next((part for part in self._decisions.system if matches(name, part.files)), None)

    def _is_ours(self, path: str) -> bool:
        inside = path.rpartition("resources/")[2]
        return any(matches(inside, part.files) for part in self._decisions.shipped)
