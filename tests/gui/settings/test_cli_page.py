"""Tools from tools.yaml on the settings page: a real file, a real service, a real process."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.domain.approval.consents import Consent
from desktop.pipeline.pipeline import Pipeline
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.cli_example import EXAMPLE
from desktop.presenter.settings.cli_tools import CliToolsViewModel
from desktop.presenter.skills.trying import SkillTrials
from desktop.safety.boundary.consents import Consents
from desktop.safety.confinement.environment import AllowlistEnvironment, needs_admin
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from desktop.services.skills.editing import SkillService
from desktop.services.skills.world import SkillWorld
from desktop.skills.catalogue.roots import SearchRoot
from desktop.supervision.tasks import TaskOwner
from desktop.tools.cli.services import CliServices
from desktop.tools.cli.tool import CliTool
from desktop.tools.cli.tools import CliTools
from desktop.tools.registry import ToolRegistry
from desktop.ui.settings.cli_tools.page import CliPage
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field, TextArea
from tests.harness.definitions import load_agents
from tests.harness.skills import open_fabric
from tests.harness.timeouts import until
from tests.unit.safety.boundary.test_closed_places import State
from tests.unit.safety.world import World

ROOT = Path(__file__).resolve().parents[3]
SAY = """\
tools:
  - name: say_it
    description: Prints a text.
    category: write
    cmd: printf
    args: ["%s", "{{text}}"]
    optional_args:
      times: ["{{times}}"]
    parameters:
      text: {type: string, description: What to print., maxLength: 20}
      times: {type: integer, minimum: 1, maximum: 9, optional: true}
  - name: run_code
    description: Runs a text.
    category: read
    cmd: sh
    args: ["-c", "{{code}}"]
    parameters:
      code: {type: string}
"""
WRONG = SAY + "  - name: bad\n    description: Nothing.\n    category: often\n    cmd: date\n"


class Shown:
    """The page over everything real, and the person who answers requests."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        world = self.world
        self.path = world.home / "tools.yaml"
        self.owner, self.bridge = TaskOwner(), Bridge()

        def settings() -> Any:
            return world.settings

        self.confinement = SystemConfinement(world.policy, settings)
        self.consents = Consents(world.policy, State())
        services = CliServices(
            world.reader,
            world.policy,
            self.confinement,
            AllowlistEnvironment(settings),
            GroupRunner(),
            settings,
            self.consents,
        )
        registry = ToolRegistry()
        self.service = CliTools(
            self.path,
            registry,
            lambda definition: CliTool(definition, services),
            needs_admin=needs_admin,
            opens=self.consents.judge,
        )
        self.consents.on_change(self.service.retell)
        self.fabric = open_fabric([SearchRoot(str(ROOT / "skills"), "library", "skills")])
        skills = SkillWorld(self.fabric, registry)
        gate = PermissionGate(self.bridge, TrustRules(), self._audit, settings)
        pipeline = Pipeline(skills.table, self.owner.spawn, trust=gate, skills=skills.side)
        skills.runs.pipeline = pipeline
        self.skills = skills
        agents = load_agents(ROOT / "resources" / "agents")
        service = SkillService(skills, pipeline, agents, mine=folder / "mine", trash=folder / "trash")
        self.approvals = ApprovalsViewModel(self.bridge, lambda text, limit: self._none())
        self.cli = CliToolsViewModel(self.service, SkillTrials(service, self.bridge), self.bridge)
        self.page: Any = None

    async def _audit(self, entry: Any) -> int:
        return 1

    async def _none(self) -> list[Any]:
        return []

    async def open(self, qtbot: QtBot, text: str) -> "Shown":
        if text:
            self.path.write_text(text)
        self.page = CliPage(self.cli)
        qtbot.addWidget(self.page)
        self.page.resize(1000, 760)
        self.page.show()
        await self.rest()
        return self

    async def rest(self) -> None:
        await asyncio.sleep(0.05)
        await until(lambda: not self.bridge.task_names and not self.cli._later.isActive(), "rest")
        await asyncio.sleep(0.02)

    async def end(self) -> None:
        await self.bridge.shutdown()
        await self.owner.close()
        await asyncio.to_thread(self.skills.close)
        self.confinement.close()

    @property
    def words(self) -> str:
        return "\n".join(label.text() for label in self.page.findChildren(QLabel) if label.isVisible())

    def button(self, label: str, number: int = 0) -> Button:
        return [b for b in self.page.findChildren(Button) if b.label == label and b.isVisible()][number]

    def type(self, text: str) -> None:
        """As if it was typed over everything."""
        self.page.editor.source.replace(text)
        self.cli.edited(text)


