"""The keyring: every secret that Assent keeps or reads, by name. Values are write-only (R-UI-6, R-SEC-1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from desktop.presenter.settings.keys import KeyState, KeysViewModel, ProviderKeyRow, ToolSecretRow
from desktop.ui.settings.keys.dialogs import KeyDialogs
from desktop.ui.widgets.controls.buttons import Button, Kind
from desktop.ui.widgets.layout.containers import EmptyState, Notice, Scroller, clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

INTRO = (
    "Values are kept by the keyring of your system. They go from there to where they are used, never into a file, a "
    "log or a chat, and are not shown here either."
)
TOOLS = (
    "A tool or server gets a secret as a variable when it runs: write ${keyring:assent/name} for its value in "
    "tools.yaml or mcp.yaml. No tool is ever given the key of a provider."
)
NO_PROVIDER = "No provider has a key. Connect one under Models and keys."
STATES: dict[KeyState, tuple[str, str]] = {
    "looking": ("running", "looking"),
    "kept": ("allow", "in the keyring"),
    "waiting": ("ask", "waiting for you"),
    "session": ("ask", "until you quit"),
    "missing": ("failed", "missing"),
    "silent": ("warning", "the keyring does not answer"),
    "not_agreed": ("ask", "not allowed yet"),
    "never": ("deny", "never given to tools"),
}
Act = tuple[str, str, Kind, Callable[[], None]]
"""Label, what it does in words, look, and the act."""


class KeysPage(Scroller):
    """Keys of providers, secrets of tools."""

    def __init__(self, keys: KeysViewModel) -> None:
        super().__init__(margins=(24, 20, 24, 24), spacing=12)
        self._keys = keys
        self._outcomes: dict[str, tuple[bool, str]] = {}
        self._shown: object = None
        self.dialogs = KeyDialogs(self, keys)
        self.notice = Notice("ask")
        self.column.addWidget(self.notice)
        self.column.addWidget(Paragraph(INTRO, "body", "2"))
        self.column.addWidget(Text("Keys of providers", "strong"))
        self._providers = Column(spacing=8)
        self.column.addLayout(self._providers)
        head = Row(spacing=8)
        head.addWidget(Text("Secrets of tools", "strong"))
        head.addStretch(1)
        self.look = Button("Look again", small=True, icon="retry")
        self.look.clicked.connect(keys.look)
        self.add = Button("Add a secret…", small=True, icon="new")
        self.add.clicked.connect(self._add)
        head.addWidget(self.look)
        head.addWidget(self.add)
        self.column.addLayout(head)
        self.column.addWidget(Paragraph(TOOLS, "small", "2"))
        self._tools = Column(spacing=8)
        self.column.addLayout(self._tools)
        self.column.addStretch(1)
        keys.changed.connect(self.refresh)
        keys.told.connect(self._told)
        self.refresh()
        keys.look()

    def refresh(self) -> None:
        """Show what the view-model has now."""
        keys = self._keys
        state = (keys.note, keys.providers, keys.own, keys.tools, dict(self._outcomes))
        if state == self._shown:
            return
        self._shown = state
        self.notice.setVisible(bool(keys.note))
        if keys.note:
            self.notice.say(keys.note, "ask")
        clear(self._providers)
        clear(self._tools)
        for provider in keys.providers:
            self._providers.addWidget(self._provider(provider))
        if not keys.providers:
            self._providers.addWidget(Paragraph(NO_PROVIDER, "body", "2"))
        for own in keys.own:
            title = Text(shown_line(str(own.entry)), "code", elide="middle")
            acts: list[Act] = [("Delete…", f"Delete {own.entry}", "danger", self.dialogs.delete_token)]
            lines = (own.words, "No tool is given it.")
            self._tools.addWidget(self._card(title, own.state, lines, acts, str(own.entry), str(own.entry)))
        for row in keys.tools:
            self._tools.addWidget(self._tool(row))
        if not keys.tools:
            words = "No tool and no server asks for one, and you have added none."
            self._tools.addWidget(EmptyState("key", "No secrets of tools", words, framed=True))

    def _add(self) -> None:
        self.dialogs.add()

    def _told(self, row: str, worked: bool, sentence: str) -> None:
        self._outcomes[row] = (worked, sentence)
        self.refresh()

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _provider(self, row: ProviderKeyRow) -> QWidget:
        name, keys, dialogs = row.connection_id, self._keys, self.dialogs
        there = row.state != "missing"
        acts: list[Act] = [
            (
                "Replace…" if there else "Add…",
                f"Enter another key for {row.title}",
                "quiet",
                partial(dialogs.replace_provider, row),
            )
        ]
        if there:
            acts.insert(0, ("Test", f"Make one request to {row.title}", "quiet", partial(keys.test_provider, name)))
            acts.append(("Delete…", f"Delete the key of {row.title}", "danger", partial(dialogs.delete_provider, row)))
        more = f" It has {len(row.secrets)} parts." if len(row.secrets) > 1 else ""
        used = f"Used by the connection {shown_line(row.title)}.{more}"
        title = Text(shown_line(row.title), "medium", elide="right")
        return self._card(title, row.state, (used,), acts, name, row.title)

    def _tool(self, row: ToolSecretRow) -> QWidget:
        title = Text(shown_line(str(row.entry)), "code", elide="middle")
        return self._card(title, row.state, _tool_lines(row), self._tool_acts(row), str(row.entry), str(row.entry))

    def _tool_acts(self, row: ToolSecretRow) -> list[Act]:
        keys, entry, dialogs = self._keys, row.entry, self.dialogs
        if row.state == "never":
            return []
        acts: list[Act] = []
        if row.waiting:
            acts.append(("Allow…", f"Let {', '.join(row.waiting)} read {entry}", "normal", partial(dialogs.agree, row)))
        if row.state in ("not_agreed", "looking"):
            return acts
        if row.state == "missing":
            return [*acts, ("Add…", f"Add {entry}", "normal", partial(dialogs.add, entry, row.tools))]
        acts.append(("Test", f"Check whether {entry} is there", "quiet", partial(keys.test, entry)))
        if row.foreign:
            acts.append(("Take back", f"No tool reads {entry} any more", "quiet", partial(keys.disagree, entry)))
            return acts
        acts.append(("Replace…", f"Enter another value for {entry}", "quiet", partial(dialogs.replace, row)))
        acts.append(("Delete…", f"Delete {entry}", "danger", partial(dialogs.delete, row)))
        return acts

    def _card(
        self, title: QWidget, state: KeyState, lines: Sequence[str], acts: Sequence[Act], row: str, name: str
    ) -> QFrame:
        card = pane("card")
        glyph, word = STATES[state]
        card.setAccessibleName(f"{shown_line(name)}: {word}")
        column = Column(card, margins=(16, 10, 12, 12), spacing=6)
        head = Row(spacing=12)
        head.addWidget(title, 1)
        head.addWidget(StateLabel(glyph, word), 0, Qt.AlignmentFlag.AlignRight)
        column.addLayout(head)
        for line in lines:
            column.addWidget(Paragraph(line, "small", "2"))
        if acts:
            buttons = Row(spacing=4)
            buttons.addStretch(1)
            for label, tip, kind, act in acts:
                button = Button(label, kind, small=True, tip=shown_line(tip))
                button.clicked.connect(lambda _=False, act=act: act())
                buttons.addWidget(button)
            column.addLayout(buttons)
        outcome = self._outcomes.get(row)
        if outcome is not None:
            column.addWidget(Notice("allow" if outcome[0] else "failed", shown_line(outcome[1])))
        return card


def _tool_lines(row: ToolSecretRow) -> list[str]:
    uses = ", ".join(f"{shown_line(use.tool)} ({shown_line(use.variable)})" for use in row.uses)
    lines = [f"Used by {uses}." if uses else "No tool uses it now."]
    if row.state == "never":
        whose = "This is the key of a provider, or a sign-in to an MCP server."
        lines.append(f"{whose} Calls of these tools fail until they name another entry.")
    elif row.foreign:
        lines.append("Another program keeps it. Assent does not look at it before you agree.")
    elif row.waiting:
        lines.append(f"It was given to {', '.join(map(shown_line, row.holders))}, and no other tool gets it unasked.")
    return lines
