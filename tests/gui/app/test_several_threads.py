"""Threads of the list selected together, and threads that are archived."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from desktop.presenter.chat.thread_lines import ARCHIVED
from desktop.presenter.chat.threads import ThreadRole
from tests.gui.app.kit import HELLO, call
from tests.harness.windows import activated

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


async def with_threads(start: Callable[..., Any], count: int = 4) -> tuple[Any, list[str]]:
    app = await start(HELLO)
    service = app.models.threads._service
    ids = [(await service.create_thread(title=f"Chat {n}")).thread_id for n in range(count)]
    await app.until(lambda: all(rows(app)._threads.place(one) >= 0 for one in ids), "the threads")
    return app, [one for one in shown(app) if one in ids]


def rows(app: Any) -> Any:
    return app.page.threads.rows


def shown(app: Any) -> list[str]:
    """The ids of the listed threads, from the top."""
    model = rows(app).model()
    found = (model.index(at, 0).data(ThreadRole.ID) for at in range(model.rowCount()))
    return [one for one in found if one]


def click(app: Any, thread_id: str, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    view = rows(app)
    place = view.visualRect(view._threads.index(view._threads.place(thread_id)))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, keys, QPoint(40, place.center().y()))


async def test_clicks_and_keys_select_several_and_open_none(start: Callable[..., Any]) -> None:
    app, ids = await with_threads(start)
    click(app, ids[0])
    await app.until(lambda: app.models.chat.thread_id == ids[0], "the first one open")
    rows(app).selectionModel().clearSelection()
    rows(app).selectionModel().select(
        rows(app)._threads.index(rows(app)._threads.place(ids[1])), QItemSelectionModel.SelectionFlag.Select
    )
    click(app, ids[3], CTRL)
    assert rows(app).chosen == (ids[1], ids[3])
    click(app, ids[0])
    click(app, ids[2], SHIFT)
    assert rows(app).chosen == (ids[0], ids[1], ids[2])
    click(app, ids[0])
    rows(app).setFocus()
    QTest.keyClick(rows(app), Qt.Key.Key_Down, SHIFT)
    assert rows(app).chosen == (ids[0], ids[1])
    app.models.threads.refresh()
    await app.models.threads._service.pin(ids[3], True)
    await app.until(lambda: shown(app)[0] == ids[3], "another order")
    assert set(rows(app).chosen) == {ids[0], ids[1]}, "the same ones are selected when the list is read anew"
    QTest.keyClick(rows(app), Qt.Key.Key_A, CTRL)
    assert set(rows(app).chosen) == set(shown(app))
    assert app.models.chat.thread_id == ids[0]


async def test_several_are_deleted_pinned_and_exported_together_and_it_is_undone(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    app, ids = await with_threads(start)
    toast = app.page.toast
    click(app, ids[0])
    click(app, ids[1], SHIFT)
    QTest.keyClick(rows(app), Qt.Key.Key_Delete)
    await app.until(lambda: toast.text == "2 chats deleted", "the sentence")
    await app.until(lambda: not {ids[0], ids[1]} & set(shown(app)), "they are gone")
    await app.until(lambda: app.models.chat.thread_id == ids[2], "the neighbour of the open one")
    toast._undo.click()
    await app.until(lambda: set(ids) <= set(shown(app)), "they are back")
    app.models.threads.pin(ids[2], True)
    app.models.threads.act("pin", ids)
    await app.until(lambda: toast.text == "4 chats pinned", "the sentence")
    toast._undo.click()
    records = app.models.threads
    await app.until(lambda: [one.thread_id for one in records.threads if one.pinned] == [ids[2]], "as it was before")
    path = tmp_path / "chats.zip"
    app.models.threads.export(ids, str(path))
    await app.until(lambda: toast.text == "4 chats exported", "the file")
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == [f"Chat-{n}.md" for n in range(4)]


async def test_ctrl_z_that_is_still_held_brings_one_chat_back_and_chooses_only_it(start: Callable[..., Any]) -> None:
    app, ids = await with_threads(start)
    await activated(app.window)
    click(app, ids[0])
    await app.until(lambda: app.models.chat.thread_id == ids[0], "the one to delete")
    rows(app).setFocus()
    QTest.keyClick(rows(app), Qt.Key.Key_Delete)
    await app.until(lambda: rows(app).currentIndex().data(ThreadRole.ID) == ids[1], "its neighbour is marked")
    await app.until(lambda: app.page.toast.text.endswith("deleted"), "the sentence")
    assert rows(app).hasFocus()
    QTest.keyPress(app.window.windowHandle(), Qt.Key.Key_Z, CTRL)
    assert QGuiApplication.keyboardModifiers() == CTRL, "held until it is back"
    await app.until(lambda: rows(app).currentIndex().data(ThreadRole.ID) == ids[0], "it is back and open")
    QTest.keyRelease(app.window.windowHandle(), Qt.Key.Key_Z)
    assert rows(app).chosen == ()
    assert [index.data(ThreadRole.ID) for index in rows(app).selectedIndexes()] == [ids[0]]
    QTest.keyClick(rows(app), Qt.Key.Key_Delete)
    assert set(ids[1:]) <= set(shown(app)), "nobody chose the others"
    assert ids[0] not in shown(app)


async def test_after_deleting_the_empty_message_field_leaves_ctrl_z_to_the_toast(start: Callable[..., Any]) -> None:
    app, ids = await with_threads(start, 1)
    await activated(app.window)
    toast, text = app.page.toast, app.composer.text
    text.setFocus()
    app.models.threads.delete(ids[0])
    await app.until(lambda: toast.text.endswith("deleted"), "the sentence")
    assert text.hasFocus()
    assert toast.spoken.endswith("Ctrl+Z takes it back."), "it is read aloud where it works"
    QTest.keyClick(text, Qt.Key.Key_Z, CTRL)
    await app.until(lambda: ids[0] in shown(app), "it is back")
    assert not toast.isVisible()
    app.models.threads.delete(ids[0])
    await app.until(lambda: toast.isVisible() and "delete threads" not in app.bridge.task_names, "the sentence again")
    text.setFocus()
    QTest.keyClicks(text, "abc")
    assert toast.spoken == toast.text
    QTest.keyClick(text, Qt.Key.Key_Z, CTRL)
    assert toast.isVisible(), "what is typed comes first"


LONG = [{"text": "One. "}, {"wait": 600}, {"text": "Two."}]


async def at_work(start: Callable[..., Any]) -> tuple[Any, str, str]:
    """A chat that waits for an answer, and one whose model goes on talking."""
    app = await start(call("write_file", path="a.txt", content="x"), LONG)
    app.say("Write it")
    await app.asked()
    asks = app.models.chat.thread_id
    app.page.new_chat()
    await app.until(lambda: app.models.chat.thread_id == "", "a new chat")
    app.say("Talk")
    await app.until(lambda: "One." in app.text, "words")
    talks = app.models.chat.thread_id
    await app.until(lambda: {asks, talks} <= set(shown(app)), "both listed")
    return app, asks, talks


async def test_deleting_one_or_several_stops_what_works_there_says_so_and_is_undone(start: Callable[..., Any]) -> None:
    app, asks, talks = await at_work(start)
    toast, listed = app.page.toast, []
    click(app, asks)
    click(app, talks, SHIFT)
    app.models.threads.rearranged.connect(lambda: listed.append({asks, talks} & set(shown(app))))
    QTest.keyClick(rows(app), Qt.Key.Key_Delete)
    assert not {asks, talks} & set(shown(app)), "gone at once"
    await app.until(lambda: toast.text == "2 chats deleted, 2 runs stopped", "the sentence")
    assert app.models.approvals.requests == ()
    assert not any(listed), "and no reading of the list brings them back for a moment"
    await app.until(lambda: app.models.chat.thread_id == "", "a new chat")
    assert app.composer.text.hasFocus(), "nothing is left in the list"
    toast._undo.click()
    await app.until(lambda: {asks, talks} <= set(shown(app)), "they are back")
    await app.until(lambda: app.models.chat.thread_id == asks, "and the one that was open is open")
    title = next(one.title for one in app.models.threads.threads if one.thread_id == talks)
    app.page.threads._menu(talks).actions()[3].trigger()
    await app.until(lambda: toast.text == f"“{title}” deleted", "the sentence, with nothing that worked")
    toast._undo.click()
    await app.until(lambda: talks in shown(app), "it is back")


async def test_what_is_typed_in_the_neighbour_stays_there_when_the_deleted_chat_comes_back(
    start: Callable[..., Any],
) -> None:
    app, ids = await with_threads(start)
    click(app, ids[0])
    await app.until(lambda: app.models.chat.thread_id == ids[0], "the one to delete")
    loaded: list[str] = []
    app.models.chat.draft_loaded.connect(lambda _: loaded.append(app.models.chat.thread_id))
    app.models.threads.delete(ids[0])
    await app.until(lambda: app.page.toast.text.endswith("deleted") and ids[1] in loaded, "its neighbour")
    loaded.clear()
    QTest.keyClicks(app.composer.text, "for the neighbour")
    app.page.toast._undo.click()
    await app.until(lambda: loaded == [ids[0]], "it is back and open")
    assert app.composer.text.toPlainText() == ""
    click(app, ids[1])
    await app.until(lambda: app.composer.text.toPlainText() == "for the neighbour", "what was typed there")


async def test_what_waits_in_an_archived_chat_shows_in_the_folded_line(start: Callable[..., Any]) -> None:
    app, asks, talks = await at_work(start)
    app.models.threads.act("archive", (asks, talks))
    model = rows(app).model()
    await app.until(lambda: shown(app) == [], "both put away")
    last = model.index(model.rowCount() - 1, 0)
    assert last.data(ThreadRole.STATE) == "waiting"
    (request,) = app.models.approvals.requests
    app.models.approvals.answer(request.request_id, "deny", digest=request.digest)
    await app.until(lambda: last.data(ThreadRole.STATE) != "waiting", "answered")


async def test_what_is_archived_is_folded_found_and_comes_back(start: Callable[..., Any]) -> None:
    app, ids = await with_threads(start)
    menu = app.page.threads._menu(ids[1])
    next(action for action in menu.actions() if action.text() == "Archive").trigger()
    await app.until(lambda: ids[1] not in shown(app), "it is out of the list")
    model = rows(app).model()
    last = model.index(model.rowCount() - 1, 0)
    assert (last.data(), last.data(ThreadRole.JOB)) == ("Archived", ARCHIVED)
    assert last.data(Qt.ItemDataRole.AccessibleTextRole) == "Archived, 1 chat, folded"
    rows(app).setCurrentIndex(last)
    QTest.keyClick(rows(app), Qt.Key.Key_Right)
    assert shown(app)[-1] == ids[1], "unfolded it is there"
    title = next(one.title for one in app.models.threads.threads if one.thread_id == ids[1])
    hits = await app.models.threads._service.search(title)
    assert ids[1] in [hit.thread_id for hit in hits], "search finds it"
    menu = app.page.threads._menu(ids[1])
    next(action for action in menu.actions() if action.text() == "Take out of the archive").trigger()
    await app.until(lambda: model.index(model.rowCount() - 1, 0).data() != title, "it is back")
    assert ids[1] in shown(app)
    app.models.threads.act("archive", (ids[1],))
    await app.until(lambda: app.models.threads.is_archived(ids[1]), "away again")
    app.page.open(ids[1])
    await app.until(lambda: app.models.chat.thread_id == ids[1], "it is open")
    app.say("hello again")
    await app.until(lambda: not app.models.threads.is_archived(ids[1]), "writing in it brings it back")
