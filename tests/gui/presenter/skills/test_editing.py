"""Editing a skill file: text and form are the same text, nothing else in it changes, and nothing is overwritten."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.presenter.common.line_ends import Conflict, LineEnds
from tests.gui.skills.kit import PARAMS, SkillsBench, skill
from tests.harness.timeouts import until

KEPT = """\
---
# why this is here
name:   plot   # its name
description: 'Plots.'
x-own: {a: 1}
metadata:
    tags: [ data ]   # two of them
    retry: 3
---
Body with  two spaces.
"""


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SkillsBench]:
    made = SkillsBench(tmp_path, (), lambda: None)
    made.put("plot", KEPT)
    made.put("clean", skill("clean", extra=PARAMS))
    made.put("windows", skill("windows").replace("\n", "\r\n").encode())
    await made.open()
    await made.listed()
    yield made
    await made.end()


async def change(bench: SkillsBench, key: str, value: object) -> None:
    before = bench.editor.shown
    bench.editor.set_key(key, value)
    await until(lambda: bench.editor.shown != before, f"{key} in the text")
    await bench.rest()


async def save(bench: SkillsBench) -> None:
    saved: list[bool] = []
    link = bench.editor.saved.connect(lambda: saved.append(True))
    bench.editor.save()
    await until(lambda: saved, "saved")
    bench.editor.disconnect(link)


@pytest.mark.spec("R-SK-11")
async def test_the_form_changes_its_key_and_no_other_byte_of_the_file(bench: SkillsBench) -> None:
    await bench.edit("plot")
    await change(bench, "description", "Plots one or several gauges.")
    await save(bench)
    text = (bench.mine / "plot.skill.md").read_text()
    assert text == KEPT.replace("description: 'Plots.'", "description: Plots one or several gauges.")
    assert "x-own" in bench.editor.form.others
    assert "retry" in bench.editor.form.others


@pytest.mark.spec("R-SK-11", "R-SK-2")
async def test_the_form_keeps_what_was_typed_while_it_is_wrong_and_takes_it_back(bench: SkillsBench) -> None:
    await bench.edit("plot")
    await change(bench, "name", "Bad_Name")
    await until(lambda: any("Bad_Name" in one.message for one in bench.editor.problems), "the problem")
    assert bench.editor.form.values["name"] == "Bad_Name"
    await change(bench, "allowed-tools", "read-file(path=notes/*")
    await until(lambda: bench.editor.form.values["allowed-tools"] == "read-file(path=notes/*", "what was typed")
    await change(bench, "name", "plot")
    await change(bench, "allowed-tools", "read-file(path=notes/*)")
    await until(lambda: not bench.editor.problems, "nothing wrong any more")


@pytest.mark.spec("R-SK-11")
async def test_line_ends_of_windows_stay_where_the_text_is_edited(bench: SkillsBench) -> None:
    await bench.edit("windows")
    assert "\r" not in bench.editor.shown
    bench.editor.edited(bench.editor.shown.replace("Do it *well*.", "Do it\nbetter."))
    await save(bench)
    data = (bench.mine / "windows.skill.md").read_bytes()
    assert b"Do it\r\nbetter.\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n")


@pytest.mark.parametrize(
    ("before", "edited", "after"),
    [
        ("a\r\nb\nc\r\nd", "a\nX\nY\nc\nd", "a\r\nX\r\nY\r\nc\r\nd"),
        ("a\r\nb", "a", "a"),
        ("a\r\nb", "a\nb\n", "a\r\nb\r\n"),
        ("a\rb\r\nc", "a\nb\nc", "a\rb\r\nc"),
        ("", "a\nb", "a\nb"),
        ("a\u2029b\n", "a\nb\nc\n", "a\u2029b\nc\n"),
    ],
)
@pytest.mark.spec("R-SK-11")
def test_lines_that_were_not_touched_keep_their_ends(before: str, edited: str, after: str) -> None:
    assert LineEnds(before).restore(edited) == after


@pytest.mark.spec("R-SK-13")
async def test_what_was_saved_is_what_is_found_when_saving_returns(bench: SkillsBench) -> None:
    await bench.edit("plot")
    await change(bench, "name", "draw")
    found: list[object] = []
    bench.editor.saved.connect(lambda: found.append(bench.fabric.find_tool("draw")))
    bench.editor.save()
    await until(lambda: found, "saved")
    assert found[0] is not None
    assert bench.fabric.find_tool("plot") is None


async def test_problems_come_with_line_and_column_while_a_person_types(bench: SkillsBench) -> None:
    await bench.edit("plot")
    bench.editor.edited(bench.editor.shown.replace("name:   plot", "name:   Plot It"))
    await until(lambda: any(p.code == "name.invalid" for p in bench.editor.problems), "the problem")
    problem = next(p for p in bench.editor.problems if p.code == "name.invalid")
    assert (problem.line, problem.column) == (3, 9)
    bench.editor.edited(bench.editor.shown.replace("Plot It", "plot"))
    await until(lambda: not bench.editor.problems, "it is good again")
    assert not bench.editor.dirty, "the text is what is on disk"


async def test_a_file_that_changed_meanwhile_is_a_conflict_with_both_texts(bench: SkillsBench) -> None:
    await bench.edit("clean")
    mine = bench.editor.shown + "Mine.\n"
    bench.editor.edited(mine)
    conflicts: list[Conflict] = []
    told: list[str] = []
    bench.editor.conflict.connect(conflicts.append)
    bench.editor.outside.connect(told.append)
    path = bench.put("clean", skill("clean", body="Theirs.\n"))
    await bench.on_disk()
    await until(lambda: told == ["changed"], "the banner")
    bench.editor.save()
    await until(lambda: conflicts, "the conflict")
    assert conflicts[0].theirs is not None
    assert "Theirs." in conflicts[0].theirs
    assert conflicts[0].mine == mine
    assert "Theirs." in path.read_text(), "nothing was overwritten"
    bench.editor.save(over=True)
    await until(lambda: not bench.editor.dirty, "saved over")
    assert path.read_text() == mine


async def test_a_file_that_changed_meanwhile_is_taken_over_where_nothing_was_typed(bench: SkillsBench) -> None:
    await bench.edit("clean")
    bench.put("clean", skill("clean", body="Theirs.\n"))
    await bench.on_disk()
    await until(lambda: "Theirs." in bench.editor.shown, "their text")
    assert not bench.editor.dirty


async def test_a_file_deleted_while_it_is_edited_is_made_again_by_saving_over(bench: SkillsBench) -> None:
    await bench.edit("clean")
    bench.editor.edited(bench.editor.shown + "More.\n")
    told: list[str] = []
    conflicts: list[Conflict] = []
    bench.editor.outside.connect(told.append)
    bench.editor.conflict.connect(conflicts.append)
    path = bench.mine / "clean.skill.md"
    path.unlink()
    await bench.on_disk()
    await until(lambda: told == ["deleted"], "the banner")
    bench.editor.save()
    await until(lambda: conflicts, "the conflict")
    assert conflicts[0].theirs is None
    bench.editor.save(over=True)
    await until(path.is_file, "the file")
    assert path.read_text().endswith("More.\n")


async def test_form_and_text_can_change_at_once_and_both_changes_stay(bench: SkillsBench) -> None:
    await bench.edit("clean")
    bench.editor.set_key("description", "Another one.")
    bench.editor.edited(bench.editor.shown + "Typed meanwhile.\n")
    await until(lambda: "Another one." in bench.editor.shown, "the description")
    assert bench.editor.shown.endswith("Typed meanwhile.\n")


async def test_what_a_form_cannot_change_is_said_and_left_alone(bench: SkillsBench) -> None:
    bench.put("flow", "---\n{name: flow, description: In braces.}\n---\nBody.\n")
    await bench.on_disk()
    await bench.edit("flow")
    before = bench.editor.shown
    bench.editor.set_key("description", "New.")
    await until(lambda: bench.editor.form.refused, "the refusal")
    assert bench.editor.shown == before
    assert not bench.editor.dirty


async def test_schemas_and_removed_keys_go_through_the_form(bench: SkillsBench) -> None:
    await bench.edit("clean")
    await change(bench, "params", {"type": "object", "properties": {"a": {"type": "string"}}})
    await change(bench, "tags", None)
    await until(lambda: bench.editor.definition is not None and not bench.editor.definition.tags, "no tags")
    assert bench.editor.definition.params == {"type": "object", "properties": {"a": {"type": "string"}}}
    await change(bench, "visibility", "hidden")
    await until(lambda: bench.editor.form.values["visibility"] == "hidden", "hidden")


async def test_a_file_that_is_no_text_is_refused_in_words(bench: SkillsBench) -> None:
    bench.put("latin", b"---\nname: latin\ndescription: caf\xe9\n---\n")
    await bench.on_disk()
    bench.editor.open(str(bench.mine / "latin.skill.md"), "latin")
    await until(lambda: bench.failed, "the refusal")
    assert "not UTF-8" in bench.failed[-1]
    assert not bench.editor.path


def kept_files(bench: SkillsBench) -> list[Path]:
    return sorted((bench.home / "data" / "unsaved").glob("*"))


async def killed(bench: SkillsBench) -> None:
    """Wait until all is kept that will be; then the app is gone, and another one has the same home."""
    await until(lambda: not bench.editor._keeper._timer.isActive() and not bench.bridge.task_names, "kept")
    await bench.open()
    await bench.listed()


@pytest.mark.spec("R-SK-11")
async def test_what_was_not_saved_is_here_again_after_the_end_of_the_app(bench: SkillsBench) -> None:
    await bench.edit("plot")
    bench.editor.edited(KEPT + "And a line with hunter2.\n")
    await killed(bench)
    assert [file.stat().st_mode & 0o777 for file in kept_files(bench)] == [0o600]
    assert b"hunter2" not in kept_files(bench)[0].read_bytes()
    told: list[str] = []
    bench.editor.outside.connect(told.append)
    await bench.edit("plot")
    assert bench.editor.shown == KEPT + "And a line with ***.\n"
    assert (bench.editor.dirty, told) == (True, ["restored"])
    assert (bench.mine / "plot.skill.md").read_text() == KEPT, "it is still not saved"
    await save(bench)
    await bench.rest()
    assert kept_files(bench) == []
    assert (bench.mine / "plot.skill.md").read_text() == KEPT + "And a line with ***.\n"


@pytest.mark.parametrize("how", ["discard", "revert", "typed back"])
async def test_what_a_person_let_go_does_not_come_back(bench: SkillsBench, how: str) -> None:
    await bench.edit("plot")
    bench.editor.edited(KEPT + "More.\n")
    await until(lambda: kept_files(bench), "kept")
    {"discard": bench.editor.discard, "revert": bench.editor.revert}.get(how, lambda: bench.editor.edited(KEPT))()
    await killed(bench)
    assert kept_files(bench) == []
    await bench.edit("plot")
    assert (bench.editor.shown, bench.editor.dirty) == (KEPT, False)


async def test_what_was_not_saved_overwrites_no_change_of_another_program_unasked(bench: SkillsBench) -> None:
    await bench.edit("plot")
    bench.editor.edited(KEPT + "Mine.\n")
    await killed(bench)
    (bench.mine / "plot.skill.md").write_text(KEPT + "Theirs.\n")
    await bench.on_disk()
    told: list[str] = []
    bench.editor.outside.connect(told.append)
    await bench.edit("plot")
    assert (bench.editor.shown, told[0]) == (KEPT + "Mine.\n", "changed")
    met: list[Conflict] = []
    bench.editor.conflict.connect(met.append)
    bench.editor.save()
    await until(lambda: met, "a conflict")
    assert met[0].theirs == KEPT + "Theirs.\n"


OTHER = b'{"path": "/x", "text": "t", "stamp": "s"}'


@pytest.mark.parametrize("bad", [b"", b"[", b'{"path": 1}', b"[" * 100_000, OTHER])
async def test_what_is_no_kept_text_is_passed_over(bench: SkillsBench, bad: bytes) -> None:
    await bench.edit("plot")
    bench.editor.edited(KEPT + "More.\n")
    await killed(bench)
    kept_files(bench)[0].write_bytes(bad)
    await bench.edit("plot")
    assert (bench.editor.shown, bench.editor.dirty) == (KEPT, False)
