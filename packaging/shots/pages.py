"""Every page and dialog with sample data, as a picture: 1280 x 800; names ending in ``-200`` have text at 200 %."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QWidget

from desktop.app.wiring.settings_pages import SETTINGS_PAGES, SettingsModels
from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.settings.confinement import ConfinementViewModel
from desktop.ui.approvals.page import ApprovalsPage
from desktop.ui.approvals.request.dialog import RequestDialog
from desktop.ui.first_run.page import FirstRunPage
from desktop.ui.settings.boundaries.lists import EntryRow
from desktop.ui.settings.boundaries.page import BoundariesPage
from desktop.ui.settings.boundaries.path_tester import PathTester
from desktop.ui.settings.cli_tools.page import CliPage
from desktop.ui.settings.keys.page import KeysPage
from desktop.ui.settings.mcp.page import McpPage
from desktop.ui.settings.other_agents.page import OtherAgentsPage
from desktop.ui.settings.page import SettingsPage
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.skills.page import SkillsPage
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.properties import pane
from shots import approvals_activity as activity_shots
from shots import approvals_rules as rules_shots
from shots import debates as debate_shots
from shots import models as chat_shots
from shots import moments, outcomes, samples
from shots import schedules as schedule_shots
from shots import skills as skill_shots
from shots.about import SampleAbout, about_pictures
from shots.agents import sample_agents
from shots.changes import SampleKept
from shots.cli import SampleCli, request
from shots.edits import CHANGED, edit_request
from shots.help import help_pictures, sample_help
from shots.keys import SampleKeys
from shots.mcp import FETCHES, SampleMcp, mcp_request
from shots.middleware import SampleMiddleware
from shots.other_agents import SampleOtherAgents, asks_request
from shots.other_apps import SampleOtherApps
from shots.reach import WORK, SampleReach
from shots.sheet import ComponentSheet
from shots.starts import sample_starts
from shots.updates import SampleUpdates, update_pictures
from shots.web import SampleSearches, web_pictures

SIZE = (1280, 800)
SMALL = (960, 600)
DEAF = 480
"""Milliseconds to wait where Allow should be seen awake."""
LOOKS = 100

Picture = Callable[[], QWidget]


class Stage:
    """A window with sample view-models; each picture sets it up anew."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.approvals = samples.SampleApprovals(
            (samples.new_file_request(), samples.shell_request(), samples.write_request())
        )
        self.setup = samples.SampleSetup()
        self.starts, self.startable = sample_starts()
        self.settings = samples.SampleSettings()
        self.boundaries = samples.SampleBoundaries()
        self.cli, self.keys, self.mcp = SampleCli(), SampleKeys(), SampleMcp()
        self.reach, self.updates = SampleReach(), SampleUpdates()
        self.confined = samples.CONFINED
        self.rules = rules_shots.sample_rules(self.approvals)
        self.shell = samples.sample_shell()
        any_approvals, any_setup = cast(Any, self.approvals), cast(Any, self.setup)
        self.window = MainWindow(self.shell.window_state())
        self.window.furnish(
            theme,
            self.shell,
            {
                "chats": lambda: pane("surface"),
                "first_run": lambda: FirstRunPage(any_setup, self.starts),
                "debates": debate_shots.page,
                "skills": lambda: SkillsPage(skill_shots.sample_models()),
                "approvals": lambda: ApprovalsPage(any_approvals, self.rules, self.title),
                "settings": self._settings_page,
            },
        )
        self.window.resize(*SIZE)
        self.window.set_pending(self.approvals.pending_count)

    def _settings_page(self) -> SettingsPage:
        views = SimpleNamespace(
            setup=self.setup,
            starts=self.starts,
            agents_editor=sample_agents(),
            boundaries=self.boundaries,
            cli=self.cli,
            keys=self.keys,
            searches=SampleSearches(),
            mcp=self.mcp,
            reach=self.reach,
            kept=SampleKept(),
            grants=samples.SampleGrants("/home/ida/Downloads/tide-archive"),
            middleware=SampleMiddleware(),
            other_agents=SampleOtherAgents(),
            other_apps=SampleOtherApps(),
            about=SampleAbout(),
            help=sample_help(),
            updates=self.updates,
        )
        return SettingsPage(
            cast(Any, self.settings),
            SETTINGS_PAGES,
            SettingsModels(cast(Any, views), ConfinementViewModel(self.confined)),
        )

    @staticmethod
    def title(thread_id: str) -> str:
        """Of a sample thread."""
        return samples.TITLES.get(thread_id, "")

    def page(self, name: str) -> Any:
        """Go to a page; its widget."""
        self.shell.go(name)
        return self.window.page(name)


