"""The whole app on its own loop, with a scripted model: what a person sees, allows and denies, and finds again."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from desktop.app import shutdown, wiring
from desktop.app.composition import App, Hooks
from desktop.app.crash import CrashReporter
from desktop.app.home import Home, open_home
from desktop.presenter.bridge import Bridge
from desktop.presenter.transcript_items import ToolPart

HELLO = [{"text": "Hello "}, {"text": "there."}]


def call(tool: str, **arguments: Any) -> list[dict[str, Any]]:
    return [{"call": {"tool": tool, "arguments": arguments}}]


class Running:
    """One start of the app, and a person in front of it."""

    def __init__(self, home: Home, bridge: Bridge, window: Any, app: App, crashes: CrashReporter) -> None:
        self.home, self.bridge, self.window, self.app, self.crashes = home, bridge, window, app, crashes

    @property
    def models(self) -> Any:
        return self.page._models

    @property
    def page(self) -> Any:
        return self.window.page("chats")

    @property
    def items(self) -> dict[str, Any]:
        return self.page.pane._items

    @property
    def text(self) -> str:
        parts = [p for item in self.items.values() for p in item.parts]
        return "\n".join(getattr(p, "markdown", "") or getattr(p, "text", "") for p in parts)

    @property
    def calls(self) -> list[ToolPart]:
        return [p for item in self.items.values() for p in item.parts if isinstance(p, ToolPart)]

    def say(self, text: str) -> None:
        composer = self.page.pane.foot.composer
        composer.text.setPlainText(text)
        composer.submit()

    async def until(self, true: Callable[[], Any], what: str, seconds: float = 10.0) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not true():
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"never: {what}; shown: {self.text!r}, {self.calls}") from None

    async def answered(self, text: str) -> None:
        await self.until(lambda: text in self.text and not self.models.chat.run_state.running, text)

    async def asked(self) -> Any:
        await self.until(lambda: self.models.approvals.requests, "a request")
        return self.models.approvals.requests[0]

    async def end(self) -> None:
        assert await shutdown.end(self.app, self.bridge, self.crashes) == ()
        self.window.close_for_good()
        self.window.deleteLater()
        self.home.release()
        await asyncio.sleep(0.05)


@pytest.fixture
async def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theme: Any) -> AsyncIterator[Callable[..., Any]]:
    running: list[Running] = []
    script = tmp_path / "script.json"
    monkeypatch.setenv("ASSENT_SCRIPT", str(script))

    async def begin(*rounds: Any) -> Running:
        script.write_text(json.dumps({"rounds": list(rounds)}))
        home = open_home(tmp_path / "home")
        config = home.path / "config.yaml"
        if not config.exists():
            config.write_text("models:\n  default: scripted/scripted\n")
        window = wiring.make_window(home)
        window.show()
        bridge = Bridge()
        crashes = CrashReporter(home.logs)
        app = wiring.build(home, window, bridge, Hooks(crashes, lambda: None, window.show))
        made = Running(home, bridge, window, app, crashes)
        running.append(made)
        loaded = asyncio.Event()
        bridge.spawn(app.start(), name="start")
        await made.until(lambda: type(window.page("chats")).__name__ == "ChatPage", "the chat page")
        made.models.chat.loaded.connect(loaded.set)
        await asyncio.wait_for(loaded.wait(), 10)
        return made

    yield begin
    for made in running:
        if not made.home._lock.closed:
            await made.end()


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


@pytest.mark.spec("S6.5", "S6.10", "R-BLK-1", "R-FS-7")
async def test_what_may_never_be_is_refused_without_a_question(start):
    app = await start(
        call("bash", command="rm -rf /"), call("read_file", path="/etc/passwd"),
        call("write_file", path="../config.yaml", content="x"), [{"text": "Refused."}],
    )  # fmt: skip
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
async def test_quitting_while_a_request_waits_denies_it_and_the_next_start_offers_to_go_on(start):
    app = await start([{"text": "I will write."}, *call("write_file", path="a.txt", content="x")])
    app.say("write it")
    await app.asked()
    await app.end()
    assert not (app.home.path / "workspace" / "a.txt").exists()
    again = await start([{"text": "Going on."}])
    await again.until(lambda: "I will write." in again.text, "what had come")
    assert any(item.can_continue for item in again.items.values())
    again.models.chat.continue_answer("")
    await again.answered("Going on.")


@pytest.mark.spec("R-LOOP-13", "R-LOOP-3", "R-TOOL-2")
async def test_a_model_that_talks_nonsense_gets_errors_and_the_thread_goes_on(start):
    app = await start(
        [{"call": {"tool": "read_file", "arguments": "{oops"}}], call("no_such_tool", x=1),
        call("read_file", path=7), [{"text": "I give up."}],
    )  # fmt: skip
    app.say("go")
    await app.answered("I give up.")
    assert [c.state for c in app.calls] == ["failed"] * 3


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
