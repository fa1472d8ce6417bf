"""The Skills page as a person uses it: keys and buttons on real files."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget

from desktop.ui.theme import Theme
from desktop.ui.widgets.text import Text
from tests.gui.skills.kit import PARAMS, SkillsBench, skill
from tests.harness.timeouts import until


@pytest.fixture
def filled(bench: SkillsBench) -> SkillsBench:
    bench.put("clean", skill("clean", "Cleans a table.", tags="data, slow", extra=PARAMS))
    bench.put("plot", skill("plot", "Plots a table.", tags="data, plots"))
    bench.put("drift/SKILL.md", skill("drift"), bench.shared)
    bench.put("drift/scripts/run.py", "print(1)\n", bench.shared)
    bench.put("log", skill("log", "Reads the log."), bench.of_project)
    return bench


def words(widget: QWidget) -> str:
    """Everything that is written in a widget and seen."""
    return "\n".join(w.text() for w in widget.findChildren(QWidget) if w.isVisible() and hasattr(w, "text"))


# -- list and facets --------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-UI-2", "R-VIS-7")
async def test_typing_chips_and_facets_narrow_the_list(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    QTest.keyClicks(window.list.field, "table")
    await until(lambda: filled.names == ["clean", "plot"], "the words fit")
    chip = next(c for tag, c in window.facets._chips.items() if tag == "plots")
    chip.click()
    assert filled.names == ["plot"]
    chip.click()
    window.list.clear.click()
    assert window.list.field.text() == ""
    window.facets._rows["source", "shared"].click()
    assert filled.names == ["drift"]
    window.facets._rows["source", "shared"].click()
    assert len(filled.names) == 4, "a second press takes it back"


async def test_what_is_counted_above_the_list_is_what_the_filters_count(open_page: Any, filled: SkillsBench) -> None:
    filled.put("inner", skill("inner", extra="  visibility: hidden\n"))
    window = await open_page(filled)
    await until(lambda: window.facets._rows["source", "all"].count, "the figures")

    def everything() -> int:
        count: int = window.facets._rows["source", "all"].count
        return count

    def said() -> str:
        text: str = window.list._count.text()
        return text

    hidden = len(filled.skills.catalog) - everything()
    assert hidden > 0
    assert said() == f"{len(filled.names)} of {everything()} skills"
    window.facets._rows["source", "all"].click()
    assert said() == f"{everything()} skills, {hidden} more hidden"
    filled.skills.choose(visibility="hidden")
    await until(lambda: everything() == hidden, "those")
    assert said() == f"{hidden} skills"
    filled.skills.choose(visibility="all", query="table")
    await until(lambda: len(filled.names) == 2, "those that fit")
    assert said() == f"2 of {len(filled.skills.catalog)} skills"


async def test_arrow_keys_go_through_the_rows_and_show_each(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    filled.skills.choose(source="mine")
    window.list.field.setFocus()
    QTest.keyClick(window.list.field, Qt.Key.Key_Down)
    await until(lambda: filled.skills.detail is not None, "the first")
    assert filled.skills.key[1] == "clean"
    QTest.keyClick(window.list.rows, Qt.Key.Key_Down)
    await until(lambda: filled.skills.key[1] == "plot" and filled.skills.detail is not None, "the second")
    assert "Title" in window.skill.overview.body.source


async def test_the_page_opens_on_what_is_a_persons_and_what_assent_brings_is_behind_internal(
    open_page: Any, filled: SkillsBench
) -> None:
    window = await open_page(filled)

    def shown() -> set[str]:
        rows = (filled.skills.model.row_at(place) for place in range(filled.skills.model.rowCount()))
        return {row.source for row in rows if row is not None}

    assert shown() == {"mine", "project", "shared"}
    rows = window.facets._rows
    assert rows["source", ""].isChecked()
    assert rows["source", ""].count == filled.skills.model.rowCount() == 4
    rows["source", "library"].click()
    assert shown() == {"library"}
    rows["source", "all"].click()
    assert shown() >= {"mine", "project", "shared", "library"}
    await until(lambda: rows["source", "all"].count > rows["source", "library"].count > 4, "the figures")


async def test_with_nothing_of_ones_own_the_page_says_how_to_begin(open_page: Any, bench: SkillsBench) -> None:
    window = await open_page(bench)
    assert "No skills of your own yet" in words(window.list)


async def test_nothing_found_and_nothing_of_ones_own_say_what_to_do(open_page: Any, bench: SkillsBench) -> None:
    window = await open_page(bench)
    bench.skills.choose(query="no such thing")
    assert "Nothing found" in words(window.list)
    window.list._clear()
    bench.skills.choose(source="mine")
    assert "No skills of your own yet" in words(window.list)
    assert "No skill chosen" in words(window.skill)


async def test_long_names_and_descriptions_are_cut_and_never_widen_the_page(open_page: Any, bench: SkillsBench) -> None:
    bench.put("a" * 60, skill("a" * 60, "long " * 180, tags=", ".join(f"tag-{n}-{'x' * 40}" for n in range(40))))
    window = await open_page(bench)
    await window.show("a" * 60)
    assert window.list.width() == 352
    assert window.facets.width() == 216
    for tab in ("page", "form", "text", "callers", "try"):
        window.skill.show_tab(tab)
        await bench.rest()
        assert window.page.width() == 1280


# -- one skill --------------------------------------------------------------------------------------------------------


async def test_the_page_says_what_it_takes_where_it_is_from_and_who_may_call_it(
    open_page: Any, filled: SkillsBench
) -> None:
    window = await open_page(filled)
    await window.show("clean")
    text = words(window.skill.overview)
    for said in ("text, required", "whole number, else 2", str(filled.mine / "clean.skill.md"), "Assistant", "#data"):
        assert said in text, said
    window.skill.show_tab("callers")
    model = window.skill.callers.model
    spoken = [model.index(row).data() for row in range(model.rowCount())]
    assert spoken[0] == "Agents: 1 of 10 may"
    assert spoken[1].startswith("Assistant may call it. *")
    await window.show("drift")
    await until(lambda: "scripts/run.py" in words(window.skill.overview), "the files beside it")


async def test_a_skill_that_can_come_to_call_itself_says_by_way_of_which(open_page: Any, filled: SkillsBench) -> None:
    for name, other in (("ebb", "flow"), ("flow", "ebb"), ("round", "round")):
        filled.put(name, f"---\nname: {name}\ndescription: x\nallowed-tools: {other}\n---\nGo.\n")
    window = await open_page(filled)
    await window.show("ebb")
    through = "through flow. Calls are nested at most 32 deep"
    await until(lambda: through in words(window.skill.overview), "by way of which")
    await window.show("round")
    await until(lambda: "its own list names it. Calls are nested" in words(window.skill.overview), "by itself")
    await window.show("clean")
    assert "Calls are nested" not in words(window.skill.overview)


async def test_shadowing_is_said_on_both_sides_and_one_leads_to_the_other(open_page: Any, filled: SkillsBench) -> None:
    filled.put("clean", skill("clean", "The installed one."), filled.shared)
    window = await open_page(filled)
    await window.show("clean", "mine")
    assert "Shadows the installed clean" in words(window.skill.overview)
    await window.show("clean", "shared")
    assert "Not used: your clean comes first." in words(window.skill.overview)
    button = next(b for b in window.skill.overview.findChildren(QAbstractButton) if b.text() == "Show it")
    button.click()
    await until(lambda: filled.skills.key == filled.key("clean", "mine"), "the one that counts")


@pytest.mark.spec("R-SK-15")
async def test_an_untrusted_projects_skill_is_readable_not_runnable_and_trusted_only_in_words(
    open_page: Any, filled: SkillsBench
) -> None:
    window = await open_page(filled)
    filled.projects.add(str(filled.project))
    await filled.rest()
    await window.show("log")
    assert "Title" in window.skill.overview.body.source
    window.skill.show_tab("try")
    assert not window.skill.trying.run_button.isEnabled()
    window.page.act("trust")
    assert str(filled.project) in words(window.dialog)
    window.dialog.answer("no")
    await filled.rest()
    assert filled.settings.current.skills.trusted_projects == ()
    window.page.act("trust")
    window.dialog.buttons["yes"].click()
    await until(lambda: filled.settings.current.skills.trusted_projects == (str(filled.project),), "trust")


async def test_a_changed_skill_shows_its_difference_and_is_on_after_it_was_seen(
    open_page: Any, filled: SkillsBench
) -> None:
    window = await open_page(filled)
    filled.put("drift/SKILL.md", skill("drift", body="Send it away.\n"), filled.shared)
    await filled.on_disk()
    await window.show("drift")
    assert "Send it away." in window.skill.overview.body.source, "what is off can be read"
    window.skill.overview.wanted.emit("compare")
    await until(window.skill.difference.accept.isEnabled, "the difference")
    assert window.skill.difference.isVisible()
    window.skill.difference.keep.click()
    assert filled.skills.row.state == "changed", "kept off"
    window.skill.overview.wanted.emit("compare")
    await until(window.skill.difference.accept.isEnabled, "the difference")
    window.skill.difference.accept.click()
    await until(lambda: filled.skills.row.state == "ready", "it is on")
    assert window.skill.overview.isVisible()


# -- editing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["keep", "discard", "save"])
async def test_leaving_with_something_unsaved_asks_first(open_page: Any, filled: SkillsBench, answer: str) -> None:
    window = await open_page(filled)
    await window.edit("clean")
    window.skill.edit.source.moveCursor(window.skill.edit.source.textCursor().MoveOperation.End)
    QTest.keyClicks(window.skill.edit.source, "typed")
    assert filled.editor.dirty
    window.page.pick(filled.key("plot"))
    assert window.dialog is not None
    assert filled.skills.key[1] == "clean"
    window.dialog.buttons[answer].click()
    await filled.rest()
    wanted = "clean" if answer == "keep" else "plot"
    await until(lambda: filled.skills.key[1] == wanted and filled.skills.detail is not None, answer)
    saved = (filled.mine / "clean.skill.md").read_text().endswith("typed")
    assert saved is (answer == "save")
    assert filled.editor.dirty is (answer == "keep")


async def test_ctrl_s_saves_and_undo_takes_back_what_the_form_did(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    await window.edit("clean", "form")
    before = filled.editor.shown
    window.skill.edit.form.description.setPlainText("Cleans every table.")
    window.skill.edit.form.flush()
    await until(lambda: "Cleans every table." in filled.editor.shown, "the text")
    await filled.rest()
    window.skill.show_tab("text")
    window.skill.edit.source.undo()
    assert filled.editor.shown == before
    window.skill.edit.source.redo()
    window.skill.edit.source.setFocus()
    window.page.activateWindow()
    window.skill.edit.save_now()
    await until(lambda: not filled.editor.dirty, "saved")
    assert "Cleans every table." in (filled.mine / "clean.skill.md").read_text()


async def test_a_problem_under_the_text_jumps_to_its_place(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    await window.edit("clean")
    source = window.skill.edit.source
    source.replace(source.text().replace("required: [path]", "required: path"))
    filled.editor.edited(source.text())
    await until(lambda: filled.editor.problems, "the problem")
    await filled.rest()
    problem = filled.editor.problems[0]
    assert "params" in problem.message
    window.skill.show_tab("page")
    window.skill.jump(problem)
    assert source.textCursor().blockNumber() + 1 == problem.line
    assert source.textCursor().positionInBlock() + 1 == problem.column
    window.skill.show_tab("form")
    assert problem.message in words(window.skill.edit.form)
    filled.editor.close()


async def test_a_conflict_is_shown_before_anything_is_overwritten(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    await window.edit("clean")
    QTest.keyClicks(window.skill.edit.source, "x")
    path = filled.put("clean", skill("clean", body="Theirs.\n"))
    await filled.on_disk()
    await until(window.skill.edit._strip.isVisible, "the banner")
    window.skill.edit.save_now()
    await until(window.skill.edit.conflict.isVisible, "the conflict")
    await until(lambda: window.skill.edit.conflict.lines.rows, "both texts")
    rows = "\n".join(row.text for row in window.skill.edit.conflict.lines.rows)
    assert "Theirs." in rows
    assert "Do it" in rows
    window.skill.edit.conflict.keep.click()
    assert window.skill.edit.source.isVisible()
    assert filled.editor.dirty
    window.skill.edit.save_now()
    await until(window.skill.edit.conflict.isVisible, "again")
    window.skill.edit.conflict.reload.click()
    await until(lambda: "Theirs." in window.skill.edit.source.text(), "their text")
    assert not filled.editor.dirty
    assert "Theirs." in path.read_text()


async def test_a_change_of_the_text_alone_is_noticed_while_it_is_edited(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    await window.edit("plot")
    QTest.keyClicks(window.skill.edit.source, "x")
    text = (filled.mine / "plot.skill.md").read_text()
    filled.put("plot", text.replace("Do it", "Do all of it"))
    await until(window.skill.edit._strip.isVisible, "the banner")
    window.skill.show_tab("page")
    assert not window.skill.edit._watch.isActive(), "nobody looks"
    filled.editor.close()


async def test_library_skills_are_read_only_with_a_way_to_change_a_copy(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    await window.edit("assistant", "text")
    assert window.skill.edit.source.isReadOnly()
    assert not window.skill.edit_button.isEnabled()
    window.page.act("duplicate")
    assert window.dialog.typed == "assistant"
    window.dialog.buttons["yes"].click()
    await until(lambda: filled.skills.row is not None and filled.skills.row.source == "mine", "the copy")
    await filled.rest()
    assert window.skill.edit_button.isEnabled()


async def test_new_rename_and_delete_ask_in_dialogs_and_delete_is_undone(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    window.page.make()
    dialog = window.dialog
    dialog.field.setText("Not A Name")
    assert not dialog.buttons["yes"].isEnabled()
    dialog.field.setText("fresh")
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    await until(lambda: filled.skills.detail is not None and filled.skills.key[1] == "fresh", "the new one")
    await filled.rest()
    window.page.act("rename")
    window.dialog.field.setText("newer")
    window.dialog.buttons["yes"].click()
    await until(lambda: filled.skills.detail is not None and filled.skills.key[1] == "newer", "the new name")
    await filled.rest()
    window.page.act("delete")
    await until(window.page.toast.isVisible, "Undo")
    assert "newer" not in filled.names
    window.page.toast._undo.click()
    await until(lambda: "newer" in filled.names, "it is back")
    await filled.rest()


@pytest.mark.spec("R-SK-11")
async def test_the_editor_gives_back_every_character_it_was_given(open_page: Any, bench: SkillsBench) -> None:
    body = "No-break\u00a0space, \U0001f40b, \ufeff, tab\t, combining e\u0301, \u2028 line.\n"
    path = bench.put("odd", skill("odd", body=body))
    window = await open_page(bench)
    await window.edit("odd")
    source = window.skill.edit.source
    assert source.text() == path.read_text()
    source.go_to(7, 30)
    source.insertPlainText("!")
    window.skill.edit.save_now()
    await until(lambda: not bench.editor.dirty, "saved")
    assert path.read_text().replace("!", "", 1) == skill("odd", body=body)


# -- trying -----------------------------------------------------------------------------------------------------------


async def test_try_it_names_mistakes_in_place_runs_and_shows_the_result(open_page: Any, bench: SkillsBench) -> None:
    window = await open_page(bench)
    bench.skills.choose(visibility="all")
    await window.show("skill-describe")
    window.page.act("try")
    window.skill.trying.run()
    assert "This is required." in words(window.skill.trying)
    field = next(w for w in window.skill.trying.form.findChildren(QLineEdit))
    QTest.keyClicks(field, "assistant")
    window.skill.trying.run()
    await until(lambda: bench.trials.trial is not None and bench.trials.trial.over, "the end")
    await bench.rest()
    result = window.skill.trying._result
    assert result.count() == 2
    assert "Result" in words(window.skill.trying)


async def test_form_and_json_carry_the_same_arguments(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    await window.show("clean")
    window.skill.show_tab("try")
    trying = window.skill.trying
    trying.form.fill({"path": "a", "depth": 7})
    trying.choice._group.button(1).click()
    assert trying.arguments() == {"path": "a", "depth": 7}
    trying.json.setPlainText('{"path": "b", "depth": 8}')
    trying.choice._group.button(0).click()
    assert trying.arguments() == {"path": "b", "depth": 8}
    trying.choice._group.button(1).click()
    trying.json.setPlainText("{")
    assert trying.arguments() is None
    trying.choice._group.button(0).click()
    assert trying.choice.value == "json", "what cannot be read stays where it can be mended"


async def test_text_for_a_model_says_in_words_that_no_model_is_chosen(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    await window.show("clean")
    wanted: list[bool] = []
    window.page.model_wanted.connect(lambda: wanted.append(True))
    window.skill.show_tab("try")
    assert "you have not chosen one yet" in words(window.skill.trying)
    assert not window.skill.trying.run_button.isEnabled()
    next(b for b in window.skill.trying.findChildren(QAbstractButton) if b.text() == "Choose a model").click()
    assert wanted


# -- reach and size ---------------------------------------------------------------------------------------------------


async def test_everything_that_can_be_pressed_has_a_name(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    await window.edit("clean", "form")
    for tab in ("page", "form", "text", "callers", "try"):
        window.skill.show_tab(tab)
        nameless = [
            button
            for button in window.page.findChildren(QAbstractButton)
            if button.isVisible() and not (button.accessibleName() or button.text())
        ]
        assert not nameless
    assert window.list.rows.accessibleName() == "Skills"
    model = filled.skills.model
    spoken = model.index(model.place(filled.key("clean"))).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "clean, Cleans a table., mine"


async def test_in_a_narrow_window_the_skill_lies_over_the_list_and_escape_goes_back(
    open_page: Any, filled: SkillsBench
) -> None:
    window = await open_page(filled, size=(760, 700))
    assert window.page.folding.is_folded
    assert not window.skill.isVisible()
    await window.show("clean")
    window.page._open()
    assert window.skill.isVisible()
    assert window.skill.width() == window.page.sides.width()
    QTest.keyClick(window.skill, Qt.Key.Key_Escape)
    assert not window.skill.isVisible()
    assert window.list.isVisible()


async def test_in_a_narrow_window_a_skill_that_was_just_made_is_seen(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled, size=(760, 700))
    filled.skills.create("tides", "folder")
    await until(lambda: filled.skills.detail is not None and filled.skills.detail.key[1] == "tides", "the new skill")
    assert window.skill.isVisible()


async def test_at_200_percent_nothing_is_cut(open_page: Any, filled: SkillsBench, theme: Theme) -> None:
    window = await open_page(filled)
    theme.set_scale(2.0)
    await window.show("clean")
    window.page._open()
    for tab in ("page", "form", "text", "callers", "try"):
        window.skill.show_tab(tab)
        await filled.rest()
        cut = [
            w
            for w in window.skill.findChildren(Text)
            if w.isVisible() and w._elide == "none" and w.width() < w.sizeHint().width()
        ]
        assert not [w.text() for w in cut]


@pytest.mark.parametrize("width", [760, 1440])
async def test_one_click_on_a_row_opens_its_skill_at_every_width(
    open_page: Any, filled: SkillsBench, width: int
) -> None:
    window = await open_page(filled, size=(width, 700))
    rows, model = window.list.rows, filled.skills.model
    place = rows.visualRect(model.index(model.place(filled.key("clean")))).center()
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)
    await until(lambda: filled.skills.detail is not None, "the skill")
    assert window.skill.isVisible()
    assert not (width < 1040 and rows.hasFocus()), "what lies over the list has the keys, so that Escape goes back"


async def test_an_agent_and_the_skill_that_it_works_by_are_told_apart(open_page: Any, filled: SkillsBench) -> None:
    window = await open_page(filled)
    await window.show("clean")
    said = words(window.skill.overview)
    assert "agent Assistant; skill assistant" in said, said


@pytest.mark.parametrize(
    ("facet", "value", "title"),
    [
        ("source", "mcp", "No tools of MCP servers"),
        ("look", "off", "Nothing is switched off"),
        ("source", "shared", "Nothing installed"),
    ],
)
async def test_a_filter_that_shows_nothing_says_what_would_be_there(
    open_page: Any, bench: SkillsBench, facet: str, value: str, title: str
) -> None:
    window = await open_page(bench)
    bench.skills.choose(**{facet: value})
    await until(lambda: title in words(window.list), title)
    bench.skills.choose(query="tide")
    await until(lambda: "Nothing found" in words(window.list), "with a search it is the search")


async def test_each_filter_says_what_it_shows(open_page: Any, bench: SkillsBench) -> None:
    window = await open_page(bench)
    assert all(row.toolTip() and row.accessibleDescription() for row in window.page.facets._rows.values())
