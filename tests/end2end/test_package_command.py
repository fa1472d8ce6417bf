"""`dev.py package` given what it cannot use, and stopped on the way: it says so, and leaves nothing half made."""

import asyncio
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from devlib.packages.beforehand import HALF_MADE, alone_in, refuse_full_disk, refuse_what_cannot_be_made
from devlib.packages.command import main
from devlib.packages.source import BUILD_FILE, copied_source
from devlib.words import Stop

from tests.harness.timeouts import WAIT_S, until

ROOT = Path(__file__).resolve().parents[2]
WAITED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where these tests run in a shell's background
from devlib.ending import until_told
from devlib.packing import waited
sys.exit(until_told(lambda: waited([sys.executable, "-m", "devlib.packages", *sys.argv[1:]], dict(os.environ))))
"""


def _tool(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.mark.spec("R-PKG-1")
@pytest.mark.parametrize(
    ("kinds", "there", "said"),
    [
        (["sdist"], [], "git is not on this computer"),
        (["folder"], ["git", "strip", "ldd"], "readelf is not on this computer"),
        (["wheel", "appimage"], ["git", "readelf", "strip", "ldd"], "mksquashfs is not on this computer"),
    ],
)
def test_a_program_that_a_build_needs_is_missed_before_it_begins(
    tmp_path: Path, kinds: list[str], there: list[str], said: str
) -> None:
    for name in there:
        _tool(tmp_path / "tools", name, "exit 0")
    with pytest.raises(Stop, match=said) as stopped:
        refuse_what_cannot_be_made(kinds, tmp_path, True, str(tmp_path / "tools"))
    assert "(apt install " in stopped.value.step
    _tool(tmp_path / "tools", said.split()[0], "exit 0")
    refuse_what_cannot_be_made(kinds, tmp_path, True, str(tmp_path / "tools"))


def test_an_unpacked_sdist_is_packed_without_git(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="git is not on this computer"):
        refuse_what_cannot_be_made(["sdist"], tmp_path, True, str(tmp_path))
    refuse_what_cannot_be_made(["sdist"], tmp_path, False, str(tmp_path))


def test_a_disk_that_is_too_small_is_named_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(Stop, match=r" GB free, and this needs 1000000\.0 GB while it works"):
        refuse_full_disk(tmp_path, 10**15)
    refuse_full_disk(tmp_path, 1)


@pytest.mark.spec("R-PKG-1")
def test_an_appimage_that_cannot_begin_is_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["sdist", "appimage", "--out", str(tmp_path / "out")])
    assert ended.value.code == 2
    assert "needs the program that stands at its beginning" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.spec("R-PKG-1")
def test_two_builds_do_not_write_into_one_folder_at_once(tmp_path: Path) -> None:
    with alone_in(tmp_path):
        with pytest.raises(Stop, match="Another build is writing into"), alone_in(tmp_path):
            pytest.fail("it was let in")
    with alone_in(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_build_left_is_removed_by_the_next_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / f"{HALF_MADE}abc" / "work").mkdir(parents=True)
    (tmp_path / f"{HALF_MADE}abc" / "work" / "x").touch()
    others = {"assent.whl", f"{HALF_MADE}file", f"{HALF_MADE}link"}
    (tmp_path / "assent.whl").touch()
    (tmp_path / f"{HALF_MADE}file").touch()
    (tmp_path / f"{HALF_MADE}link").symlink_to(tmp_path)
    with alone_in(tmp_path):
        assert not (tmp_path / f"{HALF_MADE}abc").exists()
    assert {path.name for path in tmp_path.iterdir()} == others


@pytest.mark.spec("R-PKG-1")
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "told"])
def test_a_build_that_is_stopped_leaves_nothing(tmp_path: Path, by: signal.Signals) -> None:
    """In the middle of its work: a git that never answers is in its way."""
    out, begun = tmp_path / "out", tmp_path / "begun"
    os.mkfifo(begun)
    _tool(tmp_path / "tools", "git", f"echo $$ > {begun} && exec sleep 600")
    sources = _sources(tmp_path / "checkout")
    (sources / ".git").mkdir()
    path = f"{tmp_path / 'tools'}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": f"{sources / 'packaging'}:{ROOT}"}
    command = [sys.executable, "-c", WAITED, "sdist", "--out", str(out)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as build:
        try:
            number = _line(begun)
            assert list(out.glob(f"{HALF_MADE}*/work"))
            build.send_signal(by)
            _, said = build.communicate(timeout=WAIT_S)
        finally:
            build.kill()
    assert build.returncode == 128 + by
    assert "Traceback" not in said
    assert list(out.iterdir()) == []
    asyncio.run(until(lambda: not Path(f"/proc/{number}").exists(), "what it started ended with it"))


def test_what_was_started_by_the_way_ends_with_what_it_was_for() -> None:
    """In a process of its own: this one has services that other tests need."""
    code = (
        "import subprocess\nfrom devlib.ending import nothing_goes_on\n"
        "with nothing_goes_on():\n    print(subprocess.Popen(['sleep', '600'], stdout=-3, stderr=-3).pid)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "packaging")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=WAIT_S, check=True
    )
    assert not Path(f"/proc/{done.stdout.strip()}").exists()


def _line(pipe: Path) -> str:
    """What is written into a named pipe."""
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert select.select([end], [], [], WAIT_S)[0], "nothing was written"
        return os.read(end, 100).decode().strip()
    finally:
        os.close(end)


def _sources(folder: Path) -> Path:
    """A checkout that has no more than the package command."""
    ours = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "packaging", folder / "packaging", ignore=ours)
    return folder


@pytest.mark.spec("R-PKG-1")
def test_packages_that_lie_in_an_unpacked_sdist_are_not_packed_into_the_next(tmp_path: Path) -> None:
    root = tmp_path / "assent 1.2 für alle"
    (root / "resources").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nversion = "1.2"\n')
    plain = '{"format": 1, "kind": "wheel", "commit": "%s", "built": "2026-11-27T09:00:00Z"}'
    (root / BUILD_FILE).write_text(plain % ("0" * 40))
    out = root / "made here"
    (out / f"{HALF_MADE}x" / "work").mkdir(parents=True)
    (out / "assent-1.2.tar.gz").write_text("an earlier one")
    source = copied_source(out / f"{HALF_MADE}x" / "work" / "source", root=root, out=out)
    held = sorted(path.relative_to(source.folder).as_posix() for path in source.folder.rglob("*") if path.is_file())
    assert held == ["pyproject.toml", BUILD_FILE]
    with pytest.raises(Stop, match="holds the sources"):
        copied_source(tmp_path / "elsewhere", root=root, out=tmp_path)
