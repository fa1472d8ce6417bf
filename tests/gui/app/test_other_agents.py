"""The whole app with agents of other makers: switched on in Settings, spoken to in a chat, asked about there."""

import sys
from dataclasses import replace

import pytest

from desktop.app.wiring.pages import NEW_AGENT
from desktop.tools.acp.known import AcpAgent
from desktop.ui.settings.other_agents.page import OtherAgentsPage
from tests.gui.app.kit import Heartbeat, Running
from tests.unit.agents.acp.kit import PACKAGES, PYTHON, SERVERS

NAMES = ("first", "second", "third")


async def with_agents(app: Running, *names: str, python: str = PYTHON) -> None:
    """Agents that a person added by their commands and has not looked at yet."""
    agents = app.startup._services.others.agents
    await agents.opened()
    for name in names:
        await agents.add(
            AcpAgent(name, name.capitalize(), python, (str(SERVERS / "honest.py"), PACKAGES), origin="added")
        )


async def switched_on(app: Running, name: str) -> None:
    agents = app.startup._services.others.agents
    row = agents.row(name)
    await agents.agree(name, replace(row.terms, on=True, network=False), row.program.digest)


@pytest.mark.spec("R-ACP-1", "R-ACP-2")
async def test_one_is_switched_on_spoken_to_and_asked_about_and_its_words_are_marked(start):
    app = await start()
    await with_agents(app, "first")
    app.startup._pages._shell.run_command("settings:Other agents")
    page = app.window.page("settings").findChild(OtherAgentsPage)
    await app.until_true(page.lines, "the agent in the list")
    page.lines()[-1].fold.click()
    page.lines()[-1].agree.click()
    await app.until_true(lambda: page.lines()[-1].row.on, "the agent is on")
    app.startup._shell.set_first_run(True)
    page.lines()[-1].chat.emit()
    await app.until(lambda: app.composer.agent.label == "First", "a new chat with it")
    assert app.composer.isVisible(), "nobody has to choose a model for an agent that has its own"
    assert app.page.pane.header.other.accessibleName() == "First, by ACP"
    app.say("plan Look | Write\ndid search Grep it\nwrite made.txt hello\nsay Written.")
    request = await app.asked()
    assert (request.tool, request.chain) == ("write-file", ("acp_first",))
    await app.until(app.page.pane.foot.plan.isVisible, "its plan")
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.answered("Written.")
    assert (app.home.path / "workspace" / "made.txt").read_text() == "hello"
    shown = [(call.title or call.tool, call.own_words) for call in app.calls]
    assert shown == [("Search", True), ("write-file", False), ("Plan", True)], "the plan stays as it was left"
    assert app.composer.mode.label == "Build mode"
    page._open.clear()
    page.refresh()
    app.page.pane.other_strip.more.click()
    assert app.startup._shell.page == "settings"
    assert page.lines()[-1].is_open, "what it may do is unfolded by the button of that name"
    assert page.lines()[-1].fold.hasFocus()
    app.startup._shell.run_command("new-chat")
    await app.until(lambda: not app.models.chat.thread_id, "a new chat")
    await app.until(lambda: app.composer.agent.label == "First", "the agent of the chat before")
    state = app.startup._pages._window_state
    await app.until(lambda: state.text(NEW_AGENT, "") == "acp_first", "the agent that is kept with it")
    await app.end()
    (app.home.path / "config.yaml").write_text("models: {}\n")
    again = await start()
    assert not again.startup._shell.first_run, "no page stands before chats that are there"
    await again.until(lambda: again.composer.agent.label == "First", "a new chat that was not sent keeps its agent")
    await again.end()


@pytest.mark.spec("R-ACP-4")
async def test_the_window_goes_on_while_three_of_them_start(start):
    app = await start()
    await with_agents(app, *NAMES, python=sys.executable)  # with all packages of its environment to look through
    for name in NAMES:
        await switched_on(app, name)
    chats = app.startup._services.chats
    threads = [(await chats.create_thread(agent=f"acp_{name}", model="")).thread_id for name in NAMES]
    with Heartbeat() as beat:
        for thread in threads:
            await chats.send(thread, "think hm\nplan a | b\nsay Here I am.\nread nothing")
        for thread in threads:
            assert await chats.wait(thread, 120)
    for thread in threads:
        assert "Here I am." in "".join(message.text for message in await chats.path(thread))
    print(beat.says("three agents of other makers start"))
    await app.end()
