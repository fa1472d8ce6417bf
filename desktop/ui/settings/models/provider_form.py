"""Connect a provider: choose it, fill in what it needs, test with one request, keep only what works.

Shared by the first-run page and the settings. What is typed as a key goes to the view-model once and is never shown.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from desktop.domain.models import ProviderInfo
from desktop.presenter.settings.connections.page import NEW, ConnectionsViewModel
from desktop.presenter.settings.keys import cleaned
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Field, Labelled
from desktop.ui.widgets.controls.secret_field import SecretField
from desktop.ui.widgets.layout.containers import Notice, clear
from desktop.ui.widgets.layout.turning import Turning
from desktop.ui.widgets.marks import Icon, StateLabel
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Paragraph, Selectable

BESIDE = 300
"""Width from which on the buttons stand in one line."""
LABELS = {
    "name": ("Name in lists", "", False),
    "key": ("Key", "", True),
    "base_url": ("Address", "https://example.org/v1", False),
    "region": ("Region", "eu-central-1", False),
    "api_version": ("API version", "2024-10-21", False),
    "access_key_id": ("Access key ID", "", False),
    "secret_access_key": ("Secret access key", "", True),
    "session_token": ("Session token", "", True),
    "deployment": ("Deployment", "the name it has in Azure", False),
    "model": ("Model of the deployment", "gpt-4o", False),
}
HINTS = {("azure", "base_url"): "https://my-resource.openai.azure.com"}
OPTIONAL = {
    "key": "if the server asks for one",
    "session_token": "with a temporary key only",
    "model": "optional: tells its size and price",
    "name": "optional",
}
KEPT = "The key is kept in the keyring of your system, never in a file"
NO_KEY = "No key is needed. If this server asks for one, choose “{other}” above, and enter address and key there."
"""Of a server of one's own, which is asked without any."""
NOT_KEPT = "The key is forgotten when Assent is closed"
"""Where the page says above why."""
WAITING = "The key is saved as soon as your keyring takes it"


def label_of(need: str) -> tuple[str, str, bool]:
    """(caption, hint, whether it is secret) of a field."""
    return LABELS.get(need, (need.replace("_", " ").capitalize(), "", "key" in need))


def entry_field(caption: str, hint: str, *, secret: bool) -> Field:
    """The field for one need; a key has no space in it."""
    clean = partial(cleaned, inner_spaces=False)
    return SecretField(caption, clean, hint=hint) if secret else Field(caption, hint=hint)


