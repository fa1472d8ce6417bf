"""The wheel's build step: beside the skills that it packs it writes the index of their names (R-RES-6), and beside the
other resources the list of changes, which help shows as what is new.

pyproject.toml names it, and setuptools runs it, also where nothing but setuptools is to be had. So names are read here
in the plainest way; the app believes the index only where a file is as it was packed and declares the name itself.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
from pathlib import Path

from setuptools.command.build_py import build_py

INDEX = ".skills-index.json"
CHANGES = "CHANGELOG.md"
VERSION = 2
NAME = re.compile(r"^name:[ \t]*['\"]?([a-z0-9-]{1,64})['\"]?[ \t]*$", re.MULTILINE)


class BuildWithIndex(build_py):
    """``build_py``, and then the index of ``skills/`` and the list of changes."""

    def run(self) -> None:
        """Copy everything, then look at what was copied."""
        super().run()
        folder, resources = Path(self.build_lib) / "skills", Path(self.build_lib) / "resources"
        if resources.is_dir() and not self.editable_mode and Path(CHANGES).is_file():
            shutil.copyfile(CHANGES, resources / CHANGES)
        if folder.is_dir() and not self.editable_mode:
            write_index(folder)


def write_index(folder: Path) -> None:
    """Which name is in which file, and what each file's content is known by."""
    names: dict[str, str] = {}
    files: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = _name(path)
        if name:
            rel = path.relative_to(folder).as_posix()
            names[name], files[rel] = rel, hashlib.sha256(path.read_bytes()).hexdigest()
    text = json.dumps({"version": VERSION, "names": names, "files": files}, indent=1)
    (folder / INDEX).write_text(text, encoding="utf-8")


def _name(path: Path) -> str:
    if path.name.endswith(".skill.py"):
        return _in_python(path.read_text("utf-8"))
    if path.name.endswith(".skill.md") or path.name == "SKILL.md":
        head = path.read_text("utf-8").partition("\n---")[0]
        found = NAME.search(head)
        return found[1] if found else ""
    return ""


def _in_python(text: str) -> str:
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and any(getattr(to, "id", "") == "frontmatter" for to in node.targets):
            return str(ast.literal_eval(node.value).get("name", ""))
    return ""