def _approval(stage: Stage, request_id: str) -> QWidget:
    page = stage.page("approvals")
    page.open_request(request_id)
    page.view.focus_safe()
    settle(DEAF)
    return stage.window


def _asked(stage: Stage, request: PermissionRequest, *, over: bool = False) -> QWidget:
    stage.approvals.put(request)
    return _over_thread(stage, request.thread_id) if over else _approval(stage, request.request_id)


def _first_run(stage: Stage, **state: Any) -> QWidget:
    stage.shell.set_first_run(True)
    page: Any = stage.window.page("first_run")
    if state:
        stage.setup.set(**state)
    else:
        form = page.form
        form.choose("mistral")
        form.field("key").setText("x" * 22)
        form._test()
        stage.setup.tested.emit(
            "new:mistral",
            False,
            "Mistral does not know this key (401). Check that it was copied whole and not revoked. Nothing was kept.",
        )
    return stage.window


def _settings(stage: Stage, name: str) -> QWidget:
    stage.setup.set(connections=samples.CONNECTIONS)
    stage.page("settings").show_settings(name)
    return stage.window


def _other_asks(stage: Stage, kind: str) -> QWidget:
    return _asked(stage, asks_request(kind))


def _other_agents(stage: Stage, view: str = "") -> QWidget:
    """Agents of other makers; ``open``: what one of them may do."""
    page = stage.page("settings")
    page.show_settings("Other agents")
    shown = page.findChild(OtherAgentsPage)
    if view in ("open", "new"):
        shown.lines()[0 if view == "open" else 1].fold.click()
        settle(DEAF)
    elif view == "add":
        shown.add.click()
    return stage.window


def _limits(stage: Stage, name: str) -> QWidget:
    """Pages of settings with values of one's own."""
    values: dict[str, Any] = {
        "tools.timeouts": (("bash", 600.0), ("kubectl-get", 20.0)),
        "security.auto_approve_workspace_writes": True,
        "security.blocklist_extra": (r"\bterraform\s+apply\b",),
        "tools.bash.network": "always",
    }
    for key, value in values.items():
        stage.settings.set(key, value)
    return _settings(stage, name)


def _boundaries(stage: Stage, view: str = "") -> QWidget:
    """``view``: what to do on the page before the picture."""
    stage.settings.set("security.allowed_paths", ALLOWED)
    stage.settings.set("security.denied_paths", DENIED)
    if view == "none":
        stage.confined = samples.OPEN
    page: Any = _settings(stage, "Filesystem").findChild(BoundariesPage)
    settle()
    tester = page.findChild(PathTester)
    tester.field.setText("~/work/harbour-sensors/keys/config")
    tester.ask()
    tester.field.setFocus()
    if view in ("proved", "960-reach", "alarm"):
        page.turns.set_value("reach")
        page._place()
        settle()
        if view == "alarm":
            stage.reach.lines = samples.ALARM
        stage.reach.prove(f"{WORK}/secrets")
    elif view == "adding":
        page._lists["security.allowed_paths"].add_button.click()
    elif view == "allowing":
        page.panel.allow_wanted.emit(f"{WORK.replace('harbour-sensors', 'letters')}")
    elif view == "confirm":
        next(row for row in page.findChildren(EntryRow) if row.entry == "~/.ssh").cross.click()
    elif view in ("reach", "hosts"):
        page.turns.set_value("reach")
        page._place()
        page.panel.list.setFocus()
        if view == "hosts":
            page.panel.what.set_value("hosts")
            page.panel._show_what("hosts")
    return stage.window


ALLOWED = ("~/.agent/workspace", "~/work/harbour-sensors", "~/data", "/tmp/agent")
DENIED = ("~/.ssh", "~/.gnupg", "/etc/shadow", "/etc/passwd")


def _vector(stage: Stage) -> QWidget:
    stage.approvals.put(request())
    return _approval(stage, "r7")


def _cli(stage: Stage, view: str) -> QWidget:
    page = stage.page("settings")
    page.show_settings("CLI tools")
    shown = page.findChild(CliPage)
    if view != "try":
        shown.show_view(view)
        return stage.window
    shown.try_tool("kubectl-get")
    shown.trying.form.findChild(Field).setText("kube-system")
    shown.trying.run()
    settle(DEAF)
    return stage.window


