"""A job's form: what it is to do, when, what it may do, and where it ends. Problems stand below their field."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.errors import ConfigurationError
from desktop.domain.jobs import Job, JobPolicy
from desktop.domain.model_settings import SPELLINGS
from desktop.presenter.common.setting_fields import wrong_in
from desktop.presenter.run_panel.budget import read_limit, shown
from desktop.presenter.schedules.page import EXAMPLES, JobsViewModel
from desktop.presenter.schedules.words import listed, moment, policy_words
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.model_picker.field import ModelField
from desktop.ui.model_picker.settings_fields import ModelSettingsFields
from desktop.ui.widgets.controls.agent_combo import AgentCombo
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Field, Labelled, TextArea
from desktop.ui.widgets.controls.toggles import CheckBox, Segmented
from desktop.ui.widgets.dialogs.files import choose_folder
from desktop.ui.widgets.focus_place import give_keys
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.layout.turning import Turning
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

READS, LISTED = "reads", "listed"
PASSED = "When its time passed while Assent was closed or the computer slept"
MISSED = (("skip", "Skip that run"), ("once", "Run once when Assent is open again"))
NOBODY = (
    "Nobody is asked while a job runs. It may read, and do what its list allows; everything else is denied, and the "
    "model is told so. To deny a tool that reads, write NAME($deny) in the list. Folders, the blocklist and your "
    "rules that deny or ask hold as always; rules that allow do not count here."
)
SWITCHED_OFF = "Admin calls of jobs are switched off in Settings, Approvals: they are denied whatever stands here."
EDGE = (
    "Inside the folder it then edits files and runs commands, first in a copy, without a list. What leaves the folder, "
    "uses the network, cannot be undone or is admin has to be listed, or is denied. All of it is in Changes."
)
PAIR = 360
"""Pixels at 100 % that two fields beside each other need."""
LIMITS = {
    "max_rounds": ("max_rounds", "Rounds", str(JobPolicy().max_rounds)),
    "max_tokens": ("max_tokens", "Tokens", "No limit"),
    "max_cost": ("max_cost_usd", "Cost", "No limit"),
    "deadline_s": ("deadline_s", "Time", "No limit"),
}
"""Fields of the policy: as what they are read, their caption, and what holds while they are empty."""
HINT = "write-file(path=~/reports/**)\nbash(command=git *)"
Choices = Sequence[tuple[str, str]]


class JobForm(QWidget):
    """Follows the view-model's draft. ``agents`` gives (value, title) when the form is shown."""

    settings_wanted = Signal()

    def __init__(self, jobs: JobsViewModel, agents: Callable[[], Choices], models: ModelSetupViewModel) -> None:
        super().__init__()
        self._jobs, self._agents, self._models = jobs, agents, models
        self._filling = False
        self._asked_to_save = False
        self._labelled: dict[str, Labelled] = {}
        column = Column(self, spacing=16)
        column.addWidget(self._what())
        column.addWidget(self._when())
        column.addWidget(self._may())
        column.addWidget(self._ends())
        jobs.opened.connect(self.fill)
        jobs.checked.connect(self.show_problems)
        jobs.refused.connect(self._to_the_first_problem)
        self.fill()

    # -- the cards ----------------------------------------------------------------------------------------------------

    def _what(self) -> QWidget:
        card, column = _card("What it does")
        self.name = Field("Name", hint="Morning report")
        self.name.setMaxLength(200)
        self.message = TextArea("Message", hint="What to do, as you would write it to the agent")
        sized(self.message, height=96)
        self.agent, self.model = AgentCombo("Agent"), ModelField("Model", self._models, ("", "The default model"))
        column.addWidget(self._field("name", "Name", self.name))
        column.addWidget(self._field("message", "Message", self.message))
        agent, model = self._field("agent", "Agent", self.agent), self._field("model", "Model", self.model)
        column.addWidget(Turning(agent, model, minimum=PAIR))
        self.settings = ModelSettingsFields("of this job", self._models)
        self.settings.changed.connect(self._set)
        column.addWidget(self.settings)
        self.project = Field("Folder", hint="None: Assent's own workspace", mono=True)
        choose = Button("Choose…", icon="folder", small=True)
        choose.clicked.connect(lambda: choose_folder(self, "The folder that the job works in", self._choose_project))
        words = "Its runs start there, and it is open to them. What it tells the model counts as in a chat."
        row = Row(spacing=8)
        row.addWidget(self._field("project", "Folder", self.project, words), 1)
        row.addWidget(choose, 0, Qt.AlignmentFlag.AlignVCenter)
        column.addLayout(row)
        self.project.textEdited.connect(lambda text: self._edit(project=text.strip()))
        self.name.textEdited.connect(lambda text: self._edit(name=text))
        self.message.textChanged.connect(lambda: self._edit(message=self.message.toPlainText()))
        self.agent.activated.connect(lambda _: self._edit(agent=self.agent.currentData()))
        self.model.chosen.connect(self._choose_model)
        return card

    def _when(self) -> QWidget:
        card, column = _card("When")
        self.schedule = Field("Schedule", hint="0 9 * * mon-fri", mono=True)
        self.schedule.setMaxLength(200)
        self.zone = Field("Time zone", hint="This computer's")
        words = "Minute, hour, day of month, month, weekday"
        schedule = self._field("schedule", "Schedule", self.schedule, words)
        zone = self._field("zone", "Time zone", self.zone, "Such as Europe/Berlin")
        column.addWidget(Turning(schedule, zone, minimum=PAIR))
        examples, buttons = FlowRow(gap=6), []
        for title, text in EXAMPLES:
            button = Button(title, "quiet", small=True, tip=text)
            button.clicked.connect(lambda _=False, text=text: self._example(text))
            buttons.append(button)
        examples.set_items(buttons)
        column.addWidget(examples)
        self.next = Paragraph("", "small", "2")
        column.addWidget(self.next)
        self.missed = Combo(PASSED)
        self.missed.fill([(title, value) for value, title in MISSED])
        column.addWidget(self._field("missed", PASSED, self.missed))
        self.schedule.textEdited.connect(lambda text: self._edit(schedule=text))
        self.zone.textEdited.connect(lambda text: self._edit(zone=text.strip()))
        self.missed.activated.connect(lambda _: self._edit(missed=self.missed.currentData()))
        return card

    def _may(self) -> QWidget:
        card, column = _card("What it may do")
        column.addWidget(Paragraph(NOBODY, "small", "2"))
        self.kind = Segmented("What it may do", ((READS, "Only read"), (LISTED, "What is listed")), small=True)
        row = Row(spacing=8)
        row.addWidget(self.kind)
        row.addStretch(1)
        column.addLayout(row)
        self.tools = TextArea("Tools it may use", hint=HINT, mono=True)
        sized(self.tools, height=84)
        words = (
            "One on each line, written as in rules. A pattern that allows more than reading has to name its tool. "
            "An agent that writes code also needs agent-code."
        )
        column.addWidget(self._field("policy.allowed_tools", "Tools it may use", self.tools, words))
        self.admin = Field("Admin calls of these tools", hint="None", mono=True)
        words = "Exact names of tools from the list above. All their admin calls run without asking."
        column.addWidget(self._field("policy.allow_admin", "Admin calls of these tools", self.admin, words))
        self.edge = CheckBox("Work up to the edge of its folder")
        column.addWidget(self._field("policy.at_edge", "", self.edge, EDGE))
        self.off = Notice("ask", SWITCHED_OFF)
        button = Button("Settings", "quiet", small=True)
        button.clicked.connect(self.settings_wanted)
        self.off.add(button)
        column.addWidget(self.off)
        self.summary = Paragraph("", "body")
        column.addWidget(self.summary)
        self.kind.chosen.connect(self._choose)
        self.tools.textChanged.connect(self._tools_changed)
        self.admin.textEdited.connect(lambda text: self._edit_policy(allow_admin=listed(text)))
        self.edge.toggled.connect(lambda on: self._edit_policy(at_edge=on))
        return card

    def _ends(self) -> QWidget:
        card, column = _card("A run ends at the first of these")
        self.limits: dict[str, Field] = {}
        shown_limits = []
        for name, (_, title, hint) in LIMITS.items():
            field = self.limits[name] = Field(title, hint=hint)
            field.textEdited.connect(lambda text, name=name: self._limit(name, text))
            shown_limits.append(self._field(f"policy.{name}", title, field))
        pairs = (Turning(*pair, minimum=PAIR // 2) for pair in (shown_limits[:2], shown_limits[2:]))
        column.addWidget(Turning(*pairs, minimum=PAIR + 120))
        return card

    def _field(self, path: str, caption: str, control: QWidget, words: str = "") -> Labelled:
        found = self._labelled[path] = Labelled(caption, control, words)
        return found

    # -- from the draft -----------------------------------------------------------------------------------------------

    def fill(self) -> None:
        """Show the draft as it is."""
        job, self._filling, self._asked_to_save = self._jobs.draft, True, False
        _put(self.name, job.name)
        _put(self.message, job.message)
        self.agent.fill([(title, value) for value, title in _with(self._agents(), job.agent)], job.agent)
        self.model.show_ref(job.model)
        self._show_settings(fresh=True)
        _put(self.project, job.project)
        _put(self.schedule, job.schedule)
        _put(self.zone, job.zone)
        self.missed.setCurrentIndex(max(0, self.missed.findData(job.missed)))
        self._fill_policy(job)
        self._filling = False
        self.show_problems()

    def _fill_policy(self, job: Job) -> None:
        policy = job.policy
        self.kind.set_value(READS if policy.allowed_tools is None else LISTED)
        _put(self.tools, "\n".join(policy.allowed_tools or ()))
        _put(self.admin, ", ".join(policy.allow_admin))
        self.edge.setChecked(policy.at_edge)
        for name, field in self.limits.items():
            value = getattr(policy, name)
            _put(field, "" if value is None else shown(LIMITS[name][0], value))
        self._show_policy()

    def show_problems(self) -> None:
        """What is wrong, below its field; of a new job what is empty only once it was to be saved."""
        new = not self._jobs.draft.job_id and not self._asked_to_save
        for path, labelled in self._labelled.items():
            said = self._jobs.problem_of(path)
            empty = new and path in ("name", "message", "model")
            labelled.set_error("" if empty else shown_line(said))
            if not said and (perhaps := self._jobs.warning_of(path)):
                labelled.set_warning(shown_line(perhaps))
        wrong = {name: self._jobs.problem_of(f"settings.{name}") for name in SPELLINGS}
        self.settings.show_problems(wrong_in(wrong))
        now, zone = time.time(), self._jobs.draft.zone
        pairs = zip(self._jobs.next_times, self._jobs.next_ahead_s, strict=False)
        times = [moment(at, now, zone, ahead) for at, ahead in pairs]
        self.next.set_pieces("Next: " + "; ".join(times) if times else "")
        self.next.setVisible(bool(times))

    def ask_to_save(self) -> None:
        """Save the job; from now on empty fields are shown as wrong."""
        self._asked_to_save = True
        self.show_problems()
        self._jobs.save()

    def _to_the_first_problem(self) -> None:
        """Keys go to the first field that is wrong."""
        wrong = (field for path, field in self._labelled.items() if self._jobs.problem_of(path) and field.isVisible())
        field = next(wrong, None)
        control = field.control if field is not None else self.settings.first_wrong()
        if control is not None:
            give_keys(control)

    # -- to the draft -------------------------------------------------------------------------------------------------

    def _edit(self, **changes: object) -> None:
        if not self._filling:
            self._jobs.edit(**changes)

    def _choose_model(self, ref: str) -> None:
        self._edit(model=ref)
        self._show_settings()

    def _show_settings(self, *, fresh: bool = False) -> None:
        job = self._jobs.draft
        self.settings.show_values(job.settings, job.model or self._models.default_model, fresh=fresh)

    def _set(self, key: str, value: object) -> None:
        """One setting of its model, or None: no longer."""
        settings = {name: one for name, one in self._jobs.draft.settings.items() if name != key}
        self._edit(settings=settings if value is None else {**settings, key: value})
        self._show_settings()

    def _edit_policy(self, **changes: object) -> None:
        if not self._filling:
            self._jobs.edit_policy(**changes)
            self._show_policy()

    def _choose_project(self, path: str) -> None:
        self.project.setText(path)
        self._edit(project=path)

    def _example(self, text: str) -> None:
        self.schedule.setText(text)
        self._edit(schedule=text)

    def _choose(self, value: str) -> None:
        """Choose what the job may do. A job that only reads makes no admin calls; the lists that were written come back
        with the list."""
        if value == READS:
            self._edit_policy(allowed_tools=None, allow_admin=())
        else:
            self._edit_policy(allowed_tools=listed(self.tools.toPlainText()), allow_admin=listed(self.admin.text()))

    def _tools_changed(self) -> None:
        self._edit_policy(allowed_tools=listed(self.tools.toPlainText()))

    def _limit(self, name: str, text: str) -> None:
        """What cannot be read is shown as wrong, kept out of the draft, and keeps the job from being saved."""
        path = f"policy.{name}"
        try:
            value = read_limit(LIMITS[name][0], text)
        except ConfigurationError as error:
            self._jobs.leave_unread(path, str(error))
            self._labelled[path].set_error(str(error))
            return
        self._jobs.leave_unread(path, "")
        self._labelled[path].set_error("")
        self._edit_policy(**{name: JobPolicy().max_rounds if value is None and name == "max_rounds" else value})

    def _show_policy(self) -> None:
        policy = self._jobs.draft.policy
        listed_only = policy.allowed_tools is not None
        self._labelled["policy.allowed_tools"].setVisible(listed_only)
        self._labelled["policy.allow_admin"].setVisible(listed_only or bool(policy.allow_admin))
        self.off.setVisible(bool(policy.allow_admin) and not self._jobs.admin_allowed)
        self.summary.set_pieces(shown_line(policy_words(policy, admin_allowed=self._jobs.admin_allowed)))


def _card(title: str) -> tuple[QWidget, Column]:
    card = pane("card")
    card.setAccessibleName(title)
    column = Column(card, margins=(16, 12, 16, 16), spacing=12)
    column.addWidget(Text(title, "medium"))
    return card, column


def _put(field: Field | TextArea, text: str) -> None:
    """Where it says that already, the caret and what can be undone stay: a job is saved while one writes."""
    if isinstance(field, TextArea):
        if field.toPlainText() != text:
            field.setPlainText(text)
    elif field.text() != text:
        field.setText(text)


def _with(choices: Choices, value: str) -> Choices:
    """What is chosen stays to be seen, also where it is not offered any more."""
    return choices if any(one == value for one, _ in choices) else [*choices, (value, value)]
