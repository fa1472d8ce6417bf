"""Settings, Agents, over real files, the real library of skills and the runtime's own checks."""

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.app.wiring.agent_looks import looks_of, shown_agents
from desktop.domain.definitions import AgentDefinition, AgentRow, SideDefinition
from desktop.presenter.settings.agents_editing import cycle_words
from desktop.ui.theme import Theme
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.marks import Icon
from tests.gui.settings.agents_kit import MINE, Shown
from tests.gui.settings.test_cli_page import until
from tests.harness.windows import activated
from tests.unit.services.kit import ROOT


@pytest.fixture
def shown(agents_shown: Shown) -> Shown:
    return agents_shown


@pytest.mark.spec("R-DEF-16")
async def test_the_list_says_where_each_comes_from_and_what_is_wrong(shown: Shown) -> None:
    assert "Your own" in shown.words
    assert "Comes with Assent" in shown.words
    assert "Code reviewer" in shown.words
    shown.shoot("list")
    path = shown.mine / "night_watch_agent.yaml"
    path.write_text(MINE.replace("maxSteps: 12", "maxSteps: none"))
    shown.agents.refresh()
    await shown.rest()
    await until(lambda: "sideA.maxSteps: maxSteps must be a whole number" in shown.words, "told")
    assert "The last version without one is used until you correct it." in shown.words
    assert "Night watch agent" in shown.words


@pytest.mark.spec("R-DEF-10")
async def test_the_list_draws_the_icon_that_a_definition_names(shown: Shown, theme: Theme) -> None:
    looks = await asyncio.to_thread(looks_of, shown_agents(shown.agents.rows))
    theme.set_agent_looks(looks)
    drawn = {icon._name for icon in shown.page._list.findChildren(Icon)}
    named = {row.agent.name: row.agent.icon for row in shown.agents.rows if row.agent is not None and row.agent.icon}
    assert len(named) > 4
    assert named.keys() <= {name.split(":", 2)[2] for name in drawn if name.startswith("agent:")}
    pictures = {}
    for name, icon in named.items():
        ours = icon.removeprefix("/icons/").removesuffix(".svg")
        assert looks[name].bundled == ours
        pictures[ours] = theme.pixmap(agent_icon(name), "text-2", 20).toImage()
        assert pictures[ours] == theme.pixmap(ours, "text-2", 20).toImage(), name
    plain = theme.pixmap("agent", "text-2", 20).toImage()
    assert [ours for ours, picture in pictures.items() if picture == plain] in ([], ["agent"])


@pytest.mark.spec("R-SES-3")
async def test_a_debate_is_begun_with_an_agent_of_two_sides_only(shown: Shown) -> None:
    wanted: list[str] = []
    shown.agents.debate_wanted.connect(wanted.append)
    two = [row.agent.name for row in shown.agents.rows if row.agent is not None and row.agent.type == "dual_ai"]
    assert two
    for number in range(len(two)):
        shown.button("Start a debate", number).click()
    assert wanted == two
    assert len([b for b in shown.page.findChildren(Button) if b.label == "Start a debate"]) == len(two)


@pytest.mark.spec("R-DEF-14", "R-DEF-16")
async def test_a_field_of_the_form_changes_its_line_of_the_text_and_nothing_else(shown: Shown) -> None:
    await shown.choose("night_watch_agent.yaml")
    shown.shoot("form")
    form = shown.page.editor.form
    rounds = form.sides[0].lines["maxSteps"]
    assert rounds.text() == "12"
    rounds.setFocus()
    rounds.selectAll()
    QTest.keyClicks(rounds, "0")
    QTest.keyClick(rounds, Qt.Key.Key_Return)
    await shown.rest()
    assert "maxSteps must be a whole number of at least 1" in shown.words
    assert not shown.page.editor.save.isEnabled()
    rounds.selectAll()
    QTest.keyClicks(rounds, "7")
    QTest.keyClick(rounds, Qt.Key.Key_Return)
    await shown.rest()
    assert shown.page.editor.source.text() == MINE.replace("12", "7")
    assert shown.page.editor.save.isEnabled()
    shown.press("Save")
    await shown.rest()
    assert (shown.mine / "night_watch_agent.yaml").read_text() == MINE.replace("12", "7")
    assert shown.files.book.get("night_watch_agent").side_a.max_rounds == 7


@pytest.mark.spec("R-DEF-11", "R-DEF-13", "R-DEF-14")
async def test_the_text_is_checked_while_it_is_typed_also_against_the_skills_there_are(shown: Shown) -> None:
    await shown.choose("night_watch_agent.yaml")
    editor = shown.page.editor
    editor.show_view("text")
    editor.source.replace(MINE.replace("prompt: assistant", "prompt: nobody"))
    shown.agents.edited(editor.source.text())
    await until(lambda: "sideA.prompt: it could not run now" in shown.words, "missing")
    editor.source.replace(MINE.replace("maxSteps", "maxStep"))
    shown.agents.edited(editor.source.text())
    await until(lambda: "did you mean maxSteps?" in shown.words, "a suggestion")
    problem = next(one for one in shown.agents.problems if one.code == "field.unknown")
    assert problem.line == 6
    shown.shoot("text")


