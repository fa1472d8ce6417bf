"""packaging/linux: what a package puts into `share` fits the app, itself, and the tools that read it."""

from __future__ import annotations

import configparser
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from desktop import __version__
from desktop.app import main as app
from desktop.app.commands import opening
from desktop.app.desktop.identity import APP_ID
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
DAY = "2026-11-27"
COMMANDS = {**app.COMMANDS, app.OPEN: opening}
EARLIER = {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C", "HOME": "/nonexistent"}


def made(folder: Path, **environment: str) -> Path:
    where = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "packaging"), str(ROOT))), **environment}
    command = [sys.executable, "-m", "linux", str(folder), "--date", DAY]
    subprocess.run(command, cwd=folder.parent, env=where, check=True, stdout=subprocess.DEVNULL, timeout=WAIT_S)
    return folder


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("packed") / "share")


@pytest.fixture(scope="module")
def manual(share: Path) -> str:
    return gzip.decompress((share / "man/man1/assent.1.gz").read_bytes()).decode()


def words() -> list[tuple[str, str]]:
    """(command, option) of everything that a person can write behind `assent`."""
    parsers = {"": app.parser(), **{word: module.parser() for word, module in COMMANDS.items()}}
    shown = {word: parser.format_help() for word, parser in parsers.items()}
    return [(word, name) for word, text in shown.items() for name in re.findall(r"(?<![\w-])--[a-z-]+", text)]


def completed(share: Path, *line: str) -> list[str]:
    """What bash offers for the last word of a line."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _assent; printf "%s\\n" "${COMPREPLY[@]}"'
    command = ["bash", "-c", script, "-", str(share / "bash-completion/completions/assent"), "assent", *line]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=WAIT_S).stdout.split()


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def checked(tool: str, *arguments: object) -> None:
    """The tool of that name, where this machine has it, finds nothing wrong."""
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not on this machine")
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.spec("R-PKG-2")
def test_all_files_have_the_name_by_which_windows_and_notifications_are_known(share: Path) -> None:
    named = {path.name.removeprefix(APP_ID) for path in share.rglob("*") if path.name.startswith(APP_ID)}
    assert named == {".desktop", ".metainfo.xml", ".svg", ".png"}
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(share / f"applications/{APP_ID}.desktop", "utf-8")
    assert entry["Desktop Entry"]["icon"] == APP_ID
    component = ElementTree.parse(share / f"metainfo/{APP_ID}.metainfo.xml").getroot()
    assert component.findtext("id") == APP_ID
    assert component.findtext("launchable") == f"{APP_ID}.desktop"


def test_the_entry_names_the_program_alone_as_what_has_to_be_there(share: Path) -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(share / f"applications/{APP_ID}.desktop", "utf-8")
    program = entry["Desktop Entry"]["exec"].split()[0]
    assert entry["Desktop Entry"]["tryexec"] == program  # with a word more, GNOME and Xfce find nothing to show


def test_the_appstream_data_name_this_version_and_the_day(share: Path) -> None:
    release = ElementTree.parse(share / f"metainfo/{APP_ID}.metainfo.xml").getroot().find("releases/release")
    assert release is not None
    assert release.attrib == {"version": __version__, "date": DAY}


def test_the_icon_is_there_in_each_size_that_its_folder_says(share: Path) -> None:
    sizes = {}
    for path in share.glob("icons/hicolor/*x*/apps/*.png"):
        head = path.read_bytes()[:24]
        sizes[path.parent.parent.name] = (int.from_bytes(head[16:20]), int.from_bytes(head[20:24]))
    assert sizes == {f"{side}x{side}": (side, side) for side in (16, 24, 32, 48, 64, 128, 256, 512)}


def test_the_manual_has_every_command_and_every_option(manual: str) -> None:
    assert {f".SS assent {word}".replace("-", r"\-") for word in COMMANDS} <= set(manual.splitlines())
    sections = {"": manual.partition(".SH COMMANDS")[0]}
    sections |= {one.split("\n", 1)[0].replace("\\", ""): one for one in manual.split(".SS assent ")[1:]}
    assert [(word, name) for word, name in words() if name.replace("-", r"\-") not in sections[word]] == []


def test_bash_completes_every_command_and_every_option(share: Path) -> None:
    offered = {word: completed(share, *([word] if word else []), "--") for word in ("", *COMMANDS)}
    assert [(word, name) for word, name in words() if name not in offered[word]] == []
    assert set(COMMANDS) <= set(completed(share, ""))
    assert completed(share, "--home", "/tmp", "ru") == ["run"]


def test_bash_offers_folders_where_a_folder_is_wanted_and_nothing_for_a_rule(share: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    assert completed(share, "run", "--project", f"{tmp_path}/f") == [f"{tmp_path}/folder"]
    assert completed(share, "audit-check", f"{tmp_path}/fi") == [f"{tmp_path}/file"]
    assert completed(share, "run", "--allow", "") == []


@pytest.mark.parametrize("file", ["zsh/vendor-completions/_assent", "fish/vendor_completions.d/assent.fish"])
def test_the_other_shells_have_every_command_and_option_too(share: Path, file: str) -> None:
    text = (share / file).read_text("utf-8")
    assert [word for word in COMMANDS if not re.search(rf"\b{word}\b", text)] == []
    assert [name for _, name in words() if name not in text and f"-l {name[2:]} " not in text] == []


def test_the_same_sources_give_the_same_bytes_elsewhere_and_later(share: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "share", **EARLIER)
    content = [
        {str(path.relative_to(one)): path.read_bytes() for path in one.rglob("*") if path.is_file()}
        for one in (share, other)
    ]
    assert content[0] == content[1]
    assert str(ROOT).encode() not in b"".join(content[0].values())


def test_the_tool_of_menus_finds_nothing_wrong(share: Path) -> None:
    checked("desktop-file-validate", share / f"applications/{APP_ID}.desktop")


def test_the_tool_of_appstream_finds_nothing_wrong(share: Path) -> None:
    checked("appstreamcli", "validate", "--no-net", share / f"metainfo/{APP_ID}.metainfo.xml")


def test_the_tool_of_manuals_finds_nothing_wrong(manual: str, tmp_path: Path) -> None:
    page = tmp_path / "assent.1"
    page.write_text(manual, "utf-8")
    checked("mandoc", "-T", "lint", "-W", "warning", page)


@pytest.mark.parametrize(
    "line", [("zsh", "-n", "zsh/vendor-completions/_assent"), ("fish", "-n", "fish/vendor_completions.d/assent.fish")]
)
def test_the_other_shells_can_read_their_completions(share: Path, line: tuple[str, str, str]) -> None:
    checked(line[0], line[1], share / line[2])
