"""The test run in its stages, two processes at a time: the runtime with Qt hidden, then the windows and all the rest.

What mostly waits for processes to end runs beside what mostly computes, so that two cores are used.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .environment import ROOT, clean_environment, python
from .words import say

# Rooms below the presenter. Their tests run only with Qt hidden, so that none of them can come to need it.
RUNTIME_ROOMS = (
    "domain", "settings", "store", "models", "workers", "safety", "tools", "skills",
    "pipeline", "supervision", "agents", "conversation",
)  # fmt: skip
HIDE_QT = ("-p", "tests.harness.hide_qt", "-p", "no:pytest-qt")
WALLS = ("tests/unit/safety", "tests/unit/tools")
WINDOWS = ("tests/gui",)
NOTHING_COLLECTED = 5
PROGRESS = "ASSENT_TEST_PROGRESS"
"""Names a file that the tests touch whenever one of them has finished."""
QUIET_S = 330.0
"""A little more than `faulthandler_timeout`, which ends a test that hangs and says where."""
LOOK_S = 1.0


@dataclass(frozen=True)
class Stage:
    """One pytest process. `beside`: it runs while the stage before it does, and what it says comes after that one's."""

    name: str
    options: tuple[str, ...]
    paths: tuple[str, ...]
    beside: bool = False


def stages() -> list[Stage]:
    """Every folder of tests is in exactly one stage."""
    runtime = tuple(path for room in RUNTIME_ROOMS if (ROOT / (path := f"tests/unit/{room}")).is_dir())
    rest = tuple(
        path
        for folder in (ROOT / "tests", ROOT / "tests/unit")
        for child in (sorted(folder.iterdir()) if folder.is_dir() else ())
        if (path := child.relative_to(ROOT).as_posix()) not in runtime and _holds_tests(child)
    )
    walls = tuple(path for path in runtime if path in WALLS)
    windows = tuple(path for path in rest if path in WINDOWS)
    chosen = [
        Stage("the runtime, with Qt hidden", HIDE_QT, _without(runtime, walls)),
        Stage("the walls and tools, with Qt hidden", HIDE_QT, walls, beside=True),
        Stage("the windows", (), windows),
        Stage("everything else", (), _without(rest, windows), beside=True),
    ]
    return [stage for stage in chosen if stage.paths]


def _without(paths: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in paths if path not in others)


def _holds_tests(child: Path) -> bool:
    if child.name == "unit":
        return False
    return any(child.rglob("test_*.py")) if child.is_dir() else child.match("test_*.py")


def run_stages() -> int:
    """Runs all stages, also after a failed one, and returns the first failing exit code or 0."""
    codes, chosen = [], stages()
    for at, stage in enumerate(chosen):
        if stage.beside:
            continue
        following = [one for one in chosen[at + 1 : at + 2] if one.beside]
        codes += _run_together(stage, following)
    failed = [code for code in codes if code not in (0, NOTHING_COLLECTED)]
    return failed[0] if failed else 0


def _run_together(stage: Stage, beside: list[Stage]) -> list[int]:
    """The exit codes of a stage and of those that run beside it."""
    with tempfile.TemporaryFile() as said, ThreadPoolExecutor(1) as pool:
        others = [pool.submit(_run, [*one.options, *one.paths], said) for one in beside]
        say(f"testing {stage.name}")
        codes = [_run([*stage.options, *stage.paths])]
        for one, other in zip(beside, others, strict=True):
            codes.append(other.result())
            say(f"tested {one.name}")
            said.seek(0)
            shutil.copyfileobj(said, sys.stdout.buffer)
            sys.stdout.flush()
    return codes


def run_chosen(arguments: list[str]) -> int:
    """One pytest run with the person's own arguments. Runtime tests run with Qt hidden here too."""
    wanted = {f"tests/unit/{room}" for room in RUNTIME_ROOMS}
    paths = [argument for argument in arguments if argument.startswith("tests")]
    only_runtime = paths and all(any(path.startswith(room) for room in wanted) for path in paths)
    return _run([*(HIDE_QT if only_runtime else ()), *arguments])


def _run(arguments: list[str], output: IO[bytes] | None = None) -> int:
    """A pytest process, ended only when nothing in it has finished for ``QUIET_S``: a slow machine is no failure."""
    environment = clean_environment()
    environment["QT_QPA_PLATFORM"] = "offscreen"
    with tempfile.NamedTemporaryFile(prefix="assent-tests-") as progress:
        command = [str(python()), "-m", "pytest", *arguments]
        environment[PROGRESS] = progress.name
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=os.name == "posix"
        ) as process:
            try:
                return await_progress(process, Path(progress.name))
            except KeyboardInterrupt:
                _kill(process)
                raise


def await_progress(process: subprocess.Popen[bytes], progress: Path, quiet_s: float = QUIET_S) -> int:
    """The exit code. The tests touch ``progress`` whenever one of them has finished."""
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
            _kill(process)
            return 1


def _kill(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