@pytest.mark.spec("R-DEF-11", "R-UI-1")
async def test_the_dry_run_shows_text_tools_and_limits_of_each_side_without_a_model(shown: Shown) -> None:
    await shown.choose("code_reviewer_agent.yaml")
    shown.page.editor.show_view("trial")
    await until(lambda: "Limits" in shown.words, "the sides")
    shown.shoot("trial")
    for part in ("Author", "Critic", "at most 30 rounds in a turn", "accept ends everything", "read-file"):
        assert part in shown.words
    assert "You can change only your own agents. Make a copy to change this one" in shown.words
    previews = shown.agents.fields.previews
    assert "You test findings about code" in previews["b"].system
    assert {tool.name for tool in previews["a"].tools} == {"list-directory", "read-file"}


@pytest.mark.spec("R-DEF-16", "R-DEF-17")
async def test_a_copy_has_a_name_of_its_own_and_deleting_can_be_undone(shown: Shown) -> None:
    shown.agents.duplicate(str(ROOT / "resources" / "agents" / "debate_agent.yaml"))
    await shown.rest()
    path = shown.mine / "debate_2_agent.yaml"
    assert path.exists()
    assert shown.page.editor.title.text() == "Debate (copy)"
    assert shown.files.book.get("debate_2_agent").side_b is not None
    shown.press("All agents")
    await shown.rest()
    shown.agents.delete(str(path))
    await shown.rest()
    assert not path.exists()
    assert "debate_2_agent" not in shown.files.book.agents
    assert shown.toast.text == "Debate (copy) was deleted"
    shown.toast._undone()
    await shown.rest()
    assert path.exists()
    assert "debate_2_agent" in shown.files.book.agents


@pytest.mark.spec("R-FS-10", "R-DEF-16")
async def test_what_came_in_a_project_is_off_until_it_was_looked_at(shown: Shown) -> None:
    path = shown.theirs / "mole_agent.yaml"
    path.write_text("name: mole_agent\ntitle: Mole\nsideA: {prompt: assistant}\n")
    await asyncio.to_thread(shown.files.reload)
    await until(lambda: "it is new or has changed since you looked at it" in shown.words, "said in the list")
    assert "mole_agent" not in shown.files.book.agents
    shown.shoot("unseen")
    await shown.choose("mole_agent.yaml")
    assert "Read it, then switch it on" in shown.words
    shown.shoot("unseen-open")
    path.write_text("name: mole_agent\ntitle: Mole 2\nsideA: {prompt: assistant}\n")
    shown.press("Switch it on")  # it says another thing than what is shown
    await shown.rest()
    assert "mole_agent" not in shown.files.book.agents
    await asyncio.to_thread(shown.files.reload)
    await until(lambda: "Mole 2" in shown.words, "what it says now")
    await shown.rest()
    shown.press("Switch it on")
    await until(lambda: "mole_agent" in shown.files.book.agents, "in force")
    await until(lambda: not shown.page.editor.accept.isVisible(), "nothing left to look at")
    assert shown.files.book.get("mole_agent").title == "Mole 2"


@pytest.mark.spec("R-DEF-16")
async def test_saving_by_key_takes_the_field_that_is_being_typed_in(shown: Shown) -> None:
    await shown.choose("night_watch_agent.yaml")
    editor = shown.page.editor
    shown.page.activateWindow()
    for field, words in ((editor.form.lines["title"], "Owl"), (editor.form.sides[0].lines["label"], "Watch")):
        field.setFocus()
        QTest.keyClicks(field, words)
    editor.form.description.setFocus()
    editor.form.description.selectAll()
    QTest.keyClicks(editor.form.description, "Counts the owls")
    assert "Not saved yet" in shown.words
    QTest.keyClick(editor.form.description, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: "Saved as night_watch_agent.yaml" in shown.words, "saved")
    await shown.rest()
    agent = shown.files.book.get("night_watch_agent")
    assert (agent.title, agent.side_a.label, agent.description) == ("Owl", "Watch", "Counts the owls")
    assert "# my own words stay" in (shown.mine / "night_watch_agent.yaml").read_text()