class ProviderForm(QWidget):
    """``kept(provider)`` after a test that worked. Buttons are made by ``buttons_row`` and placed by the page.

    With ``servers`` it also offers servers of one's own, as on another machine.
    """

    kept = Signal(str)

    def __init__(self, setup: ConnectionsViewModel[Any], *, servers: bool = False, kind: str = "Provider") -> None:
        super().__init__()
        self._setup = setup
        self._kinds = ("provider", "local") if servers else ("provider",)
        self._more = ("name?",) if servers else ()
        self._fields: dict[str, Field] = {}
        self._asked = ""
        self._before: set[str] = set()
        self._added: set[str] = set()
        self._column = Column(self, spacing=12)
        self._choice = Combo(kind)
        self._choice.currentIndexChanged.connect(self._provider_chosen)
        self._column.addWidget(Labelled(kind, self._choice))
        self._holder = Column(spacing=12)
        self._column.addLayout(self._holder)
        self.outcome = Notice("failed")
        self.outcome.hide()
        self._column.addWidget(self.outcome)
        self._where = Selectable("", "code")
        self._where.hide()
        self._column.addWidget(self._where)
        note = Row(spacing=6)
        self._lock = Icon("lock", "text-2", 14, line="small")
        self._note = Paragraph(KEPT, "small", "2")
        note.addWidget(self._lock, 0, Qt.AlignmentFlag.AlignTop)
        note.addWidget(self._note, 1)
        self._column.addLayout(note)
        self.test = Button("Test and save", tip="Make one request, and keep this if it works")
        self.cancel = Button("Cancel", "quiet")
        self.busy = StateLabel("running", "testing")
        self.help = Button("Where do I get a key?", "quiet")
        for widget in (self.test, self.cancel, self.busy, self.help):
            widget.setParent(self)  # until ``buttons_row`` has a place: shown without a parent they would be windows
        self.test.clicked.connect(self._test)
        self.cancel.clicked.connect(self._cancel)
        self.help.clicked.connect(self._tell_where)
        setup.changed.connect(self.refresh)
        setup.tested.connect(self._tested)
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """What it says of the keyring is true from now on."""
        super().showEvent(event)
        self._setup.look_for_keyring()

    def buttons_row(self) -> QWidget:
        """Help at the left; what happens meanwhile, Cancel and Test at the right, or below it where it is narrow."""
        left, right = QWidget(), QWidget()
        row = Row(left)
        row.addWidget(self.help)
        row.addStretch(1)
        row = Row(right, spacing=8)
        row.addStretch(1)
        for widget in (self.busy, self.cancel, self.test):
            row.addWidget(widget)
        return Turning(left, right, minimum=BESIDE, shares=(1, 0))

    @property
    def provider(self) -> ProviderInfo | None:
        """The chosen provider, or None."""
        name = self._choice.currentData()
        return next((p for p in self._setup.providers if p.provider == name), None)

    def field(self, name: str) -> Field:
        """The field for one of the provider's needs."""
        return self._fields[name]

    def choose(self, provider: str) -> None:
        """Choose a provider by name."""
        index = self._choice.findData(provider)
        if index >= 0:
            self._choice.setCurrentIndex(index)

    def refresh(self) -> None:
        """Show what the view-model has now."""
        shown = [p for p in self._setup.providers if p.locality in self._kinds]
        if [self._choice.itemData(i) for i in range(self._choice.count())] != [p.provider for p in shown]:
            self._choice.fill([(p.title, p.provider) for p in shown], self._choice.currentData())
            self._provider_chosen()
        if not self._added <= self._connected():  # what it says of a connection goes with it
            self._added = set()
            self.outcome.hide()
        testing = self._setup.testing and bool(self._asked)
        self.test.setVisible(not testing)
        self.help.setVisible(not testing and bool(self.provider and self.provider.key_url))
        self.busy.setVisible(testing)
        self.cancel.setVisible(testing and callable(getattr(self._setup, "cancel_test", None)))
        self._say_note()

    def _say_note(self) -> None:
        """Say where the key goes, or that none is needed."""
        if self.provider is not None and not self._secret_fields():
            other = next((p.title for p in self._setup.providers if p.provider == "openai_compatible"), "")
            self._note.set_pieces(NO_KEY.format(other=other) if other else NO_KEY.partition(" If")[0])
            self._note.set_tone("2")
            self._lock.set_icon("info", "text-2")
            return
        note = self._setup.keyring_note
        unkept = WAITING if self._setup.keyring_waiting else NOT_KEPT
        self._note.set_pieces((unkept if self._more else note) if note else KEPT)
        self._note.set_tone("ask" if note else "2")
        self._lock.set_icon("failed" if note else "lock", "ask" if note else "text-2")

    def _connected(self) -> set[str]:
        return {connection.connection_id for connection in self._setup.connections}

    def _provider_chosen(self) -> None:
        clear(self._holder)
        self._fields = {}
        self.outcome.hide()
        self._where.hide()
        provider = self.provider
        if provider is None:
            return
        for need in (*provider.needs, *self._more):
            need, optional = need.rstrip("?"), need.endswith("?")
            caption, hint, secret = label_of(need)
            caption += f" ({OPTIONAL.get(need, 'if you have one')})" if optional else ""
            field = entry_field(caption, HINTS.get((provider.provider, need), hint), secret=secret)
            if need == "base_url" and provider.address:
                field.setText(provider.address)
            field.returnPressed.connect(self._test)
            field.textEdited.connect(self._edited)
            self._fields[need] = field
            labelled = Labelled(caption, field)
            if isinstance(field, SecretField):
                field.cleaned.connect(labelled.set_note)
            self._holder.addWidget(labelled)
        self.help.setVisible(bool(provider.key_url))
        self._say_note()

    def _edited(self) -> None:
        for field in self._fields.values():
            field.set_error(False)

    def _test(self) -> None:
        provider = self.provider
        if provider is None or self._setup.testing:
            return
        self.outcome.hide()
        self._asked = NEW + provider.provider
        self._before, self._added = self._connected(), set()
        given = {name: field.text() for name, field in self._fields.items()}
        if not given.get("name", "").strip():
            given.pop("name", None)
        self._setup.test_and_keep(provider.provider, given)

    def _cancel(self) -> None:
        cancel: Any = getattr(self._setup, "cancel_test", None)
        if callable(cancel):
            cancel()

    def _tested(self, provider: str, worked: bool, sentence: str) -> None:
        if provider != self._asked:
            return
        self._asked = ""
        self.outcome.say(sentence, "allow" if worked else "failed")
        self.outcome.show()
        wrong = "" if worked else self._setup.wrong_field
        for name, field in self._fields.items():
            field.set_error(name == wrong)
        for secret in self._secret_fields():
            if worked:
                secret.setText("")  # and nothing to undo, which ``clear`` would leave
        QTimer.singleShot(0, self, self.refresh)
        if worked:
            self._added = self._connected() - self._before
            if self._more:
                self._begin_again()
            self.kept.emit(provider.removeprefix(NEW))

    def _begin_again(self) -> None:
        """Where more can be added: another Return adds no second connection to the same server."""
        provider = self.provider
        for name in ("name", "base_url"):
            if name in self._fields:
                self._fields[name].setText(provider.address if provider is not None and name == "base_url" else "")
        if any(field.hasFocus() for field in self._fields.values()) or self.cancel.hasFocus():
            self._choice.setFocus(Qt.FocusReason.OtherFocusReason)

    def _secret_fields(self) -> list[Field]:
        provider = self.provider
        return [self._fields[name] for name in provider.secrets if name in self._fields] if provider else []

    def _tell_where(self) -> None:
        provider = self.provider
        if provider is not None:
            self._where.setText(provider.key_url)
            self._where.setVisible(not self._where.isVisible())
