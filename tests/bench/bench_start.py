"""Process start to first paint, and the memory of the idle app, each against a bare window and a browser window."""

import shutil
import subprocess
import tempfile
import time

from tests.bench.processes import app_command, bare_command, first_paint, home, idle_mb, medians, screen
from tests.bench.registry import Figure, bench

ROUNDS = 15
SETTLE = 5.0  # seconds after which the app may be idle, prewarmed children included


@bench("start to first paint", target="<= 1.05x", unit="ms")
def start_to_first_paint() -> Figure:
    """Both on the same X server, in turns, with warm bytecode."""
    with screen() as environment, home() as folder:
        app = app_command(folder, "--exit-after-paint")
        ours, bare = medians(
            [lambda: first_paint(app, environment), lambda: first_paint(bare_command(), environment)], ROUNDS
        )
    where = environment["QT_QPA_PLATFORM"]
    return Figure(ours, bare, f"reference: a bare QMainWindow; {ours / bare:.2f}x of it on {where}")


@bench("start against chromium", target="<= 0.45x", unit="ms")
def start_against_chromium() -> Figure:
    """Against `chromium --app` with an empty page, to its load event. Needs chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        raise RuntimeError("chromium is not installed here, so there is no reference")
    with screen() as environment, home() as folder:
        app = app_command(folder, "--exit-after-paint")
        ours, theirs = medians(
            [lambda: first_paint(app, environment), lambda: _chromium_paint(program, environment)], 5
        )
    return Figure(ours, theirs, "reference: chromium --app to its first console line after load")


def _chromium_paint(program: str, environment: dict[str, str]) -> float:
    painted = "requestAnimationFrame(()=>setTimeout(()=>console.log('painted')))"
    page = f"data:text/html,<body>hello<script>{painted}</script>"
    with tempfile.TemporaryDirectory(prefix="assent-chromium-", ignore_cleanup_errors=True) as profile:
        command = [program, f"--app={page}", f"--user-data-dir={profile}", "--no-first-run", "--no-sandbox"]
        command += ["--enable-logging=stderr", "--disable-gpu", "--disable-background-networking"]
        started = time.perf_counter()
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            try:
                for line in process.stderr:
                    if "painted" in line:
                        return (time.perf_counter() - started) * 1000
            finally:
                process.kill()
    raise RuntimeError("chromium ended before it painted")


@bench("idle memory", target="<= 75", unit="MB")
def idle_memory() -> Figure:
    """The app process alone, with an empty thread, after everything that is prewarmed has come up."""
    with screen() as environment, home() as folder:
        ours = idle_mb(app_command(folder), environment, SETTLE)
        bare = idle_mb(bare_command(), environment, 2.0)
    return Figure(ours, bare, "app process only, as if nobody shared its Qt; reference: a bare QMainWindow")
