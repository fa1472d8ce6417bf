"""The time in which a person thinks is charged to nobody; only they, the run's end or their own limit ends it."""

import asyncio
import time

import pytest
from PySide6.QtCore import Qt

from desktop.domain.approval.permission import AuditEntry
from tests.gui.app.kit import Running, call
from tests.harness.store import calls_noted

LIMIT = 2
"""Seconds a tool may take; the person takes longer."""
MARKS = """
frontmatter = {"name": "marks", "description": "Leaves a mark", "metadata": {"category": "read"}}


async def run(ctx, args):
    return await ctx.manager.invoke("bash", {"command": "touch mark"})
"""


async def entries(app: Running) -> list[AuditEntry]:
    return [entry for _, entry in await calls_noted(app.startup._services.store.audit, limit=10)]


@pytest.mark.spec("R-PRM-10", "R-TMO-1")
async def test_a_command_and_the_skill_around_it_have_their_whole_time_after_a_long_wait(start, tmp_path):
    skills = tmp_path / "home" / "skills"
    skills.mkdir(parents=True)
    (tmp_path / "home").chmod(0o700)
    (skills / "marks.skill.py").write_text(MARKS)
    app = await start(call("skill_invoke", ref="marks"), [{"text": "Done."}])
    app.models.settings.set("tools.bash.timeout_s", LIMIT)
    await app.until(lambda: app.models.settings.get("tools.bash.timeout_s") == LIMIT, "the setting")
    app.say("go")
    request = await app.asked()
    await asyncio.sleep(LIMIT + 0.2)
    assert app.models.approvals.requests == (request,)
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Done.")
    assert (app.home.path / "workspace" / "mark").exists(), app.calls
    (entry,) = [entry for entry in await entries(app) if entry.by == "user"]
    assert entry.extra["waited_s"] > LIMIT


@pytest.mark.spec("R-PRM-4", "R-PRM-9", "R-PRM-6")
async def test_with_a_limit_of_ones_own_a_request_that_nobody_answers_is_denied_and_a_late_answer_allows_nothing(start):
    app = await start(call("write_file", path="a.txt", content="x"), [{"text": "As you wish."}])
    settings = app.models.settings
    assert settings.get("security.approval_timeout_s") == 0, "off unless the person wants it"
    settings.set("security.approval_timeout_s", 0.3)
    await app.until(lambda: settings.get("security.approval_timeout_s") == 0.3, "the setting")
    app.say("write")
    request = await app.asked()
    box = app.startup._pages._dialog.dialog
    await app.until(lambda: not app.models.approvals.requests, "its end")
    assert not box.isVisible()
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("As you wish.")
    assert (app.calls[0].state, "nobody answered within 0.3 seconds" in app.calls[0].result) == ("denied", True)
    assert not (app.home.path / "workspace" / "a.txt").exists()
    (entry,) = await entries(app)
    assert (entry.decision, entry.by) == ("deny", "no_handler")


@pytest.mark.spec("R-PRM-10", "R-PRM-2")
async def test_a_clock_that_is_set_changes_neither_the_wait_nor_what_is_shown_of_it(start):
    """Times of day are only shown and written down; every wait is measured by the clock that nobody sets."""
    app = await start(call("write_file", path="a.txt", content="x"), [{"text": "Written."}])
    settings = app.models.settings
    settings.set("security.approval_timeout_s", 3600)
    await app.until(lambda: settings.get("security.approval_timeout_s") == 3600, "the setting")
    gate, at = app.startup._services.gate, time.time()
    day = [at + 86_400 * 365]
    gate._clock = lambda: day[0]
    app.say("write")
    request = await app.asked()
    day[0] = at - 86_400 * 365
    inbox = app.window.page("approvals").inbox.model
    inbox.clock = lambda: day[0]
    assert request.asked_at > at + 86_400
    row = inbox.data(inbox.index(0), Qt.ItemDataRole.AccessibleTextRole)
    assert "waits 0:00" in row
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Written.")
    (entry,) = await entries(app)
    assert 0 <= entry.extra["waited_s"] < 60
