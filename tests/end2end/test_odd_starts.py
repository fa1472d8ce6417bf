"""The app on machines where something is missing: each start ends in a sentence, the next step and an exit code."""

import json
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import PySide6
import pytest
from devlib import system

from desktop.app.desktop import libraries
from desktop.app.desktop.identity import APP_ID
from desktop.app.desktop.no_window import lacks, not_loaded
from tests.harness.services import KeyringDaemon
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
QT = Path(PySide6.__path__[0])
USED = (
    *("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtDBus"),
    *("lib/libQt6Core", "lib/libQt6Gui", "lib/libQt6Widgets", "lib/libQt6Svg", "lib/libQt6DBus", "lib/libQt6OpenGL"),
    *("lib/libQt6XcbQpa", "lib/libQt6WaylandClient", "lib/libQt6WlShellIntegration"),
    *("plugins/platforms/libqxcb", "plugins/platforms/libqwayland", "plugins/platforms/libqoffscreen"),
    *("plugins/xcbglintegrations/libqxcb-egl-integration", "plugins/xcbglintegrations/libqxcb-glx-integration"),
)
"""Those of Qt's files that the app loads, on X11 or on Wayland."""
OF_C = re.compile(r"lib(c|m|dl|pthread|gcc_s)\.so\.\d|ld-linux.*")
"""What Python itself cannot start without."""
OF_QT = re.compile(r"lib(Qt6|pyside6|shiboken6|icu)\w*\..*")


def start(home: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real app without a screen, but for what the environment says."""
    where = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    where |= {"PYTHONPATH": str(ROOT), "AGENT_HOME": str(home), "QT_QPA_PLATFORM": "", **environment}
    command = [sys.executable, "-m", "desktop", *options]
    return subprocess.run(command, cwd=home.parent, env=where, capture_output=True, text=True, timeout=WAIT_S)


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The sentence and the next step of a start that was refused."""
    assert done.returncode == 2, done.stderr
    first, second = done.stderr.splitlines()
    assert first.startswith("assent: ")
    assert second.startswith("  ")
    return [first.removeprefix("assent: "), second.strip()]


@pytest.fixture
def broken(tmp_path: Path) -> Mapping[str, str]:
    """A machine on which two of Qt's libraries cannot be loaded."""
    folder = tmp_path / "libraries"
    folder.mkdir()
    for name in ("libxcb-cursor.so.0", "libxkbcommon-x11.so.0"):
        (folder / name).touch()
    return {"LD_LIBRARY_PATH": str(folder), "DISPLAY": ":991"}


@contextmanager
def listening(environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """The desktop's notification service; it says what it was told as lines."""
    command = [sys.executable, "-m", "tests.servers.notifications"]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **environment}, stdin=-1, stdout=-1, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        yield process
        process.stdin.close()


def needed(file: Path) -> set[str]:
    """The libraries that a shared object asks for: DT_NEEDED of its dynamic section."""
    data = file.read_bytes()
    table, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + number * size) for number in range(count)]
    dynamic = next(section for section in sections if section[1] == 6)
    strings = sections[dynamic[6]][4]
    entries = struct.iter_unpack("<qQ", data[dynamic[4] : dynamic[4] + dynamic[5]])
    return {data[strings + value : data.index(b"\0", strings + value)].decode() for tag, value in entries if tag == 1}


def test_the_table_has_every_library_of_the_system_that_the_files_of_qt_ask_for() -> None:
    files = [next(iter([*(QT / "Qt").glob(f"{name}.so*"), *QT.glob(f"{name}.abi3.so")])) for name in USED]
    asked = set.union(*map(needed, files))
    assert {name for name in asked if not OF_C.match(name) and not OF_QT.match(name)} <= set(libraries.PACKAGES)
    assert {"libGL.so.1", "libxcb-cursor.so.0", "libwayland-client.so.0"} <= asked, "the files are read"


@pytest.mark.spec("R-PKG-2")
def test_without_a_screen_the_start_says_so(tmp_path: Path) -> None:
    why, step = said(start(tmp_path / "home"))
    assert why == "There is no screen here: neither DISPLAY nor WAYLAND_DISPLAY is set."
    assert "ssh -X" in step
    assert "assent run" in step


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY"])
def test_a_screen_where_nobody_answers_is_named(tmp_path: Path, name: str) -> None:
    value = {"DISPLAY": ":991", "WAYLAND_DISPLAY": "wayland-991"}[name]
    why, _ = said(start(tmp_path / "home", **{name: value, "XDG_RUNTIME_DIR": str(tmp_path)}))
    assert why == f"The screen cannot be used: nobody answers at {name}={value}, or this user is not let in."


def test_a_platform_that_qt_does_not_have_is_named_and_harmless_to_look_at(tmp_path: Path) -> None:
    why, step = said(start(tmp_path / "home", QT_QPA_PLATFORM="wrong\x1b[31m", DISPLAY=":991"))
    assert why == "QT_QPA_PLATFORM asks for “wrong [31m”, which is no platform of this Qt."
    assert "env -u QT_QPA_PLATFORM" in step


@pytest.mark.spec("R-PKG-2")
def test_missing_libraries_are_all_named_at_once_with_the_command_that_installs_them(
    tmp_path: Path, broken: Mapping[str, str]
) -> None:
    why, step = said(start(tmp_path / "home", **broken))
    assert why.endswith("2 libraries of the system that are missing: libxcb-cursor.so.0, libxkbcommon-x11.so.0.")
    assert libraries.command(("libxcb-cursor.so.0", "libxkbcommon-x11.so.0"), libraries.family()) in step