@pytest.mark.spec("R-DEF-16")
async def test_saved_is_said_only_of_what_is_saved(shown: Shown) -> None:
    await shown.choose("night_watch_agent.yaml")
    editor = shown.page.editor
    rounds = editor.form.sides[0].lines["maxSteps"]
    rounds.setFocus()
    rounds.selectAll()
    QTest.keyClicks(rounds, "none")
    QTest.keyClick(rounds, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await until(editor.failure.isVisible, "the reason")
    await shown.rest()
    assert "maxSteps must be a whole number" in shown.words
    assert "Saved" not in shown.words
    assert (shown.mine / "night_watch_agent.yaml").read_text() == MINE
    rounds.selectAll()
    QTest.keyClicks(rounds, "9")
    QTest.keyClick(rounds, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: "Saved as" in shown.words, "saved")
    QTest.keyClicks(rounds, "1")
    assert "Saved as" not in shown.words
    assert "Not saved" in shown.words


@pytest.mark.spec("R-DEF-16")
async def test_a_new_agent_is_named_by_its_last_title_when_it_is_saved_first(shown: Shown) -> None:
    before = sorted(shown.mine.iterdir())
    shown.press("New agent")
    await shown.rest()
    editor, title = shown.page.editor, shown.page.editor.form.lines["title"]
    assert sorted(shown.mine.iterdir()) == before, "nothing is written, or in force, before it is saved"
    for words in ("Frist try", "Gauge reader"):
        title.setFocus()
        title.selectAll()
        QTest.keyClicks(title, words)
        QTest.keyClick(title, Qt.Key.Key_Return)
        await shown.rest()
    assert editor.form.lines["name"].text() == "gauge_reader_agent"
    title.selectAll()
    QTest.keyClicks(title, "Tide no. 2")
    QTest.keyClick(title, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: "Saved as tide_no_2_agent.yaml" in shown.words, "saved")
    assert shown.files.book.get("tide_no_2_agent").title == "Tide no. 2"
    await until(lambda: editor.title.text() == "Tide no. 2", "its title")
    assert sorted(shown.mine.iterdir()) == sorted([*before, shown.mine / "tide_no_2_agent.yaml"])
    await shown.rest()
    title.selectAll()
    QTest.keyClicks(title, "Another")
    QTest.keyClick(title, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: shown.files.book.get("tide_no_2_agent").title == "Another", "saved again")
    assert len(list(shown.mine.iterdir())) == len(before) + 1, "its file, once saved, keeps its name"


@pytest.mark.spec("R-DEF-16")
async def test_a_name_that_a_person_gave_a_new_agent_stays(shown: Shown) -> None:
    shown.press("New agent")
    await shown.rest()
    form = shown.page.editor.form
    for field, words in ((form.lines["name"], "my_own_agent"), (form.lines["title"], "Something else")):
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, words)
        QTest.keyClick(field, Qt.Key.Key_Return)
        await shown.rest()
    shown.press("Save")
    await until(lambda: "Saved as my_own_agent.yaml" in shown.words, "saved")
    assert shown.files.book.get("my_own_agent").title == "Something else"


async def test_leaving_an_agent_that_is_not_saved_asks(shown: Shown) -> None:
    shown.press("New agent")
    await shown.rest()
    shown.press("All agents")
    assert shown.page.stack.currentWidget() is shown.page.editor
    assert "Save your changes?" in shown.words
    shown.press("Keep editing")
    shown.press("All agents")
    shown.press("Discard")
    await shown.rest()
    assert shown.page.stack.currentIndex() == 0
    assert not (shown.mine / "new_agent.yaml").exists()
    shown.press("New agent")
    await shown.rest()
    shown.press("All agents")
    shown.press("Save", 1)
    await until(lambda: shown.page.stack.currentIndex() == 0, "back")
    assert (shown.mine / "new_agent.yaml").exists()
    await until(lambda: "New agent" in shown.words, "in the list")


async def test_the_name_of_a_title_is_one_that_a_file_can_have(shown: Shown) -> None:
    (shown.mine / "gauge_agent.yaml").write_text("name: gauge_agent\nsideA: {prompt: assistant}\n")
    await asyncio.to_thread(shown.files.reload)
    for title, name in (
        ("Zähler Nr. 2", "zahler_nr_2_agent"),
        ("Gauge", "gauge_2_agent"),
        ("My Agent", "my_agent"),
        ("日本語", ""),
        ("../../etc/passwd", "etc_passwd_agent"),
        ("3 wise men", "wise_men_agent"),
        ("Agent", ""),
        ("", ""),
    ):
        assert shown.service.name_for(title) == name
    assert len(shown.service.name_for("long " * 40)) <= 64


