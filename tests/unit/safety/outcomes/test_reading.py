"""What a command did in its copy is read as it is, and nothing that it left is trusted."""

import os
from pathlib import Path

import pytest

from desktop.domain.files.changes import ABSENT
from desktop.safety.outcomes.reading import CopyFindings, read_overlay
from tests.unit.safety.outcomes.rehearsals import Rehearsals, lines, tree

DONE = [
    ("true", []),
    ("echo hi; cat note.txt; ls -R", []),
    ("echo x > new", ["+ new"]),
    ("echo x >> note.txt", ["~ note.txt"]),
    ("cat note.txt > t; cat t > note.txt; rm t", []),
    ("touch note.txt; chmod 644 note.txt", []),
    ("rm note.txt", ["- note.txt"]),
    ("rm note.txt; echo note > note.txt", []),
    ("chmod 600 note.txt", ["m note.txt"]),
    ("chmod 700 sub", ["m sub/"]),
    ("mkdir -p a/b; echo x > a/b/c", ["+ a/", "+ a/b/", "+ a/b/c"]),
    ("rm -r sub", ["- sub/", "- sub/deep/", "- sub/deep/file", "- sub/existing.txt"]),
    ("rm -r sub/deep; mkdir sub/deep; echo y > sub/deep/other", ["- sub/deep/file", "+ sub/deep/other"]),
    ("rm -r sub; mkdir -p sub/deep; echo four > sub/deep/file", ["- sub/existing.txt"]),
    ("rm -r sub; echo x > sub", ["~ sub/", "- sub/deep/", "- sub/deep/file", "- sub/existing.txt"]),
    ("rm note.txt; mkdir note.txt; echo x > note.txt/in", ["~ note.txt/", "+ note.txt/in"]),
    ("mv note.txt other.txt", ["- note.txt", "+ other.txt from note.txt"]),
    ("mv sub/deep moved", ["+ moved/", "+ moved/file from sub/deep/file", "- sub/deep/", "- sub/deep/file"]),
    ("mv note.txt a; mv existing.txt note.txt; mv a existing.txt", ["~ existing.txt", "~ note.txt"]),
    ("ln -s /etc/passwd out", ["+ out"]),
    ("ln -sfn sub link", ["~ link"]),
    ("rm link; echo x > link", ["~ link"]),
    ("rm empty; touch void", ["- empty", "+ void"]),
    ("printf x > 'a b'; printf y > $'new\\nline'", ["+ a b", "+ new\nline"]),
    ("mkdir d; chmod 000 d", ["+ d/"]),
    ("echo x > shut; chmod 000 shut", ["+ shut"]),
]


@pytest.mark.spec("R-OUT-1", "R-OUT-2")
def test_what_a_command_did_is_told_and_nothing_is_real(here: Rehearsals) -> None:
    before = tree(here.world.workspace)
    wrong = [(command, did) for command, expected in DONE if (did := here.did(command)) != sorted(expected, key=_path)]
    assert wrong == []
    assert tree(here.world.workspace) == before


@pytest.mark.spec("R-OUT-1", "R-OUT-2")
def test_so_it_is_under_each_confinement_with_each_kind_of_copy(each: Rehearsals) -> None:
    before = tree(each.world.workspace)
    for command, expected in DONE[2::6]:
        assert each.did(command) == sorted(expected, key=_path)
    assert tree(each.world.workspace) == before


@pytest.mark.spec("R-OUT-2", "R-OUT-3")
def test_a_folder_in_the_place_of_a_link_holds_nothing_of_what_the_link_leads_to(each: Rehearsals) -> None:
    (each.world.workspace / "way").symlink_to("sub")
    (each.world.workspace / "out").symlink_to(each.world.outside)
    script = (
        "rm way out; mkdir way out; echo new > way/existing.txt; mkdir way/deep; echo x > way/deep/file; echo y > out/y"
    )
    _, reading, copy = each.run(script)
    found = lines(reading, str(each.world.workspace))
    assert sorted(found) == ["+ out/y", "+ way/deep/", "+ way/deep/file", "+ way/existing.txt", "~ out/", "~ way/"]
    assert not reading.meanwhile
    assert copy.look_again(reading) is reading


def _path(line: str) -> list[str]:
    return line[2:].split(" from ")[0].rstrip("/").split("/")


@pytest.mark.spec("R-OUT-2")
def test_the_bytes_of_a_file_that_was_made_are_given_by_their_digest(here: Rehearsals) -> None:
    _, reading, copy = here.run("head -c 3000000 /dev/urandom > big; sha256sum big")
    (change,) = reading.changes
    with copy.open(change.after.digest) as file:
        assert len(file.read()) == change.after.size == 3_000_000


def test_pipes_sockets_and_devices_are_named_and_are_no_change(each: Rehearsals) -> None:
    _, reading, _ = each.run("mkfifo pipe; mkdir in; mkfifo in/pipe; mknod null c 1 3; rm note.txt; mkfifo note.txt")
    root = str(each.world.workspace)
    assert [(os.path.relpath(one.path, root), one.kind) for one in reading.left_out] == [
        ("in/pipe", "special"),
        ("note.txt", "special"),
        ("pipe", "special"),
    ]
    assert lines(reading, root) == ["+ in/"]


