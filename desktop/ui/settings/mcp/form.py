"""A form for one more MCP server. What it makes is put into the text, where it is checked and saved like any other."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from desktop.domain.keyring import KeyringEntry
from desktop.presenter.mcp.paste import PastedServer, typed_secrets
from desktop.presenter.mcp.secrets import PastedSecret, exposed
from desktop.presenter.mcp.servers import McpServersViewModel
from desktop.ui.settings.mcp.pasted import PastedNotice
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Field, Labelled, TextArea
from desktop.ui.widgets.controls.toggles import CheckBox, Segmented
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.layout.containers import Scroller
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Text

CATEGORIES = (
    ("admin", "admin: asks each time, never remembered"),
    ("write", "write: asks each time"),
    ("read", "read: runs"),
)
NAME_HELP = "a to z, 0 to 9 and hyphens; the names of its tools begin with it, as in tickets-search"
IN_KEYRING = "it goes into the keyring, not into mcp.yaml"
CATEGORY_HELP = "one for all of them; in mcp.yaml each tool can have its own"
NEXT = "Next you see it in the text of mcp.yaml. Nothing is saved before you save it there."
KEY_HELP = f"if a value is a key, {IN_KEYRING}"
FILE_TIP = "A .mcp.json or mcp.json of another app, or a saved entry of the registry (server.json)"
PROGRAM_HELP = "a name or a full path; or paste the whole command line or JSON that the server's page shows"


class ServerForm(QFrame):
    """The form of a new server. ``written``: the entry is in the text now; ``back``: the person is done here."""

    written = Signal()
    back = Signal()

    def __init__(self, mcp: McpServersViewModel) -> None:
        super().__init__()
        self._mcp = mcp
        self.setProperty("pane", "surface")
        self.scroller = scroller = Scroller(margins=(24, 16, 24, 24), spacing=12)
        Column(self, spacing=0).addWidget(scroller)
        inside = scroller.column
        head = Row(spacing=8)
        back = Button("All servers", "quiet", icon="left", small=True)
        back.clicked.connect(self.back)
        head.addWidget(back)
        head.addWidget(Text("Add a server", "strong"))
        head.addStretch(1)
        self.anew = Button("Start anew", "quiet", icon="retry", small=True, tip="Empty every field")
        self.anew.clicked.connect(self.begin)
        self.anew.hide()
        head.addWidget(self.anew)
        self.file = Button("From a file", "quiet", icon="file", small=True, tip=FILE_TIP)
        self.file.clicked.connect(self._choose_file)
        head.addWidget(self.file)
        inside.addLayout(head)
        self.kind = Segmented("Kind of server", (("program", "A program here"), ("web", "An address")), small=True)
        inside.addWidget(self.kind, 0, Qt.AlignmentFlag.AlignLeft)
        self.pasted = PastedNotice(self, mcp)
        inside.addWidget(self.pasted)
        inside.addWidget(self.pasted.list)
        self._make_rows()
        for row in self._rows.values():
            inside.addWidget(row)
        self._make_foot(inside)
        self.kind.chosen.connect(self._show_kind)
        self._show_kind("program")

    def _make_rows(self) -> None:
        """What is filled in, for a program and for an address."""
        self.name, self.command, self.url, self.bearer = (Field(name) for name in ("Name", "Program", "Address", "Key"))
        self.args = sized(TextArea("Arguments", mono=True), height=92)
        self.env = sized(TextArea("Variables", mono=True), height=72)
        self.headers = sized(TextArea("Headers", mono=True), height=72)
        self._rows = {
            "name": _row("Name", self.name, NAME_HELP),
            "command": _row("Program", self.command, PROGRAM_HELP),
            "args": _row("Arguments, one a line", self.args, ""),
            "env": _row("Variables, NAME=value, one a line", self.env, KEY_HELP),
            "url": _row("Address", self.url, "https://…; with a key, http:// is for servers on this computer only"),
            "bearer": _row("Key", self.bearer, f"only if the server asks for one; {IN_KEYRING}"),
            "headers": _row("Headers, Name: value, one a line", self.headers, KEY_HELP),
        }
        self.command.textChanged.connect(self.pasted.look_at)
        self.url.textChanged.connect(self.pasted.look_at_address)

    def _make_foot(self, inside: QVBoxLayout) -> None:
        """What the server may do, and the button that adds it."""
        self.network = CheckBox("It may use the network")
        inside.addWidget(self.network)
        self.category = Combo("Category of its tools")
        self.category.fill([(words, value) for value, words in CATEGORIES])
        inside.addWidget(_row("Category of its tools", self.category, CATEGORY_HELP))
        self.enabled = CheckBox("Start it once it is saved, and whenever Assent starts")
        inside.addWidget(self.enabled)
        inside.addWidget(Paragraph(NEXT, "small", "2"))
        self.put = Button("Add to mcp.yaml", "primary", icon="new")
        foot = Row(spacing=8)
        foot.addStretch(1)
        foot.addWidget(self.put)
        inside.addLayout(foot)
        inside.addStretch(1)
        self.put.clicked.connect(self._write)

    def _choose_file(self) -> None:
        dialog = FileDialog(self, "A file that declares servers")
        dialog.setFileMode(FileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._mcp.read_declared)
        dialog.open()

    @property
    def filled(self) -> bool:
        """Whether a person wrote something that is not in the text yet."""
        lines = (field.text() for field in (self.name, self.command, self.url, self.bearer))
        return any(map(str.strip, (*lines, *(area.toPlainText() for area in (self.args, self.env, self.headers)))))

    def show_again(self) -> None:
        """Show the form as it was left; empty where nothing was written, or all of it is in the text."""
        if not self.filled:
            self.begin()
            return
        self.anew.show()
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def begin(self) -> None:
        """Empty the form."""
        self.anew.hide()
        for field in (self.name, self.command, self.url, self.bearer):
            field.clear()
        for area in (self.args, self.env, self.headers):
            area.clear()
        self.pasted.forget()
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

    def fill(self, server: PastedServer) -> None:
        """With what was pasted; the name that a person wrote stays."""
        self._show_kind("web" if server.url else "program")
        if not self.name.text().strip():
            self.name.setText(server.name)
        self.command.setText(server.command)
        self.args.setPlainText("\n".join(server.args))
        self.env.setPlainText("\n".join(f"{name}={value}" for name, value in server.env.items()))
        self.url.setText(server.url)
        self.bearer.setText(server.bearer)
        self.headers.setPlainText("\n".join(f"{name}: {value}" for name, value in server.headers.items()))
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def refer(self, secret: PastedSecret, entry: KeyringEntry) -> None:
        """A secret is in the keyring: its field refers to it there."""
        if secret.kind == "bearer":
            self.bearer.setText(entry.reference)
            return
        area, sign = (self.env, "=") if secret.kind == "env" else (self.headers, ":")
        written = [
            f"{secret.name}{sign}{' ' if sign == ':' else ''}{entry.reference}"
            if line.partition(sign)[0].strip() == secret.name
            else line
            for line in area.toPlainText().splitlines()
        ]
        area.setPlainText("\n".join(written))

    def add_all(self, servers: tuple[PastedServer, ...]) -> None:
        """Several at once go into the text as they are, each switched off; none where one of them holds a secret."""
        entries = [server.entry() for server in servers]
        if said := "\n".join(f"{one['name']}: {why}" for one in entries if (why := exposed(one))):
            self.pasted.refuse(said, waits=True)
            return
        for entry in entries:
            self._mcp.put_in(entry)
        self._done()

    def _done(self) -> None:
        """The server is in the text of mcp.yaml: close the form."""
        self.begin()
        self.written.emit()

    def _write(self) -> None:
        if self.pasted.waits:  # what was pasted is no program: it is taken apart first, and looked at
            self.pasted.button.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        entry = self.entry()
        if said := exposed(entry):
            self.pasted.refuse(said, secrets=typed_secrets(entry))
            return
        self._mcp.put_in(entry)
        self._done()


def _row(caption: str, control: QWidget, help_text: str) -> Labelled:
    control.setAccessibleName(caption)
    return Labelled(caption, control, help_text)