@pytest.fixture
async def shown(theme: Theme, tmp_path: Path) -> AsyncIterator[Shown]:
    made = Shown(tmp_path)
    yield made
    await made.end()


@pytest.mark.spec("R-CLI-1")
async def test_tools_in_force_and_entries_that_are_left_out_are_listed(shown: Shown, qtbot: QtBot) -> None:
    await shown.open(qtbot, WRONG)
    assert [row.name for row in shown.cli.rows] == ["say-it", "run-code"]
    assert "printf  %s  {{text}}  [{{times}}]" in shown.words
    assert "Some entries of tools.yaml have mistakes" in shown.words
    assert "bad (tools[2]).category" in shown.words
    assert "Every call asks you, as an admin call: sh runs what {{code}} says." in shown.words
    assert shown.words.count("It has no network: a tool that says it reads, and takes free text") == 1


async def test_a_consent_to_read_a_denied_folder_is_shown_and_taken_back(
    shown: Shown, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(shown.world.person))
    await shown.open(qtbot, SAY.replace("    cmd: printf\n", "    cmd: printf\n    reads: [~/.ssh]\n"))
    assert "It names ~/.ssh. A call that would read there asks you once." in shown.words
    tool = shown.service.state.tool("say-it")
    given = Consent("say-it", tool.spec.version, (str(shown.world.ssh),))
    await shown.consents.agree(given)
    await shown.rest()
    assert f"You agreed that it may read {shown.world.ssh}, which is closed to all other tools." in shown.words
    shown.button("Take back").click()
    await shown.rest()
    assert not shown.consents.agreed(given)
    assert "asks you once" in shown.words


@pytest.mark.spec("R-CLI-1")
async def test_a_problem_leads_to_its_line_in_the_text(shown: Shown, qtbot: QtBot) -> None:
    await shown.open(qtbot, WRONG)
    QTest.mouseClick(shown.button("21:15"), Qt.MouseButton.LeftButton)
    assert shown.page.stack.currentWidget() is shown.page.editor
    cursor = shown.page.editor.source.textCursor()
    assert (cursor.blockNumber() + 1, cursor.positionInBlock() + 1) == (21, 15)


@pytest.mark.spec("R-CLI-14")
async def test_reload_takes_over_the_file_and_a_broken_one_keeps_the_tools(shown: Shown, qtbot: QtBot) -> None:
    await shown.open(qtbot, SAY)
    shown.path.write_text("tools: [")
    shown.button("Reload").click()
    await shown.rest()
    assert shown.cli.keeps_last_good
    assert "The tools below keep working as they were" in shown.words
    assert [row.name for row in shown.cli.rows] == ["say-it", "run-code"]
    shown.path.write_text(SAY.replace("say_it", "other"))
    shown.button("Reload").click()
    await shown.rest()
    assert [row.name for row in shown.cli.rows] == ["other", "run-code"]
    assert "stay in force" not in shown.words