def _mcp(stage: Stage, view: str = "") -> QWidget:
    if view == "request":
        stage.approvals.put(mcp_request())
        return _approval(stage, "r8")
    page = stage.page("settings")
    page.show_settings("MCP servers")
    shown = page.findChild(McpPage)
    if view == "look":
        stage.mcp.look_at("files")
        settle(DEAF)
    elif view == "add":
        shown.add_server()
    elif view == "try":
        shown.try_tool("files-list-directory")
    elif view == "text":
        shown.show_view("text")
    elif view == "fetching":
        stage.mcp.rows = (FETCHES, *stage.mcp.rows)
        shown.refresh()
        settle(DEAF)
    elif view.startswith("server"):
        shown.show_server("files")
        for _ in stage.mcp.rows[0].tools:
            shown.server.tools._make()  # one at a time, in the app when the window has had its turn
        settle(DEAF)
        if tab := view.removeprefix("server").removeprefix("-"):
            shown.server.show_tab(tab)
        else:
            row = next(row for _, row in shown.server.tools._rows if row.name == "search_files")
            row.more.click()
        settle(DEAF)
    return stage.window


def _keys(stage: Stage, act: str = "") -> QWidget:
    page = stage.page("settings")
    page.show_settings("Keyring")
    shown = page.findChild(KeysPage)
    tools = {row.state: row for row in stage.keys.tools}
    if act == "add":
        shown.dialogs.add()
        dialog = shown.dialogs.open_now
        dialog.findChildren(Field)[0].setText("github")
    elif act == "agree":
        shown.dialogs.agree(tools["not_agreed"])
    elif act == "delete":
        shown.dialogs.delete(tools["kept"])
    elif act == "locked":
        stage.keys.note = NO_KEYRING
        stage.keys.told.emit("mistral", False, "Mistral does not know this key (401). Nothing was kept.")
    return stage.window


def _rules(stage: Stage, name: str) -> QWidget:
    _, found, given = rules_shots.PICTURES[name]
    stage.rules = rules_shots.sample_rules(stage.approvals, found, given)
    stage.window.resize(*(SMALL if name.endswith("-960") else SIZE))
    rules_shots.show(stage.page("approvals"), name)
    settle(DEAF)
    return stage.window


def _problems(stage: Stage) -> QWidget:
    stage.settings.problems = (
        "config.yaml line 12, column 3: `tools.bash.timeout_s` must be a number from 1 to 86400.",
        "config.yaml line 20, column 1: there is no setting `securty`. Did you mean security?",
    )
    page = stage.page("settings")
    page.refresh_problems()
    page.show_settings("Appearance")
    return stage.window


def _palette(stage: Stage, text: str) -> QWidget:
    stage.page("approvals")
    stage.window.open_palette()
    palette = cast(Any, stage.window)._palette
    palette._field.setText(text)
    palette._typed(text)
    return stage.window


def _over_thread(stage: Stage, thread: str) -> QWidget:
    host = stage.page("chats")
    dialog = RequestDialog(host, cast(Any, stage.approvals), stage.title, rules=stage.rules)
    dialog.show_for(thread)
    settle(DEAF)
    return stage.window


def _dialog(stage: Stage, button: str) -> QWidget:
    page = stage.page("approvals")
    page.open_request("r3")
    getattr(page.view.answers, button).click()
    return stage.window


def _report(stage: Stage) -> QWidget:
    stage.page("skills")
    stage.window.show_error("Assent made a mistake", "Nothing you typed is lost. The report says what happened.", TRACE)
    return stage.window


TRACE = "Traceback (most recent call last):\n" + "\n".join(f'  File "desktop/example.py", line {n}' for n in range(9))


def _toast(stage: Stage) -> QWidget:
    stage.page("debates")
    stage.window.show_toast("“Grant report, section 3” deleted", "undo-1")
    stage.window.show_banner("ask", "The disk is nearly full. What you write is still kept.")
    settle(200)
    return stage.window


def _activity(stage: Stage, name: str) -> QWidget:
    given, report, _ = activity_shots.PICTURES[name]
    stage.approvals.activity = activity_shots.sample_activity(given, report, stage.approvals)
    activity_shots.show(stage.page("approvals"), name)
    return stage.window


def _empty_inbox(stage: Stage) -> QWidget:
    stage.approvals.put()
    stage.page("approvals")
    stage.window.set_pending(0)
    return stage.window


def _sheet(_stage: Stage) -> QWidget:
    sheet = ComponentSheet()
    sheet.resize(*SIZE)
    sheet.show()
    settle(DEAF)
    return sheet


def _skills(stage: Stage, show: Callable[[SkillsPage], Any]) -> QWidget:
    page = stage.page("skills")
    settle()
    show(page)
    settle(DEAF)
    return stage.window


