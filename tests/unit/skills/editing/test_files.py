"""Saving and managing skill files: nothing is lost, nothing half-done stays behind."""

import os
import stat
from pathlib import Path

import pytest

from desktop.skills.editing.files import MAX_BYTES, CannotSave, EditConflict, SkillFiles

TEXT = "---\nname: greet\ndescription: hello\n---\nSay hello.\r\nTwice.\n"


class Place:
    def __init__(self, root: Path) -> None:
        self.mine = root / "mine"
        self.library = root / "library"
        self.mine.mkdir()
        self.library.mkdir()
        self.changed: list[str] = []
        self.files = SkillFiles(root / "trash", lambda: (str(self.mine),), self.changed.append)

    def write(self, name: str, text: str = TEXT) -> str:
        path = self.mine / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return str(path)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.spec("R-SK-11", "R-SK-13")
def test_saving_replaces_the_file_keeps_its_bytes_and_mode_and_says_so_before_it_returns(place: Place) -> None:
    path = place.write("greet.skill.md", "\ufeff" + TEXT)
    os.chmod(path, 0o640)
    opened = place.files.open(path)
    assert opened.bom
    assert "\r\n" in opened.text
    saved = place.files.save(opened, opened.text.replace("Twice", "Thrice"))
    assert Path(path).read_bytes() == ("\ufeff" + TEXT.replace("Twice", "Thrice")).encode()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640
    assert place.changed == [path]
    assert os.listdir(place.mine) == ["greet.skill.md"]
    assert place.files.open(path) == saved


@pytest.mark.spec("R-SK-11")
def test_a_file_changed_meanwhile_is_not_overwritten_unless_one_says_so(place: Place) -> None:
    path = place.write("greet.skill.md")
    opened = place.files.open(path)
    Path(path).write_text("theirs")
    with pytest.raises(EditConflict) as caught:
        place.files.save(opened, "mine")
    assert caught.value.theirs == "theirs"
    assert Path(path).read_text() == "theirs"
    place.files.save(opened, "mine", over=True)
    assert Path(path).read_text() == "mine"


@pytest.mark.spec("R-SK-11")
def test_a_file_deleted_meanwhile_is_a_conflict_and_can_be_made_again(place: Place) -> None:
    path = place.write("greet.skill.md")
    opened = place.files.open(path)
    os.unlink(path)
    with pytest.raises(EditConflict) as caught:
        place.files.save(opened, "mine")
    assert caught.value.theirs is None
    place.files.save(opened, "mine", over=True)
    assert Path(path).read_text() == "mine"


@pytest.mark.spec("R-SK-11")
def test_a_link_stays_a_link_and_only_files_inside_are_written(place: Place) -> None:
    outside = place.library / "greet.skill.md"
    outside.write_text(TEXT)
    inside = place.write("real.skill.md")
    (place.mine / "linked.skill.md").symlink_to("real.skill.md")
    (place.mine / "escape.skill.md").symlink_to(outside)
    opened = place.files.open(str(place.mine / "linked.skill.md"))
    place.files.save(opened, "new")
    assert (place.mine / "linked.skill.md").is_symlink()
    assert Path(inside).read_text() == "new"
    escaping = place.files.open(str(place.mine / "escape.skill.md"))
    assert not escaping.writable
    with pytest.raises(CannotSave, match="not in a skills folder"):
        place.files.save(escaping, "x")
    assert outside.read_bytes() == TEXT.encode()


@pytest.mark.spec("R-SK-2")
@pytest.mark.parametrize("name", ["", "A", "a b", "../x", "a--b", "-a", "a" * 65, "a\n", "con/x"])
def test_a_name_that_no_skill_may_have_makes_nothing(place: Place, name: str) -> None:
    with pytest.raises(CannotSave):
        place.files.create(str(place.mine), name, TEXT, folder=True)
    assert not os.listdir(place.mine)