@pytest.mark.spec("R-CLI-14", "R-CLI-1")
async def test_the_text_is_checked_while_typing_and_saving_puts_it_in_force(shown: Shown, qtbot: QtBot) -> None:
    await shown.open(qtbot, "")
    assert "No tools yet" in shown.words
    shown.button("Add a tool").click()
    shown.button("Start from an example").click()
    await shown.rest()
    assert shown.cli.problems == ()
    shown.type(EXAMPLE.replace("category: read", "category: reed"))
    await shown.rest()
    assert [problem.line for problem in shown.cli.problems] == [5]
    assert "tools with problems are left out" in shown.words
    shown.type("tools: 5")
    await shown.rest()
    assert not shown.page.editor.save.isEnabled()
    shown.type(EXAMPLE)
    await shown.rest()
    QTest.keyClick(shown.page.editor.source, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await shown.rest()
    assert shown.path.read_text() == EXAMPLE
    assert [row.name for row in shown.cli.rows] == ["count-lines"]
    assert not shown.cli.dirty


@pytest.mark.spec("R-CLI-14")
async def test_a_change_of_another_program_is_shown_before_anything_is_overwritten(shown: Shown, qtbot: QtBot) -> None:
    await shown.open(qtbot, SAY)
    shown.page.show_view("text")
    shown.type(SAY + "# mine\n")
    shown.path.write_text(SAY + "# theirs\n")
    shown.cli.save()
    await shown.rest()
    assert shown.page.editor.stack.currentWidget() is shown.page.editor.conflict
    leading = [one.label for one in shown.page.findChildren(Button) if one.isVisible() and one.kind == "primary"]
    assert leading == ["Save mine"], "one thing leads on, and the foot of the text waits"
    assert shown.path.read_text().endswith("# theirs\n")
    shown.page.editor.conflict.answered.emit("over")
    await shown.rest()
    assert shown.path.read_text().endswith("# mine\n")
    shown.type(SAY + "# more\n")
    shown.button("Discard changes").click()
    await shown.rest()
    assert shown.page.editor.source.text().endswith("# mine\n")


@pytest.mark.spec("R-CLI-14")
async def test_what_another_program_wrote_is_shown_at_once_and_costs_nothing_that_was_typed(
    shown: Shown, qtbot: QtBot
) -> None:
    await shown.open(qtbot, SAY)
    shown.page.show_view("text")
    editor = shown.page.editor
    shown.path.write_text(SAY + "# theirs\n")
    shown.cli.look_at_file()
    await shown.rest()
    assert editor.source.text().endswith("# theirs\n")
    assert not editor.outside.isVisible()
    shown.type(SAY + "# mine\n")
    shown.path.write_text(SAY + "# theirs again\n")
    shown.cli.look_at_file()
    await shown.rest()
    assert editor.source.text().endswith("# mine\n")
    assert editor.outside.isVisible()
    editor.outside.compare.click()
    await shown.rest()
    assert editor.stack.currentWidget() is editor.conflict
    editor.conflict.answered.emit("keep")
    assert (editor.source.text()[-7:], editor.outside.isVisible()) == ("# mine\n", True)
    editor.conflict.answered.emit("over")
    await shown.rest()
    assert shown.path.read_text().endswith("# mine\n")
    assert not editor.outside.isVisible()
    shown.type(SAY + "# mine too\n")
    shown.path.unlink()
    shown.cli.look_at_file()
    await shown.rest()
    assert "deleted" in shown.words
    editor.conflict.answered.emit("reload")
    await shown.rest()
    assert (editor.source.text(), editor.outside.isVisible()) == ("", False)


async def test_a_disk_that_says_no_is_told_and_nothing_is_lost(shown: Shown, qtbot: QtBot) -> None:
    await shown.open(qtbot, SAY)
    shown.page.show_view("text")
    shown.type(SAY + "# mine\n")
    shown.path.unlink()
    shown.path.mkdir()
    shown.cli.save()
    await shown.rest()
    assert "tools.yaml cannot be read" in shown.words
    assert shown.page.editor.source.text().endswith("# mine\n")
    os.rmdir(shown.path)


@pytest.mark.spec("R-CLI-3", "R-CLI-5", "R-PRM-1", "S-CLI-1")
async def test_a_tool_is_tried_with_a_form_its_vector_and_a_request(shown: Shown, qtbot: QtBot) -> None:
    await shown.open(qtbot, SAY)
    shown.button("Try it").click()
    page = shown.page.trying
    text, times = page.form.findChild(TextArea), page.form.findChild(Field)
    assert page.wrong.isVisible()
    QTest.keyClicks(text, "a; id $(x)")
    times.setText("3")
    await until(lambda: "a; id" in page.preview.text(), "the vector")
    assert [line.strip() for line in page.preview.text().splitlines()] == ["printf", "%s", "a; id $(x)", "3"]
    times.setText("")
    shown.button("Run").click()
    await until(lambda: shown.approvals.requests, "a request")
    await until(lambda: "Waiting for your answer." in shown.words, "the strip")
    heard: list[bool] = []
    shown.cli.requests_wanted.connect(lambda: heard.append(True))
    shown.button("Show the request").click()
    assert heard == [True]
    request = shown.approvals.requests[0]
    assert request.preview["argv"] == ["printf", "%s", "a; id $(x)"]
    shown.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await until(lambda: shown.cli.trials.trial.over, "the end")
    assert shown.cli.trials.trial.text == "a; id $(x)"
    await until(lambda: "Result" in shown.words, "the result on the page")


@pytest.mark.spec("R-CLI-8", "R-CLI-5")
async def test_values_that_may_not_be_are_said_beside_the_vector(shown: Shown, qtbot: QtBot) -> None:
    await shown.open(qtbot, SAY)
    shown.page.try_tool("say-it")
    page = shown.page.trying
    text = page.form.findChild(TextArea)
    QTest.keyClicks(text, "-rf")
    await until(lambda: "begins with '-'" in shown.words, "the reason")
    text.setPlainText("x" * 21)
    await until(lambda: "text:" in page.wrong.text(), "the reason")
    assert page.preview.text() == ""


@pytest.mark.spec("R-CLI-14")
async def test_a_tool_that_is_gone_is_not_tried_any_more(shown: Shown, qtbot: QtBot) -> None:
    await shown.open(qtbot, SAY)
    shown.page.try_tool("say-it")
    shown.path.write_text("tools: []\n")
    shown.button("Reload").click()
    await shown.rest()
    assert "No tools yet" in shown.words
