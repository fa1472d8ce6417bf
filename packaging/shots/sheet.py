"""The component sheet: every control in every state on one picture."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from desktop.ui.theme import theme
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.buttons import Button, Kind
from desktop.ui.widgets.controls.fields import Combo, Field
from desktop.ui.widgets.controls.toggles import CheckBox, Chip, Segmented, Switch
from desktop.ui.widgets.dialogs.toast import Toast
from desktop.ui.widgets.focus import ring_in
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.layout.tabs import Tabs
from desktop.ui.widgets.marks import Badge, KeyCaps, MeterBar, StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Text

KINDS: tuple[tuple[str, Kind], ...] = (
    ("Primary", "primary"),
    ("Normal", "normal"),
    ("Quiet", "quiet"),
    ("Admin", "admin"),
    ("Danger", "danger"),
)


class ComponentSheet(QFrame):
    """Rest, focus and disabled are live; hover and pressed are the style sheet's and cannot be frozen in a widget."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        row = Row(self, margins=24, spacing=48)
        left, right = Column(spacing=12), Column(spacing=12)
        row.addLayout(left, 1)
        row.addLayout(right, 1)
        left.addLayout(_buttons())
        left.addLayout(_allow())
        left.addWidget(Text("Fields", "caption", "2"))
        left.addLayout(_fields())
        left.addLayout(_toggles())
        left.addWidget(Text("Category, judgement, state", "caption", "2"))
        badges = ("read", "write", "admin", "reads", "network", "unknown", "deletes")
        left.addLayout(_line([Badge(name) for name in badges]))
        left.addLayout(_line([StateLabel(n) for n in ("waiting", "running", "done", "failed", "denied", "queued")], 16))
        left.addLayout(_line([Badge("changed"), Badge("not-an-ai"), KeyCaps("Ctrl+Shift+F")]))
        left.addWidget(Text("Context meter", "caption", "2"))
        for fraction, words in ((0.34, "44.6k of 131k"), (0.82, "26.2k of 32k"), (0.98, "31.4k of 32k, full")):
            meter = MeterBar("Context")
            meter.set_fraction(fraction)
            left.addLayout(_line([meter, Text(words, "small", "2")]))
        left.addStretch(1)
        toast_pane = sized(pane("plain"), height=104)
        toast = Toast(toast_pane)
        self._toast = toast
        right.addWidget(Text("Toast", "caption", "2"))
        right.addWidget(toast_pane)
        right.addWidget(Text("Empty", "caption", "2"))
        actions = (Button("Read the rules"), Button("See activity", "quiet"))
        sentence = "When an agent wants to write or run something, it shows here first."
        right.addWidget(EmptyState("approvals", "Nothing waits for you", sentence, actions, framed=True))
        tabs = sized(Tabs("Sample", (("a", "Waiting"), ("b", "Activity"))), height=48)
        tabs.set_count("a", 3)
        right.addWidget(tabs)
        right.addWidget(
            Paragraph(
                [
                    ("Shell commands are confined by Landlock", "strong"),
                    (": they write only in ", ""),
                    ("~/work/harbour-sensors", "mono"),
                    (" and ", ""),
                    ("/tmp/agent", "mono"),
                    (". Network is not confined on this machine.", ""),
                ]
            )
        )
        right.addStretch(1)

    def showEvent(self, event: QEvent) -> None:
        """The toast needs its pane's size."""
        self._toast.say("“Grant report, section 3” deleted", "undo")


def _buttons() -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(theme().px(12))
    grid.setVerticalSpacing(theme().px(8))
    for column, name in enumerate(("", "rest", "small", "icon", "key", "disabled")):
        grid.addWidget(Text(name, "caption", "2"), 0, column)
    for row, (title, kind) in enumerate(KINDS, 1):
        off = Button("Button", kind)
        off.setEnabled(False)
        off.setToolTip("Disabled because this is a sample")
        samples = (Button("Button", kind), Button("Button", kind, small=True), Button("Button", kind, icon="play"))
        grid.addWidget(Text(title, "small", "2"), row, 0)
        for column, button in enumerate((*samples, Button("Button", kind, key="Esc"), off), 1):
            grid.addWidget(button, row, column, Qt.AlignmentFlag.AlignLeft)
    return grid


def _allow() -> Row:
    deaf, awake = AllowButton("Allow once", "primary"), AllowButton("Allow once", "primary", icon="allow")
    deaf.arm()
    deaf._grow.pause()
    deaf._grow.setCurrentTime(280)
    awake.arm()
    ringed = _Ringed("Deny", key="Esc")
    admin = AllowButton("Allow once", "admin", icon="admin", key="Ctrl+Enter")
    admin.arm()
    return _line([ringed, deaf, awake, admin], 12)


class _Ringed(Button):
    def showEvent(self, event: QEvent) -> None:
        ring_in(self, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason).reason())


def _fields() -> Row:
    wrong = sized(Field("Wrong"), width=136)
    wrong.setText("Wrong")
    wrong.set_error(True)
    combo = sized(Combo("Combo"), width=120)
    combo.fill([("Mistral", 1)])
    search = sized(Field("Search", hint="Find a setting", icon="search"), width=150)
    return _line([sized(Field("Field", hint="Placeholder"), width=120), wrong, search, combo])


def _toggles() -> Row:
    on, off, check, empty = Switch("on"), Switch("off"), CheckBox("on"), CheckBox("off")
    on.setChecked(True)
    check.setChecked(True)
    segmented = Segmented("View", (("diff", "Diff"), ("result", "Result")), small=True)
    quiet = Combo("Any", quiet=True)
    quiet.fill([("Any decision", 1)])
    return _line([off, on, empty, check, segmented, Chip("tag"), Chip("tag", checked=True), quiet], 12)


def _line(widgets: Sequence[QWidget], spacing: int = 8) -> Row:
    row = Row(spacing=spacing)
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return row