def test_no_file_is_taken_over_that_would_run_as_somebody_else(each: Rehearsals) -> None:
    _, reading, _ = each.run("cp /bin/true t; chmod 6755 t; mkdir d; chmod 4755 d")
    assert {(change.path.rsplit("/")[-1], change.after.mode) for change in reading.changes} == {
        ("t", 0o755),
        ("d", 0o755),
    }
    assert sorted(one.path.rsplit("/")[-1] for one in reading.left_out) == ["d", "t"]


def test_names_that_are_no_text_and_several_names_of_one_file_are_named(each: Rehearsals) -> None:
    _, reading, _ = each.run("echo x > $'\\xff'; echo y > one; ln one two")
    root = str(each.world.workspace)
    assert [(os.path.relpath(one.path, root), one.kind) for one in reading.left_out] == [
        ("\\udcff", "name"),
        ("two", "linked"),
    ]
    assert lines(reading, root) == ["+ one", "+ two"]


def test_a_real_file_that_changed_while_the_command_ran_is_told_apart(each: Rehearsals) -> None:
    workspace = each.world.workspace
    _, reading, copy = each.run("echo mine >> note.txt; echo x > made; rm existing.txt; rm -r sub")
    assert not reading.meanwhile
    (workspace / "note.txt").write_text("somebody else's\n")
    (workspace / "made").write_text("x too")
    (workspace / "sub" / "added").write_text("later")
    again = copy.read()
    assert {os.path.relpath(path, workspace) for path in again.meanwhile} == {"note.txt", "made", "sub/added"}


def test_what_a_person_looks_at_is_looked_at_again(each: Rehearsals) -> None:
    workspace = each.world.workspace
    _, reading, copy = each.run("echo mine >> note.txt; rm existing.txt; echo z > made; chmod 600 empty")
    assert copy.look_again(reading) is reading
    os.utime(workspace / "note.txt")
    assert not copy.look_again(reading).meanwhile, "it was only touched"
    (workspace / "note.txt").write_text("somebody else's\n")
    (workspace / "existing.txt").unlink()
    now = copy.look_again(reading)
    assert {os.path.relpath(path, workspace) for path in now.meanwhile} >= {"note.txt"}
    assert "- existing.txt" not in lines(now, str(workspace)), "somebody else has removed it"
    found = next(change for change in now.changes if change.path.endswith("note.txt"))
    assert found.before.size == len("somebody else's\n")


def test_a_file_that_somebody_removed_meanwhile_does_not_come_back_unasked(here: Rehearsals) -> None:
    workspace = here.world.workspace
    _, _, copy = here.run("echo mine >> sub/existing.txt; echo mine >> note.txt")
    (workspace / "note.txt").unlink()
    for path in ("sub/deep/file", "sub/existing.txt"):
        (workspace / path).unlink()
    for path in ("sub/deep", "sub"):
        (workspace / path).rmdir()
    reading = copy.read()
    found = {os.path.relpath(path, workspace) for path in reading.meanwhile}
    assert {"note.txt", "sub/existing.txt"} <= found
    assert {change.before for change in reading.changes} == {ABSENT}


def test_beyond_what_can_be_looked_at_it_is_counted(here: Rehearsals) -> None:
    _, _, copy = here.run("mkdir many; cd many; for n in $(seq 200); do echo $n > $n; done; rm ../sub/existing.txt")
    found = CopyFindings(0, (), limit=50)
    read_overlay(found, str(here.world.workspace), copy.layers[0].made)
    assert len(found.changes) == 50
    assert found.reading().beyond == 202 - 50


def test_thousands_of_folders_inside_each_other_end_nothing(here: Rehearsals) -> None:
    script = "import os\nfor n in range(3000):\n    os.mkdir('d'); os.chdir('d')\nopen('deep', 'w').write('x')\n"
    _, reading, copy = here.run(f'python3 -c "{script}"')
    assert [one.kind for one in reading.left_out] == ["name"]
    copy.drop()
    assert not Path(copy.layers[0].made).exists()


@pytest.mark.spec("R-OUT-3")
def test_what_somebody_else_made_of_a_file_is_shown_beside_what_the_command_made_of_it(each: Rehearsals) -> None:
    note = each.world.workspace / "note.txt"
    _, reading, copy = each.run("echo mine >> note.txt")
    assert copy.sides(reading.changes[0]).was is None
    note.write_text("theirs\n")
    (change,) = copy.look_again(reading).changes
    sides = copy.sides(change)
    assert (sides.was, sides.before, sides.after) == ("note\n", "theirs\n", "note\nmine\n")
    assert copy.look_again(reading).saved_at[change.path] == pytest.approx(note.stat().st_mtime)


@pytest.mark.spec("R-OUT-1", "R-FS-3")
def test_what_is_denied_is_as_closed_in_a_copy_and_is_no_change(each: Rehearsals) -> None:
    workspace = each.world.workspace
    (workspace / "shut").mkdir()
    (workspace / "shut" / "key").write_text("PRIVATE")
    (workspace / "secret").write_text("PRIVATE")
    each.world.change(denied=(str(workspace / "shut"), str(workspace / "secret")))
    script = "cat shut/key secret; echo x > shut/more; rm -rf shut secret; mv shut away; echo x >> sub/existing.txt; :"
    outcome, reading, _ = each.run(script)
    assert "PRIVATE" not in outcome.output
    assert lines(reading, str(workspace)) == ["~ sub/existing.txt"]
    assert ((workspace / "shut" / "key").read_text(), (workspace / "secret").read_text()) == ("PRIVATE", "PRIVATE")
