"""Editing a skill file: text and form are the same text, nothing else in it changes, and nothing is overwritten."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.presenter.common.line_ends import Conflict, LineEnds
from tests.gui.skills.kit import PARAMS, Desk, skill, until

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
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path, (), lambda: None)
    made.put("plot", KEPT)
    made.put("clean", skill("clean", extra=PARAMS))
    made.put("windows", skill("windows").replace("\n", "\r\n").encode())
    await made.open()
    await made.listed()
    yield made
    await made.end()


async def change(desk: Desk, key: str, value: object) -> None:
    before = desk.editor.shown
    desk.editor.set_key(key, value)
    await until(lambda: desk.editor.shown != before, f"{key} in the text")
    await desk.rest()


async def save(desk: Desk) -> None:
    saved: list[bool] = []
    link = desk.editor.saved.connect(lambda: saved.append(True))
    desk.editor.save()
    await until(lambda: saved, "saved")
    desk.editor.disconnect(link)


@pytest.mark.spec("R-SK-11")
async def test_the_form_changes_its_key_and_no_other_byte_of_the_file(desk: Desk) -> None:
    await desk.edit("plot")
    await change(desk, "description", "Plots one or several gauges.")
    await save(desk)
    text = (desk.mine / "plot.skill.md").read_text()
    assert text == KEPT.replace("description: 'Plots.'", "description: Plots one or several gauges.")
    assert "x-own" in desk.editor.form.others
    assert "retry" in desk.editor.form.others


@pytest.mark.spec("R-SK-11", "R-SK-2")
async def test_the_form_keeps_what_was_typed_while_it_is_wrong_and_takes_it_back(desk: Desk) -> None:
    await desk.edit("plot")
    await change(desk, "name", "Bad_Name")
    await until(lambda: any("Bad_Name" in one.message for one in desk.editor.problems), "the problem")
    assert desk.editor.form.values["name"] == "Bad_Name"
    await change(desk, "allowed-tools", "read-file(path=notes/*")
    await until(lambda: desk.editor.form.values["allowed-tools"] == "read-file(path=notes/*", "what was typed")
    await change(desk, "name", "plot")
    await change(desk, "allowed-tools", "read-file(path=notes/*)")
    await until(lambda: not desk.editor.problems, "nothing wrong any more")


@pytest.mark.spec("R-SK-11")
async def test_line_ends_of_windows_stay_where_the_text_is_edited(desk: Desk) -> None:
    await desk.edit("windows")
    assert "\r" not in desk.editor.shown
    desk.editor.edited(desk.editor.shown.replace("Do it *well*.", "Do it\nbetter."))
    await save(desk)
    data = (desk.mine / "windows.skill.md").read_bytes()
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
async def test_what_was_saved_is_what_is_found_when_saving_returns(desk: Desk) -> None:
    await desk.edit("plot")
    await change(desk, "name", "draw")
    found: list[object] = []
    desk.editor.saved.connect(lambda: found.append(desk.fabric.find_tool("draw")))
    desk.editor.save()
    await until(lambda: found, "saved")
    assert found[0] is not None
    assert desk.fabric.find_tool("plot") is None


async def test_problems_come_with_line_and_column_while_a_person_types(desk: Desk) -> None:
    await desk.edit("plot")
    desk.editor.edited(desk.editor.shown.replace("name:   plot", "name:   Plot It"))
    await until(lambda: any(p.code == "name.invalid" for p in desk.editor.problems), "the problem")
    problem = next(p for p in desk.editor.problems if p.code == "name.invalid")
    assert (problem.line, problem.column) == (3, 9)
    desk.editor.edited(desk.editor.shown.replace("Plot It", "plot"))
    await until(lambda: not desk.editor.problems, "it is good again")
    assert not desk.editor.dirty, "the text is what is on disk"


async def test_a_file_that_changed_meanwhile_is_a_conflict_with_both_texts(desk: Desk) -> None:
    await desk.edit("clean")
    mine = desk.editor.shown + "Mine.\n"
    desk.editor.edited(mine)
    conflicts: list[Conflict] = []
    told: list[str] = []
    desk.editor.conflict.connect(conflicts.append)
    desk.editor.outside.connect(told.append)
    path = desk.put("clean", skill("clean", body="Theirs.\n"))
    await desk.on_disk()
    await until(lambda: told == ["changed"], "the banner")
    desk.editor.save()
    await until(lambda: conflicts, "the conflict")
    assert conflicts[0].theirs is not None
    assert "Theirs." in conflicts[0].theirs
    assert conflicts[0].mine == mine
    assert "Theirs." in path.read_text(), "nothing was overwritten"
    desk.editor.save(over=True)
    await until(lambda: not desk.editor.dirty, "saved over")
    assert path.read_text() == mine


async def test_a_file_that_changed_meanwhile_is_taken_over_where_nothing_was_typed(desk: Desk) -> None:
    await desk.edit("clean")
    desk.put("clean", skill("clean", body="Theirs.\n"))
    await desk.on_disk()
    await until(lambda: "Theirs." in desk.editor.shown, "their text")
    assert not desk.editor.dirty


async def test_a_file_deleted_while_it_is_edited_is_made_again_by_saving_over(desk: Desk) -> None:
    await desk.edit("clean")
    desk.editor.edited(desk.editor.shown + "More.\n")
    told: list[str] = []
    conflicts: list[Conflict] = []
    desk.editor.outside.connect(told.append)
    desk.editor.conflict.connect(conflicts.append)
    path = desk.mine / "clean.skill.md"
    path.unlink()
    await desk.on_disk()
    await until(lambda: told == ["deleted"], "the banner")
    desk.editor.save()
    await until(lambda: conflicts, "the conflict")
    assert conflicts[0].theirs is None
    desk.editor.save(over=True)
    await until(path.is_file, "the file")
    assert path.read_text().endswith("More.\n")


async def test_form_and_text_can_change_at_once_and_both_changes_stay(desk: Desk) -> None:
    await desk.edit("clean")
    desk.editor.set_key("description", "Another one.")
    desk.editor.edited(desk.editor.shown + "Typed meanwhile.\n")
    await until(lambda: "Another one." in desk.editor.shown, "the description")
    assert desk.editor.shown.endswith("Typed meanwhile.\n")


async def test_what_a_form_cannot_change_is_said_and_left_alone(desk: Desk) -> None:
    desk.put("flow", "---\n{name: flow, description: In braces.}\n---\nBody.\n")
    await desk.on_disk()
    await desk.edit("flow")
    before = desk.editor.shown
    desk.editor.set_key("description", "New.")
    await until(lambda: desk.editor.form.refused, "the refusal")
    assert desk.editor.shown == before
    assert not desk.editor.dirty


async def test_schemas_and_removed_keys_go_through_the_form(desk: Desk) -> None:
    await desk.edit("clean")
    await change(desk, "params", {"type": "object", "properties": {"a": {"type": "string"}}})
    await change(desk, "tags", None)
    await until(lambda: desk.editor.definition is not None and not desk.editor.definition.tags, "no tags")
    assert desk.editor.definition.params == {"type": "object", "properties": {"a": {"type": "string"}}}
    await change(desk, "visibility", "hidden")
    await until(lambda: desk.editor.form.values["visibility"] == "hidden", "hidden")


async def test_a_file_that_is_no_text_is_refused_in_words(desk: Desk) -> None:
    desk.put("latin", b"---\nname: latin\ndescription: caf\xe9\n---\n")
    await desk.on_disk()
    desk.editor.open(str(desk.mine / "latin.skill.md"), "latin")
    await until(lambda: desk.failed, "the refusal")
    assert "not UTF-8" in desk.failed[-1]
    assert not desk.editor.path
