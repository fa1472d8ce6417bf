"""What a package may hold: signed or not, nothing of it comes to lie outside of its version."""

import os
import tarfile
from pathlib import Path

import pytest

from desktop.domain.updates.rights import written
from desktop.workers.inside import CallError
from desktop.workers.update_host import limits
from desktop.workers.update_host.unpacking import Expected, unpack
from tests.servers.updates import INSIDE, Change, SmallAssent, manifest

pytestmark = pytest.mark.spec("R-UPD-1")
BEGIN = "assent/versions/1.3"


def _member(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", content: bytes = b""
) -> tuple[tarfile.TarInfo, bytes]:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.size = kind, link, len(content)
    return found, content


def _unpacked(
    folder: Path, *more: tuple[tarfile.TarInfo, bytes], change: Change | None = None, unpacked: int = 1_000_000
) -> Path:
    package = SmallAssent("1.3").pack(folder / "p", *more, change=change)
    (folder / "staging").mkdir()
    root = folder / "staging/1.3"
    rights = written(manifest("1.3")).encode()
    unpack(str(package), str(root), Expected("1.3", unpacked, rights), lambda size: None)
    return root


def _refusal(folder: Path, *more: tuple[tarfile.TarInfo, bytes], **how: object) -> str:
    before = _beside(folder)
    with pytest.raises(CallError) as caught:
        _unpacked(folder, *more, **how)  # type: ignore[arg-type]
    assert _beside(folder) == before
    return str(caught.value)


def _beside(folder: Path) -> set[str]:
    """All that lies around the staging and the package."""
    return {str(path) for path in folder.rglob("*") if not {"p", "staging"} & set(path.relative_to(folder).parts)}


def test_files_folders_and_links_that_stay_inside_are_laid_down(tmp_path: Path) -> None:
    root = _unpacked(
        tmp_path,
        _member(f"{BEGIN}/lib/libx.so.1", content=b"x"),
        _member(f"{BEGIN}/lib/libx.so", tarfile.SYMTYPE, "libx.so.1"),
        _member(f"{BEGIN}/bin/x", tarfile.SYMTYPE, "../lib/libx.so"),
        _member(f"{BEGIN}/empty", tarfile.DIRTYPE),
    )
    assert (root / "bin/x").read_bytes() == b"x"
    assert (root / "bin/assent").stat().st_mode & 0o7777 == 0o755
    assert (root / "lib/libx.so.1").stat().st_mode & 0o7777 == 0o644
    assert (root / "empty").is_dir()


def test_nothing_is_set_to_run_as_its_owner(tmp_path: Path) -> None:
    member, content = _member(f"{BEGIN}/bin/su", content=b"x")
    member.mode = 0o6777
    assert (_unpacked(tmp_path, (member, content)) / "bin/su").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize(
    "name",
    [
        "/etc/x",
        "../x",
        f"{BEGIN}/../../../x",
        f"{BEGIN}/../1.2.4/bin/assent",
        "assent/versions/1.2.4/bin/assent",
        "assent/versions/previous",
        f"{BEGIN}/a//b",
        f"{BEGIN}/./a",
        f"{BEGIN}x/a",
        f"{BEGIN}/a\\b",
        f"{BEGIN}/a\nb",
        f"{BEGIN}/a\u202eb",
        f"{BEGIN}/con:x",
        f"{BEGIN}/{'n' * 256}",
        f"{BEGIN}/{'n/' * 600}n",
        "x",
    ],
)
def test_a_file_that_lies_elsewhere_or_has_a_strange_name_is_refused(tmp_path: Path, name: str) -> None:
    assert "which is not of version 1.3. Nothing of it is used." in _refusal(tmp_path, _member(name, content=b"x"))


@pytest.mark.parametrize("target", ["/etc", "../../x", "..", "a/../../..", "", "../1.2.4", "a\nb"])
def test_a_link_that_leads_out_is_refused(tmp_path: Path, target: str) -> None:
    link = _member(f"{BEGIN}/lib" if target == ".." else f"{BEGIN}/out", tarfile.SYMTYPE, target)
    assert "leads out of it" in _refusal(tmp_path, link) or target == ""


