"""The folder of a debate: chosen on the page that sets one up, shown while it runs, and none for the next."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.ui.chat.project_dialog import USE, ProjectDialog
from tests.gui.app.kit import HELLO


def dialog_of(app):
    return next((one for one in app.window.findChildren(ProjectDialog) if one.isVisible()), None)


@pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
@pytest.mark.spec("R-PRJ-1")
async def test_a_debate_is_set_up_in_a_folder_and_the_next_has_none(start, tmp_path: Path):
    project = tmp_path / "person" / "tides"
    project.mkdir(parents=True)
    app = await start(HELLO, HELLO, HELLO, HELLO)
    app.models.debates.setup.default_model = "scripted/scripted"
    app.startup._shell.run_command("new-debate")
    page, chosen = app.window.page("debates"), app.models.debates.setup
    setup = page.setup
    await app.until_true(lambda: chosen.templates and chosen.prompts, "the templates")
    assert setup.folder.label == "No folder"
    QTest.mouseClick(setup.folder, Qt.MouseButton.LeftButton)
    await app.until_true(lambda: dialog_of(app), "the folders to choose from")
    dialog = dialog_of(app)
    assert dialog.accessibleName() == "Choose the folder of this debate"
    dialog.field.setText(str(project))
    await app.until_true(dialog.buttons[USE].isEnabled, "it was looked at")
    dialog.buttons[USE].click()
    await app.until_true(lambda: setup.folder.label == "tides", "it is chosen")
    assert setup.folder.accessibleName() == "Folder: tides"
    chosen.choose("worker-reviewer")
    assert setup.folder.label == "tides", "another template leaves the folder"
    chosen.set(topic="Tea or coffee?", max_turns=2)
    for side in ("a", "b"):
        chosen.set_side(side, model="scripted/scripted", end_session_tool="")
    setup.start()
    await app.until_true(page.running.isVisible, "it runs")
    await app.until_true(lambda: page.running.header.folder.text() == "tides", "and says where")
    (row,) = await app.models.services.debates.debates()
    assert (await app.models.services.chats.thread(row.thread_id)).project == str(project)
    await app.models.services.debates.wait(row.thread_id, 30)
    app.startup._shell.run_command("new-debate")
    await app.until_true(lambda: setup.isVisible() and setup.folder.label == "No folder", "the next has none")

    project.rename(project.with_name("moved"))
    app.models.debate_folder._chat.set_project(str(project))
    await app.until_true(lambda: "is gone" in setup.folder.accessibleName(), "one that is gone is said at once")
    assert not setup.start_button.isEnabled()
