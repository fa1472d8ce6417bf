"""Saves a file over and over in processes that are killed, each one call further on: before and after everything that a
save does with the disk. Tells, as JSON, what was wrong, and in how many places a process was killed.

`python -m tests.unit.files.save_kills FOLDER KIND`
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from desktop.domain.definitions import AgentDefinition, SideDefinition
from desktop.files.private import remove_unfinished
from desktop.services.definitions.saving import saver
from desktop.settings.file import ConfigFile
from desktop.settings.schema import default_values
from desktop.skills.editing.files import SkillFiles
from desktop.tools.person_file import PersonFile

OLD, NEW = "chat:\n  max_iterations: 7\n", "chat:\n  max_iterations: 9\n"
MODE = 0o640


def person_file(path: Path) -> Callable[[], object]:
    file = PersonFile(path, 100_000)
    return lambda: file.write(NEW, file.read().stamp, over=False)


def settings(path: Path) -> Callable[[], object]:
    usual = default_values(path.parent)
    file = ConfigFile(path, path.parent / "data" / "last-good", usual, {})
    return lambda: file.save({"chat.max_iterations": 9}, (), usual)


def skill_files(path: Path) -> SkillFiles:
    return SkillFiles(path.parent / "trash", lambda: (str(path.parent),), lambda _path: None)


def skill(path: Path) -> Callable[[], object]:
    files = skill_files(path)
    return lambda: files.save(files.open(str(path)), NEW)


def new_skill(path: Path) -> Callable[[], object]:
    return lambda: skill_files(path).create_file(str(path), NEW)


def new_agent(path: Path) -> Callable[[], object]:
    definition = AgentDefinition("file", SideDefinition("assistant"))
    return lambda: asyncio.run(saver(path.parent)(definition))  # type: ignore[arg-type]


SAVES = {
    "tools.yaml": person_file,
    "settings": settings,
    "skill": skill,
    "new skill": new_skill,
    "new agent": new_agent,
}


def of_disk(function: Any) -> bool:
    """Whether it is a call of the system, or of a file that is open."""
    owner = getattr(function, "__self__", None)
    return getattr(function, "__module__", "") in ("posix", "_io", "io") or type(owner).__module__ == "_io"


def killed_at(place: int, save: Callable[[], object], *, threads_alone: bool) -> int:
    """Save in a process that dies at this call of the system, counted from 1; how that ended, 0 where it came through.
    ``threads_alone``: what saves is a thread of it."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    left = [place]

    def count(_frame: FrameType, event: str, arg: Any) -> None:
        if event in ("c_call", "c_return") and of_disk(arg):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(count)
    if not threads_alone:
        sys.setprofile(count)
    code = 1
    try:
        save()
        code = 0
    finally:
        sys.setprofile(None)
        os._exit(code)


def series(folder: Path, kind: str) -> dict[str, Any]:
    """Kill a save at each place until one comes through."""
    linked = kind in ("tools.yaml", "settings", "skill")
    path, target = folder / "file.yaml", folder / "elsewhere" / "real.yaml"
    target.parent.mkdir()
    warm = folder / "warm" / "file.yaml"
    warm.parent.mkdir()
    if linked:
        warm.write_text(OLD)
    SAVES[kind](warm)()  # all that a save loads is there from now on
    shutil.rmtree(warm.parent)
    wrong: list[str] = []
    left = places = 0
    whole = ""
    while True:
        places += 1
        if linked:
            target.write_text(OLD)
            target.chmod(MODE)
            if not path.is_symlink():
                path.symlink_to(target)
        else:
            path.unlink(missing_ok=True)
        ended = killed_at(places, SAVES[kind](path), threads_alone=kind == "new agent")
        now = path.read_text() if path.exists() else ""
        states = {OLD if linked else "", NEW if kind != "new agent" else now if "assistant" in now[-20:] else NEW}
        if now not in states:
            wrong.append(f"{places}: {now!r}")
        if linked and not (path.is_symlink() and stat.S_IMODE(target.stat().st_mode) == MODE):
            wrong.append(f"{places}: the link or its rights")
        left += len([name for at in (folder, target.parent) for name in os.listdir(at) if "unfinished" in name])
        remove_unfinished(folder, time.time() + 1)
        names = sorted(name for at in (folder, target.parent) for name in os.listdir(at))
        if set(names) - {"file.yaml", "real.yaml", "elsewhere", "data", "trash"}:
            wrong.append(f"{places}: left {names}")
        if os.WIFEXITED(ended):
            assert not ended, "the save failed by itself"
            whole = path.read_text()
            return {"wrong": wrong, "places": places, "left": left, "saved": whole}


if __name__ == "__main__":
    print(json.dumps(series(Path(sys.argv[1]), sys.argv[2])))
