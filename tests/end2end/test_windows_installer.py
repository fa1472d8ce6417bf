"""The installer for Windows, built by NSIS and started under Wine: put in, again over itself, refused, taken out.

It wants `makensis`, `wine` (Debian: nsis, wine64) and `Xvfb`: ``-m soak``. The programs in it are Wine's own: a whole
installer takes NSIS minutes.
"""

import hashlib
import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from devlib.packages.source import Source
from devlib.packages.windows import make_installer
from devlib.packages.windows_python import SUMS, fetched_python

from tests.harness.timeouts import WAIT_S, until

ROOT = Path(__file__).resolve().parents[2]
LINKS = r"HKCU\Software\Classes\assent\shell\open\command"
RUNS, NOT_EMPTY = 3, 5
PUBLISHED = "009d6bf7e3b2ddca3d784fa09f90fe54336d5b60f0e0f305c37f400bf83cfd3b"
"""The SHA-256 of python-3.11.9-embed-amd64.zip, as those who fetch it from the Python Software Foundation wrote it."""
BUILT, ZIPPED = (2024, 4, 2, 12, 32, 56), (2024, 4, 2, 12, 33, 28)
"""When its files were made; a few of them 2 seconds later."""
LATER = (
    *("python311.dll", "python3.dll", "libcrypto-3.dll", "libssl-3.dll", "sqlite3.dll", "python.cat"),
    *("_elementtree.pyd", "_zoneinfo.pyd", "unicodedata.pyd"),
)
pytestmark = [pytest.mark.soak, pytest.mark.spec("R-PKG-3")]


class Wine:
    """A Windows of its own below a folder."""

    def __init__(self, folder: Path) -> None:
        self.environment = {**os.environ, "WINEPREFIX": str(folder), "WINEDEBUG": "-all", "HOME": str(folder.parent)}
        self.drive = folder / "drive_c"
        self.run("wineboot", "-i")
        self.run("winecfg", "-v", "win10")
        (self.profile,) = [one for one in (self.drive / "users").iterdir() if one.name != "Public"]
        self.place = self.profile / "AppData/Local/Programs/Assent"

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        command = ["xvfb-run", "-a", "wine", *map(str, words)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=10 * WAIT_S)

    def held(self) -> set[str]:
        return {one.relative_to(self.place).as_posix() for one in self.place.rglob("*") if one.is_file()}


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wine]:
    made = Wine(tmp_path_factory.mktemp("wine") / "prefix")
    yield made
    subprocess.run(["wineserver", "-k"], env=made.environment, check=False)


@pytest.fixture(scope="module")
def installer(wine: Wine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("installer")
    tree = work / "tree"
    (tree / "Lib").mkdir(parents=True)
    (tree / "Lib/code.py").write_text("code")
    shutil.copy(ROOT / "packaging/windows/assent.ico", tree)
    for name in ("python.exe", "pythonw.exe"):
        shutil.copy(wine.drive / "windows/system32/notepad.exe", tree / name)
    return make_installer(Source(ROOT, "0.1.0", "0" * 40, 1795770000), tree, work, work)


async def test_it_is_put_in_again_over_itself_refused_while_it_runs_and_taken_out_without_the_home(
    wine: Wine, installer: Path
) -> None:
    home = wine.profile / ".agent" / "config.yaml"
    home.parent.mkdir()
    home.write_text("mine")
    put_in = {"Lib/code.py", "assent.ico", "python.exe", "pythonw.exe", "uninstall.exe", "assent.installed"}

    assert wine.run(installer, "/S").returncode == 0
    assert wine.held() == put_in
    assert '\\pythonw.exe" -I -m desktop open -- "%1"' in wine.run("reg", "query", LINKS).stdout
    menu = wine.profile / "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Assent.lnk"
    assert menu.is_file()

    (wine.place / "Lib/stale.py").touch()
    (wine.place / "mine.txt").touch()
    assert wine.run(installer, "/S").returncode == 0
    assert wine.held() == put_in | {"mine.txt"}

    command = ["xvfb-run", "-a", "wine", str(wine.place / "pythonw.exe")]
    running = subprocess.Popen(command, env=wine.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    await until(lambda: "pythonw.exe" in wine.run("tasklist").stdout)
    assert wine.run(installer, "/S").returncode == RUNS
    assert wine.held() == put_in | {"mine.txt"}
    wine.run("taskkill", "/f", "/im", "pythonw.exe")
    running.wait(timeout=WAIT_S)

    assert wine.run(wine.place / "uninstall.exe", "/S").returncode == 0
    await until(lambda: wine.held() == {"mine.txt"} and not menu.exists())
    assert "pythonw" not in wine.run("reg", "query", LINKS).stdout
    assert home.read_text() == "mine"


def test_a_folder_with_other_things_in_it_is_left_as_it_is(wine: Wine, installer: Path) -> None:
    other = wine.drive / "other"
    other.mkdir()
    (other / "a").touch()
    assert wine.run(installer, "/S", "/D=C:\\other").returncode == NOT_EMPTY
    assert [one.name for one in other.iterdir()] == ["a"]


def test_the_python_of_the_lock_makes_the_very_archive_that_its_maker_published(tmp_path: Path) -> None:
    """Packed as CPython's `PC/layout` does it on Windows, with zlib's own compression."""
    laid = fetched_python(Source(ROOT, "0.1.0", "0" * 40, 1795770000), tmp_path / "python")
    archive = tmp_path / "python.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for line in (ROOT / SUMS).read_text("utf-8").splitlines():
            name = line.split("  ", 1)[1]
            when = ZIPPED if name.startswith("python311.") and not name.endswith("dll") else BUILT
            when = (*BUILT[:5], 58) if name in LATER else when
            member = zipfile.ZipInfo(name, when)
            member.compress_type, member.create_system = zipfile.ZIP_DEFLATED, 0
            member.external_attr = (0o100777 if name.endswith(".exe") else 0o100666) << 16
            made.writestr(member, (laid / name).read_bytes())
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == PUBLISHED
