"""A chat with an agent of another maker: what is seen of it, its plan, its mode and model, its own words on cards."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shots.chat import _page
from shots.other_agents import SHOWN, other_items

from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.presenter.chat.other_agent import OtherAgentViewModel
from desktop.presenter.chat.page import ChatViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.transcript.build import tool_part
from desktop.presenter.transcript.live_threads import LiveThreads
from desktop.ui.chat.composer.pickers import OwnChoicePicker
from desktop.ui.chat.page import ChatPage
from desktop.ui.theme import Theme
from tests.gui.shell.test_window import spin
from tests.harness.timeouts import WAIT_MS, WAIT_S, until
from tests.unit.agents.acp.kit import desk


def shown(qtbot: QtBot) -> ChatPage:
    page = _page(other_items(), other=SHOWN)
    qtbot.addWidget(page)
    page.resize(1280, 800)
    page.show()
    spin()
    qtbot.waitUntil(lambda: "Run the tests" in words(page), timeout=WAIT_MS)  # it is shown in turns
    return page


def words(page: ChatPage) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel) if label.isVisible())


@pytest.mark.spec("R-ACP-1", "R-ACP-2")
def test_the_head_says_whose_agent_it_is_and_what_is_seen_of_it(qtbot: QtBot, theme: Theme) -> None:
    page = shown(qtbot)
    pane = page.pane
    assert pane.header.other.accessibleName() == "opencode, by ACP"
    said = "Not seen: works by itself in harbour-sensors, confined; its writes ask; reaches any address."
    assert said in words(page)
    page._models.other.shown = None  # type: ignore[misc]  # the sample has it as a field
    page._models.other.changed.emit()
    assert pane.header.other.isHidden()
    qtbot.waitUntil(pane.other_strip.isHidden, timeout=WAIT_MS)
    qtbot.waitUntil(pane.foot.plan.isHidden, timeout=WAIT_MS)


@pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
@pytest.mark.spec("R-ACP-1")
def test_its_plan_folds_and_its_mode_and_model_are_chosen_from_what_it_offers(qtbot: QtBot, theme: Theme) -> None:
    page = shown(qtbot)
    foot = page.pane.foot
    assert "2 of 4 done" in words(page)
    assert "Run the tests" in words(page)
    foot.plan.fold.click()
    assert "Run the tests" not in words(page)
    assert "Merge by station and time" in words(page), "folded, it says what is at work"
    composer = foot.composer
    assert (composer.mode.label, composer.model.label) == ("Build mode", "its own model")
    for button, kind in ((composer.mode, "mode"), (composer.model, "model")):
        button.click()
        (picker,) = [one for one in page.findChildren(OwnChoicePicker) if one.isVisible()]
        picker.chosen.emit("plan")
        picker.close()
        spin()
        assert page._models.other.calls[-1] == (kind, "plan")  # type: ignore[attr-defined]


@pytest.mark.spec("R-ACP-2")
def test_what_it_did_by_itself_has_a_card_in_its_own_words() -> None:
    call = ToolCallBlock("c", "acp-did", {"agent": "x", "says": "Grep append(", "kind": "search", "state": "completed"})
    facts = {"state": "done", "by_itself": "x", "bytes": 30}
    part = tool_part("m", call, ToolResultBlock("c", "acp-did", "x says that it is done.", facts=facts))
    assert (part.title, part.summary, part.own_words) == ("Search", "Grep append(", True)
    assert part.facts == ("by itself, confined",)
    plan = {
        "agent": "x",
        "says": "1 of 2 done",
        "kind": "plan",
        "state": "completed",
        "text": "done: Read\nnow: Change",
    }
    result = ToolResultBlock("c", "acp-did", plan["text"], facts={"state": "done", "plan_of": "x"})
    part = tool_part("m", ToolCallBlock("c", "acp-did", plan), result)
    assert (part.title, part.summary, part.facts, part.result) == ("Plan", "1 of 2 done", (), plan["text"])
    asked = tool_part("m", ToolCallBlock("c", "acp-asks", {"says": "Push it", "kind": "odd"}), None)
    assert (asked.title, asked.summary, asked.own_words) == ("asks: something", "Push it", False)


@pytest.mark.spec("R-ACP-1")
async def test_what_is_shown_is_what_the_running_agent_says(qtbot: QtBot, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.switched_on()
        bridge = Bridge()
        chat = ChatViewModel(d.services.chats, bridge, LiveThreads())
        model = OtherAgentViewModel(d.services.others, chat, bridge)
        chat.set_agent("acp_honest")
        await until(lambda: model.shown is not None, "the agent of the chat is known")
        assert chat.run_state.can_send, "it brings its own model"
        assert model.shown is not None
        assert (model.shown.title, model.shown.mode, model.shown.model) == ("Honest", "", "its own model")
        assert model.shown.not_seen == "works by itself in the workspace, confined; its writes ask; no network"
        await d.switched("honest", writes=True, network=True)
        said = "works by itself in the workspace, confined; its own writes do not ask; reaches any address"
        await until(lambda: model.shown is not None and model.shown.not_seen == said, "the head says what holds now")
        thread = await d.thread()
        await d.services.chats.send(thread, "plan Read | Change\nwait")
        chat.open_thread(thread)
        await until(lambda: model.shown is not None and bool(model.shown.plan), "its plan is shown")
        assert [(row.text, row.state) for row in model.shown.plan] == [("Read", "done"), ("Change", "now")]
        assert model.shown.plan_words == "1 of 2 done"
        assert [(row.name, row.is_current) for row in model.choices("mode")] == [
            ("Build mode", True),
            ("Plan mode", False),
        ]
        model.choose("mode", "plan")
        await until(lambda: model.shown is not None and model.shown.mode == "Plan mode", "the mode is another one")
        await d.services.chats.stop(thread)
        assert await d.services.chats.wait(thread, WAIT_S)
        await until(lambda: model.shown is not None and not model.shown.plan, "its work is over")
        chat.set_agent("assistant")
        await until(lambda: model.shown is None, "an agent of Assent's own has nothing of this")
        await bridge.shutdown()
