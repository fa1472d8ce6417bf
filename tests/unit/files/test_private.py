"""What the app writes for itself: for the person alone, whole or not at all."""

import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.files.private import (
    close_to_others,
    make_folder,
    mode_of,
    remove_unfinished,
    unfinished,
    write_new,
    write_whole,
)
from desktop.files.removing import remove_tree


@pytest.fixture(autouse=True)
def usual_rights() -> Iterator[None]:
    """Of a system on which everybody may read what is made."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_all_folders_above_them_are_for_the_person_alone(tmp_path: Path) -> None:
    whole, new = tmp_path / "a" / "b" / "whole", tmp_path / "c" / "new"
    for path in (whole, new):
        with pytest.raises(FileNotFoundError):
            write_whole(path, b"x")
        make_folder(path.parent)
    write_whole(whole, b"one ", b"two")
    write_new(new, b"three")
    assert (whole.read_bytes(), new.read_bytes()) == (b"one two", b"three")
    assert {rights(path) for path in (whole, new)} == {0o600}
    assert {rights(path) for path in (whole.parent, whole.parent.parent, new.parent)} == {0o700}


def test_a_file_that_others_could_read_is_closed_when_it_is_written_again_unless_its_rights_are_kept(
    tmp_path: Path,
) -> None:
    path = tmp_path / "file"
    for mode, kept in ((0o600, 0o600), (mode_of, 0o644)):
        path.write_bytes(b"old")
        path.chmod(0o644)
        write_whole(path, b"new", mode=mode(path) if callable(mode) else mode)
        assert (path.read_bytes(), rights(path)) == (b"new", kept)
    assert mode_of(tmp_path / "none") == 0o600


def test_a_write_that_breaks_off_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    with pytest.raises(TypeError):
        write_whole(path, b"new", "no bytes")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        write_new(tmp_path / "other", "no bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_never_goes_over_another(tmp_path: Path) -> None:
    write_new(tmp_path / "file", b"mine")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "file", b"theirs")
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_a_link_stays_one_and_its_target_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_where_a_file_stands_there_can_be_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        make_folder(tmp_path / "file" / "below")
    make_folder(tmp_path)


def test_what_was_copied_is_closed_to_others_and_links_lead_to_nothing_that_changes(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.write_bytes(b"")
    outside.chmod(0o644)
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "run.sh").write_bytes(b"")
    (folder / "below" / "run.sh").chmod(0o755)
    (folder / "link").symlink_to(outside)
    close_to_others(folder)
    assert [rights(path) for path in (folder, folder / "below", folder / "below" / "run.sh", outside)] == [
        0o700,
        0o700,
        0o700,
        0o644,
    ]


def test_only_what_was_not_finished_before_is_taken_away(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    (folder / "below").mkdir(parents=True)
    elsewhere.mkdir()
    (folder / "linked").symlink_to(elsewhere / "real")
    gone = [unfinished(folder / "a"), unfinished(folder / "below" / "b"), unfinished(elsewhere / "real")]
    stays = [unfinished(elsewhere / "other"), str(folder / ".mine.unfinished"), str(folder / ".a.0123456789ab")]
    for path in (*gone, *stays):
        Path(path).write_bytes(b"half")
    half = Path(unfinished(folder / "skill"))
    (half / "deep").mkdir(parents=True)
    (half / "deep" / "file").write_bytes(b"")
    (half / "link").symlink_to(elsewhere)
    remove_unfinished(folder, 1.0, below=True)
    assert all(os.path.exists(path) for path in gone), "they were begun later than that"
    remove_unfinished(folder, time.time() + 1)
    assert [os.path.exists(path) for path in gone] == [False, True, False]
    remove_unfinished(folder, time.time() + 1, below=True)
    assert not any(os.path.exists(path) for path in gone)
    assert not half.exists()
    assert all(os.path.exists(path) for path in stays)


def test_a_file_may_have_as_long_a_name_as_the_disk_takes(tmp_path: Path) -> None:
    elsewhere, home = tmp_path / "elsewhere", tmp_path / "home"
    elsewhere.mkdir()
    home.mkdir()
    for name in ("议" * 84 + ".md", "x" * 255, "x" + "é" * 127):
        for path in (tmp_path / name, elsewhere / name):
            write_new(path, b"new")
            write_whole(path, b"again")
            assert path.read_bytes() == b"again"
            half = Path(unfinished(path))
            assert half.name.encode(), "no character is cut apart"
            half.write_bytes(b"half")
        (home / "link").symlink_to(elsewhere / name)
        remove_unfinished(tmp_path, time.time() + 1)
        remove_unfinished(home, time.time() + 1)
        assert os.listdir(elsewhere) == [name], "also beside what a link leads to"
        (elsewhere / name).unlink()
        (home / "link").unlink()
    assert len(os.listdir(tmp_path)) == 5


def test_what_was_not_finished_is_found_below_as_many_folders_as_there_are(tmp_path: Path) -> None:
    deepest = tmp_path
    for _ in range(1_300):
        deepest /= "a"
        deepest.mkdir()
    half = Path(unfinished(deepest / "file"))
    half.write_bytes(b"half")
    (deepest / "out").symlink_to(tmp_path / "mine")
    (tmp_path / "mine").mkdir()
    try:
        remove_unfinished(tmp_path, time.time() + 1, below=True)
        assert not half.exists()
        remove_tree(str(tmp_path / "a"))
        assert os.listdir(tmp_path) == ["mine"]
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "a")], check=True)  # what pytest cannot remove either