@pytest.mark.spec("R-DEF-1", "R-DEF-16")
async def test_a_prompt_is_written_in_place_and_saved_by_key(shown: Shown) -> None:
    await shown.choose("night_watch_agent.yaml")
    editor = shown.page.editor
    side = editor.form.sides[0]
    side.choice.way._group.button(1).click()
    await shown.rest()
    assert (side.choice.area.isVisible(), side.prompt.isVisible(), side.labels["allowedTools"].isVisible()) == (
        True,
        False,
        True,
    )
    shown.page.activateWindow()
    assert shown.page.focusWidget() is side.choice.area
    QTest.keyClicks(side.choice.area, "You count owls.")
    QTest.keyClick(side.choice.area, Qt.Key.Key_Return)
    QTest.keyClicks(side.choice.area, "Only by night.")
    assert "30 characters" in shown.words
    assert "Not saved" in shown.words
    QTest.keyClick(side.choice.area, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert side.choice.text != "You count owls.\nOnly by night."
    QTest.keyClick(side.choice.area, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(side.choice.area, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: "Saved as night_watch_agent.yaml" in shown.words, "saved")
    await shown.rest()
    agent = shown.files.book.get("night_watch_agent")
    assert (agent.side_a.prompt, agent.side_a.prompt_text) == ("", "You count owls.\nOnly by night.")
    text = (shown.mine / "night_watch_agent.yaml").read_text()
    assert "  promptText: |\n    You count owls.\n    Only by night.\n" in text
    assert "# my own words stay" in text
    assert shown.agents.fields.previews["a"].system.startswith("You count owls.\nOnly by night.")
    shown.shoot("written")


async def test_a_prompt_that_was_just_left_stands_there_while_it_is_on_its_way_into_the_text(shown: Shown) -> None:
    await shown.choose("night_watch_agent.yaml")
    side = shown.page.editor.form.sides[0]
    side.choice.way._group.button(1).click()
    await shown.rest()
    QTest.keyClicks(side.choice.area, "You count owls.")
    side.lines["allowedTools"].setFocus()
    assert shown.agents.fields.values["sideA"]["promptText"] == "", "the text is not read again yet"
    assert side.choice.text == "You count owls."
    await shown.rest()
    assert shown.agents.fields.values["sideA"]["promptText"] == "You count owls.\n"


async def test_an_empty_prompt_that_was_left_is_marked_also_while_another_field_is_written(shown: Shown) -> None:
    await shown.choose("night_watch_agent.yaml")
    side = shown.page.editor.form.sides[0]
    side.choice.way._group.button(1).click()
    await shown.rest()
    assert "promptText must say" not in shown.words
    shown.agents.set_field(("name",), "night_watch_agent")  # as it stands there, so nothing changes
    side.lines["allowedTools"].setFocus()
    await shown.rest()
    assert "promptText must say what this side is and does" in shown.words


@pytest.mark.spec("R-DEF-16")
async def test_switching_the_kind_of_prompt_keeps_what_was_written_and_discarding_brings_the_file_back(
    shown: Shown,
) -> None:
    await shown.choose("night_watch_agent.yaml")
    side = shown.page.editor.form.sides[0]
    skill, here = (side.choice.way._group.button(number) for number in (0, 1))
    here.click()
    await shown.rest()
    side.choice.area.setFocus()
    QTest.keyClicks(side.choice.area, "You count owls.")
    side.lines["allowedTools"].setFocus()
    QTest.keyClicks(side.lines["allowedTools"], "read-file")
    skill.setFocus()
    skill.click()
    await shown.rest()
    assert shown.agents.fields.values["sideA"] == {"prompt": "assistant", "maxSteps": 12}
    here.click()
    await shown.rest()
    assert shown.agents.fields.values["sideA"] == {
        "promptText": "You count owls.\n",
        "maxSteps": 12,
        "allowedTools": "read-file",
    }
    assert [tool.name for tool in shown.agents.fields.previews["a"].tools] == ["read-file"]
    shown.press("Discard changes")
    await shown.rest()
    assert shown.agents.text == MINE
    assert (side.choice.here, side.prompt.currentData(), side.choice.text) == (False, "assistant", "")


async def test_a_new_agent_begins_in_its_first_field_with_nothing_written_for_the_person(shown: Shown) -> None:
    await activated(shown.page)
    shown.press("New agent")
    await shown.rest()
    form = shown.page.editor.form
    assert form.lines["name"].hasFocus()
    assert form.description.toPlainText() == ""
    assert form.description.placeholderText()
    assert "Side A" not in shown.words
    form.kind.chosen.emit("dual_ai")
    await shown.rest()
    assert "Side A" in shown.words


def test_an_agent_that_can_come_to_call_itself_says_through_which_others() -> None:
    agent = AgentDefinition("night_agent", SideDefinition("night"))
    around = AgentRow("a.yaml", "mine", agent, cycle=("day-agent", "dusk"))
    assert cycle_words(around) == ("It can call itself through day-agent, dusk. Calls are nested at most 8 deep.")
    itself = AgentRow("a.yaml", "mine", agent, cycle=("night-agent",))
    assert cycle_words(itself) == (
        "It can call itself directly, as its own list names it. Calls are nested at most 8 deep."
    )
