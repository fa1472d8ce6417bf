"""Commands that come to a denied place by a folder above it, or by a path inside of a word."""

import pytest

from desktop.domain.approval.judgement import Category
from tests.unit.safety.world import World


@pytest.mark.spec("R-FS-3")
@pytest.mark.parametrize("command", ["find ~", "find ~ -name x", "grep -r x ~", "ls -R ~", "tar cf a.tar ~"])
def test_what_goes_through_a_folder_that_holds_a_denied_one_is_admin(world: World, command: str) -> None:
    reading = world.reader.read_now(command)
    assert reading.category is Category.ADMIN
    assert "goes through a folder that holds the denied path ~/.ssh" in reading.raised_because


@pytest.mark.spec("R-FS-3")
def test_what_only_looks_at_the_names_in_such_a_folder_does_not_go_through_it(world: World) -> None:
    assert world.reader.read_now("ls ~").raised_because == ""


@pytest.mark.spec("R-FS-3")
@pytest.mark.parametrize(
    "word",
    [
        "~/.ssh/id_rsa",
        "~/{.ssh,x}/id_rsa",
        "{x,~/.ssh/id_rsa}",
        "~/.s{s,x}h/id_rsa",
        "-f../../.ssh/id_rsa",
        "--file=../../.ssh/id_rsa",
        "@../../.ssh/id_rsa",
        "x:../../.ssh/id_rsa",
        "file://$HOME/.ssh/id_rsa",
    ],
)
def test_a_denied_path_is_found_wherever_it_stands_in_a_word(world: World, word: str) -> None:
    reading = world.reader.read_now(f"grep -- x {word}" if not word.startswith("-") else f"grep {word} x")
    assert reading.category is Category.ADMIN
    assert "~/.ssh is denied" in reading.raised_because


@pytest.mark.spec("R-FS-3")
def test_the_value_of_a_short_option_begins_right_behind_its_letter(world: World) -> None:
    (world.workspace / "keys").mkdir()
    world.change(denied=(str(world.workspace / "keys"),))
    assert "is denied" in world.reader.read_now("grep -fkeys/a x").raised_because
    assert world.reader.read_now("grep -fxkeys/a x").raised_because == ""


@pytest.mark.spec("R-FS-3")
@pytest.mark.parametrize(
    "command",
    [
        "cat l?k/id_rsa",
        "cat l*/id_rsa",
        "cat ./l[n]k/*",
        "cat {l?k,x}/id_rsa",
        "tar --file=l?k/id_rsa",
        "cp l?k/id_rsa mine",
        "cat f?le",
        "cat *",
        "cat below/../l?k/id_rsa",
        "cat l?k/$NAME",
        "cat u?/$NAME/id_rsa",
    ],
)
def test_a_pattern_is_denied_that_finds_a_link_to_a_denied_place(world: World, command: str) -> None:
    (world.workspace / "below").mkdir()
    (world.workspace / "lnk").symlink_to(world.ssh)
    (world.workspace / "file").symlink_to(world.ssh / "id_rsa")
    (world.workspace / "up").symlink_to(world.person)
    reading = world.reader.read_now(command)
    assert reading.category is Category.ADMIN
    assert "~/.ssh is denied" in reading.raised_because


@pytest.mark.spec("R-FS-3")
def test_a_pattern_that_finds_a_link_to_a_folder_above_a_denied_one_is_denied_to_what_goes_in(world: World) -> None:
    (world.workspace / "up").symlink_to(world.person)
    assert "goes through a folder that holds the denied path" in world.reader.read_now("grep -r x u?").raised_because
    assert world.reader.read_now("cat u?").raised_because == ""


@pytest.mark.spec("R-FS-3")
def test_a_pattern_that_finds_links_to_open_places_is_not_denied(world: World) -> None:
    (world.workspace / "open").mkdir()
    (world.workspace / "open" / "id_rsa").write_text("no key")
    (world.workspace / "lnk").symlink_to(world.workspace / "open")
    for command in ("cat l?k/id_rsa", "grep -r x l?k", "cat *", "cat u?", "grep '.*' l?k/id_rsa"):
        assert world.reader.read_now(command).raised_because == ""


@pytest.mark.spec("R-FS-3")
def test_a_quoted_pattern_finds_nothing(world: World) -> None:
    (world.workspace / "lnk").symlink_to(world.ssh)
    assert world.reader.read_now("grep 'l*' note.txt").raised_because == ""
