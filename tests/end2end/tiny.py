"""Starting the tiny app of tests as a real process, and waiting for what it does."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "import sys; from desktop.app.main import main; sys.exit(main(sys.argv[1:], wiring='tests.end2end.tiny_app'))"


def command(home: Path, *options: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, "--home", str(home), *options]


def bound_by_permissions(program: list[str]) -> list[str]:
    """The same program, such that permissions hold for it even if we are root."""
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"]
    return [*without, *program] if os.geteuid() == 0 else program


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "ASSENT_TEST_SECRET": "sk-from-the-environment-1234567890"}


def run(home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """To its end."""
    return subprocess.run(
        command(home, *options), cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=WAIT_S * 2
    )


@contextlib.contextmanager
def running(home: Path, scenario: str = "", *, until: str = "started") -> Iterator[subprocess.Popen[str]]:
    """The app in a scenario, from the moment its trace has the line `until`."""
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "scenario").write_text(scenario)
    (home / "trace").unlink(missing_ok=True)
    with subprocess.Popen(
        command(home), cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            wait_for(lambda: until in trace(home) or process.poll() is not None)
            yield process
        finally:
            process.kill()


def trace(home: Path) -> list[str]:
    file = home / "trace"
    return file.read_text().splitlines() if file.exists() else []


def wait_for(condition: object, timeout_s: float = WAIT_S) -> None:
    end = time.monotonic() + timeout_s
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    out, err = process.communicate(timeout=WAIT_S)
    return process.returncode, out, err


def log(home: Path) -> str:
    return (home / "logs" / "assent.log").read_text("utf-8")


def reports(home: Path) -> list[str]:
    return [path.read_text("utf-8") for path in sorted((home / "logs").glob("crash-*.txt"))]
