"""The `.venv` beside the sources: made from the hashed locks, stamped, rebuilt when it is broken or half made."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .system import ensure_venv_module
from .words import Stop, say

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
BASE = VENV / "assent-base.stamp"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
LOCKS = {"runtime": ROOT / "packaging/requirements.lock", "dev": ROOT / "packaging/requirements-dev.lock"}


def python() -> Path:
    """The interpreter of the environment, whether or not it exists yet."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure_environment(*, dev: bool, may_use_sudo: bool) -> Path:
    """The interpreter of an environment that matches the locks. Instant when nothing changed."""
    wanted = ["runtime", "dev"] if dev else ["runtime"]
    _refuse_anothers()
    if all(_is_current(name) for name in wanted):
        return python()
    if not os.access(ROOT, os.W_OK):
        raise Stop(
            f"The folder {ROOT} cannot be written, so the environment cannot be made there.",
            "Copy the sources to a folder of your own and run the command from there.",
        )
    with _one_at_a_time():
        if not all(_is_current(name) for name in wanted):
            _build(wanted, may_use_sudo=may_use_sudo)
    return python()


def _refuse_anothers() -> None:
    """Whoever made the environment may have kept it, or the Python that it leads to, to themselves."""
    try:
        os.stat(python())
        usable = os.access(python(), os.X_OK)
    except FileNotFoundError:
        usable = True
    except OSError:
        usable = False
    if not usable:
        raise Stop(
            f"The environment in {VENV} belongs to somebody else here, whose Python you may not start.",
            "Copy the sources without .venv to a folder of your own, and run the command from there.",
        )


def _stamp(name: str) -> Path:
    return VENV / f"assent-{name}.stamp"


def _fingerprint(name: str) -> str:
    """Changes with the lock and the Python version. Not with the place: nothing starts the environment's scripts, which
    name it, so a copy, and a link to the environment of another tree, are as good."""
    return f"{hashlib.sha256(LOCKS[name].read_bytes()).hexdigest()} {VERSION}"


def _is_current(name: str) -> bool:
    return python().exists() and _stamped(_stamp(name), _fingerprint(name))


def _stamped(stamp: Path, text: str) -> bool:
    """Older stamps name the place after it."""
    try:
        return f"{stamp.read_text(encoding='utf-8').strip()} ".startswith(f"{text} ")
    except OSError:
        return False


def _write(stamp: Path, text: str) -> None:
    """Anew, never into the old file, which a hard-linked copy of the environment shares."""
    stamp.unlink(missing_ok=True)
    stamp.write_text(f"{text}\n", encoding="utf-8")


def _works() -> bool:
    """A base to install on: one that was finished before, and whose interpreter and pip still start."""
    if not python().exists() or not _stamped(BASE, VERSION):
        return False
    try:
        done = subprocess.run([str(python()), "-m", "pip", "--version"], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two commands started together must not build the same environment."""
    guard = ROOT / ".venv.lock"
    with guard.open("w") as handle:
        if os.name == "posix":
            fcntl = __import__("fcntl")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _build(wanted: list[str], *, may_use_sudo: bool) -> None:
    if VENV.is_symlink():
        raise Stop(
            f"{VENV} is a link to {VENV.resolve()}, which does not match the lock files here.",
            "Remove the link and run this again: then an environment is made here.",
        )
    if not _works():
        _make_empty(may_use_sudo=may_use_sudo)
    BASE.unlink(missing_ok=True)  # a half-made environment has no base stamp, so it is never built upon
    for name in wanted:
        if not _is_current(name):
            _install(name)
            _write(_stamp(name), _fingerprint(name))
    _compile()
    _write(BASE, VERSION)


def _make_empty(*, may_use_sudo: bool) -> None:
    ensure_venv_module(may_use_sudo=may_use_sudo)
    say(f"making the environment in {VENV}")
    shutil.rmtree(VENV, ignore_errors=True)
    done = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Stop(
            f"Python could not make an environment in {VENV}: {(done.stderr or done.stdout).strip()[-300:]}",
            "Check the free space and permissions of that folder, remove .venv, and run this again.",
        )


def _install(name: str) -> None:
    lock = LOCKS[name]
    say(f"installing {lock.name} (the first time takes a minute or two)")
    command = [str(python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--require-hashes", "--no-deps", "-r", str(lock)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise explained(done.stdout)


def explained(output: str) -> Stop:
    """What a failed pip said, as one sentence and the next step."""
    errors = [line for line in output.splitlines() if "ERROR" in line]
    reason = (errors[0] if errors else output.strip()[-300:]).removeprefix("ERROR: ")
    signs = ("connection", "Temporary failure", "resolve", "Max retries", "timed out", "No matching distribution")
    if "HASHES" in output.upper() and "DO NOT MATCH" in output.upper():
        return Stop(
            "A downloaded package does not match its hash, so nothing of it was used.",
            "Try again; if it stays so, the network or the index in between changes packages.",
        )
    if "No space left" in output:
        return Stop("The disk is full.", "Free about 1 GB and run this again.")
    if any(sign in output for sign in signs):
        return Stop(
            f"The packages could not be downloaded ({reason}).",
            "Connect to the network (or point pip at a mirror with PIP_INDEX_URL) and run this again.",
        )
    return Stop(f"pip could not install the packages: {reason}", "Remove .venv and run this again.")


def _compile() -> None:
    """Bytecode once, so that the first start is as fast as the second. Imports without it take twice as long."""
    say("compiling")
    command = [str(python()), "-m", "compileall", "-q", "-j", "0", str(ROOT / "desktop"), str(VENV)]
    subprocess.run(command, env=clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def clean_environment() -> dict[str, str]:
    """This process's environment without what slows the app or reaches into its imports."""
    unwanted = {"PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}
    return {key: value for key, value in os.environ.items() if key not in unwanted}


def run_module(name: str, *arguments: str) -> int:
    """Runs a module of ours in the environment; its exit code."""
    environment = {**clean_environment(), "PYTHONPATH": os.pathsep.join((str(ROOT / "packaging"), str(ROOT)))}
    return subprocess.call([str(python()), "-m", name, *arguments], cwd=ROOT, env=environment)
