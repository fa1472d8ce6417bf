"""Settings, Agents: the form of one agent, while a person fills it in."""

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.gui.settings.agents_kit import MINE, Shown
from tests.gui.settings.test_cli_page import until
from tests.harness.windows import activated


@pytest.fixture
def shown(agents_shown: Shown) -> Shown:
    return agents_shown


@pytest.mark.spec("R-DEF-16")
async def test_the_name_that_a_new_agent_proposes_is_replaced_by_typing(shown: Shown) -> None:
    await activated(shown.page)
    shown.press("New agent")
    await shown.rest()
    name = shown.page.editor.form.lines["name"]
    assert (name.hasFocus(), name.text(), name.selectedText()) == (True, "new_agent", "new_agent")
    shown.shoot("new")
    QTest.keyClicks(name, "tide_agent")
    assert name.text() == "tide_agent"
    shown.press("All agents")
    shown.press("Discard")
    await shown.choose("night_watch_agent.yaml")
    assert not name.hasSelectedText(), "a name that a person gave is no proposal"


@pytest.mark.spec("R-DEF-14", "R-DEF-16")
async def test_a_prompt_that_was_only_just_opened_is_no_mistake_before_it_is_left_or_saved(shown: Shown) -> None:
    missing = "promptText must say what this side is and does"
    await shown.choose("night_watch_agent.yaml")
    side = shown.page.editor.form.sides[0]
    skill, here = (side.choice.way._group.button(number) for number in (0, 1))
    await activated(shown.page)
    here.click()
    await shown.rest()
    assert side.choice.area.hasFocus()
    assert missing not in shown.words
    assert "Correct what is marked" not in shown.words
    shown.shoot("opened")
    side.lines["allowedTools"].setFocus()
    await shown.rest()
    assert missing in shown.words
    assert "Correct what is marked" in shown.words
    shown.shoot("left-empty")
    skill.click()
    await shown.rest()
    assert missing not in shown.words
    here.click()
    await shown.rest()
    QTest.keyClick(side.choice.area, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: missing in shown.words, "told when saving")
    await shown.rest()
    assert (shown.mine / "night_watch_agent.yaml").read_text() == MINE


@pytest.mark.spec("R-DEF-16")
async def test_the_heading_is_what_a_person_calls_the_agent_also_while_something_is_wrong(shown: Shown) -> None:
    shown.press("New agent")
    await shown.rest()
    editor = shown.page.editor
    assert editor.title.text() == "New agent"
    for field, words, heading in (("title", "Tide tables", "Tide tables"), ("icon", "/none.exe", "Tide tables")):
        line = editor.form.lines[field]
        line.setFocus()
        line.selectAll()
        QTest.keyClicks(line, words)
        QTest.keyClick(line, Qt.Key.Key_Return)
        await shown.rest()
        assert editor.title.text() == heading
    rounds = editor.form.sides[0].lines["maxSteps"]
    rounds.setFocus()
    QTest.keyClicks(rounds, "many")
    QTest.keyClick(rounds, Qt.Key.Key_Return)
    await shown.rest()
    assert "maxSteps must be a whole number" in shown.words
    assert editor.title.text() == "Tide tables"
    await asyncio.to_thread((shown.mine / "broken_agent.yaml").write_text, "name: [")
    await asyncio.to_thread(shown.files.reload)
    await shown.rest()
    await shown.choose("broken_agent.yaml")
    assert editor.title.text() == "broken_agent.yaml", "where the text names nobody"


@pytest.mark.spec("R-PAT-4", "R-DEF-16", "S-PAT-2")
async def test_a_pattern_that_matches_no_tool_is_doubted_beside_its_field(shown: Shown) -> None:
    await shown.choose("night_watch_agent.yaml")
    editor, side = shown.page.editor, shown.page.editor.form.sides[0]
    side.choice.way._group.button(1).click()
    await shown.rest()
    QTest.keyClicks(side.choice.area, "You count owls.")
    tools, label = side.lines["allowedTools"], side.labels["allowedTools"]
    for typed, said in (
        ("read-* loop*", "loop* matches no tool that is here"),
        ("owl-tool loop*", "owl-tool, loop* match no tool"),
        ("read_file", "matches no tool that is here; did you mean read-file?"),
        ("read-file bash(command=ls*)", ""),
    ):
        tools.setFocus()
        tools.selectAll()
        QTest.keyClicks(tools, typed)
        QTest.keyClick(tools, Qt.Key.Key_Return)
        await shown.rest()
        if said:
            await until(lambda said=said: said in label.control.accessibleDescription(), said)
            shown.shoot("no-tool")
        else:
            await until(lambda: "no tool that is here" not in shown.words, "nothing to doubt")
        assert not tools.wrong
        assert editor.save.isEnabled()


