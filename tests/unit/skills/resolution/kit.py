"""Skill files for the tests of resolution."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.fabric import SkillFabric
from tests.harness.timeouts import WAIT_S


def text(name: str, description: str = "Does it.", body: str = "Do it.", **metadata: Any) -> str:
    """A markdown skill."""
    allowed = metadata.pop("allowed", None)
    lines = ["---", f"name: {name}", f"description: {description}"]
    if allowed is not None:
        lines.append(f"allowed-tools: {allowed}")
    if metadata:
        lines.append("metadata:")
        for key, value in metadata.items():
            shown = "[" + ", ".join(value) + "]" if isinstance(value, list) else value
            lines.append(f"  {key}: {shown}")
    return "\n".join([*lines, "---", body, ""])


def write(path: Path, *args: Any, **kwargs: Any) -> Path:
    """A skill file with that text, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(*args, **kwargs), encoding="utf-8")
    return path


def skill(root: Path, name: str, *args: Any, **kwargs: Any) -> Path:
    """``root/name.skill.md``."""
    return write(root / f"{name}.skill.md", name, *args, **kwargs)


def folder_skill(root: Path, name: str, *args: Any, **kwargs: Any) -> Path:
    """``root/name/SKILL.md``."""
    return write(root / name / "SKILL.md", name, *args, **kwargs)


def age(root: Path, seconds: float = 100) -> None:
    """Make files and folders look old to a second look, as far as a program can: modification times only."""
    then = time.time() - seconds
    for folder, _, files in os.walk(root):
        for name in files:
            os.utime(os.path.join(folder, name), (then, then))
        os.utime(folder, (then, then))


def until(condition: Callable[[], Any], seconds: float = WAIT_S) -> Any:
    """Wait until it holds; AssertionError after a time that is far too long."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "did not happen"
        time.sleep(0.01)
    return found


def opened(*roots: SearchRoot, **options: Any) -> SkillFabric:
    """A fabric over these folders."""
    return SkillFabric.open(roots, **options)


class MemoryStore:
    """A store of pins that lives in the test."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def put(self, values: Any) -> None:
        self.values.update(values)
