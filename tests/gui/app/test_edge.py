"""The mode of a chat: explained once, shown in the head and the list, and every call goes by it from then on."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.domain.approval.audit import AuditFilter
from desktop.presenter.chat.edge import NO_FOLDER
from desktop.presenter.chat.threads import ThreadRole
from desktop.ui.changes.preview import UNDO, UndoDialog
from desktop.ui.chat.edge import EdgeDialog
from desktop.ui.transcript.pieces.tool_card import UNDO as UNDO_CARD
from tests.gui.app.kit import HELLO, call


def dialog_of(app):
    found = [one for one in app.window.findChildren(EdgeDialog) if one.isVisible()]
    return found[0] if found else None


@pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
@pytest.mark.spec("R-ASK-1")
async def test_a_chat_is_switched_to_the_edge_and_back_and_no_other_is(start, tmp_path: Path):
    project = tmp_path / "person" / "tides"
    project.mkdir(parents=True)
    app = await start(
        HELLO,
        call("write_file", path="in.md", content="text"),
        call("write_file", path=".git/hooks/pre-commit", content="#!/bin/sh\n"),
        HELLO,
        HELLO,
        call("write_file", path="later.md", content="text"),
        HELLO,
    )
    edge, header = app.models.edge, app.page.pane.header
    if edge._modes.unconfined():
        pytest.skip("nothing confines commands here")
    assert (header.mode.label, edge.closed) == ("asks each time", NO_FOLDER)
    edge.choose("edge")
    assert edge.mode == "ask", "without a folder there is no edge"
    app.models.projects.use(str(project))
    await app.until_true(lambda: header.project.label == "tides", "the project")
    app.say("hello")
    await app.answered("Hello there.")
    first = app.models.chat.thread_id

    edge.choose("edge")
    await app.until_true(lambda: dialog_of(app), "the first switch is explained")
    assert edge.mode == "ask"
    QTest.keyClick(dialog_of(app).buttons["keep"], Qt.Key.Key_Escape)
    await app.until_true(lambda: dialog_of(app) is None, "it closes")
    assert edge.mode == "ask", "Esc keeps asking"
    edge.choose("edge")
    await app.until_true(lambda: dialog_of(app), "it is explained until it was agreed to")
    dialog_of(app).answer("switch")
    await app.until_true(lambda: header.mode.label == "at the edge", "the chip")
    rows = app.page.threads._model
    await app.until_true(
        lambda: "edge" in [rows.index(at).data(ThreadRole.ICON) for at in range(rows.rowCount())], "the list"
    )

    app.say("write")
    request = await app.asked()
    assert [one.kind for one in request.past_edge] == ["admin"], "a hook asks"
    assert (project / "in.md").read_text() == "text", "what is inside was written unasked"
    app.models.approvals.answer(request.request_id, "deny", digest=request.digest)
    await app.until_true(app.page.pane.foot.composer.stop.isHidden, "the run is over")
    page = await app.models.services.store.audit.page(AuditFilter(by="edge"))
    assert [row.entry.tool for row in page.rows] == ["write-file"], "the log says that nobody was asked"
    assert [one.at_edge for one in app.calls[:2]].count(True) == 1, "and so does the card"
    assert "Past the edge: admin: " in app.calls[1].detail, "the card of the other says why it asked"
    await _and_is_undone_from_its_card(app, project)

    await _no_other_takes_it_over(app, project, first)
    await _and_back(app, first)


async def _and_is_undone_from_its_card(app, project):
    written, refused = app.calls[:2]
    assert (written.undoable, refused.undoable) == (True, False)
    app.page.pane._act("", f"{UNDO_CARD}{written.part_id}")
    await app.until_true(lambda: undo_of(app), "what it would undo is shown first")
    assert (project / "in.md").exists()
    undo_of(app).buttons[UNDO].click()
    await app.until_true(lambda: not (project / "in.md").exists(), "it is undone")
    await app.until_true(lambda: app.page.toast.text.startswith("Undone"), "and that is said")
    app.page.pane._act("", f"{UNDO_CARD}{refused.part_id}")
    await app.until_true(lambda: "changed no files" in app.page.toast.text, "there is nothing of the other")


def undo_of(app):
    return next((one for one in app.window.findChildren(UndoDialog) if one.isVisible()), None)


async def _no_other_takes_it_over(app, project, first):
    header = app.page.pane.header
    app.page.new_chat()
    await app.until_true(lambda: header.mode.label == "asks each time", "a new chat asks")
    app.models.projects.use(str(project))
    app.say("hello")
    await app.until_true(lambda: app.models.chat.thread_id not in ("", first), "another chat")
    assert app.models.edge.mode == "ask", "it takes no mode over from the other"
    await app.until_true(app.page.pane.foot.composer.stop.isHidden, "the run is over")


async def _and_back(app, first):
    edge, header = app.models.edge, app.page.pane.header
    app.page.open(first)
    await app.until_true(lambda: header.mode.label == "at the edge", "the first one is as it was")
    edge.choose("ask")
    await app.until_true(lambda: header.mode.label == "asks each time", "and back, without a dialog")
    assert dialog_of(app) is None
    app.page.toast._undo.click()
    await app.until_true(lambda: header.mode.label == "at the edge", "Undo of the toast")
    edge.choose("ask")
    await app.until_true(lambda: header.mode.label == "asks each time", "and back once more")
    app.say("write later")
    assert (await app.asked()).arguments["path"] == "later.md"


@pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
@pytest.mark.spec("R-ASK-1", "R-PRJ-1")
async def test_the_mode_of_a_new_chat_is_chosen_before_its_first_message_and_kept_for_others_only_when_said(
    start, tmp_path: Path
):
    project, other = tmp_path / "person" / "tides", tmp_path / "person" / "other"
    project.mkdir(parents=True)
    other.mkdir()
    app = await start(HELLO, HELLO, HELLO)
    edge, header, projects = app.models.edge, app.page.pane.header, app.models.projects
    if edge._modes.unconfined():
        pytest.skip("nothing confines commands here")
    await edge._modes.set_explained()
    projects.use(str(project))
    await app.until_true(lambda: header.project.label == "tides", "the project")
    assert edge.usual == ("", False), "a chat that asks each time offers no default"
    edge.choose("edge")
    await app.until_true(lambda: header.mode.label == "at the edge", "before there is a thread")
    assert "without asking" in app.page.pane.empty.accessibleName(), "the empty chat does not say that it asks"
    projects.use(str(other))
    await app.until_true(lambda: header.mode.label == "asks each time", "another folder, another edge")
    assert "it asks you" in app.page.pane.empty.accessibleName()
    projects.use(str(project))
    await app.until_true(lambda: header.project.label == "tides", "and back")
    assert edge.mode == "ask", "nobody said that new chats here begin so"
    edge.choose("edge")
    await app.until_true(lambda: header.mode.label == "at the edge", "chosen again")
    app.say("hello")
    await app.answered("Hello there.")
    first = app.models.chat.thread_id
    assert (edge._modes.mode(first), edge.mode) == ("edge", "edge"), "its first call goes by it already"

    assert edge.usual == ("Begin new chats in tides at the edge", False)
    edge.set_usual(True)
    await app.until_true(lambda: edge.usual[1], "it is kept")
    app.page.new_chat()
    await app.until_true(lambda: header.mode.label == "asks each time", "without a folder there is no edge")
    projects.use(str(project))
    await app.until_true(lambda: header.mode.label == "at the edge", "the head shows it before anything is sent")
    edge.set_usual(False)
    await app.until_true(lambda: edge.usual == ("Begin new chats in tides at the edge", False), "taken back")

    app.page.open(first)
    await app.until_true(lambda: app.models.chat.thread_id == first and header.mode.label == "at the edge", "the first")
    await app.until_true(app.page.pane.foot.composer.stop.isHidden, "the run is over")
    projects.use(str(other))
    await app.until_true(lambda: header.mode.label == "asks each time", "the edge was that of the folder before")
    assert (await app.models.services.chats.thread(first)).mode == "ask"
