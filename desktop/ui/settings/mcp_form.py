"""A form for one more MCP server. What it makes is put into the text, where it is checked and saved like any other."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.mcp_servers import McpServersViewModel
from desktop.ui.widgets.buttons import Button
from desktop.ui.widgets.containers import Scroller
from desktop.ui.widgets.fields import Combo, Field, Labelled, TextArea
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.toggles import Check, Segmented

CATEGORIES = (
    ("admin", "admin: asks each time, never remembered"), ("write", "write: asks each time"), ("read", "read: runs"),
)  # fmt: skip


class ServerForm(QFrame):
    """``written``: the entry is in the text now; ``back``: the person is done here."""

    written = Signal()
    back = Signal()

    def __init__(self, mcp: McpServersViewModel) -> None:
        super().__init__()
        self._mcp = mcp
        self.setProperty("pane", "surface")
        scroller = Scroller(margins=(24, 16, 24, 24), spacing=12)
        Column(self, spacing=0).addWidget(scroller)
        inside = scroller.column
        head = Row(spacing=8)
        back = Button("All servers", "quiet", icon="left", small=True)
        back.clicked.connect(self.back)
        head.addWidget(back)
        head.addWidget(Text("Add a server", "strong"))
        head.addStretch(1)
        inside.addLayout(head)
        self.kind = Segmented("Kind of server", (("program", "A program here"), ("web", "An address")), small=True)
        inside.addWidget(self.kind, 0, Qt.AlignmentFlag.AlignLeft)
        self.name, self.command, self.url, self.bearer = (Field(name) for name in ("Name", "Program", "Address", "Key"))
        self.args = sized(TextArea("Arguments", mono=True), height=92)
        self.env = sized(TextArea("Variables", mono=True), height=72)
        self.headers = sized(TextArea("Headers", mono=True), height=72)
        self._rows = {
            "name": _row("Name", self.name, "a to z, 0 to 9 and hyphens; its tools are called name-tool"),
            "command": _row("Program", self.command, "a name or a full path"),
            "args": _row("Arguments, one a line", self.args, ""),
            "env": _row("Variables, NAME=value, one a line", self.env, "a key as ${keyring:service/user}"),
            "url": _row("Address", self.url, "https://…; an http:// address only on this computer if there is a key"),
            "bearer": _row("Key", self.bearer, "${keyring:service/user}, or nothing"),
            "headers": _row("Headers, Name: value, one a line", self.headers, "a key as ${keyring:service/user}"),
        }
        for row in self._rows.values():
            inside.addWidget(row)
        self.network = Check("It may use the network")
        inside.addWidget(self.network)
        self.category = Combo("Category of its tools")
        for value, words in CATEGORIES:
            self.category.addItem(words, value)
        inside.addWidget(_row("Category of its tools", self.category, "mcp.yaml can give single tools another one"))
        self.enabled = Check("Start it now, and with Assent")
        inside.addWidget(self.enabled)
        inside.addWidget(Paragraph("You see the text before you save it.", "small", "2"))
        self.put = Button("Add to mcp.yaml", "primary", icon="new")
        foot = Row(spacing=8)
        foot.addWidget(self.put)
        foot.addStretch(1)
        inside.addLayout(foot)
        inside.addStretch(1)
        self.put.clicked.connect(self._write)
        self.kind.chosen.connect(self._show_kind)
        self._show_kind("program")

    def begin(self) -> None:
        """Empty again."""
        for field in (self.name, self.command, self.url, self.bearer):
            field.clear()
        self.args.clear()
        self.env.clear()
        self.headers.clear()
        self.network.setChecked(False)
        self.enabled.setChecked(False)
        self.category.setCurrentIndex(0)
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_kind(self, kind: str) -> None:
        self.kind.set_value(kind)
        web = kind == "web"
        for name in ("command", "args", "env"):
            self._rows[name].setVisible(not web)
        for name in ("url", "bearer", "headers"):
            self._rows[name].setVisible(web)
        self.network.setVisible(not web)

    def entry(self) -> dict[str, object]:
        """What is filled in, as mcp.yaml takes it."""
        entry: dict[str, object] = {"name": self.name.text().strip()}
        if self._rows["url"].isHidden():
            entry["command"] = self.command.text().strip()
            entry["args"] = [line for line in self.args.toPlainText().splitlines() if line]
            pairs = (line.partition("=") for line in self.env.toPlainText().splitlines() if line.strip())
            entry["env"] = {name.strip(): value for name, _, value in pairs}
            if self.network.isChecked():
                entry["network"] = True
        else:
            entry["url"] = self.url.text().strip()
            if self.bearer.text().strip():
                entry["bearer"] = self.bearer.text().strip()
            sent = (line.partition(":") for line in self.headers.toPlainText().splitlines() if line.strip())
            entry["headers"] = {name.strip(): value.strip() for name, _, value in sent}
        entry["enabled"] = self.enabled.isChecked()
        entry["category"] = self.category.currentData()
        return {key: value for key, value in entry.items() if value not in ([], {})}

    def _write(self) -> None:
        self._mcp.put_in(self.entry())
        self.written.emit()


def _row(caption: str, control: QWidget, help_text: str) -> Labelled:
    control.setAccessibleName(caption)
    return Labelled(caption, control, help_text)