@pytest.mark.spec("R-DEF-16")
@pytest.mark.parametrize("field", ["title", "icon", "label", "description", "promptText"])
async def test_save_takes_what_was_typed_however_short_the_click(shown: Shown, field: str) -> None:
    await shown.choose("night_watch_agent.yaml")
    await activated(shown.page)
    editor, side = shown.page.editor, shown.page.editor.form.sides[0]
    if field == "promptText":
        side.choice.way._group.button(1).click()
        await shown.rest()
        shown.press("Save")
        await shown.rest()
    named = {**editor.form.lines, **side.lines, "description": editor.form.description, "promptText": side.choice.area}
    typed = "/icons/search.svg" if field == "icon" else "Owls"
    named[field].setFocus()
    named[field].selectAll()
    QTest.keyClicks(named[field], typed)
    shown.press("Save")
    await shown.rest()
    assert typed in (shown.mine / "night_watch_agent.yaml").read_text()
    assert "Saved as night_watch_agent.yaml" in shown.words
    assert named[field].hasFocus(), "what is typed next goes where the person was"


@pytest.mark.spec("R-DEF-16")
async def test_save_stays_pressed_while_what_was_typed_is_on_its_way_into_the_text(shown: Shown) -> None:
    await shown.choose("night_watch_agent.yaml")
    await activated(shown.page)
    editor = shown.page.editor
    title = editor.form.lines["title"]
    title.setFocus()
    QTest.keyClicks(title, "Owls")
    QTest.mousePress(editor.save, Qt.MouseButton.LeftButton)
    assert not title.hasFocus()
    shown.agents.checked.emit()  # an earlier check ends between press and release
    QTest.mouseRelease(editor.save, Qt.MouseButton.LeftButton)
    await shown.rest()
    assert "title: Owls" in (shown.mine / "night_watch_agent.yaml").read_text()


@pytest.mark.spec("R-DEF-16")
@pytest.mark.parametrize("field", ["title", "icon", "maxSteps", "description"])
async def test_discard_brings_the_file_back_and_leaves_the_keys_in_their_field(shown: Shown, field: str) -> None:
    await shown.choose("night_watch_agent.yaml")
    await activated(shown.page)
    editor = shown.page.editor
    lines = {**editor.form.lines, **editor.form.sides[0].lines, "description": editor.form.description}
    lines[field].setFocus()
    lines[field].selectAll()
    QTest.keyClicks(lines[field], "7")
    shown.press("Discard changes")
    await shown.rest()
    assert lines[field].hasFocus()
    assert shown.agents.shown == MINE
    assert not editor.dirty
    assert not editor.revert.isVisible()


async def killed(shown: Shown, qtbot: QtBot) -> None:
    """Wait until all is kept that will be; then the app is gone, and another one has the same home."""
    editor = shown.page.editor
    still = (lambda: not editor._typing.isActive(), lambda: not shown.agents._keeper._timer.isActive())
    await until(lambda: all(one() for one in still) and not shown.bridge.task_names, "kept")
    shown.agents.close()
    shown.agents._keeper._texts = None  # its process is gone
    await shown.open(qtbot)


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.spec("R-DEF-16")
async def test_what_is_typed_into_a_prompt_is_here_again_after_the_end_of_the_app(
    shown: Shown, qtbot: QtBot, left: bool
) -> None:
    await shown.choose("night_watch_agent.yaml")
    await activated(shown.page)
    shown.page.editor.form.sides[0].choice.way._group.button(1).click()
    await shown.rest()
    area = shown.page.editor.form.sides[0].choice.area
    QTest.keyClicks(area, "You watch the harbour")
    if left:
        shown.page.editor.form.lines["title"].setFocus()
        await shown.rest()
    await killed(shown, qtbot)
    await shown.choose("night_watch_agent.yaml")
    assert shown.page.editor.form.sides[0].choice.text == "You watch the harbour"
    assert shown.page.editor.outside.isVisible()
    assert (shown.mine / "night_watch_agent.yaml").read_text() == MINE, "it is still not saved"
    shown.shoot("restored")
    shown.press("Discard changes")
    await shown.rest()
    await killed(shown, qtbot)
    await shown.choose("night_watch_agent.yaml")
    assert not shown.page.editor.dirty


@pytest.mark.spec("R-DEF-16")
async def test_a_new_agent_that_was_never_saved_is_here_again_and_gone_once_it_is_saved(
    shown: Shown, qtbot: QtBot
) -> None:
    for again in (False, True):
        shown.press("New agent")
        await shown.rest()
        title = shown.page.editor.form.lines["title"]
        if again:
            assert title.text() == "Tide tables"
            break
        await activated(shown.page)
        title.setFocus()
        title.selectAll()
        QTest.keyClicks(title, "Tide tables")
        await killed(shown, qtbot)
    shown.page.editor.save_all()
    await shown.rest()
    assert (shown.mine / "tide_tables_agent.yaml").exists() or (shown.mine / "new_agent.yaml").exists()
    await killed(shown, qtbot)
    shown.press("New agent")
    await shown.rest()
    assert shown.page.editor.form.lines["title"].text() != "Tide tables"
