"""The Skills page in the whole app: a skill is tried with the default model, and nothing unsaved is lost by closing."""

from pathlib import Path
from typing import Any

import pytest

from desktop.ui.skills.source_text import SourceText
from desktop.ui.widgets.dialogs.base import Dialog
from tests.gui.app.kit import Running
from tests.gui.skills.kit import skill


async def on_skills(start: Any, tmp_path: Path, *rounds: Any) -> tuple[Running, Any]:
    mine = tmp_path / "home" / "skills"
    mine.mkdir(parents=True)
    (mine / "poem.skill.md").write_text(skill("poem", "Writes a poem.", body="Write a poem.\n"))
    app = await start(*rounds)
    app.window._shell.go("skills")
    page = app.window.page("skills")
    skills = app.models.skills.skills
    await app.until_true(lambda: "poem" in [row.name for row in rows(skills)], "the list")
    page.pick(next(row.key for row in rows(skills) if row.name == "poem"))
    await app.until_true(lambda: skills.detail is not None, "the skill")
    return app, page


def rows(skills: Any) -> list[Any]:
    return [skills.model.row_at(place) for place in range(skills.model.rowCount())]


@pytest.mark.spec("R-UI-2", "R-AG-1")
async def test_text_for_a_model_is_tried_with_the_default_model(start: Any, tmp_path: Path) -> None:
    app, page = await on_skills(start, tmp_path, [{"text": "Roses are red."}])
    page.act("try")
    page.skill.trying.run_button.click()
    trials = app.models.skills.trials
    await app.until_true(lambda: trials.trial is not None and trials.trial.over, "the poem")
    assert (trials.trial.state, trials.trial.text) == ("done", "Roses are red.")


async def test_closing_with_something_unsaved_asks_first(start: Any, tmp_path: Path) -> None:
    app, page = await on_skills(start, tmp_path)
    page.act("edit")
    editor = app.models.skills.editor
    await app.until_true(lambda: editor.path, "the editor")
    editor.edited(editor.shown + "More.\n")
    app.window._shell.go("chats")
    app.window.close()
    dialog = next(d for d in app.window.findChildren(Dialog) if d.isVisible())
    assert app.window._shell.page == "skills"
    assert not app.quits
    dialog.answer("keep")
    assert not app.quits
    app.window.close()
    next(d for d in app.window.findChildren(Dialog) if d.isVisible()).answer("save")
    await app.until_true(lambda: app.quits, "the end, after saving")
    assert (tmp_path / "home" / "skills" / "poem.skill.md").read_text().endswith("More.\n")


async def test_ctrl_f_searches_the_skills_while_they_are_shown(start: Any, tmp_path: Path) -> None:
    app, page = await on_skills(start, tmp_path)
    app.window._shell.run_command("find")
    assert app.window._shell.page == "skills"
    assert page.list.field is app.window.focusWidget()


async def test_names_of_skills_are_offered_after_a_dollar_sign_too(start: Any, tmp_path: Path) -> None:
    app, _ = await on_skills(start, tmp_path)
    app.window._shell.go("chats")
    offers: list[Any] = []
    app.models.offers.ready.connect(lambda prefix, text, found: offers.append((prefix, [o.insert for o in found])))
    app.composer.text.setPlainText("")
    app.composer.text.insertPlainText("Use $poe")
    await app.until_true(lambda: offers and offers[-1] == ("$", ["$poem"]), "the offer")


async def test_a_skill_an_agent_and_a_tool_are_begun_from_the_palette(start: Any, tmp_path: Path) -> None:
    app, _page = await on_skills(start, tmp_path)
    shell = app.window._shell
    titles = [row.title for row in shell.commands()]
    assert {"New skill", "New agent", "New tool in tools.yaml"} <= set(titles)
    shell.run_command("new-agent")
    await app.until_true(lambda: app.models.agents_editor.is_new, "a new agent")
    assert shell.page == "settings"
    shell.run_command("new-tool")
    await app.until_true(lambda: isinstance(app.window.focusWidget(), SourceText), "its text has the keys")
    assert app.window.focusWidget().accessibleName() == "Text of tools.yaml"