def test_the_home_is_free_again_after_a_start_that_qt_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    said(start(home, DISPLAY=":991"))
    done = start(home, "--exit-after-paint", QT_QPA_PLATFORM="offscreen")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_library_without_which_qt_cannot_even_be_imported_is_named_too(tmp_path: Path) -> None:
    (tmp_path / "libGL.so.1").touch()
    why, step = said(start(tmp_path / "home", LD_LIBRARY_PATH=str(tmp_path), DISPLAY=":991"))
    assert why == "The window needs a library of the system that is missing: libGL.so.1."
    assert libraries.command(("libGL.so.1",), libraries.family()) in step


def test_the_check_says_the_same_words(tmp_path: Path, broken: Mapping[str, str]) -> None:
    (tmp_path / "home").mkdir()
    without_models = {**broken, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    done = start(tmp_path / "home", "--check", **without_models)
    line = next(line for line in done.stdout.splitlines() if line.startswith("Qt: "))
    assert done.returncode == 1
    assert line.startswith("Qt: broken: The window needs 2 libraries of the system that are missing: libxcb-cursor")
    assert "Traceback" not in line


def test_who_starts_it_from_a_menu_is_told_by_a_notification(
    tmp_path: Path, broken: Mapping[str, str], keyring_daemon: KeyringDaemon
) -> None:
    with listening(keyring_daemon.environment) as desktop:
        said(start(tmp_path / "home", **{**keyring_daemon.environment, **broken}))
        assert desktop.stdout is not None
        member, (name, _, icon, title, words, *_) = json.loads(desktop.stdout.readline())
    assert (member, name, icon, title) == ("Notify", "Assent", APP_ID, "Assent cannot start")
    assert "libxcb-cursor.so.0" in words


def test_a_bus_that_nobody_answers_at_does_not_keep_the_reason_from_the_terminal(
    tmp_path: Path, broken: Mapping[str, str]
) -> None:
    why, _ = said(start(tmp_path / "home", **broken, DBUS_SESSION_BUS_ADDRESS=f"unix:path={tmp_path}/none"))
    assert "libxcb-cursor.so.0" in why


@pytest.mark.parametrize(
    ("kind", "typed"),
    [
        ("debian", "sudo apt-get update && sudo apt-get install libgl1 libxcb-icccm4"),
        ("arch", "sudo pacman -S libglvnd xcb-util-wm"),
        ("fedora", "sudo dnf install 'libGL.so.1()(64bit)' 'libxcb-icccm.so.4()(64bit)'"),
        ("suse", "sudo zypper install 'libGL.so.1()(64bit)' 'libxcb-icccm.so.4()(64bit)'"),
        ("", ""),
    ],
)
def test_each_family_of_systems_has_its_own_command(kind: str, typed: str) -> None:
    assert libraries.command(("libGL.so.1", "libxcb-icccm.so.4"), kind) == typed


@pytest.mark.parametrize("kind", ["debian", "arch"])
def test_for_a_library_that_no_table_knows_no_half_a_command_is_named(kind: str) -> None:
    assert libraries.command(("libnobody.so.1",), kind) == ""
    assert libraries.command(("libGL.so.1", "libnobody.so.1"), kind) == ""


def test_an_older_glibc_is_named_instead_of_the_linkers_line() -> None:
    line = "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.99' not found (required by /opt/QtCore.abi3.so)"
    error = not_loaded(ImportError(line, name="PySide6.QtCore"))
    assert str(error).startswith("Assent needs glibc 2.99 or newer, and this system has ")
    assert error.code == "qt.glibc"


def test_a_refusal_that_no_window_can_show_is_said_in_the_words_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    why, step = said(start(tmp_path / "home", DISPLAY=":991"))
    assert why == f"{tmp_path / 'home'} is not a folder, so it cannot be Assent's home."
    assert "--home DIR" in step


def test_a_home_that_cannot_be_found_out_is_no_crash(tmp_path: Path) -> None:
    why, step = said(start(tmp_path / "home", DISPLAY=":991", AGENT_HOME="~nobody-has-it"))
    assert why.startswith("Whose folder “~nobody-has-it” is cannot be found out")
    assert "--home DIR" in step


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("made", [True, False], ids=["its own", "the folder around it"])
def test_root_does_not_write_into_the_home_of_a_person(tmp_path: Path, made: bool) -> None:
    person = tmp_path / "person"
    home = person / ".agent"
    (home if made else person).mkdir(parents=True)
    os.chown(home if made else person, 4711, 4711)
    why, step = said(start(home, QT_QPA_PLATFORM="offscreen"))
    assert (
        why
        == f"The folder of {home} belongs to user 4711, who could not use any more what Assent writes there as root."
    )
    assert "without sudo" in step
    assert [path.name for path in person.rglob("*")] == ([".agent"] if made else [])


def test_many_missing_libraries_are_counted_and_the_command_has_all() -> None:
    names = tuple(libraries.PACKAGES)
    error = lacks(names)
    assert f"needs {len(names)} libraries" in str(error)
    assert str(error).endswith(f"{', '.join(names[:4])} and {len(names) - 4} more.")
    assert all(name in error.next_step or libraries.PACKAGES[name][0] in error.next_step for name in names)


def test_the_developers_command_names_the_same_packages() -> None:
    named = {**system.QT_LIBRARIES, **system.X11_LIBRARIES}
    assert named == {library: libraries.PACKAGES[library][0] for library in named}
