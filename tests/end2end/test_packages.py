"""`dev.py package`: what is committed, whole, and the same to the byte whoever makes it, where and when."""

import hashlib
import os
import shutil
import subprocess
import tarfile
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest
from devlib.packages.archive import normalise, pack
from devlib.packages.command import main, write_sums
from devlib.packages.pruning import mend_records
from devlib.packages.source import copied_source
from devlib.packages.wheels import _WHEEL, _build, make_sdist, make_wheel, unpack_sdist
from devlib.words import Stop

from desktop import __version__
from desktop.app.home.installation import read_installation
from tests.architecture.rules import TOP_LEVEL

ROOT = Path(__file__).resolve().parents[2]
FILES = (*(name for name in TOP_LEVEL if "." in name), "desktop/*.py", "resources/*.*", "packaging/*.*", "tests/*.py")
FOLDERS = ("desktop/domain", "desktop/store", "resources/help", "skills/middleware", "tests/upgrade")
"""Enough to have some of everything that is packed, or is not."""
DATE = "2026-11-27T09:00:00Z"
EPOCH = 1795770000
COMMITTER = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def _git(folder: Path, *words: str) -> str:
    dates = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE, "GIT_CONFIG_GLOBAL": os.devnull}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **COMMITTER, **dates}
    return subprocess.run(
        ["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some of these sources, committed: whoever runs the tests may have no git folder, or changes not committed."""
    folder = tmp_path_factory.mktemp("checkout") / "assent"
    for pattern in (*FILES, *FOLDERS):
        for path in ROOT.glob(f"{pattern}/**/*" if pattern in FOLDERS else pattern):
            if path.is_file() and path.suffix != ".pyc" and path.name != "build.json":
                (folder / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, folder / path.relative_to(ROOT))
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "add", "--all", "--force")
    _git(folder, "commit", "-q", "-m", "x")
    (folder / "desktop" / "scratch.py").write_text("not committed")
    return folder


@pytest.fixture(scope="module")
def made(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the copied source, the sdist and the wheel."""
    return _made(checkout, tmp_path_factory.mktemp("first"))


def _made(root: Path, place: Path) -> Path:
    out = place / "out"
    out.mkdir()
    source = copied_source(place / "source", root=root)
    make_wheel(source, make_sdist(source, place / "work", out), place / "work", out)
    return place


def _digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted((folder / "out").iterdir())}


@pytest.mark.spec("R-PKG-1")
def test_two_builds_in_different_places_and_at_different_times_are_equal_to_the_byte(
    checkout: Path, made: Path, tmp_path: Path
) -> None:
    other = tmp_path / "a" / "much" / "longer" / "place"
    other.parent.mkdir(parents=True)
    shutil.copytree(checkout, other)
    for path in other.rglob("*.py"):
        os.utime(path, (1, 1))
    place = tmp_path / "out of the way"
    place.mkdir()
    old = os.umask(0o077)
    try:
        assert _digests(_made(other, place)) == _digests(made)
    finally:
        os.umask(old)
    assert set(_digests(made)) == {f"assent-{__version__}.tar.gz", f"assent-{__version__}-py3-none-any.whl"}


@pytest.mark.spec("R-PKG-1")
def test_the_sdist_has_every_committed_file_and_from_it_alone_the_same_is_made_again(
    checkout: Path, made: Path, tmp_path: Path
) -> None:
    unpacked = unpack_sdist(made / "out" / f"assent-{__version__}.tar.gz", tmp_path / "unpacked")
    held = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    committed = set(_git(checkout, "ls-files", "-z").split("\0")) - {""}
    assert "resources/screenshot.png" in committed
    assert committed - held == set()
    written = {name for name in held - committed if not name.startswith("assent.egg-info/")}
    assert written == {"PKG-INFO", "setup.cfg", "resources/build.json"}
    again = tmp_path / "again"
    again.mkdir()
    assert _digests(_made(unpacked, again)) == _digests(made)


def test_the_wheel_from_the_sdist_is_the_one_from_the_checkout(made: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(made / "source", source)
    shutil.rmtree(source / "assent.egg-info")
    normalise(source, EPOCH)
    _build(_WHEEL, source, tmp_path, EPOCH)
    name = f"assent-{__version__}-py3-none-any.whl"
    assert (tmp_path / name).read_bytes() == (made / "out" / name).read_bytes()


@pytest.mark.spec("R-PKG-1")
def test_the_wheel_says_its_kind_and_its_commit(checkout: Path, made: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(made / "out" / f"assent-{__version__}-py3-none-any.whl") as archive:
        assert not [name for name in archive.namelist() if "scratch" in name or name.startswith(("tests", "packaging"))]
        archive.extractall(tmp_path)
    found = read_installation(tmp_path, tmp_path, {})
    assert (found.kind, found.commit, found.built) == ("wheel", _git(checkout, "rev-parse", "HEAD"), DATE)


def test_where_nobody_can_say_what_would_be_packed_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with pytest.raises(Stop, match="neither a checkout nor an unpacked sdist"):
        copied_source(tmp_path / "copy", root=tmp_path / "here")
    _git(tmp_path / "here", "init", "-q")
    with pytest.raises(Stop, match="git cannot read the sources"):
        copied_source(tmp_path / "other", root=tmp_path / "here")


def test_what_a_build_knows_of_updates_comes_whole_or_not_at_all(checkout: Path, tmp_path: Path) -> None:
    given = tmp_path / "updates"
    given.mkdir()
    (given / "root.json").write_text("{}")
    with pytest.raises(Stop, match=r"lacks source\.json"):
        copied_source(tmp_path / "half", given, checkout)
    (given / "source.json").write_text("[]")
    source = copied_source(tmp_path / "whole", given, checkout)
    assert (source.folder / "resources/updates/source.json").read_text() == "[]"
    assert not (checkout / "resources/updates/source.json").exists()


def test_a_kind_that_there_is_not_is_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["wheel", "msi", "--out", str(tmp_path / "out")])
    assert ended.value.code == 2
    assert "There is no kind msi." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_where_nothing_can_be_written_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as ended:
        main(["wheel", "--out", str(tmp_path / "file" / "out")])
    assert ended.value.code == 2
    assert "Not a directory" in capsys.readouterr().err


def test_an_archive_tells_nothing_of_who_packed_it_when_and_in_which_order(tmp_path: Path) -> None:
    def tree(name: str, files: list[str], mode: int) -> Path:
        folder = tmp_path / name
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(file)
            (folder / file).chmod(mode)
        (folder / "b").chmod(mode | 0o100)
        os.link(folder / "b", folder / "second")
        (folder / "link").symlink_to("a/c")
        normalise(folder, EPOCH)
        return folder

    made: list[bytes] = []
    for number, files in enumerate((["a/c", "b", "d"], ["d", "b", "a/c"])):
        folder = tree(f"tree{number}", files, 0o600 if number else 0o664)
        for ending in ("gz", "xz"):
            out = tmp_path / f"{number}.tar.{ending}"
            pack(folder, out, EPOCH, top="top")
            made.append(out.read_bytes())
    assert made[:2] == made[2:]
    with tarfile.open(tmp_path / "0.tar.xz") as archive:
        found = {member.name: (member.mode, member.type) for member in archive.getmembers()}
        assert {(member.uid, member.uname, member.mtime) for member in archive.getmembers()} == {(0, "root", EPOCH)}
        second = archive.extractfile("top/second")
        assert second is not None
        assert second.read() == b"b"
    assert list(found) == ["top", "top/a", "top/a/c", "top/b", "top/d", "top/link", "top/second"]
    assert (found["top/b"], found["top/d"]) == ((0o755, tarfile.REGTYPE), (0o644, tarfile.REGTYPE))
    assert (found["top/link"][1], found["top/second"][1]) == (tarfile.SYMTYPE, tarfile.REGTYPE)


def test_the_list_of_a_package_says_what_is_left_of_it(tmp_path: Path) -> None:
    record = tmp_path / "x-1.dist-info" / "RECORD"
    record.parent.mkdir()
    (tmp_path / "kept, too.py").write_text("now smaller")
    record.write_text('"kept, too.py",sha256=old,99\ngone.py,sha256=old,5\nx-1.dist-info/RECORD,,\n')
    mend_records(tmp_path)
    digest = urlsafe_b64encode(hashlib.sha256(b"now smaller").digest()).decode().rstrip("=")
    assert record.read_text().splitlines() == [f'"kept, too.py",sha256={digest},11', "x-1.dist-info/RECORD,,"]


def test_the_sums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    for name in ("b.whl", "a.deb", "figures.json"):
        (tmp_path / name).write_text(name)
    write_sums(tmp_path)
    write_sums(tmp_path)
    assert [line.split()[1] for line in (tmp_path / "SHA256SUMS").read_text().splitlines()] == ["a.deb", "b.whl"]
    checked = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
