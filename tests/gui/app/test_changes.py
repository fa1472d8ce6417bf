"""What agents changed, in the running app: told after Allow, shown beside the thread, undone, and undone again."""

import asyncio
import os

import pytest

from desktop.domain.approval.audit import AuditFilter
from desktop.ui.changes.preview import UNDO, UndoDialog
from tests.gui.app.kit import call


def dialog_of(app) -> UndoDialog | None:
    return next((one for one in app.window.findChildren(UndoDialog) if one.isVisible()), None)


async def undone(app, act) -> None:
    """Undo what a click shows, once it was compared."""
    act()
    await app.until(lambda: dialog_of(app), "the undo is shown")
    dialog = dialog_of(app)
    assert dialog is not None
    dialog.buttons[UNDO].click()


@pytest.mark.spec("R-UND-2", "R-UND-3")
async def test_a_write_that_was_allowed_is_told_shown_undone_and_undone_again(start):
    rounds = (
        call("write_file", path="notes.md", content="one\nthree\n"),
        call("write_file", path="new/list.md", content="made\n"),
        [{"text": "Both are written."}],
    )
    app = await start(*rounds, joined=True)
    workspace = app.home.path / "workspace"
    (workspace / "notes.md").write_text("one\ntwo\n")
    app.say("Bring the notes up to date")
    for _ in range(2):
        request = await app.asked()
        app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Both are written.")
    toast = app.page.toast
    await app.until_true(lambda: toast.text == "list.md written.", "it is told what was written")

    app.startup._shell.run_command("undo")
    panel = app.page.side.changes
    await app.until_true(lambda: len(panel.calls.rows.lines) == 2, "both calls show")
    assert [(row.name.endswith(name), row.word) for row, name in zip(panel.files.rows.lines, NAMES, strict=True)] == [
        (True, "changed"),
        (True, "made"),
    ]
    panel.calls.select(0)
    await undone(app, panel.detail.call.click)
    await app.until_true(lambda: (workspace / "notes.md").read_text() == "one\ntwo\n", "the file is as it was")
    await app.until_true(lambda: len(panel.calls.rows.lines) == 3, "the undo is a row like others")
    assert panel.files.rows.lines[0].word == "undone, as at the beginning"
    assert panel.calls.rows.lines[0].note.startswith("undone at")

    assert toast.text.startswith("Undone: ")
    await undone(app, toast._undo.click)
    await app.until_true(lambda: (workspace / "notes.md").read_text() == "one\nthree\n", "the undo is undone")

    (workspace / "new" / "list.md").write_text("mine\n")
    await app.until_true(lambda: len(panel.calls.rows.lines) >= 4, "it is a row, too")
    await undone_since(app, panel)
    await app.until_true(lambda: (workspace / "notes.md").read_text() == "one\ntwo\n", "since here")
    assert (workspace / "new" / "list.md").read_text() == "mine\n", "what was changed by hand stays"
    await app.until_true(lambda: panel.calls.rows.lines[-1].undo_of or len(panel.calls.rows.lines) > 5, "its row")
    log = app.startup._services.store.audit
    while "" in (outcomes := [entry.outcome for entry in await undos_in(log)]):
        await asyncio.sleep(0.01)
    assert outcomes == ["done"] * 3
    assert {(entry.by, entry.decision) for entry in await undos_in(log)} == {("user", "allow_once")}
    assert os.listdir(workspace / "new") == ["list.md"]
    await app.end()
    await on_a_later_day(start, app, workspace)


async def on_a_later_day(start, app, workspace) -> None:
    """All of it is there, can be undone, and goes with the chat."""
    later = await start(home=app.home.path, joined=True)
    later.startup._shell.run_command("changes")
    panel = later.page.side.changes
    await later.until_true(lambda: len(panel.calls.rows.lines) == 6, "all of it is there on a later day")
    panel.calls.select(max(at for at, row in enumerate(panel.calls.rows.lines) if row.undo_of and row.can_undo))
    await undone(later, panel.detail.call.click)
    await later.until_true(lambda: (workspace / "notes.md").read_text() == "one\nthree\n", "and undone")
    kept = later.home.path / "data" / "changes" / "kept"
    assert len([path for path in kept.rglob("*") if path.is_file()]) == 3
    await later.startup._services.store.threads.delete(thread_id=later.models.chat.thread_id, at=1.0)
    await later.end()

    last = await start(home=app.home.path, joined=True)
    await last.until_true(lambda: not any(path.is_file() for path in kept.rglob("*")), "with a chat goes what was kept")


async def undos_in(log) -> list:
    """The undos in the activity log."""
    page = await log.page(AuditFilter(tool="undo"), limit=20)
    return [row.entry for row in page.rows]


async def undone_since(app, panel) -> None:
    panel.calls.select(0)
    await undone(app, panel.detail.since.click)


NAMES = ("notes.md", "new/list.md")


@pytest.mark.spec("R-UND-1", "R-SEC-4")
async def test_a_file_with_a_known_secret_is_changed_and_kept_nowhere(start):
    secret = "tide-4f9c27d1e8b05a36"
    rounds = (call("write_file", path="notes.md", content="no word any more\n"), [{"text": "Written."}])
    app = await start(*rounds, joined=True)
    app.startup._services.redactor.remember(secret)
    (app.home.path / "workspace" / "notes.md").write_text(f"the word is {secret}\n")
    app.say("Take the word out")
    request = await app.asked()
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Written.")
    assert (app.home.path / "workspace" / "notes.md").read_text() == "no word any more\n"
    app.startup._shell.run_command("changes")
    panel = app.page.side.changes
    await app.until_true(lambda: len(panel.calls.rows.lines) == 1, "it has its row")
    assert panel.calls.rows.lines[0].note == "a file of keys, not kept"
    assert not any(path.is_file() for path in (app.home.path / "data" / "changes").rglob("*"))


@pytest.mark.spec("R-UND-1", "R-UND-2")
async def test_what_a_command_did_is_undone_like_any_call(start):
    command = "printf 'new\n' > made.txt && mv old.txt moved.txt"
    app = await start(call("bash", command=command), [{"text": "Moved."}], joined=True)
    workspace = app.home.path / "workspace"
    (workspace / "old.txt").write_text("old\n")
    app.say("Move it")
    request = await app.asked()
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Moved.")
    assert sorted(path.name for path in workspace.iterdir()) == ["made.txt", "moved.txt"]
    app.startup._shell.run_command("undo")
    panel = app.page.side.changes
    await app.until_true(lambda: len(panel.calls.rows.lines) == 1, "the command has its row")
    assert panel.calls.rows.lines[0].icon == "terminal"
    panel.calls.select(0)
    await undone(app, panel.detail.call.click)
    await app.until_true(lambda: [path.name for path in workspace.iterdir()] == ["old.txt"], "all of it is undone")
    assert (workspace / "old.txt").read_text() == "old\n"