def test_links_that_lead_out_only_together_are_refused(tmp_path: Path) -> None:
    links = (
        _member(f"{BEGIN}/a/b/deep", tarfile.SYMTYPE, "../../c"),
        _member(f"{BEGIN}/out", tarfile.SYMTYPE, "a/b/deep/../../x"),
        _member(f"{BEGIN}/c", tarfile.DIRTYPE),
    )
    assert "leads out of it" in _refusal(tmp_path, *links)


def test_a_link_is_never_laid_through_another_which_may_lead_out(tmp_path: Path) -> None:
    links = (
        _member(f"{BEGIN}/x/y", tarfile.SYMTYPE, ".."),
        _member(f"{BEGIN}/x/y/z", tarfile.SYMTYPE, "../.."),
        _member(f"{BEGIN}/x/y/z/made/outside", tarfile.SYMTYPE, "a"),
    )
    assert "behind a link" in _refusal(tmp_path, *links)


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    link = _member(f"{BEGIN}/d", tarfile.SYMTYPE, "lib")
    file = _member(f"{BEGIN}/d/x", content=b"x")
    with pytest.raises((CallError, FileExistsError)):
        _unpacked(tmp_path, link, file)
    assert not (tmp_path / "staging/1.3/lib/x").exists()


@pytest.mark.parametrize("kind", [tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_what_is_neither_file_nor_folder_nor_link_is_refused(tmp_path: Path, kind: bytes) -> None:
    said = _refusal(tmp_path, _member(f"{BEGIN}/x", kind, f"{BEGIN}/bin/assent"))
    assert said == f"The package holds '{BEGIN}/x', which is neither a file nor a folder. Nothing of it is used."


def test_a_file_twice_is_refused(tmp_path: Path) -> None:
    assert "twice" in _refusal(tmp_path, _member(f"{BEGIN}/bin/assent", content=b"other"))


def test_more_than_was_signed_is_refused_before_it_is_laid_down(tmp_path: Path) -> None:
    bomb = _member(f"{BEGIN}/bomb", content=b"\0" * 3_000_000)
    assert _refusal(tmp_path, bomb) == (
        "The package is larger than the 1,000,000 bytes that were signed. Nothing of it is used."
    )
    assert not (tmp_path / "staging/1.3/bomb").exists()


@pytest.mark.parametrize("kept", [0.2, 0.9])
def test_a_package_that_ends_too_early_is_refused(tmp_path: Path, kept: float) -> None:
    package = SmallAssent("1.3", more={"x": os.urandom(20_000)}).pack(tmp_path)
    package.write_bytes(package.read_bytes()[: int(package.stat().st_size * kept)])
    with pytest.raises(CallError, match=r"cannot be unpacked|holds no|larger"):
        unpack(str(package), str(tmp_path / "1.3"), Expected("1.3", 100_000, b""), lambda size: None)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"PK\x03\x04" * 100)
    with pytest.raises(CallError, match=r"cannot be unpacked \(ReadError\)"):
        unpack(str(tmp_path / "x"), str(tmp_path / "1.3"), Expected("1.3", 100_000, b""), lambda size: None)


def _without(name: str) -> Change:
    return lambda member, content: None if member.name.endswith(name) else (member, content)


def test_a_package_that_nothing_starts_is_refused(tmp_path: Path) -> None:
    assert "nothing would start it" in _refusal(tmp_path, change=_without("bin/assent"))


def test_a_package_without_its_list_or_with_two_is_refused(tmp_path: Path) -> None:
    assert "may do something else" in _refusal(tmp_path / "none", change=_without("rights.json"))
    second = _member(f"{BEGIN}/other/resources/rights.json", content=written(manifest("1.3")).encode())
    assert "may do something else" in _refusal(tmp_path / "two", second)


def test_the_list_that_counts_is_the_one_that_was_signed(tmp_path: Path) -> None:
    def other(member: tarfile.TarInfo, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
        if member.name.endswith(f"{INSIDE}/rights.json"):
            content = content.replace(b"Runs", b"runs")
        return member, content

    assert "may do something else" in _refusal(tmp_path, change=other)


def test_limits_are_larger_than_what_is_built() -> None:
    assert limits.PACKAGE < limits.UNPACKED
    assert limits.NEWEST < limits.RIGHTS
