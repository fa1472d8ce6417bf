"""Process start to first paint, and the memory of the idle app, each against a bare window and a browser window."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

from tests.bench.processes import DEADLINE, ROOT, app_command, bare_command, first_paint, home, idle_mb, medians, screen
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


def _watched(environment: dict[str, str]) -> dict[str, Any]:
    """One start with a new home under watch, with ``ready`` in milliseconds from the start of the process."""
    program = "import sys; from desktop.app.main import main; sys.exit(main(wiring='tests.bench.watched_start'))"
    with home() as folder:
        started = time.monotonic_ns()
        done = subprocess.run(
            [sys.executable, "-c", program, "--home", str(folder)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=DEADLINE,
            check=True,
        )
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**told, "ready": (told["page_ns"] - started) / 1e6}


@bench("longest block of the Qt thread after the first paint", target="<= 16", unit="ms CPU")
def block_after_first_paint() -> Figure:
    """Of a start with a new home, until two seconds after its first page."""
    with screen() as environment:
        _watched(environment)  # warm caches and bytecode
        found = [_watched(environment) for _ in range(5)]
    longest = sorted(one["blocks"][0] for one in found)
    middle = next(one for one in found if one["blocks"][0] == longest[2])
    return Figure(longest[2], note=f"the median of 5 starts; the longest of that one: {middle['blocks']}")


@bench("start to the first page", target="<= 4x", unit="ms")
def start_to_first_page() -> Figure:
    """With a new home, until the page that a person is asked on stands."""
    with screen() as environment:
        ours, bare = medians(
            [lambda: float(_watched(environment)["ready"]), lambda: first_paint(bare_command(), environment)], 5
        )
    return Figure(ours, bare, "reference: a bare QMainWindow")


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
    """The app process alone, on the first page of an empty home, after everything that is prewarmed has come up. With a
    model chosen and an empty thread open it takes the same."""
    with screen() as environment, home() as folder:
        ours = idle_mb(app_command(folder), environment, SETTLE)
        bare = idle_mb(bare_command(), environment, 2.0)
    return Figure(ours, bare, "app process only, as if nobody shared its Qt; reference: a bare QMainWindow")
