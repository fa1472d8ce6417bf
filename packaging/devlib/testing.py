"""The test run in its stages, a few processes at a time, the long ones first: at the end no core waits for another."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import IO

from .changed import affordable, changed_files, costs, described, touched
from .ending import Processes, kill
from .environment import ROOT, clean_environment, python
from .standing import PROGRESS, TELL_S, Standing, Tell
from .words import say

# Rooms below the presenter. Their tests run only with Qt hidden, so that none of them can come to need it.
RUNTIME_ROOMS = (
    "domain",
    "yaml_text",
    "files",
    "settings",
    "store",
    "models",
    "workers",
    "safety",
    "tools",
    "skills",
    "recovery",
    "pipeline",
    "supervision",
    "agents",
    "services",
)
HIDE_QT = ("-p", "tests.harness.hide_qt", "-p", "no:pytest-qt")
LONG = (
    ("tests/unit/safety",),
    ("tests/end2end",),
    ("tests/gui/app",),
    ("tests/unit/agents",),
    ("tests/architecture",),
    ("tests/unit/services",),
    ("tests/unit/workers", "tests/unit/models"),
    ("tests/unit/tools",),
)
"""What takes longest or waits most, in the order in which it begins: while these wait for other processes, the rest
computes. Folders that stand nowhere here come after them, by their kind."""
SHORT = (("tests/gui/approvals", "tests/gui/transcript"),)
"""What is left for the end, the shortest last: then no core waits long for another."""
PARTS = {"tests/end2end": 2, "tests/gui/app": 3}
"""Folders that take so much longer than the others that they are dealt out to several processes, file by file: else
they would still go on, on one core, when everything else has ended."""
AT_ONCE = 3 * max(2, os.cpu_count() or 1)
"""Three processes for each core: about half of the time a test waits for another process or for the disk."""
MAX_NAMED = 20
FINE = (0, 5)
"""Passed, or there is nothing to test."""
QUIET_S = 330.0
"""A little more than `faulthandler_timeout`, which ends a test that hangs and says where."""
LOOK_S = 1.0


@dataclass(frozen=True)
class Stage:
    """One pytest process."""

    options: tuple[str, ...]
    paths: tuple[str, ...]
    called: str = ""
    """What it is called where its paths would not say it."""

    @property
    def name(self) -> str:
        """The folders, or at most a few files, as a person reads them in a line."""
        if self.called:
            return self.called
        names = [path.removeprefix("tests/").removeprefix("unit/") for path in self.paths]
        return ", ".join(names) if len(names) <= MAX_NAMED else f"{', '.join(names[:3])} and {len(names) - 3} more"

    @property
    def label(self) -> str:
        """The first folder alone, where a line names several stages."""
        if self.called:
            return self.called
        first, more = self.paths[0].removeprefix("tests/").removeprefix("unit/"), len(self.paths) - 1
        return f"{first} and {more} more" if more else first


def stages() -> list[Stage]:
    """Every folder of tests is in exactly one stage; the long ones stand first."""
    kinds = {kind: _folders(kind) for kind in ("tests/gui", "tests/unit", "tests")}
    runtime = tuple(path for path in kinds["tests/unit"] if hides_qt(path))
    others = tuple(path for path in (*kinds["tests/unit"], *kinds["tests"]) if path not in (*runtime, *kinds))
    named = [path for group in (*LONG, *SHORT) for path in group]
    groups = [*LONG, *(_without(group, named) for group in (others, kinds["tests/gui"], runtime)), *SHORT]
    return [stage for group in groups if group for stage in _parts(group)]


def _parts(group: tuple[str, ...]) -> list[Stage]:
    """One stage, or several that share the files of a long folder."""
    options, count = HIDE_QT if hides_qt(group[0]) else (), PARTS.get(group[0], 1)
    if count == 1:
        return [Stage(options, group)]
    files = _folders(group[0])
    name = group[0].removeprefix("tests/")
    return [Stage(options, files[part::count], f"{name} {part + 1}/{count}") for part in range(count)]


def hides_qt(path: str) -> bool:
    return path.removeprefix("tests/unit/").partition("/")[0] in RUNTIME_ROOMS


def _folders(of: str) -> tuple[str, ...]:
    """What holds tests in a folder, as paths from the repository's root."""
    folder = ROOT / of
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return tuple(child.relative_to(ROOT).as_posix() for child in found if _holds_tests(child))


