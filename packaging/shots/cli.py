"""Sample data for the pictures of tools.yaml: a stand-in with the view-model's signals. Never in the app."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.skills import SkillProblem
from desktop.presenter.settings.cli_tools import CliRow
from desktop.presenter.skills.forms import FormField, fields_of
from desktop.presenter.skills.trying import SkillTry

TEXT = """\
tools:
  - name: kubectl_get
    description: Get Kubernetes resources
    category: read
    cmd: kubectl
    args: ["get", "{{resource}}"]
    optional_args:
      namespace: ["-n", "{{namespace}}"]
    parameters:
      resource: {type: string, enum: [pods, services, nodes], description: The resource type}
      namespace: {type: string, pattern: "^[a-z0-9-]+$", optional: true}
  - name: deploy_app
    description: Deploy the app to an environment
    category: admin
    cmd: deploy
    args: ["--env", "{{environment}}"]
    env: {DEPLOY_TOKEN: "${keyring:deploy/ida}"}
    parameters:
      environment: {type: enum, enum: [staging, production]}
  - name: run_report
    description: Run one of the reports by name
    category: write
    cmd: python3
    args: ["{{script}}"]
    parameters:
      script: {type: string, patern: "^[a-z]+\\\\.py$"}
"""
PARAMS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "resource": {"type": "string", "enum": ["pods", "services", "nodes"], "description": "The resource type"},
        "namespace": {"type": "string", "pattern": "^[a-z0-9-]+$", "description": "The Kubernetes namespace"},
    },
    "required": ["resource"],
}


def request(*touched: str) -> PermissionRequest:
    """A call of one of them."""
    return PermissionRequest(
        request_id="r7",
        run_id="run1",
        thread_id="t1",
        call_id="c7",
        tool="deploy-app",
        description="Deploy the app to an environment",
        category=Category.ADMIN,
        raised_because="",
        chain=("Workbench",),
        arguments={"environment": "staging", "note": "gauges; rm -rf ~\nsecond line"},
        paths=("/usr/local/bin/deploy", *touched),
        judgements=(),
        preview={
            "kind": "argv",
            "argv": ["deploy", "--env", "staging", "--note", "gauges; rm -rf ~\nsecond line"],
            "program": "/usr/local/bin/deploy",
            "cwd": "/home/ida/.agent/workspace",
            "network": True,
            "environment": ["DEPLOY_TOKEN"],
            "confinement": "Confined by bubblewrap: commands write only in allowed folders and do not see the denied "
            "ones. The network is on.",
        },
        digest="d7",
        asked_at=time.time() - 12,
    )


_WRONG = SkillProblem(
    "tools.yaml", "run-report (tools[2]).parameters.script: there is no key 'patern': did you mean pattern?", 26, 30
)
_RAISED = "python3 runs what {{script}} says"
ROWS = (
    CliRow(
        "kubectl-get",
        "kubectl_get",
        "read",
        "Get Kubernetes resources",
        ("kubectl", "get", "{{resource}}", "[-n  {{namespace}}]"),
        "",
        2,
        ("~/.kube",),
        ("/home/ida/.kube",),
    ),
    CliRow(
        "deploy-app",
        "deploy_app",
        "admin",
        "Deploy the app to an environment",
        ("deploy", "--env", "{{environment}}"),
        "",
        12,
    ),
    CliRow(
        "run-script",
        "run_script",
        "admin",
        "Run a script of the workspace",
        ("python3", "{{script}}"),
        _RAISED,
        20,
        ("~/.config/reports",),
    ),
)


class SampleTrials(QObject):
    """A call that has ended."""

    changed = Signal()
    trial: SkillTry | None = None
    running = False

    def forget(self) -> None:
        """Nothing to forget."""

    def run(self, name: str, values: Mapping[str, Any]) -> None:
        """The answer at once."""
        text = "NAME                     READY   STATUS    RESTARTS\ngauge-7f9c4d5b6-x2lqp    1/1     Running   0\n"
        self.trial = SkillTry(name, "done", text, elapsed_ms=214)
        self.changed.emit()

    def stop(self) -> None:
        """Nothing runs."""


class SampleCli(QObject):
    """``wrong``: one entry is left out."""

    changed = Signal()
    opened = Signal()
    checked = Signal()
    dirty_changed = Signal(bool)
    saved = Signal()
    conflict = Signal(object)
    outside = Signal(str)
    failed = Signal(str)
    requests_wanted = Signal()
    adding = Signal()
    path = "/home/ida/.agent/tools.yaml"
    name, holds, example = "tools.yaml", "tools", TEXT
    keeps_last_good = False
    dirty = False
    shown = TEXT

    def __init__(self) -> None:
        super().__init__()
        self.trials = SampleTrials(self)
        self.rows: tuple[CliRow, ...] = ROWS
        self.file_problems: tuple[SkillProblem, ...] = (_WRONG,)
        self.problems = self.file_problems

    def add(self) -> None:
        """As the view-model."""
        self.adding.emit()

    def look_at_file(self) -> None:
        """It is the same."""

    def show_conflict(self) -> None:
        """Nobody else wrote it."""

    def reload(self) -> None:
        """Nothing new."""

    def open(self) -> None:
        """The text is there."""
        self.opened.emit()
        self.checked.emit()

    def edited(self, text: str) -> None:
        """Typed into; nothing is kept."""

    def fields(self, name: str) -> tuple[FormField, ...]:
        """Of the first tool."""
        return fields_of(PARAMS) or ()

    def preview(self, name: str, values: Mapping[str, Any]) -> tuple[Sequence[str], str]:
        """As the runtime would build it."""
        group = ("-n", str(values["namespace"])) if values.get("namespace") else ()
        return ("kubectl", "get", str(values["resource"]), *group), ""
