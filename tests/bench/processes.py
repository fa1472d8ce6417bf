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


def idle_pss_mb(command: list[str], environment: dict[str, str], settle: float) -> float:
    """PSS of a process some seconds after its start. Raises when it ends before that."""
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            time.sleep(settle)
            if process.poll() is not None:
                raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
            return pss_mb(process.pid)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
