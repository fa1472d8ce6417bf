"""Limits of single tools and folders opened for this session, in the whole app."""

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.ui.settings.boundaries.grants import GrantsCard
from desktop.ui.settings.rows import SettingRow
from desktop.ui.settings.times_editor import TimesEditor
from tests.gui.app.kit import Running, call


def row(app: Running, page: str, key: str) -> SettingRow:
    app.startup._shell.go("settings")
    shown = app.window.page("settings")
    shown.show_settings(page)
    return next(one for one in shown.findChildren(SettingRow) if one.spec.key == key)


@pytest.mark.spec("R-TMO-1", "R-TMO-2")
async def test_a_tool_has_the_time_that_the_person_gave_it_and_keeps_it_over_a_restart(start):
    app = await start(call("bash", command="sleep 30"), [{"text": "Done."}])
    found = row(app, "Tools", "tools.timeouts")
    editor = found.findChild(TimesEditor)
    for name, seconds in (("read_file", "5"), ("bash", "soon"), ("bash", "1")):
        editor.tool.setText(name)
        editor.time.setText(seconds)
        editor.add.click()
        await asyncio.sleep(0)
        await app.until(lambda: "set tools.timeouts" not in app.bridge.task_names, "it is kept or refused")
        if seconds == "soon":
            assert "must be a number of seconds" in found._refusal.text()
    assert app.models.settings.get("tools.timeouts") == (("read-file", 5.0), ("bash", 1.0))
    assert "read-file: 5" in (app.home.path / "config.yaml").read_text()
    app.startup._shell.go("chats")
    app.say("run")
    request = await app.asked()
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Done.")
    assert "time limit of 1 s" in app.calls[0].result
    await app.end()
    again = await start()
    assert dict(again.models.settings.get("tools.timeouts"))["bash"] == 1


async def _opened(app, card, dialogs, given):
    card.field.setText(given)
    card.open_button.click()
    if given == "/":
        dialogs[-1].answer("cancel")
    else:
        dialogs[-1].buttons["open"].click()
    await app.until(lambda: "open a folder for this session" not in app.bridge.task_names, "it is opened or not")


@pytest.mark.spec("R-TOOL-4", "R-PRM-3", "R-FS-12", "R-FS-3")
async def test_a_folder_opened_for_this_session_asks_as_admin_each_time_and_is_closed_with_the_app(start, tmp_path):
    outside = tmp_path / "outside"
    (outside / "keys").mkdir(parents=True)
    (outside / "notes.txt").write_text("what is there")
    (outside / "keys" / "id").write_text("secret")
    read, secret = call("read_file", path=str(outside / "notes.txt")), call("read_file", path=str(outside / "keys/id"))
    write = call("write_file", path=str(outside / "new.txt"), content="x")
    app = await start(read, [{"text": "k"}], read, write, secret, [{"text": "k"}], read, [{"text": "k"}])
    settings = app.models.settings
    denied = (*settings.get("security.denied_paths"), str(outside / "keys"))
    settings.set("security.denied_paths", denied)
    settings.set("security.auto_approve_workspace_writes", True)
    await app.until(lambda: settings.get("security.denied_paths") == denied, "the setting")
    app.say("read")
    await app.answered("k")
    assert (app.calls[0].state, "outside the allowed folders" in app.calls[0].result) == ("denied", True)
    app.startup._shell.go("settings")
    page = app.window.page("settings")
    page.show_settings("Approvals")
    card = page.findChild(GrantsCard)
    dialogs: list = []
    card.asked.connect(dialogs.append)
    for given in ("relative", "/", str(tmp_path / "nothing-there"), str(outside)):
        await _opened(app, card, dialogs, given)
        assert app.models.grants.folders == ((str(outside),) if given == str(outside) else ()), given
    app.startup._shell.go("chats")
    app.say("again")
    for state in ("read-file", "write-file"):
        await app.until(lambda s=state: [r for r in app.models.approvals.requests if r.tool == s], state)
        (request,) = app.models.approvals.requests
        assert (request.category.value, "allow_run" in request.choices) == ("admin", False)
        assert "grant for this session" in request.raised_because
        app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
        await app.until(lambda r=request: r not in app.models.approvals.requests, "the answer")
    await app.until(lambda: not app.running and len(app.calls) == 4, "the end")
    assert (outside / "new.txt").read_text() == "x"
    assert "what is there" in app.calls[1].result
    assert (app.calls[3].state, "denied path" in app.calls[3].result) == ("denied", True), "what is denied stays denied"
    app.models.grants.close(str(outside))
    app.say("and now")
    await app.until(lambda: not app.running and len(app.calls) == 5, "the end")
    assert app.calls[4].state == "denied"
    app.models.grants.open(str(outside))
    await app.until(lambda: app.models.grants.folders, "open once more")
    text = (app.home.path / "config.yaml").read_text()
    await app.end()
    assert str(outside) + "\n" not in text.replace(str(outside / "keys"), "")
    again = await start()
    assert again.models.grants.folders == ()


@pytest.mark.spec("R-PRM-5", "R-FS-12")
async def test_a_folder_closed_between_request_and_answer_is_closed(start, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    app = await start(call("write_file", path=str(outside / "a.txt"), content="x"), [{"text": "k"}])
    app.models.grants.open(str(outside))
    await app.until(lambda: app.models.grants.folders, "open")
    app.say("write")
    request = await app.asked()
    app.models.grants.close(str(outside))
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("k")
    assert (app.calls[0].state, list(outside.iterdir())) == ("denied", [])


@pytest.mark.spec("R-ENV-9", "R-BLK-6", "R-BLK-7", "C-28")
async def test_what_opens_something_says_so_beside_it_and_a_pattern_that_is_none_is_refused(start):
    app = await start([{"text": "Hello."}])
    names = row(app, "Tools", "tools.env_allowlist")
    assert names._warning.isHidden()
    before = app.models.settings.get("tools.env_allowlist")
    names.control.edited.emit((*before, "MY_API_KEY"))
    await app.until(lambda: not names._warning.isHidden(), "the warning")
    assert "MY_API_KEY may hold a secret" in names._warning.words
    writes = row(app, "Approvals", "security.auto_approve_workspace_writes")
    assert (app.models.settings.get(writes.spec.key), writes._warning.isHidden()) == (False, True)
    QTest.mouseClick(writes.control.widget, Qt.MouseButton.LeftButton)
    await app.until(lambda: not writes._warning.isHidden(), "the warning")
    assert "without asking you" in writes._warning.words
    patterns = row(app, "Approvals", "security.blocklist_extra")
    patterns.control.edited.emit(("(unfinished",))
    await app.until(lambda: not patterns._refusal.isHidden(), "the refusal")
    assert "no regular expression" in patterns._refusal.text()
    assert app.models.settings.get("security.blocklist_extra") == ()
    assert [value for value, _ in row(app, "Approvals", "security.rm_without_recursion").spec.choices] == [
        "block",
        "ask",
    ]
