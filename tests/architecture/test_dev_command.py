"""packaging/dev.py on a machine of its own: it builds, notices what is broken, and says in words what it cannot do."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.harness.closed import IS_ROOT
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Machine:
    """A copy of the developer command with a one-package lock, a tiny app, and a folder of wheels for a network."""

    root: Path
    wheels: Path

    def lock(self, digest: str, name: str = "requirements.lock") -> None:
        (self.root / "packaging" / name).write_text(f"assent-probe==1.0 \\\n    --hash=sha256:{digest}\n")

    def dev(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        base = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_RETRIES": "0",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            **environment,
        }
        return subprocess.run(
            [sys.executable, str(self.root / "packaging/dev.py"), *arguments],
            env=base,
            cwd=self.root.parent,
            capture_output=True,
            text=True,
            timeout=2 * WAIT_S,  # on a machine that does much else, to make an environment takes minutes
        )


def _wheel(folder: Path) -> str:
    """Writes a wheel with one module, and returns its hash."""
    path = folder / "assent_probe-1.0-py3-none-any.whl"
    info = "assent_probe-1.0.dist-info"
    files = {
        "assent_probe.py": "WORD = 'probed'\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: assent-probe\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()},"
        f"{len(text)}\n"
        for name, text in files.items()
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            archive.writestr(name, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return make_machine(tmp_path)


def make_machine(folder: Path) -> Machine:
    root, wheels = folder / "a folder", folder / "wheels"
    wheels.mkdir()
    shutil.copytree(ROOT / "packaging", root / "packaging", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "desktop").mkdir()
    (root / "desktop/__init__.py").touch()
    (root / "desktop/__main__.py").write_text(
        "import assent_probe, os, sys\n"
        "print(assent_probe.WORD, sys.argv[1:], 'PYTHONDONTWRITEBYTECODE' in os.environ)\n"
        "sys.exit(7 if '--fail' in sys.argv else 0)\n"
    )
    made = Machine(root, wheels)
    digest = _wheel(wheels)
    made.lock(digest)
    made.lock(digest, "requirements-dev.lock")
    return made


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine on which the command was run before. Making an environment takes seconds."""
    machine = make_machine(tmp_path_factory.mktemp("machine"))
    first = machine.dev("run", "--version", PYTHONDONTWRITEBYTECODE="1")
    assert first.stdout == "probed ['--version'] False\n", first.stderr
    assert "making the environment" in first.stderr
    return machine


@pytest.fixture
def emptied(built: Machine) -> Iterator[Machine]:
    """Its environment without the packages of the lock, as before the first of them was installed."""
    lock, stamp = built.root / "packaging/requirements.lock", built.root / ".venv/assent-runtime.stamp"
    text, stamped = lock.read_text(), stamp.read_text()
    stamp.unlink()
    module = next((built.root / ".venv").rglob("assent_probe.py"))
    away = built.root / "away"
    away.mkdir()
    for path in [module, *module.parent.glob("assent_probe-*")]:
        shutil.move(path, away / path.name)
    yield built
    for path in away.iterdir():
        shutil.move(path, module.parent / path.name)
    away.rmdir()
    lock.write_text(text)
    stamp.write_text(stamped)
    (built.root / ".venv/assent-base.stamp").write_text(f"{sys.version_info.major}.{sys.version_info.minor}\n")


def _beside(built: Machine, name: str) -> Machine:
    """Another tree of the same sources, as `git worktree` makes it."""
    tree = Machine(built.root.parent / name, built.wheels)
    shutil.copytree(built.root, tree.root, ignore=shutil.ignore_patterns(".venv*"))
    return tree


def test_a_tree_may_use_the_environment_of_another_by_a_link_or_a_copy(built: Machine) -> None:
    stamps = {path: path.read_text() for path in built.root.glob(".venv/*.stamp")}
    linked, copied = _beside(built, "linked"), _beside(built, "copied")
    (linked.root / ".venv").symlink_to(built.root / ".venv", target_is_directory=True)
    shutil.copytree(built.root / ".venv", copied.root / ".venv", copy_function=os.link, symlinks=True)
    for tree in (linked, copied):
        used = tree.dev("run", "--version")
        assert (used.returncode, used.stdout, used.stderr) == (0, "probed ['--version'] False\n", "")
    assert {path: path.read_text() for path in built.root.glob(".venv/*.stamp")} == stamps

    linked.lock("0" * 64)
    refused = linked.dev("run", "--version")
    assert refused.returncode == 2
    assert "is a link to" in refused.stderr
    assert "next: Remove the link" in refused.stderr
    copied.lock("0" * 64)
    assert "installing requirements.lock" in copied.dev("run", "--version").stderr
    assert {path: path.read_text() for path in built.root.glob(".venv/*.stamp")} == stamps


def test_a_package_that_does_not_match_its_hash_is_refused(emptied: Machine) -> None:
    emptied.lock("0" * 64)
    done = emptied.dev("run", "--version")
    assert done.returncode == 2
    assert "does not match its hash" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (emptied.root / ".venv/assent-runtime.stamp").exists()


