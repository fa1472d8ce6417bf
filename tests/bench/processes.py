"""Starting windows and reading their memory, for benches about whole processes."""

import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 60.0  # seconds for one start


@contextlib.contextmanager
def screen() -> Iterator[dict[str, str]]:
    """The environment of a child that shows a window: on a private X server, or offscreen where there is none."""
    base = {key: value for key, value in os.environ.items() if key not in {"PYTHONDONTWRITEBYTECODE", "DISPLAY"}}
    program = shutil.which("Xvfb")
    if program is None:
        yield {**base, "QT_QPA_PLATFORM": "offscreen"}
        return
    read, write = os.pipe()
    command = [program, "-displayfd", str(write), "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        os.close(write)
        try:
            with os.fdopen(read) as pipe:
                display = f":{pipe.readline().strip()}"
            yield {**base, "QT_QPA_PLATFORM": "xcb", "DISPLAY": display}
        finally:
            server.terminate()


@contextlib.contextmanager
def home() -> Iterator[Path]:
    """An empty home of the app, as after the first start."""
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as name:
        yield Path(name)


def app_command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "desktop", "--home", str(folder), *options]


def bare_command() -> list[str]:
    return [sys.executable, str(ROOT / "tests/bench/bare_window.py")]


def first_paint(command: list[str], environment: dict[str, str]) -> float:
    """Milliseconds from starting the process to its first paint being over, by the one clock that processes share."""
    started = time.monotonic_ns()
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if "painted_ns" in line:
                    return (int(json.loads(line)["painted_ns"]) - started) / 1e6
        finally:
            process.kill()
    raise RuntimeError(f"{' '.join(command)} ended with {process.returncode} before its first paint")


def medians(measures: list[Callable[[], float]], rounds: int) -> list[float]:
    """The median of each, measured in turns so that a change of the machine's mood meets all of them."""
    for measure in measures:
        measure()  # warm caches and bytecode
    columns = [[measure() for measure in measures] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*columns, strict=True)]


def pss_mb(pid: int) -> float:
    """Proportional set size of one process in MB. Linux only."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


QT = re.compile(r"/(PySide6|shiboken6)/")
_MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)")


def private_qt_mb(pid: int) -> float:
    """Memory of one process in MB as if nobody shared its Qt: what is mapped of Qt's files counts in whole, everything
    else by its proportional share. Linux only."""
    total, share = 0, ""
    for line in Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8", errors="replace").splitlines():
        if (mapping := _MAPPING.fullmatch(line)) is not None:
            share = "Rss:" if QT.search(mapping[1]) else "Pss:"
        elif line.startswith(share):
            total += int(line.split()[1])
    return total / 1024


def quiet(pid: int, shortest: float) -> None:
    """Wait until a process and its children have nothing to do: for two seconds they use no processor time to speak of,
    however long that takes on a busy machine."""
    time.sleep(shortest)
    until, before, still = time.monotonic() + 120, _ticks(pid), 0
    while still < 4 and time.monotonic() < until:
        time.sleep(0.5)
        now = _ticks(pid)
        still, before = (still + 1 if now - before <= 2 else 0), now


def _ticks(pid: int) -> int:
    """Processor time of a process and all below it, in hundredths of a second."""
    used, children = {}, defaultdict[int, list[int]](list)
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text("ascii", "replace").rpartition(")")[2].split()
            used[int(entry.parent.name)] = int(fields[11]) + int(fields[12])
            children[int(fields[1])].append(int(entry.parent.name))
    waiting, total = [pid], 0
    while waiting:
        one = waiting.pop()
        total += used.get(one, 0)
        waiting += children[one]
    return total


def idle_mb(command: list[str], environment: dict[str, str], shortest: float) -> float:
    """Memory of a process that has become quiet. Raises when it ends before that."""
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            quiet(process.pid, shortest)
            if process.poll() is not None:
                raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
            return private_qt_mb(process.pid)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