@pytest.mark.spec("R-SK-13")
def test_making_never_overwrites(place: Place) -> None:
    path = place.files.create(str(place.mine), "greet", TEXT, folder=True)
    assert path == str(place.mine / "greet" / "SKILL.md")
    with pytest.raises(CannotSave, match="exists"):
        place.files.create(str(place.mine), "greet", "other", folder=True)
    flat = place.files.create(str(place.mine), "hello", TEXT, folder=False)
    assert flat.endswith("hello.skill.md")
    assert place.changed == [path, flat]
    with pytest.raises(CannotSave):
        place.files.create(str(place.library), "greet", TEXT, folder=True)


@pytest.mark.spec("R-SK-13")
def test_a_copy_takes_the_whole_folder_without_its_links(place: Place) -> None:
    path = place.write("greet/SKILL.md")
    place.write("greet/scripts/run.sh", "echo hi")
    (place.mine / "greet" / "key").symlink_to("/etc/passwd")
    copy = place.files.duplicate(path, str(place.mine), "greet-two")
    assert copy == str(place.mine / "greet-two" / "SKILL.md")
    assert (place.mine / "greet-two" / "scripts" / "run.sh").read_text() == "echo hi"
    assert not (place.mine / "greet-two" / "key").exists()
    with pytest.raises(CannotSave, match="exists"):
        place.files.duplicate(path, str(place.mine), "greet-two")
    code = place.write("tool.skill.py", "frontmatter = {}")
    assert place.files.duplicate(code, str(place.mine), "other").endswith("other.skill.py")


@pytest.mark.spec("R-SK-13")
def test_a_library_skill_is_copied_into_ones_own(place: Place) -> None:
    source = place.library / "greet" / "SKILL.md"
    source.parent.mkdir()
    source.write_text(TEXT)
    assert Path(place.files.duplicate(str(source), str(place.mine), "mine")).read_text() == TEXT.replace("\r", "")
    with pytest.raises(CannotSave):
        place.files.delete(str(source), "greet")


@pytest.mark.spec("R-SK-13")
def test_renaming_moves_the_folder_and_never_onto_another(place: Place) -> None:
    path = place.write("greet/SKILL.md")
    place.write("other/SKILL.md")
    with pytest.raises(CannotSave, match="exists"):
        place.files.rename(path, "other")
    new = place.files.rename(path, "hello")
    assert new == str(place.mine / "hello" / "SKILL.md")
    assert place.changed == [path, new]
    assert place.files.rename(new, "hello") == new


@pytest.mark.spec("R-SK-13")
def test_what_was_deleted_comes_back_whole(place: Place) -> None:
    path = place.write("greet/SKILL.md")
    place.write("greet/references/a.md", "a")
    deleted = place.files.delete(path, "greet")
    assert not (place.mine / "greet").exists()
    assert place.files.undo(deleted) == path
    assert (place.mine / "greet" / "references" / "a.md").read_text() == "a"
    again = place.files.delete(path, "greet")
    place.write("greet/SKILL.md", "another")
    with pytest.raises(CannotSave, match="exists"):
        place.files.undo(again)
    assert Path(path).read_text() == "another"


def test_what_is_too_large_or_no_text_is_refused_in_words(place: Place) -> None:
    path = place.write("greet.skill.md")
    opened = place.files.open(path)
    with pytest.raises(CannotSave, match="at most"):
        place.files.save(opened, "x" * (MAX_BYTES + 1))
    Path(path).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CannotSave, match="UTF-8"):
        place.files.open(path)
    os.unlink(path)
    os.mkfifo(path)
    os.unlink(path)
    os.mkdir(path)
    with pytest.raises(CannotSave):
        place.files.open(path)


def test_a_fifo_does_not_hang_the_reader(place: Place) -> None:
    path = str(place.mine / "pipe.skill.md")
    os.mkfifo(path)
    with pytest.raises(CannotSave, match="regular"):
        place.files.open(path)