PICTURES: dict[str, Callable[[Stage], QWidget]] = {
    **moments.PICTURES,
    "02-approval-shell-960": lambda s: _approval(s, "r2"),
    "02-approval-write-960": lambda s: _approval(s, "r3"),
    **{
        f"settings-{name.lower()}{size}": partial(_limits, name=name)
        for name in ("Approvals", "Tools", "Middleware", "Changes")
        for size in ("", "-960")
    },
    **about_pictures(_settings),
    **help_pictures(lambda wait: settle(wait)),  # noqa: PLW0108 - it is made below
    **{f"settings-other-apps{size}": lambda s: _settings(s, "Other apps") for size in ("", "-960")},
    **update_pictures(_settings),
    "02-approval-write": lambda s: _approval(s, "r3"),
    "02-approval-shell": lambda s: _approval(s, "r2"),
    "02-approval-new-file": lambda s: _approval(s, "r1"),
    "02-approval-changed": lambda stage: _asked(stage, samples.changed_request()),
    **{f"26-edit{size}": lambda stage: _asked(stage, edit_request()) for size in ("", "-960", "-1440")},
    "26-edit-over": lambda stage: _asked(stage, edit_request(), over=True),
    "26-edit-changed": lambda stage: _asked(stage, edit_request(CHANGED)),
    "02-approval-unknown": lambda stage: _asked(stage, samples.unknown_request()),
    "02-approval-unknown-over": lambda stage: _asked(stage, samples.unknown_request(), over=True),
    "02-approval-unknown-barred": lambda stage: _asked(stage, samples.unknown_request(samples.UNREPEATABLE), over=True),
    **{
        f"02-approval-other-agent{'' if kind == 'diff' else '-said'}{size}": partial(_other_asks, kind=kind)
        for kind in ("diff", "said")
        for size in ("", "-960")
    },
    "02-approval-argv": _vector,
    **{f"22-outcome{size}": lambda stage: _asked(stage, outcomes.outcome_request()) for size in ("", "-960", "-1440")},
    **web_pictures(_asked),
    "22-outcome-binary": lambda stage: _asked(stage, outcomes.outcome_request(binary=True)),
    "22-outcome-nothing": lambda stage: _asked(stage, outcomes.nothing_changed()),
    "22-outcome-over-thread": lambda stage: _asked(stage, outcomes.outcome_request(), over=True),
    "23-outcome-conflict": lambda stage: _asked(stage, outcomes.outcome_request(meanwhile=True)),
    "02-approvals-empty": _empty_inbox,
    **{name: partial(_activity, name=name) for name in activity_shots.PICTURES},
    "02-dialog-over-thread": lambda s: _over_thread(s, "t3"),
    "02-dialog-over-thread-admin": lambda s: _over_thread(s, "t2"),
    "02-deny-with-reason": lambda s: _dialog(s, "reason"),
    "02-edit-and-allow": lambda s: _dialog(s, "edit"),
    **{name: partial(_rules, name=name) for name in rules_shots.PICTURES},
    **{name: partial(_skills, show=show) for name, show in skill_shots.PICTURES.items()},
    **{f"settings-other-agents{size}": _other_agents for size in ("", "-960")},
    **{
        f"settings-other-agents-{view}{size}": partial(_other_agents, view=view)
        for view in ("open", "new", "add")
        for size in ("", "-960")
    },
    "07-models": lambda s: _settings(s, "Models and keys"),
    **{f"07-web-search{size}": lambda s: _settings(s, "Web search") for size in ("", "-960", "-1440")},
    "07-appearance": lambda s: _settings(s, "Appearance"),
    "07-agents": lambda s: _settings(s, "Agents"),
    "07-tools": lambda s: _settings(s, "Tools"),
    **dict.fromkeys(("07-boundaries", "07-boundaries-960"), _boundaries),
    **{
        f"07-boundaries-{view}": partial(_boundaries, view=view)
        for view in ("none", "proved", "alarm", "adding", "allowing", "confirm", "reach", "960-reach", "hosts")
    },
    "07-cli-tools": lambda s: _cli(s, "tools"),
    "07-cli-text": lambda s: _cli(s, "text"),
    "07-cli-try": lambda s: _cli(s, "try"),
    **dict.fromkeys(("07-mcp", "07-mcp-960"), _mcp),
    **{f"07-mcp-{view}": partial(_mcp, view=view) for view in ("look", "add", "try", "text", "request", "fetching")},
    **{f"07-mcp-server{size}": partial(_mcp, view="server") for size in ("", "-960", "-1440")},
    **{
        f"07-mcp-server-{tab}": partial(_mcp, view=f"server-{tab}")
        for tab in ("resources", "prompts", "log", "started")
    },
    **dict.fromkeys(("07-keys", "07-keys-960"), _keys),
    **{f"07-keys-{act}": partial(_keys, act=act) for act in ("add", "agree", "delete", "locked")},
    "07-problems": _problems,
    "08-first-run": _first_run,
    "08-first-run-looking": lambda s: _first_run(s, servers=(), looking=True),
    "08-first-run-none": lambda s: _first_run(s, servers=samples.ABSENT),
    "08-first-run-several": lambda s: _first_run(
        s, servers=(samples.OLLAMA, samples.LM_STUDIO), keyring_note=NO_KEYRING
    ),
    "09-command-palette": lambda s: _palette(s, "ga"),
    "09-toast-and-banner": _toast,
    "09-report": _report,
    "11-components": _sheet,
}
ALSO_AT_200 = (
    *rules_shots.AT_200,
    *activity_shots.AT_200,
    *moments.AT_200,
    "26-edit",
    "02-approval-write",
    "02-approval-shell",
    "22-outcome",
    "02-dialog-over-thread",
    "08-first-run",
    "07-models",
    "07-web-search",
    "06-skills",
    "06-skills-form",
    "07-boundaries",
    "07-boundaries-reach",
    "07-boundaries-hosts",
    "07-keys",
    "07-keys-agree",
    "07-mcp",
    "07-mcp-server",
    "settings-middleware",
    "settings-other-agents",
    "settings-other-agents-open",
    "settings-other-apps",
    "02-approval-unknown-over",
)
NO_KEYRING = "There is no system keyring. A key is kept only until Assent is closed."


