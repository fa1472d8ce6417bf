"""What was pasted, or read from a file, where a server is added: said in words, shown as what will run, taken apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.keyring import KeyringEntry
from desktop.presenter.mcp.paste import Pasted, PastedServer, read_pasted
from desktop.presenter.mcp.secrets import PastedSecret
from desktop.presenter.mcp.servers import McpServersViewModel
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice, Scroller, clear
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text


class Form(Protocol):
    """The form that takes what was pasted."""

    scroller: Scroller

    def fill(self, server: PastedServer) -> None: ...

    def refer(self, secret: PastedSecret, entry: KeyringEntry) -> None: ...

    def add_all(self, servers: tuple[PastedServer, ...]) -> None: ...


class PastedList(QWidget):
    """Several servers, or several ways to have one, each as what will run. ``taken``: this one goes into the form."""

    taken = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        column = Column(self, spacing=0)
        self._card = pane("card")
        self._column = Column(self._card, margins=1, spacing=0)
        column.addWidget(self._card)
        self.hide()

    def show_servers(self, servers: tuple[PastedServer, ...]) -> None:
        """Show these; none hides it."""
        clear(self._column)
        for at, server in enumerate(servers):
            self._column.addWidget(self._row(server, last=at == len(servers) - 1))
        self.setVisible(bool(servers))

    def _row(self, server: PastedServer, *, last: bool) -> QWidget:
        row = pane("row-last" if last else "row")
        column = Column(row, margins=(12, 8, 12, 8), spacing=3)
        head = Row(spacing=8)
        name = shown_line(server.name or "server")
        head.addWidget(Text(name, "strong", elide="right"), 1)
        take = Button("Fill in the form", "quiet", small=True, tip=f"Look at {name}, change it, and add it")
        take.clicked.connect(lambda: self.taken.emit(server))
        head.addWidget(take)
        column.addLayout(head)
        for caption, words in runs(server):
            column.addWidget(Paragraph([(f"{caption} ", ""), (shown(words), "mono")], "small", "2"))
        for note in server.notes:
            column.addWidget(Paragraph(shown(note), "small", "ask"))
        row.setAccessibleName(f"{name}: {' '.join(words for _, words in runs(server))}")
        return row


def runs(server: PastedServer) -> list[tuple[str, str]]:
    """What will run, or be asked, with what: never a secret, of which only the place in the keyring is known."""
    secret = {one.name for one in server.secrets}
    found = [("Asks", server.url)] if server.url else [("Runs", " ".join((server.command, *server.args)))]
    found += [("in", server.cwd)] if server.cwd else []
    for caption, given in (("with", server.env), ("sends", server.headers)):
        if given:
            words = (f"{name}=(a secret)" if name in secret else f"{name}={value}" for name, value in given.items())
            found.append((caption, "  ".join(words)))
    return found + ([("with the key", server.bearer)] if server.bearer else [])


class PastedNotice(Notice):
    """What was pasted into a field is more than that field takes: says what it is, and takes it apart. A secret that
    was in it, or was typed, can be put into the keyring from here."""

    def __init__(self, form: Form, mcp: McpServersViewModel) -> None:
        super().__init__("info")
        self._form, self._mcp = form, mcp
        self._found = Pasted()
        self._secrets: tuple[PastedSecret, ...] = ()
        self._rest = ""
        """What else is said of what was pasted."""
        self.keep = Button("Keep it in the keyring", "normal", small=True, tip="mcp.yaml then refers to it there")
        self.keep.clicked.connect(self._keep)
        self.button = Button("Fill in the form", "normal", small=True)
        self.button.clicked.connect(self._take_apart)
        for button in (self.keep, self.button):
            self.row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.list = PastedList()
        self.list.taken.connect(self._take_one)
        mcp.secrets_kept.connect(self._kept)
        mcp.declared_read.connect(self.look_at_file)
        mcp.secrets_refused.connect(self._not_kept)
        self._show_keep(())
        self.hide()

    @property
    def waits(self) -> bool:
        """Whether what was pasted still has to be taken apart, or cannot be."""
        return bool(self._found.servers or self._found.problem) and not self._found.perhaps

    def forget(self) -> None:
        """Drop what was pasted."""
        self._found, self._rest = Pasted(), ""
        self.list.hide()
        self._show_keep(())
        self.hide()

    def refuse(self, why: str, *, waits: bool = False, secrets: tuple[PastedSecret, ...] = ()) -> None:
        """A secret would stand in the file: says where, and nothing is added. ``waits``: until the text is another."""
        self._found = Pasted(problem=why if waits else "")
        self.button.hide()
        self._rest = ""
        self._show_keep(secrets)
        self.say(shown(f"Nothing was added: a secret would stand in mcp.yaml.\n{why}"), "ask")
        self.show()
        self._form.scroller.verticalScrollBar().setValue(0)

    def look_at(self, text: str) -> None:
        """The program's field has another text."""
        self._found = read_pasted(text)
        self._offer()

    def look_at_address(self, text: str) -> None:
        """The same for the address: a block or a line does not belong there either."""
        plain = text.strip().startswith(("http://", "https://")) or not text.strip()
        self._found = Pasted() if plain else read_pasted(text)
        self._offer()

    def say_no(self, why: str) -> None:
        """A file could not be read; what is in the form stays."""
        self.forget()
        self.button.hide()
        self.say(shown(why), "ask")
        self.show()

    def look_at_file(self, text: str) -> None:
        """A file was read; a command line is in none."""
        self._found = read_pasted(text)
        if not self._found.servers and not self._found.problem:
            self._found = Pasted(problem="This file declares no server.")
        self._offer()

    def _offer(self) -> None:
        servers = self._found.servers
        self.button.setVisible(bool(servers) and not self._found.either)
        self.list.show_servers(servers if len(servers) > 1 or self._found.either else ())
        self.button.set_label(f"Add all {len(servers)} to mcp.yaml" if len(servers) > 1 else "Fill in the form")
        self._show_keep(tuple(one for server in servers for one in server.secrets) if len(servers) > 1 else ())
        if self._found.problem:
            self.say(shown(self._found.problem), "ask")
        elif servers:
            path = " If it is one program with a blank in its path, add it as it is." if self._found.perhaps else ""
            self.say(shown(_words(self._found) + path), "info")
        self.setVisible(bool(servers or self._found.problem))

    def _take_apart(self) -> None:
        servers = self._found.servers
        if len(servers) > 1:
            self._found = Pasted()
            self.hide()
            self.list.hide()
            self._form.add_all(servers)
        else:
            self._take_one(servers[0])

    def _take_one(self, server: PastedServer) -> None:
        self._form.fill(server)
        self._found = Pasted()  # filling in changed the fields
        self.button.hide()
        self.list.hide()
        taken = [one.note for one in server.secrets]
        self._rest = "\n".join(note for note in server.notes if note not in taken)
        self._show_keep(server.secrets)
        self.setVisible(bool(server.notes))
        self.say(shown("\n".join(server.notes)), "ask")

    # -- secrets ------------------------------------------------------------------------------------------------------

    def _show_keep(self, secrets: tuple[PastedSecret, ...]) -> None:
        self._secrets = secrets
        self.keep.set_label("Keep it in the keyring" if len(secrets) < 2 else "Keep them in the keyring")
        self.keep.setEnabled(True)
        self.keep.setVisible(bool(secrets))

    def _keep(self) -> None:
        self.keep.setEnabled(False)
        self._mcp.keep_secrets(self._secrets)

    def _kept(self, kept: tuple[tuple[PastedSecret, KeyringEntry], ...]) -> None:
        """These are in the keyring; what was asked for a form that is another by now changes nothing in it."""
        done = [pair for pair in kept if pair[0] in self._secrets]
        if not done:
            return
        for secret, entry in done:
            if self._found.servers:
                servers = self._found.servers
                said = tuple(one.referring(secret, entry) if secret in one.secrets else one for one in servers)
                self._found = replace(self._found, servers=said)
            else:
                self._form.refer(secret, entry)
        left = tuple(one for one in self._secrets if one not in [secret for secret, _ in done])
        self._show_keep(left)
        words = "\n".join(f"The value of {secret.name} is in the keyring as {entry}." for secret, entry in done)
        more = _words(self._found) if self._found.servers else self._rest
        self.list.show_servers(self._found.servers if len(self._found.servers) > 1 else ())
        self.say(shown("\n".join(filter(None, (words, more)))), "info" if self._found.servers or not more else "ask")

    def _not_kept(self, why: str) -> None:
        if self._secrets:
            self.keep.setEnabled(True)
            self.say(shown(why), "ask")


def _words(found: Pasted) -> str:
    """What was found; each of several stands below, with what there is to know of it."""
    left = "".join(f"\n{why}" for why in found.left)
    if found.either and len(found.servers) > 1:
        return f"There are {len(found.servers)} ways to have this server; take one of them.{left}"
    if len(found.servers) > 1:
        named = ", ".join(shown_line(one.name or "server") for one in found.servers)
        return f"This is {len(found.servers)} servers: {named}.{left}"
    return _words_of(found.servers[0]) + left


def _words_of(one: PastedServer) -> str:
    if one.url:
        return "This is a server at an address, not a program."
    count = len(one.args)
    rest = [f"{count} argument{'s' if count != 1 else ''}"] if count else []
    rest += [f"{len(one.env)} variable{'s' if len(one.env) != 1 else ''}"] if one.env else []
    more = f" with {' and '.join(rest)}" if rest else ""
    return f"This is a whole command line: {shown_line(one.command)[:80]}{more}."
