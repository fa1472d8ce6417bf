"""An editor works with an Assent whose window is open: its questions stand in both, and the first answer counts."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from PySide6.QtCore import Qt

from desktop.app.door.host import Door
from desktop.app.home.instance import InstanceServer
from desktop.presenter.chat.threads import ThreadRole
from tests.end2end.editor import Editor, allow, editing
from tests.gui.app.kit import Running, call

WRITE = call("write_file", path="a.txt", content="hello\n")
DONE = [{"text": "Done."}]


@asynccontextmanager
async def open_to_editors(app: Running) -> AsyncIterator[None]:
    """The home's socket, as the whole program has it."""

    async def post(_to: str, _text: str) -> None: ...

    door = Door(app.app.rooms, window=True)
    server = InstanceServer(app.home.socket, None, post, receive=door.receive)
    await server.start()
    try:
        yield
    finally:
        await server.stop()
        await door.close("The test is over.")


@asynccontextmanager
async def editor_of(app: Running, answer: Callable[..., Any] = allow) -> AsyncIterator[tuple[Editor, str]]:
    async with open_to_editors(app), editing(app.home.path, answer) as editor:
        yield editor, await editor.begin(app.home.path / "workspace")


@pytest.mark.spec("R-ACP-3", "R-PRM-5")
@pytest.mark.expects_log("cancel_request")  # the SDK's client knows it not yet, and says so
async def test_an_answer_in_the_window_takes_the_question_from_the_editor_whose_late_answer_counts_as_nothing(start):
    app = await start(WRITE, DONE, [{"text": "Nothing."}])
    later: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with editor_of(app, lambda _call, _options: later) as (editor, session):
        going = asyncio.create_task(editor.say(session, "Write"))
        request = await app.asked()
        await editor.until(lambda: editor.asked)
        assert editor.asked[0]["meta"]["assent.digest"] == request.digest
        app.models.approvals.answer(request.request_id, "deny", digest=request.digest)
        assert await going == "end_turn"
        later.set_result("allow_once")
        assert await editor.say(session, "And now?") == "end_turn"
        assert not (app.home.path / "workspace" / "a.txt").exists()
        assert editor.states("call-1")[-1] == "failed"
        rows = app.models.threads.model()
        await app.until(lambda: rows.place(session) >= 0, "the thread in the list")
        line = rows.index(rows.place(session))
        assert rows.data(line, ThreadRole.ICON) == "code"
        assert rows.data(line, Qt.ItemDataRole.AccessibleTextRole).endswith(", from Zed")


@pytest.mark.spec("R-ACP-3")
async def test_an_answer_in_the_editor_takes_the_question_from_the_window(start):
    app = await start(WRITE, DONE)
    later: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with editor_of(app, lambda _call, _options: later) as (editor, session):
        going = asyncio.create_task(editor.say(session, "Write"))
        request = await app.asked()
        later.set_result("allow_once")
        assert await going == "end_turn"
        assert app.models.approvals.requests == ()
        assert (app.home.path / "workspace" / "a.txt").read_text() == "hello\n"
        app.models.approvals.answer(request.request_id, "deny", digest=request.digest)  # too late there, too
        app.models.chat.open_thread(session)
        await app.answered("Done.")
        assert [part.tool for part in app.calls] == ["write-file"]
        assert app.page.pane.header.editor.text() == "from Zed"


@pytest.mark.spec("R-ACP-3")
async def test_a_question_stays_in_the_window_when_its_editor_leaves_and_the_run_goes_on(start):
    app = await start(WRITE, DONE)
    never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with editor_of(app, lambda _call, _options: never) as (editor, session):
        going = asyncio.create_task(editor.say(session, "Write"))
        await editor.until(lambda: editor.asked)
        await editor.conn.close()
        with pytest.raises(ConnectionError):
            await going
    request = await app.asked()
    assert app.startup._services.askers.of(request) is None  # the editor is asked no more
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    app.models.chat.open_thread(session)
    await app.answered("Done.")
    assert (app.home.path / "workspace" / "a.txt").exists()


@pytest.mark.spec("R-ACP-3", "R-PRM-3")
async def test_what_is_too_long_to_be_read_in_an_editor_is_asked_in_the_window_alone(start):
    app = await start(call("write_file", path=".git/hooks/pre-commit", content="echo\n" * 100), DONE)
    async with editor_of(app) as (editor, session):
        going = asyncio.create_task(editor.say(session, "Run it"))
        request = await app.asked()
        assert request.category == "admin"
        await editor.until(lambda: "answered in Assent" in json.dumps(editor.told, ensure_ascii=False))
        app.models.approvals.answer(request.request_id, "deny", digest=request.digest)
        assert await going == "end_turn"
        assert editor.asked == []


@pytest.mark.spec("R-ACP-3")
async def test_what_a_person_says_in_the_window_is_seen_in_the_editor_that_has_the_thread_open(start):
    app = await start([{"text": "One."}], [{"text": "Two."}])
    async with editor_of(app) as (editor, session):
        await editor.say(session, "First")
        app.models.chat.open_thread(session)
        await app.answered("One.")
        app.say("Second")
        await app.answered("Two.")
        await editor.until(lambda: "Two." in editor.said())
        assert editor.said("user_message_chunk") == "Second"
        assert editor.said() == "One.Two."
