"""Approvals in the whole app: an edited call is looked at again, and log, card and disk tell the same story."""

import pytest

from desktop.domain.approval.permission import AuditEntry
from tests.gui.app.kit import Running, call, unoffered
from tests.harness.store import calls_noted

KEY = "sk-live-0123456789abcdef"


async def log_of(app: Running) -> list[AuditEntry]:
    """The activity log, oldest first, once each line has its outcome."""
    store = app.startup._services.store
    entries: list[AuditEntry] = []

    async def read() -> bool:
        entries[:] = [entry for _, entry in reversed(await calls_noted(store.audit))]
        return all(entry.outcome for entry in entries)

    for _ in range(1000):
        if await read():
            return entries
    raise AssertionError(f"never settled: {entries}")


@pytest.mark.spec("R-PRM-2", "R-PRM-5", "R-PRM-13")
async def test_a_call_edited_onto_another_file_shows_that_files_loss_before_it_is_written(start):
    app = await start(call("write_file", path="new.txt", content="short"), [{"text": "Written."}])
    important = app.home.path / "workspace" / "important.txt"
    important.write_text("years of work\n")
    app.say("write it")
    first = await app.asked()
    app.models.approvals.answer(
        first.request_id,
        "allow_edited",
        digest=first.digest,
        edited_arguments={"path": "important.txt", "content": "short"},
    )
    await app.until(lambda: [r for r in app.models.approvals.requests if r.original is not None], "the edited call")
    (second,) = app.models.approvals.requests
    assert important.read_text() == "years of work\n"
    assert (second.preview["before"], second.preview["new"]) == ("years of work\n", False)
    assert second.original == {"path": "new.txt", "content": "short"}
    assert app.calls[0].summary == "important.txt"
    app.models.approvals.answer(second.request_id, "allow_once", digest=second.digest)
    await app.answered("Written.")
    assert important.read_text() == "short"
    assert not (important.parent / "new.txt").exists()
    (card,) = app.calls
    assert (card.summary, "edited by you" in card.facts) == ("important.txt", True)
    assert "new.txt" in card.detail
    asked, ran = await log_of(app)
    assert (asked.decision, asked.outcome, asked.summary) == (
        "allow_edited",
        "asked again",
        '{"path": "new.txt", "content": "short"}',
    )
    assert (ran.decision, ran.outcome, ran.paths) == ("allow_once", "done", (str(important),))
    assert "new.txt" in ran.extra["original"]
    await app.end()
    again = await start()
    await again.until(lambda: again.calls, "the card after a restart")
    assert (again.calls[0].summary, "edited by you" in again.calls[0].facts) == ("important.txt", True)


@pytest.mark.spec("R-PRM-2", "R-PRM-5", "R-FS-7")
async def test_a_call_edited_out_of_the_boundary_comes_back_with_why_and_is_never_made_like_that(start, tmp_path):
    app = await start(call("write_file", path="new.txt", content="short"), [{"text": "Over."}])
    app.say("write it")
    outside = tmp_path / "outside.txt"
    for path in (str(outside), "mine.txt"):
        request, edited = await app.asked(), {"path": path, "content": "short"}
        app.models.approvals.answer(request.request_id, "allow_edited", digest=request.digest, edited_arguments=edited)
        await app.until(
            lambda edited=edited: [dict(r.arguments) for r in app.models.approvals.requests] == [edited], "asked again"
        )
        (again,) = app.models.approvals.requests
        assert (str(outside) in again.refused) == (path != "mine.txt")
        assert not outside.exists()
        assert list((app.home.path / "workspace").iterdir()) == []
    app.models.approvals.answer(again.request_id, "allow_once", digest=again.digest)
    await app.answered("Over.")
    assert [path.name for path in (app.home.path / "workspace").iterdir()] == ["mine.txt"]
    assert not outside.exists()


@pytest.mark.spec("R-PRM-13", "R-BLK-1", "R-FS-7", "R-TOOL-2")
async def test_the_log_lists_every_call_with_what_came_of_it(start):
    app = await start(
        call("list_directory"),
        call("read_file", path="/etc/passwd"),
        call("bash", command="rm -rf /"),
        call("read_file", path=7),
        unoffered("no_such_tool", x=1),
        call("write_file", path=".", content="x"),
        call("bash", command="exit 3"),
        [{"text": "Done."}],
    )
    app.say("go")
    request = await app.asked()
    assert request.tool == "bash"
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Done.")
    assert [(e.tool, e.decision, e.by, e.outcome) for e in await log_of(app)] == [
        ("list-directory", "allow_once", "setting", "done"),
        ("read-file", "refused", "boundary", "denied"),
        ("bash", "refused", "blocklist", "denied"),
        ("read-file", "refused", "schema", "failed, tool.validation"),
        ("no_such_tool", "refused", "unknown tool", "failed, not_found"),
        ("write-file", "refused", "pipeline", "failed, file.is_folder"),
        ("bash", "allow_once", "user", "failed, exit code 3"),
    ]


@pytest.mark.spec("R-SEC-1", "R-SEC-5")
async def test_a_key_that_the_model_says_reaches_neither_screen_nor_disk(start):
    pieces = [{"text": letter} for letter in f"Your key is {KEY}, keep it."]
    app = await start([*pieces, *call("list_directory", path=KEY)], [{"text": "So be it."}])
    app.startup._services.redactor.remember(KEY)
    app.say("what is my key?")
    await app.answered("So be it.")
    assert "Your key is [REDACTED], keep it." in app.text
    assert KEY not in repr(app.items)
    data = app.home.path / "data"
    await app.end()
    assert not [path for path in data.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


@pytest.mark.spec("R-PRM-7")
async def test_on_a_page_that_shows_no_requests_one_that_waits_is_told_and_approvals_opens_at_it(start):
    app = await start(call("write_file", path="new.txt", content="short"), [{"text": "It is not written."}])
    shell, window = app.startup._shell, app.window
    shell.go("approvals")
    window.page("approvals").show_tab("activity")
    shell.go("settings")
    app.models.chat.send("write it")
    request = await app.asked()
    await app.until_true(lambda: window._asked is not None and window._asked.isVisible(), "the notice")
    assert window._asked.words == "Assistant wants to call write-file. It waits for your answer."
    before = window.focusWidget()
    shell.go("chats")
    assert window._asked.isHidden(), "the chat shows it itself"
    shell.go("settings")
    assert window._asked.isVisible()
    window._asked.open.click()
    assert (shell.page, window.page("approvals").tabs.value) == ("approvals", "waiting")
    assert window._asked.isHidden()
    window.page("approvals").show_tab("activity")
    shell.go("settings")
    window._asked.close_button.click()
    assert window._asked.isHidden()
    shell.go("skills")
    assert window._asked.isHidden(), "it was put off"
    shell.go("approvals")
    assert window.page("approvals").tabs.value == "waiting", "where something waits, that is what is shown first"
    assert before is not window._asked
    app.models.approvals.answer(request.request_id, "deny", digest=request.digest)
    await app.until_true(lambda: not app.models.approvals.requests, "the answer")
    shell.go("chats")
    await app.answered("It is not written.")
    await app.end()
