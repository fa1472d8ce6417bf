"""Pictures of what is seen for a moment: dialogs over a page, forms that are open, a command that may need network."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.approval.judgement import Category
from desktop.domain.skills import SkillDef, SkillProblem
from desktop.presenter.skills.import_plan import Choice, Planned, planned
from desktop.presenter.skills.importing import Candidate, Fits, Staged, Target
from desktop.ui.approvals.asking.dialog import AskingDialog
from desktop.ui.settings.mcp.page import McpPage
from desktop.ui.settings.models.page import ModelsPage
from desktop.ui.shell.closing import ask_close
from desktop.ui.skills.importing import ImportDialog
from shots import samples, starts
from shots.asking import FORM, PAGE, SIGN_INS, SampleAsking

Moment = Callable[[Any], QWidget]
"""Sets up a ``Stage`` of ``shots``."""

_TEXT = "---\nname: pdf\ndescription: Fills in and reads forms.\n---\n# Forms\n\nRun scripts/fill.py.\n"
_LINE = "FOO=bar npx -y @modelcontextprotocol/server-filesystem /path/to/folder --api-key YOUR_KEY"
_WITH_KEY = "TICKETS_TOKEN=t0k-5f2c9e7d81aa44 npx -y tickets-mcp"


def _candidate(name: str, about: str, *, broken: str = "") -> Candidate:
    path = f"{name}/SKILL.md"
    if broken:
        return Candidate(path, None, (SkillProblem(path, broken),), _TEXT)
    found = SkillDef(name, about, "folder", "mine", path=path, text=_TEXT)
    return Candidate(path, found, (), _TEXT)


class SampleImport(QObject):
    """An import of four skills: one is new, two have names that are taken, one cannot be read."""

    staged_changed = Signal()
    fitted = Signal()
    refused = Signal(str)
    kept = Signal()

    def __init__(self) -> None:
        super().__init__()
        found = (
            _candidate("pdf", "Fills in and reads PDF forms."),
            _candidate("tide", "Reads tide tables."),
            _candidate("xlsx", "Works on spreadsheets with formulas and charts."),
            _candidate("old-notes", "", broken="Line 3: a bracket or a quotation mark before this is not closed"),
        )
        self.staged = Staged(cast(Any, None), found)
        self.targets = (Target("/home/ida/.agent/skills", "mine"),)
        self.target = self.targets[0]
        self.ticked = {0, 1, 2}
        taken = Fits(Category.READ, True, "/home/ida/.agent/skills/pdf", "pdf-2")
        self.fits = {
            0: taken,
            1: replace(taken, replaced="", free="tide-2"),
            2: Fits(Category.READ, free="xlsx"),
            3: Fits(None),
        }
        self.choice: Choice = "both"
        self.collides = self.ready = True

    @property
    def plan(self) -> dict[int, Planned]:
        """As the app plans it."""
        return planned({at: self.staged.candidates[at] for at in self.ticked}, self.fits, self.choice)

    def warning(self) -> str:
        """Nothing to say."""
        return ""

    def resolve(self, choice: Choice) -> None:
        """What to do with names that are taken."""
        self.choice = choice
        self.fitted.emit()

    def tick(self, at: int, on: bool) -> None:
        """One more or less."""
        (self.ticked.add if on else self.ticked.discard)(at)

    def go_to(self, _at: int) -> None:
        """There is one folder."""

    def cancel(self) -> None:
        """Nothing is kept."""


def _import(stage: Any) -> QWidget:
    page = stage.page("skills")
    imports = SampleImport()
    dialog = ImportDialog(page.window(), cast(Any, imports), "skills.zip")
    imports.setParent(dialog)
    dialog.open()
    imports.staged_changed.emit()
    if dialog.list is not None:
        dialog.list.tick_all()
    imports.fitted.emit()
    return cast(QWidget, stage.window)


def _paste(stage: Any) -> QWidget:
    stage.page("skills").import_text()
    return cast(QWidget, stage.window)


def _settings(stage: Any, title: str) -> Any:
    page = stage.page("settings")
    page.show_settings(title)
    return page


def _edit(stage: Any) -> QWidget:
    stage.setup.set(connections=samples.CONNECTIONS)
    _settings(stage, "Models and keys").findChild(ModelsPage).cards.edits["lab"].click()
    return cast(QWidget, stage.window)


def _server(stage: Any, kind: str, *, filled: bool = False, line: str = _LINE) -> QWidget:
    page = _settings(stage, "MCP servers").findChild(McpPage)
    page.add_server()
    page.form._show_kind(kind)
    if kind == "program":
        page.form.command.setText(line)
    else:
        page.form.url.setText("https://search.example.org/mcp")
        page.form.headers.setPlainText("X-Team: blue\nX-Key: ${keyring:assent/search-key}")
    if filled:
        page.form.pasted.button.click()
    return cast(QWidget, stage.window)


PASTED: dict[str, dict[str, object]] = {
    "several": {
        "servers": {
            "git": {"command": "uvx", "args": ["mcp-server-git", "--repository", "~/src/harbour-sensors"]},
            "tickets": {
                "url": "https://tickets.harbour.example/mcp",
                "headers": {"Authorization": "Bearer ${input:tickets}", "X-Team": "blue"},
            },
        },
        "inputs": [{"id": "tickets", "type": "promptString", "password": True}],
    },
    "registry": {
        "name": "example.harbour/tides-mcp",
        "packages": [
            {
                "registryType": "npm",
                "identifier": "@harbour/tides-mcp",
                "version": "1.5.0",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "named", "name": "--mode", "default": "local"}],
                "environmentVariables": [{"name": "TIDES_KEY", "isRequired": True, "isSecret": True}],
            }
        ],
        "remotes": [{"type": "streamable-http", "url": "https://tides.example/mcp"}],
    },
}
"""What other apps and the registry write."""


def _pasted(stage: Any, what: str) -> QWidget:
    page = _settings(stage, "MCP servers").findChild(McpPage)
    page.add_server()
    page.form.pasted.look_at_file(json.dumps(PASTED[what]))
    return cast(QWidget, stage.window)


def _network(stage: Any) -> QWidget:
    request = samples.shell_request()
    request = replace(request, request_id="net", preview={**request.preview, "network_offered": True})
    stage.approvals.put(request)
    page = stage.page("approvals")
    page.open_request("net")
    return cast(QWidget, stage.window)


def _closing(stage: Any, running: int) -> QWidget:
    stage.page("approvals")
    ask_close(stage.window, running, tray=running > 1, answered=lambda _: None)
    return cast(QWidget, stage.window)


def _asking(stage: Any, asked: SampleAsking) -> QWidget:
    stage.page("chats")
    question = asked.current
    dialog = AskingDialog(stage.window, cast(Any, asked), question)
    asked.setParent(dialog)
    for _ in dialog._left_to_build:
        pass
    dialog.appear()
    if dialog.form is not None:
        dialog.form.show_wrong()
    return cast(QWidget, stage.window)


def _sign_ins(stage: Any) -> QWidget:
    page = _settings(stage, "MCP servers").findChild(McpPage)
    page._mcp.rows = SIGN_INS
    page.refresh()
    return cast(QWidget, stage.window)


def _start(stage: Any, view: str = "") -> QWidget:
    """A model server that is installed: to be started, running, failed."""
    stage.setup.set(servers=(samples.OLLAMA, *samples.ABSENT))
    stage.startable.file = starts.FILE.path
    stage.startable.set({"failed": starts.FAILED, "running": starts.RUNNING}.get(view, starts.LLAMACPP))
    page = _settings(stage, "Models and keys").findChild(ModelsPage)
    page.ensureWidgetVisible(page.starts[0])
    if view == "form":
        page.starts[0].start.click()
    return cast(QWidget, stage.window)


def _first_start(stage: Any, view: str = "") -> QWidget:
    """The same on the first page."""
    stage.shell.set_first_run(True)
    stage.window.page("first_run")
    stage.setup.set(servers=(replace(samples.OLLAMA, running=False, models=()), *samples.ABSENT))
    stage.startable.set(starts.FAILED if view else starts.LLAMACPP, replace(starts.LLAMACPP, kind="ollama"))
    return cast(QWidget, stage.window)


PICTURES: dict[str, Moment] = {
    **{
        f"07-models-start{view and '-' + view}{size}": partial(_start, view=view)
        for view in ("", "form", "running", "failed")
        for size in ("", "-960", "-1440")
    },
    **{
        f"08-first-run-start{view and '-' + view}{size}": partial(_first_start, view=view)
        for view in ("", "failed")
        for size in ("", "-960", "-1440")
    },
    **{f"31-mcp-signin{size}": _sign_ins for size in ("", "-960")},
    **{f"32-mcp-form{size}": lambda stage: _asking(stage, SampleAsking(FORM)) for size in ("", "-960")},
    "32-mcp-page": lambda stage: _asking(stage, SampleAsking(PAGE)),
    **{f"06-import{size}": _import for size in ("", "-960")},
    **{f"06-paste{size}": _paste for size in ("", "-960")},
    **{f"07-models-edit{size}": _edit for size in ("", "-960")},
    **{f"07-mcp-add-line{size}": lambda stage: _server(stage, "program") for size in ("", "-960")},
    "07-mcp-add-filled": lambda stage: _server(stage, "program", filled=True),
    **{
        f"07-mcp-add-secret{size}": lambda stage: _server(stage, "program", filled=True, line=_WITH_KEY)
        for size in ("", "-960")
    },
    **{f"07-mcp-add-{what}{size}": partial(_pasted, what=what) for what in PASTED for size in ("", "-960")},
    "07-mcp-add-address": lambda stage: _server(stage, "web"),
    **{f"02-network{size}": _network for size in ("", "-960")},
    "09-closing": lambda stage: _closing(stage, 1),
    "09-closing-tray-960": lambda stage: _closing(stage, 3),
}
AT_200 = (
    "07-models-start-form",
    "07-models-start-failed",
    "08-first-run-start",
    "31-mcp-signin",
    "32-mcp-form",
    "06-import",
    "06-paste",
    "07-models-edit",
    "07-mcp-add-line",
    "02-network",
    "09-closing",
)
