"""`assent menu`: the entry in the menu of an Assent that lies in a folder of a person, made and taken away."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.app.commands.menu import ENTRY, add, own_share, quoted, remove
from desktop.app.desktop.identity import APP_ID
from desktop.domain.errors import KnownError
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def share(tmp_path: Path) -> Path:
    """What a package brings."""
    made = tmp_path / "packed" / "share"
    for name, source in ((ENTRY, ROOT / f"packaging/linux/{APP_ID}.desktop"), ("man/man1/assent.1.gz", None)):
        (made / name).parent.mkdir(parents=True)
        (made / name).write_bytes(source.read_bytes() if source else b"manual")
    for size in ("scalable", "48x48"):
        icon = made / f"icons/hicolor/{size}/apps/{APP_ID}.{'svg' if size == 'scalable' else 'png'}"
        icon.parent.mkdir(parents=True)
        icon.write_text(size)
    return made


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.spec("R-PKG-2")
@pytest.mark.parametrize("place", ["/opt/assent/assent", '/home/ida/My "best" $apps `here`/back\\slash/assent'])
def test_the_entry_starts_the_folder_where_it_lies(tmp_path: Path, share: Path, place: str) -> None:
    own = tmp_path / "own"
    add(share, own, (place,))
    lines = (own / ENTRY).read_text("utf-8").splitlines()
    (starts,) = [line.removeprefix("Exec=") for line in lines if line.startswith("Exec=")]
    read = starts.replace("\\\\", "\\")  # as a desktop takes it: first a string, then words
    words = subprocess.run(["sh", "-c", f"printf '%s\\n' {read}"], capture_output=True, text=True, timeout=WAIT_S)
    assert words.stdout.splitlines() == [place, "open", "--", "%u"]
    assert "MimeType=x-scheme-handler/assent;" in lines
    assert not any(line.startswith("TryExec") for line in lines)
    if shutil.which("desktop-file-validate"):
        subprocess.run(["desktop-file-validate", own / ENTRY], check=True, timeout=WAIT_S)


def test_what_was_added_is_removed_and_nothing_of_others(tmp_path: Path, share: Path) -> None:
    own = tmp_path / "own"
    (own / "applications").mkdir(parents=True)
    (own / "applications" / "other.desktop").touch()
    written = add(share, own, ("/opt/assent",))
    assert add(share, own, ("/opt/assent",)) == written, "once more is harmless"
    assert len(written) == 3
    assert sorted(remove(own)) == sorted(written)
    assert names(own) == ["applications/other.desktop"]
    assert remove(own) == []


@pytest.mark.parametrize("place", ["/opt/a\nExec=rm", "/opt/\x1b[0m", "/opt/\u202e", "/opt/100%/assent"])
def test_a_path_that_no_entry_can_hold_is_refused_before_anything_is_written(
    tmp_path: Path, share: Path, place: str
) -> None:
    with pytest.raises(KnownError, match="no menu takes"):
        add(share, tmp_path / "own", (place,))
    assert not (tmp_path / "own").exists()


def test_a_relative_folder_for_data_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ida")
    assert own_share({"XDG_DATA_HOME": "data"}) == own_share({}) == Path("/home/ida/.local/share")
    assert own_share({"XDG_DATA_HOME": "/data"}) == Path("/data")


def test_a_path_is_quoted_only_where_it_has_to_be() -> None:
    """`xdg-open` on its own, without a desktop to hand links to, takes the quotes for a part of the program's name."""
    assert quoted("/home/ida/assent-0.1/Ässent.AppImage") == "/home/ida/assent-0.1/Ässent.AppImage"
    assert quoted("/home/ida/my apps/assent") == '"/home/ida/my apps/assent"'
    assert quoted("~ida") == '"~ida"'
    assert quoted("") == '""'


@pytest.mark.spec("R-PKG-2")
def test_a_link_is_opened_by_what_the_entry_starts_without_any_desktop(tmp_path: Path, share: Path) -> None:
    if shutil.which("xdg-open") is None or shutil.which("update-desktop-database") is None:
        pytest.skip("xdg-open and update-desktop-database are not on this machine")
    program, heard = tmp_path / "assent", tmp_path / "heard"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {heard}\n')
    program.chmod(0o755)
    own = tmp_path / "own"
    add(share, own, (str(program),))
    subprocess.run(["update-desktop-database", str(own / "applications")], check=True, timeout=WAIT_S)
    places = {
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(own),
        "XDG_DATA_DIRS": str(tmp_path / "none"),
        "DISPLAY": ":9999",
    }
    command = ["xdg-open", "assent:help/keyring"]
    subprocess.run(command, env={"PATH": os.environ["PATH"], **places}, check=True, timeout=WAIT_S)
    assert heard.read_text().splitlines() == ["open", "--", "assent:help/keyring"]


def test_an_assent_that_brings_no_entry_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "desktop", "menu", "add"]
    where = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "XDG_DATA_HOME": ""}
    done = subprocess.run(command, cwd=tmp_path, env=where, capture_output=True, text=True, timeout=WAIT_S)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("assent: This Assent brings no entry for a menu")
    assert names(tmp_path) == []
