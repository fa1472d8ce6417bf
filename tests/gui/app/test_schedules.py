"""Schedules in the whole app: a job is made on the page, tried, runs under its policy, and nothing unsaved is lost."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.presenter.chat.threads import ThreadRole
from desktop.ui.widgets.dialogs.base import Dialog
from tests.gui.app.kit import unoffered


async def page_of(app: Any) -> Any:
    app.startup._shell.go("schedules")
    await app.until_true(lambda: app.models.jobs.loaded, "the jobs")
    return app.window.page("schedules")


def write(page: Any, name: str, message: str, *, schedule: str = "0 9 * * mon-fri") -> None:
    page.new_job()
    QTest.keyClicks(page.form.name, name)
    page.form.message.setPlainText(message)
    page.form.schedule.selectAll()
    QTest.keyClicks(page.form.schedule, schedule)


@pytest.mark.spec("R-CRON-1", "R-CRON-2", "R-CRON-6")
async def test_a_job_made_on_the_page_runs_when_it_is_tried_but_for_what_it_may_not_do(start: Any) -> None:
    app = await start(unoffered("write_file", path="a.txt", content="x"), [{"text": "I could not."}], joined=True)
    page = await page_of(app)
    assert page._stack.currentWidget() is page._empty
    write(page, "Report", "Write a.txt.")
    jobs = app.models.jobs
    await app.until_true(lambda: len(jobs.next_times) == 5, "the next times")
    assert page.form.next.text().startswith("Next: ")
    QTest.mouseClick(page.save, Qt.MouseButton.LeftButton)
    await app.until_true(lambda: len(jobs.rows) == 1 and not jobs.dirty, "the job")
    assert page.rows.model().rowCount() == 1

    QTest.mouseClick(page.attempt, Qt.MouseButton.LeftButton)
    await app.answered("I could not.")
    assert app.startup._shell.page == "chats"
    app.startup._shell.go("schedules")
    await app.until_true(lambda: jobs.runs and jobs.runs[0].status == "done", "the end of its run")
    assert app.models.chat.thread_id == jobs.runs[0].thread_id
    job_of, run = app.models.threads.job_of, jobs.runs[0]
    await app.until_true(lambda: (found := job_of(run.thread_id)) and found.status == "done", "its end in the list")
    thread = next(t for t in app.models.threads.threads if t.thread_id == run.thread_id)
    assert (thread.label, thread.title.split(",")[0]) == ("job", "Report")
    pane = app.page.pane
    assert pane.header.job.label == "Job: done"
    assert "under your own rules" in pane.job_strip.words
    app.startup._shell.go("chats")
    jobs.open("")
    QTest.mouseClick(pane.header.job, Qt.MouseButton.LeftButton)
    assert (app.startup._shell.page, jobs.kept.name) == ("schedules", "Report")
    app.startup._shell.go("chats")
    rows, model = app.page.threads.rows, app.models.threads.model()
    at = model.place(run.thread_id)
    assert [model.index(at).data(role) for role in (ThreadRole.KIND, ThreadRole.UNFOLDED)] == ["job", False]
    rows.setFocus()
    rows.setCurrentIndex(model.index(at))
    QTest.keyClick(rows, Qt.Key.Key_Right)
    assert model.place(run.thread_id) == at + 1
    assert rows.currentIndex().row() == at
    QTest.keyClick(rows, Qt.Key.Key_Return)
    assert model.place(run.thread_id) == at
    app.models.chat.new_thread()
    await app.until_true(lambda: not pane.header.job.isVisible() and not pane.job_strip.isVisible(), "a chat's head")
    assert not app.models.approvals.requests
    assert not (app.home.path / "workspace" / "a.txt").exists()


async def test_what_is_wrong_stands_below_its_field_and_nothing_is_saved(start: Any) -> None:
    app = await start(joined=True)
    page = await page_of(app)
    write(page, "", "Do it.", schedule="0 99 * * *")
    jobs = app.models.jobs
    await app.until_true(lambda: jobs.problem_of("schedule"), "the problem")
    assert "99" in page.form.schedule.accessibleDescription()
    assert page.form.schedule.wrong
    assert not page.form.name.wrong
    QTest.keyClick(page.form.schedule, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await app.until_true(lambda: "was not saved" in page.toast.text, "the refusal")
    assert page.form.name.wrong
    assert (jobs.rows, jobs.dirty) == ((), True)
    page.form.schedule.setText("0 9 * * *")
    page.form.schedule.textEdited.emit("0 9 * * *")
    page.form.name.setText("Morning")
    page.form.name.textEdited.emit("Morning")
    QTest.keyClick(page.form.name, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await app.until_true(lambda: "is saved" in page.toast.text, "the job")
    await app.until_true(lambda: not (page.form.name.wrong or page.form.schedule.wrong), "fields without mistakes")


@pytest.mark.spec("R-CRON-2")
async def test_a_name_that_no_tool_has_is_said_below_the_field_and_the_job_can_be_saved(start: Any) -> None:
    app = await start(joined=True)
    page = await page_of(app)
    write(page, "Report", "Do it.")
    page.form.kind.set_value("listed")
    page.form.kind.chosen.emit("listed")
    page.form.tools.setPlainText("write_file")
    jobs = app.models.jobs
    await app.until_true(lambda: jobs.warning_of("policy.allowed_tools"), "the warning")
    assert "did you mean write-file?" in page.form.tools.accessibleDescription()
    page.form.ask_to_save()
    await app.until_true(lambda: len(jobs.rows) == 1 and not jobs.dirty, "the job")
    page.form.tools.setPlainText("write-file")
    await app.until_true(lambda: not jobs.warning_of("policy.allowed_tools"), "no warning")
    assert "did you mean" not in page.form.tools.accessibleDescription()


async def test_a_job_that_is_not_saved_is_asked_about_and_a_deleted_one_comes_back(start: Any) -> None:
    app = await start(joined=True)
    page = await page_of(app)
    write(page, "Kept", "Do it.")
    page.form.ask_to_save()
    jobs = app.models.jobs
    await app.until_true(lambda: len(jobs.rows) == 1 and not jobs.dirty, "the job")
    QTest.keyClicks(page.form.name, " and more")
    app.startup._shell.on_close()
    dialogs = [one for one in app.window.findChildren(Dialog) if one.isVisible()]
    assert len(dialogs) == 1
    assert app.quits == []
    QTest.keyClick(dialogs[0], Qt.Key.Key_Escape)
    assert jobs.dirty
    jobs.discard()
    assert page.form.name.text() == "Kept"

    page.rows.setFocus()
    QTest.keyClick(page.rows, Qt.Key.Key_Delete)
    await app.until_true(lambda: not jobs.rows and page.toast.isVisible(), "that it is gone")
    page.toast._undo.click()
    await app.until_true(lambda: len(jobs.rows) == 1, "that it is back")


async def test_a_job_is_paused_and_its_admin_calls_say_that_they_are_switched_off(start: Any) -> None:
    app = await start(joined=True)
    page = await page_of(app)
    write(page, "Risky", "Do it.")
    page.form.kind.chosen.emit("listed")
    page.form.tools.setPlainText("bash(command=git *)\nread-file")
    page.form.admin.setText("bash")
    page.form.admin.textEdited.emit("bash")
    assert app.models.jobs.draft.policy.allowed_tools == ("bash(command=git *)", "read-file")
    assert page.form.off.isVisibleTo(page)
    app.models.settings.set("security.admin_jobs", True)
    await app.until_true(lambda: app.models.jobs.admin_allowed, "the switch")
    page.form.fill()
    assert not page.form.off.isVisibleTo(page)
    page.form.ask_to_save()
    jobs = app.models.jobs
    await app.until_true(lambda: len(jobs.rows) == 1 and not jobs.dirty, "the job")
    page.pause.click()
    await app.until_true(lambda: not jobs.rows[0].job.enabled and jobs.rows[0].next_at is None, "the pause")
    assert page.pause.label == "Resume"