def test_without_a_network_it_says_so(emptied: Machine) -> None:
    nowhere = {"PIP_NO_INDEX": "", "PIP_FIND_LINKS": "", "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    done = emptied.dev("run", "--version", **nowhere)
    assert done.returncode == 2
    assert "could not be downloaded" in done.stderr
    assert "next: Connect to the network" in done.stderr


WORKS = "import sys; sys.path.insert(0, 'packaging'); from devlib import environment; print(environment._works())"


def works(machine: Machine) -> bool:
    """Whether the command would build upon the environment that is there. Making one anew takes seconds."""
    asked = [sys.executable, "-c", WORKS]
    return subprocess.run(asked, cwd=machine.root, capture_output=True, text=True, check=True).stdout == "True\n"


def test_the_environment_is_made_once_and_rebuilt_when_broken(built: Machine) -> None:
    second = built.dev("run", "--version", "--fail")
    assert (second.returncode, second.stdout, second.stderr) == (7, "probed ['--version', '--fail'] False\n", "")
    assert works(built)

    venv, version = built.root / ".venv", (built.root / ".venv/assent-base.stamp").read_text()
    next(venv.rglob("assent_probe.py")).unlink()
    (venv / "assent-runtime.stamp").unlink()
    (venv / "assent-base.stamp").unlink()  # as after a run that was killed while installing
    assert not works(built)
    (venv / "assent-base.stamp").write_text(version)
    (venv / "bin/python").unlink()
    assert not works(built)

    mended = built.dev("run", "--version")
    assert "making the environment" in mended.stderr
    assert mended.stdout == "probed ['--version'] False\n"
    assert works(built)


def test_a_folder_that_cannot_be_written_is_named(machine: Machine) -> None:
    """Root may write everywhere, so the question is answered with no."""
    script = (
        "import os, runpy, sys; os.access = lambda *_: False; sys.argv[1:] = ['run', '--version']\n"
        "sys.path.insert(0, 'packaging'); runpy.run_path('packaging/dev.py', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=machine.root, capture_output=True, text=True, timeout=WAIT_S
    )
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert not (machine.root / ".venv").exists()


ORDINARY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"] if IS_ROOT else []
"""What makes root one who may not read everything."""


@pytest.mark.skipif(IS_ROOT and shutil.which("setpriv") is None, reason="root may read everything")
@pytest.mark.parametrize(("closed", "rights"), [("home/python", 0o600), ("home", 0), ("a folder/.venv", 0)])
def test_a_python_that_somebody_else_keeps_to_themselves_is_named(machine: Machine, closed: str, rights: int) -> None:
    theirs, base = machine.root.parent / "home/python", machine.root.parent
    theirs.parent.mkdir()
    shutil.copy("/bin/sh", theirs)
    (machine.root / ".venv/bin").mkdir(parents=True)
    (machine.root / ".venv/bin/python").symlink_to(theirs)
    (base / closed).chmod(rights)
    command = [*ORDINARY, sys.executable, str(machine.root / "packaging/dev.py"), "run", "--version"]
    try:
        done = subprocess.run(command, cwd=base, capture_output=True, text=True, timeout=WAIT_S)
    finally:
        (base / closed).chmod(0o700)
    assert done.returncode == 2
    assert "belongs to somebody else here" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_screen_it_says_so_before_it_builds_anything(machine: Machine) -> None:
    done = machine.dev("run")
    assert done.returncode == 2
    assert "There is no screen here" in done.stderr
    assert not (machine.root / ".venv").exists()


def test_an_old_python_is_refused_in_one_sentence() -> None:
    script = "import runpy, sys; sys.version_info = (3, 9, 2); runpy.run_path('packaging/dev.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 1
    assert "needs Python 3.11 or newer and this is Python 3.9" in done.stderr


def test_unknown_arguments_are_named() -> None:
    done = subprocess.run(
        [sys.executable, "packaging/dev.py", "check", "--fast"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert "Unknown arguments: --fast" in done.stderr


MISSING = """
import sys
sys.path.insert(0, 'packaging')
from devlib import system
from devlib.words import Stop
import os, shutil
os.geteuid = lambda: 1000
shutil.which = lambda name: None if name == {absent!r} else '/usr/bin/' + name
try:
    system._install({{'libEGL.so.1': 'libegl1'}}, may_use_sudo=False)
except Stop as stop:
    print(stop.problem, stop.step)
"""


@pytest.mark.parametrize(
    ("absent", "says"),
    [
        ("apt-get", "Install them with your package manager (on Debian they are: libegl1)"),
        ("sudo", "`sudo apt-get install -y --no-install-recommends libegl1`, or run this command again with --yes"),
    ],
)
def test_missing_libraries_are_named_with_the_next_step(absent: str, says: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MISSING.format(absent=absent)], cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S
    )
    assert "This system lacks libEGL.so.1." in done.stdout
    assert says in done.stdout