def settle(milliseconds: int = 30) -> None:
    """Let the window lay itself out and paint."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def staged(theme: Theme) -> Mapping[str, Picture]:
    """Pictures of the window, each with a ``Stage`` of its own."""

    def build(name: str) -> QWidget:
        stage = Stage(theme)
        stage.window.show()
        come_forward(stage.window)
        shown = PICTURES[name](stage)
        if shown is not stage.window:
            shown.destroyed.connect(stage.window.deleteLater)
        return shown

    large = {f"{name}-200": partial(build, name) for name in ALSO_AT_200}
    return {name: partial(build, name) for name in PICTURES} | large


def all_pictures(theme: Theme) -> Mapping[str, Picture]:
    """By name."""
    return {**staged(theme), **chat_shots.pictures(), **schedule_shots.pictures(), **debate_shots.pictures()}


def come_forward(window: QWidget) -> None:
    """Wait until the window is the active one and stays so, as far as one can: offscreen a first activation is taken
    back."""
    steady = 0
    for _ in range(LOOKS):
        window.activateWindow()
        settle(10)
        steady = steady + 1 if window.isActiveWindow() else 0
        if steady == 3:
            return


def let_allow_hear(window: QWidget) -> None:
    """Wait while a button that allows is deaf because what it allows has just appeared."""
    settle()
    for _ in range(LOOKS):
        shown = [button for button in window.findChildren(AllowButton) if button.isVisible()]
        if not any(button.kind == "deaf" and button._armed_at is not None for button in shown):
            break
        settle(10)
    settle()


def save(build: Picture, folder: Path, name: str) -> None:
    """Make, show, settle, grab, and leave nothing: what is still there is dressed anew with each change of the theme,
    and so each picture would take longer than the one before."""
    widget = build()
    widget.resize(*(SMALL if "-960" in name else SIZE))
    widget.show()
    come_forward(widget)
    let_allow_hear(widget)
    if not widget.grab().save(str(folder / f"{name}.png")):
        raise OSError(f"{folder / name}.png cannot be written")
    if isinstance(widget, MainWindow):
        widget.close_for_good()
    widget.close()
    widget.deleteLater()
    settle(0)


def take(theme: Theme, folder: Path, parts: Sequence[str] = ()) -> int:
    """Save the pictures in the theme's mode, or those whose name holds one of the parts; how many they are."""
    wanted = {
        name: build for name, build in all_pictures(theme).items() if any(part in name for part in parts or ("",))
    }
    for name in sorted(wanted, key=_scale):
        theme.set_scale(_scale(name))
        save(wanted[name], folder, f"{name}-{theme.mode}")
    return len(wanted)


def _scale(name: str) -> float:
    return 2.0 if name.endswith("-200") else 1.0