def _without(paths: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if path not in others)


def _holds_tests(child: Path) -> bool:
    return any(child.rglob("test_*.py")) if child.is_dir() else child.match("test_*.py")


def run_changed(since: str) -> int:
    """Runs the nearest of the tests that what differs from a commit can touch at first hand, and says what it leaves
    out."""
    changed = changed_files(since)
    paths, known = touched(changed), costs()
    kinds = [[path for path in paths if hides_qt(path) is hides] for hides in (True, False)]
    chosen, left = zip(*(affordable(kind, known, changed) for kind in kinds), strict=True)
    for line in described(list(chain(*chosen)), list(chain(*left)), since):
        say(line)
    return run_stages([Stage(HIDE_QT if hides_qt(kind[0]) else (), tuple(kind)) for kind in chosen if kind])


def run_stages(chosen: Sequence[Stage] | None = None, tell_s: float = TELL_S, tell: Tell = say) -> int:
    """Runs these stages, else all, also after a failed one, and returns the first failing exit code or 0."""
    chosen = stages() if chosen is None else chosen
    standing, telling, processes = Standing(len(chosen)), Lock(), Processes()
    with standing.told(tell_s, tell), ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            running = [pool.submit(_run_stage, stage, standing, telling, processes) for stage in chosen]
            codes = [one.result() for one in running]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            processes.end()
            raise
    for stage, code in zip(chosen, codes, strict=True):
        if code not in FINE:
            say(f"failed: {stage.name}")
    return next((code for code in codes if code not in FINE), 0)


def _run_stage(stage: Stage, standing: Standing, telling: Lock, processes: Processes) -> int:
    """The stage's exit code; what it said is shown in one piece when it has ended.

    Each stage has a folder for its temporary files: pytest's common one is cleaned by every process that ends, and of
    two that clean it at once one fails.
    """
    with (
        tempfile.TemporaryFile() as said,
        tempfile.TemporaryDirectory(prefix="pytest-", ignore_cleanup_errors=True) as folder,
    ):
        progress = Path(folder, "progress")
        progress.touch()
        say(f"testing {stage.name}")
        with standing.during(stage.label, progress):
            code = _run([f"--basetemp={folder}/t", *stage.options, *stage.paths], progress, processes, said)
        with telling:
            say(f"tested {stage.name}")
            said.seek(0)
            shutil.copyfileobj(said, sys.stdout.buffer)
            sys.stdout.flush()
    return code


def run_chosen(arguments: list[str]) -> int:
    """One pytest run with the person's own arguments. Runtime tests run with Qt hidden here too."""
    paths = [argument for argument in arguments if argument.startswith("tests")]
    only_runtime = paths and all(hides_qt(path) for path in paths)
    with tempfile.TemporaryDirectory(prefix="assent-tests-") as folder:
        progress = Path(folder, "progress")
        progress.touch()
        return _run([*(HIDE_QT if only_runtime else ()), *arguments], progress, Processes())


def _run(arguments: list[str], progress: Path, processes: Processes, output: IO[bytes] | None = None) -> int:
    """A pytest process, ended only when nothing in it has finished for ``QUIET_S``: a slow machine is no failure."""
    environment = {**clean_environment(), "QT_QPA_PLATFORM": "offscreen", PROGRESS: str(progress)}
    command = [str(python()), "-m", "pytest", *arguments]
    with processes.start(command, cwd=ROOT, env=environment, stdout=output, stderr=output) as process:
        try:
            return await_progress(process, progress)
        except BaseException:
            kill(process)
            raise


def await_progress(process: subprocess.Popen[bytes], progress: Path, quiet_s: float = QUIET_S) -> int:
    """The exit code. The tests write to ``progress`` whenever one of them has finished."""
    while True:
        begun = time.monotonic()
        before = progress.stat().st_mtime_ns
        while time.monotonic() - begun < quiet_s and progress.stat().st_mtime_ns == before:
            try:
                return process.wait(LOOK_S)
            except subprocess.TimeoutExpired:
                continue
        if progress.stat().st_mtime_ns == before:
            say(f"no test has finished for {quiet_s:.0f} s; this stage was stopped")
            kill(process)
            return 1
