"""Settings, Other agents: nothing is on before it was seen, and what a person decides holds for that program alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shots.other_agents import SampleOtherAgents

from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.other_agents import OtherAgentRow, OtherAgentsViewModel
from desktop.ui.settings.other_agents.page import OtherAgentsPage
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.flowing import FlowRow
from tests.gui.shell.test_window import spin
from tests.harness.timeouts import until
from tests.unit.agents.acp.kit import desk

DIRECT = Qt.FindChildOption.FindDirectChildrenOnly


def shown(qtbot: QtBot, model: Any, chats: list[str] | None = None) -> OtherAgentsPage:
    made = OtherAgentsPage(model, (chats if chats is not None else []).append)
    qtbot.addWidget(made)
    made.resize(980, 1200)
    made.show()
    made.activateWindow()
    spin()
    assert model.calls == [("look",)], "it looks when it is opened, and does nothing else"
    model.calls.clear()
    return made


def words(page: OtherAgentsPage) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel))


def button(page: OtherAgentsPage, text: str) -> Button:
    spin()
    return next(one for one in page.findChildren(Button) if one.label == text and one.isVisible())


@pytest.mark.spec("R-ACP-1")
def test_a_switch_shows_first_what_the_agent_may_do_and_is_put_on_by_a_second_press(qtbot: QtBot, theme: Theme) -> None:
    model = SampleOtherAgents()
    page = shown(qtbot, model)
    gemini = page.lines()[1]
    assert not gemini.switch.isChecked()
    QTest.keyClick(gemini.switch, Qt.Key.Key_Space)
    assert model.calls == [], "nothing is on before it was seen"
    gemini = page.lines()[1]
    assert (gemini.is_open, gemini.switch.isChecked()) == (True, False)
    assert "Its own search and edits, which Assent cannot see one by one" in words(page)
    assert "~/.gemini" in words(page)
    line = gemini.findChild(FlowRow)
    assert len({2 * one.y() + one.height() for one in line.findChildren(QLabel, options=DIRECT)}) == 1, "one middle"
    gemini.agree.click()
    assert model.calls == [("switch", "gemini", True)]
    assert page.lines()[1].switch.isChecked()


@pytest.mark.spec("R-ACP-1")
def test_what_it_may_do_is_changed_where_it_stands(qtbot: QtBot, theme: Theme) -> None:
    model = SampleOtherAgents()
    chats: list[str] = []
    page = shown(qtbot, model, chats)
    page.lines()[0].fold.click()
    line = page.lines()[0]
    line.writes.click()
    page.lines()[0].network.setCurrentIndex(1)
    page.lines()[0].network.activated.emit(1)
    page.lines()[0].tools.setText("csv-clean deploy")
    page.lines()[0].tools.editingFinished.emit()
    page.lines()[0].place.setText("~/other")
    page.lines()[0].place.editingFinished.emit()
    assert model.calls == [
        ("agree", "opencode", {"writes": True}),
        ("agree", "opencode", {"network": False}),
        ("offer", "opencode", "csv-clean deploy"),
        ("work_in", "opencode", "~/other"),
    ]
    button(page, "New chat with it").click()
    assert chats == ["acp_opencode"]


@pytest.mark.spec("R-ACP-1")
def test_one_is_added_by_its_command_or_out_of_the_registry_and_a_refusal_is_said(qtbot: QtBot, theme: Theme) -> None:
    model = SampleOtherAgents()
    page = shown(qtbot, model)
    page.add.click()
    page.form.add.click()
    assert "A name is made of small letters" in words(page)
    page.form.name.setText("mine")
    page.form.line.setText("mine --acp")
    QTest.keyClick(page.form.line, Qt.Key.Key_Return)
    button(page, "Add, switched off")
    page._chosen("/home/ida/agents.json")
    entry = [one for one in page.findChildren(Button) if one.toolTip() == "Add Claude Code"]
    entry[0].click()
    assert model.calls == [
        ("add", "", "", ""),
        ("add", "mine", "mine --acp", ""),
        ("choose_registry", "/home/ida/agents.json"),
        ("add_from_registry", "claude-code-acp"),
    ]


@pytest.mark.spec("R-ACP-1")
async def test_what_is_agreed_to_holds_for_the_program_that_was_shown(qtbot: QtBot, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        agents = d.services.others.agents
        await agents.opened()
        bridge = Bridge()
        model = OtherAgentsViewModel(agents, bridge)
        refused: list[str] = []
        model.refused.connect(refused.append)
        program = d.workspace / "mine"
        program.write_text("#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
        model.add("Mine!", str(program))
        model.add("mine", '"open')
        model.add("mine", f"{program} --acp", "~/.mine")

        def row() -> OtherAgentRow | None:
            return next((one for one in model.rows if one.name == "mine"), None)

        await until(lambda: row() is not None, "the row is as it should be")
        assert len(refused) == 2
        first = row()
        assert first is not None
        assert (first.standing, first.on, first.added, first.command) == ("new", False, True, f"{program} --acp")
        model.agree(first, network=False)
        await until(lambda: row().standing == "off", "the row is as it should be")  # type: ignore[union-attr]
        model.switch(row(), True)  # type: ignore[arg-type]
        await until(lambda: row().on, "the row is as it should be")  # type: ignore[union-attr]
        assert (row().network, row().said[:2]) == (False, "on")  # type: ignore[union-attr]
        program.write_text("#!/bin/sh\nexit 4\n")
        model.agree(row(), writes=True)  # type: ignore[arg-type]
        await until(lambda: len(refused) == 3, "the row is as it should be")
        assert "has changed since it was shown" in refused[-1]
        assert row().standing == "changed"  # type: ignore[union-attr]
        model.agree(row(), writes=True)  # type: ignore[arg-type]
        await until(lambda: row().writes, "the row is as it should be")  # type: ignore[union-attr]
        assert not row().on, "another setting does not switch on what has changed"  # type: ignore[union-attr]
        await bridge.shutdown()


OPENCODE = {"binary": {"linux-x86_64": {"cmd": "./opencode", "args": ["acp"]}}}
GEMINI = {"npx": {"package": "@google/gemini-cli@1", "args": ["--acp"]}}
WISHES = {"A": "${keyring:assent/github-token}", "B": "${AWS_SECRET_ACCESS_KEY}", "C": "plain"}
AGENTS = [
    {"id": "opencode", "name": "OpenCode", "distribution": OPENCODE},
    {"id": "gemini-cli", "name": "Gemini CLI", "distribution": GEMINI},
    {"id": "Bad Id", "name": "x", "distribution": {"npx": {"package": "x"}}},
    {"id": "sneaky", "name": "x", "distribution": {"npx": {"package": "--eval=1"}}},
    {"id": "none", "name": "x", "distribution": {}},
    {"id": "gemini-helper", "name": "Helper", "distribution": {"npx": {"package": "helper", "env": WISHES}}},
    7,
]


@pytest.mark.spec("R-ACP-1")
async def test_a_saved_registry_says_what_would_run_and_fetches_nothing(qtbot: QtBot, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        agents = d.services.others.agents
        await agents.opened()
        bridge = Bridge()
        model = OtherAgentsViewModel(agents, bridge)
        refused: list[str] = []
        model.refused.connect(refused.append)
        (tmp_path / "registry.json").write_text(json.dumps({"version": "1.0.0", "agents": AGENTS}))
        (tmp_path / "odd.json").write_text("[" * 100_000)
        model.choose_registry(str(tmp_path / "odd.json"))
        await until(lambda: bool(refused), "the row is as it should be")
        assert "is no registry of agents" in refused[0]
        model.choose_registry(str(tmp_path / "registry.json"))
        await until(lambda: bool(model.registry), "the row is as it should be")
        found = [(one.name, one.command) for one in model.registry]
        assert found == [
            ("opencode", "opencode acp"),
            ("gemini-cli", "npx -y @google/gemini-cli@1 --acp"),
            ("gemini-helper", "C=plain npx -y helper"),
        ]
        known = {one.name: one for one in agents.registry}
        assert known["gemini-cli"].folders == ("~/.gemini",)
        assert (known["gemini-helper"].folders, known["gemini-helper"].env) == ((), {"C": "plain"})
        assert "Fetches a package" in model.registry[1].note
        model.add_from_registry("gemini-cli")
        await until(lambda: any(one.name == "gemini-cli" for one in model.rows), "the row is as it should be")
        assert not next(one for one in model.rows if one.name == "gemini-cli").on
        await bridge.shutdown()
