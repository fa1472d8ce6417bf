"""The whole app on its own loop, with a scripted model: what a person sees, allows and denies, and finds again."""

import asyncio
from pathlib import Path

import pytest

from tests.gui.app.kit import HELLO, Running, call, unoffered


@pytest.mark.spec("R-UI-1", "R-UI-11", "R-LOOP-5")
async def test_a_person_writes_and_an_answer_streams_in_and_is_there_after_a_restart(start):
    app = await start(HELLO)
    app.say("Good morning")
    await app.answered("Hello there.")
    await app.end()
    again = await start()
    await again.until(lambda: "Hello there." in again.text, "the old answer")
    assert "Good morning" in again.text


@pytest.mark.spec("R-PRM-1", "R-PRM-5", "R-BLT-3")
async def test_a_write_waits_for_the_person_and_then_writes_exactly_what_was_shown(start):
    app = await start(call("write_file", path="notes/a.txt", content="exactly this"), [{"text": "Written."}])
    target = app.home.path / "workspace" / "notes" / "a.txt"
    app.say("write it")
    request = await app.asked()
    assert not target.exists()
    assert request.preview["after"] == "exactly this"
    assert app.calls[0].state == "waiting"
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Written.")
    assert target.read_text() == "exactly this"


@pytest.mark.spec("R-PRM-4", "R-PRM-3")
async def test_a_denied_write_writes_nothing_and_the_model_hears_why(start):
    app = await start(call("write_file", path="a.txt", content="x"), [{"text": "As you wish."}])
    app.say("write it")
    request = await app.asked()
    app.models.approvals.answer(request.request_id, "deny", digest=request.digest, reason="not today")
    await app.answered("As you wish.")
    assert not (app.home.path / "workspace" / "a.txt").exists()
    assert app.calls[0].state == "denied"
    assert "not today" in app.calls[0].result


@pytest.mark.spec("R-PRM-5", "R-FS-9")
async def test_a_file_that_changes_while_the_person_thinks_is_asked_about_again(start):
    app = await start(call("write_file", path="a.txt", content="new"), [{"text": "Done."}])
    target = app.home.path / "workspace" / "a.txt"
    target.write_text("old")
    app.say("write it")
    first = await app.asked()
    target.write_text("changed meanwhile")
    app.models.approvals.answer(first.request_id, "allow_once", digest=first.digest)
    await app.until(
        lambda: app.models.approvals.requests and app.models.approvals.requests[0].digest != first.digest, "asked again"
    )
    assert target.read_text() == "changed meanwhile"
    second = app.models.approvals.requests[0]
    assert second.stale
    assert second.preview["before"] == "changed meanwhile"
    app.models.approvals.answer(second.request_id, "allow_once", digest=first.digest)
    await asyncio.sleep(0.1)
    assert target.read_text() == "changed meanwhile", "an answer to the old request is void"
    app.models.approvals.answer(second.request_id, "allow_once", digest=second.digest)
    await app.answered("Done.")
    assert target.read_text() == "new"


@pytest.mark.spec("R-BLK-1", "R-FS-7")
async def test_what_may_never_be_is_refused_without_a_question(start):
    app = await start(
        call("bash", command="rm -rf /"),
        call("read_file", path="/etc/passwd"),
        call("write_file", path="../config.yaml", content="x"),
        [{"text": "Refused."}],
    )
    asked = []
    before = (await start_config(app)).read_text()
    app.say("try")
    app.models.approvals.asked.connect(asked.append)
    await app.answered("Refused.")
    assert [c.state for c in app.calls] == ["denied"] * 3
    assert asked == []
    assert (await start_config(app)).read_text() == before


async def start_config(app: Running) -> Path:
    return app.home.path / "config.yaml"


@pytest.mark.spec("R-BLT-2", "R-ENV-1")
async def test_a_command_asks_and_then_runs_in_the_workspace_with_a_small_environment(start, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "sk-host-secret")
    app = await start(call("bash", command="pwd; env"), [{"text": "Ran."}])
    app.say("run")
    request = await app.asked()
    assert request.tool == "bash"
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Ran.")
    result = app.calls[0].result
    assert str(app.home.path / "workspace") in result
    assert "sk-host-secret" not in result


@pytest.mark.spec("R-UI-8", "R-PRM-9")
async def test_quitting_while_a_request_waits_runs_nothing_and_who_goes_on_is_asked_again(start):
    app = await start([{"text": "I will write."}, *call("write_file", path="a.txt", content="x")])
    app.say("write it")
    await app.asked()
    await app.end()
    assert not (app.home.path / "workspace" / "a.txt").exists()
    again = await start([{"text": "Going on."}])
    await again.until(lambda: "I will write." in again.text, "what had come")
    assert any(item.can_continue for item in again.items.values())
    assert not any(part.state == "denied" for part in again.calls), "nobody said no"
    again.models.chat.continue_answer("")
    request = await again.asked()
    assert not (app.home.path / "workspace" / "a.txt").exists()
    again.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await again.answered("Going on.")
    assert (app.home.path / "workspace" / "a.txt").read_text() == "x"


@pytest.mark.spec("R-LOOP-13", "R-LOOP-3", "R-TOOL-2")
async def test_a_model_that_talks_nonsense_gets_errors_and_the_thread_goes_on(start):
    app = await start(
        [{"call": {"tool": "read_file", "arguments": "{oops"}}],
        unoffered("no_such_tool", x=1),
        call("read_file", path=7),
        [{"text": "I give up."}],
        [{"text": "All is well."}],
    )
    app.say("go")
    await app.answered("I give up.")
    assert [c.state for c in app.calls] == ["failed"] * 3
    broken, unknown, invalid = (c.result for c in app.calls)
    assert "not a JSON object" in broken
    assert "line 1" in broken, "what the parser says"
    assert "There is no tool named 'no_such_tool'" in unknown
    assert "path: 7 is not of type" in invalid
    app.say("and now?")
    await app.answered("All is well.")


async def test_a_mistake_in_the_settings_is_named_with_its_line_and_the_app_works_all_the_same(start, tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("models:\n  default: scripted/scripted\nappearance:\n  theme: purple\n")
    app = await start(HELLO)
    banner = app.window._banner
    assert banner is not None
    assert "line 4" in banner.words
    app.say("still there?")
    await app.answered("Hello there.")
    assert "purple" in (home / "config.yaml").read_text(), "the file is the person's"
