"""A persistent agent that waits is shown as such, and a person writes to it in its chat."""

import asyncio
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication

from desktop.ui.chat.inbox_strip import InboxDialog
from tests.gui.app.kit import call
from tests.harness.timeouts import WAIT_S

SKILL = "---\nname: {}\ndescription: x\nallowed-tools: {}\nmetadata:\n  model: {}\n---\nKeep.\n"
AGENT = "name: {}_agent\ntitle: {}\ndescription: Keeps.\nsideA: {{prompt: {}}}\n"


def write(home: Path, name: str, model: str, tools: str = "read-file") -> None:
    """An agent and its prompt."""
    for folder in ("skills", "agents"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    (home / "skills" / f"{name}.skill.md").write_text(SKILL.format(name, tools, model))
    (home / "agents" / f"{name}.yaml").write_text(AGENT.format(name, name.title(), name))


def dialog_of(app):
    found = [one for one in app.window.findChildren(InboxDialog) if one.isVisible()]
    return found[0] if found else None


@pytest.mark.spec("D-10", "R-PER-6")
async def test_the_agent_of_a_chat_waits_below_its_answer_and_hears_what_is_written(start, tmp_path):
    write(tmp_path / "home", "keeper", "{persistent: true}")
    app = await start([{"text": "One."}], [{"text": "Two."}])
    app.models.chat.set_agent("keeper_agent")
    app.say("begin")
    strip = app.page.pane.inbox_strip
    await app.until(strip.isVisible, "the strip")
    assert strip.words == "Keeper stays at work and waits for a message."
    assert app.models.chat.run_state.sentence == "Keeper: waiting for a message"
    assert not app.items[list(app.items)[-1]].live, "its answer is whole"
    assert app.composer._send.text() == "Send", "nothing is queued"
    thread = app.models.chat.thread_id
    assert app.models.board.state(thread).mark == "", "nothing turns in the list"
    strip.address.click()
    assert QGuiApplication.clipboard().text() == thread
    app.page.pane.transcript.setFocus()
    strip.button.click()
    assert app.window.focusWidget() is app.composer.text
    app.say("and now")
    await app.until(lambda: "Two." in app.text and strip.isVisible(), "the second answer")
    assert app.text.index("One.") < app.text.index("and now") < app.text.index("Two.")
    assert app.running
    app.models.chat.stop()
    await app.until(lambda: not app.running, "the end")
    assert not strip.isVisible()


@pytest.mark.spec("D-10")
async def test_an_agent_that_works_on_a_skill_is_written_to_in_a_dialog(start, tmp_path):
    write(tmp_path / "home", "boss", "{}", "watcher")
    (tmp_path / "home" / "skills" / "watcher.skill.md").write_text(
        SKILL.format("watcher", "read-file", "{persistent: true}")
    )
    app = await start(call("watcher"), [{"text": "I watch."}], [{"text": "I heard."}])
    app.models.chat.set_agent("boss_agent")
    app.say("begin")
    strip = app.page.pane.inbox_strip
    await app.until(strip.isVisible, "the strip")
    assert strip.words == "watcher stays at work and waits for a message."
    strip.button.click()
    dialog = dialog_of(app)
    assert app.window.focusWidget() is dialog.area
    assert not dialog.buttons["yes"].isEnabled()
    dialog.area.setPlainText("Look left.")
    dialog.buttons["yes"].click()
    traced = app.startup._services.store.traces
    run_id = app.models.board.state(app.models.chat.thread_id).run_id

    async def heard():
        kept = await traced.kept(run_id=run_id)
        return any("I heard." in str(entry) for entry in kept)

    async with asyncio.timeout(WAIT_S):
        while not await heard():
            await asyncio.sleep(0.02)
    app.models.chat.stop()
    await app.until(lambda: not app.running, "the end")
