"""The real service of the rules over a real store, the page above it, and requests on a real bridge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from desktop.app.wiring.rules import open_rules
from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.approval.rules import RuleDraft, RuleView, Simulation
from desktop.domain.safety import SafetySettings
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.approvals.rules import RulesViewModel
from desktop.presenter.approvals.rules_editing import RuleEditor, RulesModels
from desktop.presenter.events.bridge import Bridge
from desktop.safety.boundary.opening import BoundaryFiles
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.environment import AllowlistEnvironment
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.safety.shell.reader import BashReader
from desktop.services.rules.editing import RuleService
from desktop.store import Store
from desktop.tools.builtin.files import ListDirectory, ReadFile, WriteFile
from desktop.tools.builtin.shell import BASH, Bash
from desktop.tools.registry import ToolRegistry
from desktop.ui.approvals.page import ApprovalsPage
from desktop.ui.approvals.request.allowing import AlwaysDialog
from desktop.ui.widgets.dialogs.base import Dialog
from tests.harness.changes import KeepsNothing
from tests.harness.timeouts import until


class Held:
    """The real service; ``gate`` holds trials and ``door`` holds saving back while they are closed."""

    def __init__(self, service: RuleService) -> None:
        self._service = service
        self.gate, self.door = asyncio.Event(), asyncio.Event()
        self.gate.set()
        self.door.set()
        self.tried: list[str] = []
        self.ended: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    async def simulate(self, draft: RuleDraft) -> Simulation:
        self.tried.append(draft.pattern)
        await self.gate.wait()
        found = await self._service.simulate(draft)
        self.ended.append(draft.pattern)
        return found

    async def save(self, draft: RuleDraft) -> RuleView:
        await self.door.wait()
        return await self._service.save(draft)


class Room:
    """Store, rules, view-models, page; ``open`` once."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        (self.home / "workspace").mkdir(parents=True)
        self.store = Store(folder / "assent.db")
        self.redactor = SecretRedactor()
        self.questions: list[asyncio.Task[Decision]] = []
        self.broken: list[Exception] = []
        self.refused: list[str] = []
        self.told: list[str] = []
        self.thread, self.project = "t1", ""

    async def open(self) -> Room:
        await self.store.open()
        rules = await open_rules(self.store, self.redactor, *self._walls())
        self.book, self.service = rules.book, Held(rules.service)
        self.bridge = Bridge()
        self.bridge.failed.connect(self.broken.append)
        self.approvals = ApprovalsViewModel(self.bridge, self.store.audit)
        self.approvals.refused.connect(self.refused.append)
        self.rules = RulesViewModel(self.service, self.bridge)
        self.rules.told.connect(self.told.append)
        self.models = RulesModels(
            self.rules, lambda: RuleEditor(self.rules, self.approvals, self.bridge), lambda: (self.project, self.thread)
        )
        self.page = ApprovalsPage(self.approvals, self.models, lambda thread_id: f"Title of {thread_id}")
        return self

    def _walls(self) -> tuple[ToolRegistry, Callable[[], SafetySettings], BoundaryPolicy]:
        workspace = str(self.home / "workspace")

        def safety() -> SafetySettings:
            return SafetySettings(workspace=workspace, allowed=(workspace,))

        policy = BoundaryPolicy(str(self.home), safety)
        files, self.confinement = BoundaryFiles(policy), SystemConfinement(policy, safety)
        reader, environment = BashReader(policy, safety), AllowlistEnvironment(safety)
        bash = Bash(reader, policy, self.confinement, environment, GroupRunner(), safety)
        return (
            ToolRegistry([ReadFile(files, safety), ListDirectory(files), WriteFile(files, KeepsNothing()), bash]),
            safety,
            policy,
        )

    @property
    def tab(self) -> Any:
        return self.page.rules

    @property
    def editor(self) -> RuleEditor:
        return self.tab.editor

    @property
    def foot(self) -> Any:
        return self.tab.panel.foot

    @property
    def field(self) -> Any:
        return self.tab.panel.form.field

    @property
    def dialog(self) -> Any:
        return next((one for one in reversed(self.page.findChildren(Dialog)) if one.isVisible()), None)

    @property
    def mine(self) -> dict[str, str]:
        """Pattern to decision, of what a person wrote."""
        return {rule.pattern: rule.decision for rule in self.service.rules() if rule.editable}

    @property
    def shown(self) -> list[str]:
        model = self.rules.model
        return [model.index(row).data() for row in range(model.rowCount())]

    async def keep(self, *patterns: str, decision: Any = "allow") -> list[RuleView]:
        return [await self.service.save(RuleDraft(pattern, decision)) for pattern in patterns]

    def called(self, command: str, times: int = 1) -> None:
        """A command was asked about before."""
        facts = CallFacts(
            "bash",
            Category.WRITE,
            command,
            BASH.tags,
            {"command": command},
            "library",
            (CommandPart(command),),
            thread_id="t1",
        )
        for _ in range(times):
            self.book.decided(facts, None)

    def current(self, pattern: str) -> None:
        """Make a row the current one."""
        self.tab.list.rows.setCurrentIndex(self.rules.model.index(self.shown.index(pattern)))

    async def write(self, pattern: str) -> None:
        """Type a rule and wait until it was tried."""
        self.page.show_rules(new=True)
        QTest.keyClicks(self.field, pattern)
        await self.tried()

    async def tried(self, editor: RuleEditor | None = None) -> None:
        found = editor or self.editor
        await until(lambda: found.current and not found.trying, "the trial")

    async def ask(self, request: PermissionRequest) -> asyncio.Task[Decision]:
        question = asyncio.create_task(self.bridge.ask(request))
        self.questions.append(question)
        await until(lambda: self.approvals.request(request.request_id), "the request")
        self.page.open_request(request.request_id)
        return question

    async def rest(self) -> None:
        await until(lambda: not self.bridge.task_names, "rest")
        await asyncio.sleep(0.02)

    async def end(self) -> None:
        self.service.gate.set()
        self.service.door.set()
        self.bridge.deny_all()
        await asyncio.gather(*self.questions, return_exceptions=True)
        await self.bridge.shutdown(3.0)
        await self.book.flush()
        await self.store.close()
        await asyncio.to_thread(self.confinement.close)
        assert not self.broken, self.broken


async def agree(dialog: AlwaysDialog) -> None:
    """Press *Save and allow* once it hears, as a person does who is in no hurry."""
    button = dialog.foot.save
    heard: list[int] = []
    button.agreed.connect(lambda: heard.append(1))

    def pressed() -> bool:
        if not heard and button.isEnabled() and not button.deaf:
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        return bool(heard)

    await until(pressed, "it hears")


def press(widget: QWidget, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for one in modifiers:
        held |= one
    QTest.keyClick(widget, key, held)


def words(widget: QWidget) -> str:
    """Everything that is written in a widget and seen."""
    seen = [w for w in widget.findChildren(QWidget) if w.isVisible()]
    return "\n".join([*(w.text() for w in seen if hasattr(w, "text")), *(w.accessibleName() for w in seen)])
