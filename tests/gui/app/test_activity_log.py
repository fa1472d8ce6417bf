"""The activity log in the whole app: from a call to its entry, back to the call, and a log that somebody changed."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel

from desktop.app.commands.audit_check import follow
from desktop.presenter.approvals.activity import DELETED
from desktop.presenter.approvals.activity_words import BROKEN
from desktop.ui.approvals.activity.table import ROW
from tests.gui.app.kit import call
from tests.unit.store.auditing import unguarded

LONG = [{"text": "A paragraph of an answer that is long enough to scroll. " * 12 + "\n\n"} for _ in range(12)]


def rows(tab: Any) -> list[Any]:
    return [tab.model.index(at).data(ROW) for at in range(tab.model.rowCount())]


async def activity_of(app: Any) -> Any:
    """The Activity tab, with all that was written in it."""
    app.startup._shell.go("approvals")
    page = app.window.page("approvals")
    page.show_tab("activity")
    await app.until_true(lambda: rows(page.activity) and "read activity" not in app.bridge.task_names, "the activity")
    return page.activity


@pytest.mark.spec("R-PRM-13", "R-PRM-12")
async def test_from_an_entry_of_the_log_one_comes_to_the_card_of_its_call_and_to_its_file(start, tmp_path):
    app = await start(
        [*LONG, *call("write_file", path="notes.txt", content="hello")],
        [*LONG, *call("read_file", path="/etc/shadow")],
        [*LONG, {"text": "the end"}],
    )
    app.say("go")
    request = await app.asked()
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("the end")
    tab = await activity_of(app)

    def settled() -> bool:
        return [row.entry.outcome for row in rows(tab) if not row.note] == ["denied", "done"]

    await app.until_true(settled, "both outcomes")
    refused, allowed, start_line = rows(tab)
    assert (refused.entry.tool, refused.entry.decision, refused.entry.by) == ("read-file", "refused", "boundary")
    assert (allowed.entry.tool, allowed.entry.by, start_line.kind) == ("write-file", "user", "start")

    tab.list.setCurrentIndex(tab.model.index(1))
    tab.show_row(allowed)
    tab.detail.open_thread.click()
    transcript = app.page.pane.transcript
    await app.until_true(lambda: app.startup._shell.page == "chats" and transcript.isVisible(), "the thread")

    def card_seen() -> bool:
        for index, top in transcript.visible():
            message = transcript.page.messages[index]
            for piece, y, _ in message.pieces():
                if getattr(getattr(piece, "part", None), "call_id", "") == allowed.entry.call_id:
                    return top + y >= 0 and top + y + piece.height <= transcript.viewport().height()
        return False

    await app.until_true(card_seen, "the card of the call")
    assert app.models.chat.thread_id == allowed.entry.thread_id

    app.models.approvals.activity.export(str(tmp_path / "log.jsonl"), "jsonl")
    await app.until_true((tmp_path / "log.jsonl").exists, "the export")
    report = follow((tmp_path / "log.jsonl").read_bytes().splitlines(keepends=True))
    assert report.chain.whole
    app.models.threads.delete(allowed.entry.thread_id)
    await app.until_true(
        lambda: allowed.entry.thread_id not in {t.thread_id for t in app.models.threads.threads}, "gone"
    )
    tab = await activity_of(app)
    tab.detail.open_thread.click()
    await app.until_true(lambda: tab.toast.text == DELETED, "that the thread is gone")


@pytest.mark.spec("R-PRM-13")
@pytest.mark.expects_log("the activity log is not as it was left")
async def test_a_log_that_was_cut_and_changed_while_the_app_was_closed_is_told_at_the_start(start):
    app = await start(
        call("list_directory", path="."),
        [{"text": "one"}],
        call("list_directory", path="."),
        [{"text": "two"}],
        joined=True,
    )
    await app.until_true(lambda: app.models.approvals.activity.report is not None, "the check of the start")
    assert app.models.approvals.activity.report.whole
    for word in ("one", "two"):
        app.say("go")
        await app.answered(word)
    database = app.home.database
    await app.end()
    with unguarded(database) as connection:
        connection.execute("UPDATE audit SET line = replace(line, 'list', 'lose') WHERE seq = 2")
        connection.execute("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)")

    again = await start([{"text": "hello"}], joined=True)
    await again.until_true(lambda: again.banner == BROKEN, "the banner")
    tab = await activity_of(again)
    assert tab.notice.isVisible()
    tab.notice.details.click()
    await again.until_true(lambda: any(label.isVisible() for label in tab.detail.findChildren(QLabel)), "the details")
    words = "\n".join(label.text() for label in tab.detail.findChildren(QLabel))
    assert "Entry 2 is not what Assent wrote" in words
    assert "Entry 3 is missing at the end" in words
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        assert connection.execute("SELECT count(*) FROM audit WHERE kind = 'break'").fetchone() == (1,)
