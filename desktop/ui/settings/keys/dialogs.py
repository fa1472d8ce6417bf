"""The questions of the keyring page: a value to be entered, a deletion, an agreement. However a dialog ends, its field
forgets what was entered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtWidgets import QWidget

from desktop.domain.keyring import OWN_SERVICE, KeyringEntry
from desktop.presenter.settings.keys import KeysViewModel, ProviderKeyRow, ToolSecretRow, cleaned
from desktop.ui.settings.models.provider_form import label_of
from desktop.ui.widgets.controls.fields import Field, Labelled
from desktop.ui.widgets.controls.secret_field import SecretField
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Selectable

CANCEL = DialogAnswer("cancel", "Cancel", key="Esc")
FOR_GOOD = "Assent keeps no copy: this cannot be undone."

NAMED = "A tool or server gets it when tools.yaml or mcp.yaml refers to it."


class KeyDialogs:
    """Each opens over the window of ``page``. ``open_now`` is the one that was opened last."""

    def __init__(self, page: QWidget, keys: KeysViewModel) -> None:
        self._page = page
        self._keys = keys
        self.open_now: Dialog | None = None

    # -- values -------------------------------------------------------------------------------------------------------

    def replace_provider(self, row: ProviderKeyRow) -> None:
        """Ask for a new key, which is tested before the old one goes."""
        text = "The new key is tested with one request. The old one stays until it works."
        dialog = self._dialog(
            f"Key of {shown_line(row.title)}", text, DialogAnswer("replace", "Test and save", "primary")
        )
        fields = {name: _secret(dialog, f"New {_small(label_of(name)[0])}", inner=False) for name in row.secrets}

        def answered(value: str) -> None:
            given = {name: field.taken() for name, field in fields.items()}
            if value == "replace" and next(iter(given.values()), ""):
                self._keys.replace_provider(row.connection_id, given)

        self._ask(dialog, answered, next(iter(fields.values())), "replace")

    def add(self, entry: KeyringEntry | None = None, tools: Sequence[str] = ()) -> None:
        """Ask for a new secret: its name, unless ``entry`` says it, and its value."""
        text = f"For {', '.join(map(shown_line, tools))}." if tools else NAMED
        title = f"Add {shown_line(str(entry))}" if entry else "Add a secret"
        dialog = self._dialog(title, text, DialogAnswer("keep", "Save in the keyring", "primary"))
        name = _EntryName(dialog, self._keys) if entry is None else None
        value = _secret(dialog, "Secret")

        def chosen() -> KeyringEntry | None:
            return name.entry() if name is not None else entry

        def look() -> None:
            dialog.buttons["keep"].setEnabled(chosen() is not None and bool(value.text().strip()))

        def answered(answer: str) -> None:
            given, where = value.taken(), chosen()
            if answer == "keep" and given and where is not None:
                self._keys.keep(where, given, tools)

        value.textChanged.connect(look)
        if name is not None:
            name.field.textChanged.connect(look)
        look()
        self._ask(dialog, answered, value if name is None else name.field, "keep", value)

    def replace(self, row: ToolSecretRow) -> None:
        """Ask for a new value of a tool's secret."""
        text = f"{_users(row)} get the new value from their next call on. The old one is gone for good."
        dialog = self._dialog(f"Replace {shown_line(str(row.entry))}", text, DialogAnswer("keep", "Replace", "primary"))
        value = _secret(dialog, "New secret")

        def answered(answer: str) -> None:
            given = value.taken()
            if answer == "keep" and given:
                self._keys.keep(row.entry, given, row.tools)

        self._ask(dialog, answered, value, "keep")

    # -- decisions ----------------------------------------------------------------------------------------------------

    def delete_provider(self, row: ProviderKeyRow) -> None:
        """Name who uses it, and that it is for good."""
        text = f"Chats that use {shown_line(row.title)} fail until you enter another key. {FOR_GOOD}"
        dialog = self._dialog(
            f"Delete the key of {shown_line(row.title)}?", text, DialogAnswer("delete", "Delete the key", "admin")
        )
        self._decide(dialog, "delete", partial(self._keys.delete_provider, row.connection_id))

    def delete(self, row: ToolSecretRow) -> None:
        """Ask before a secret of tools is deleted."""
        text = f"{_users(row)} fail from then on. {FOR_GOOD}" if row.tools else f"No tool uses it. {FOR_GOOD}"
        dialog = self._dialog(
            f"Delete {shown_line(str(row.entry))}?", text, DialogAnswer("delete", "Delete the secret", "admin")
        )
        self._decide(dialog, "delete", partial(self._keys.delete, row.entry))

    def delete_token(self) -> None:
        """Ask before programs are shut out."""
        running = "An assent mcp --http that runs now takes it until you stop it."
        text = f"Programs that were given it have to be given the next one. {running} {FOR_GOOD}"
        title = "Delete the token of assent mcp --http?"
        dialog = self._dialog(title, text, DialogAnswer("delete", "Delete the token", "admin"))
        self._decide(dialog, "delete", partial(self._keys.delete_token))

    def agree(self, row: ToolSecretRow) -> None:
        """A tool wants what another program keeps, or what was given to another tool."""
        tools = ", ".join(map(shown_line, row.waiting))
        variables = ", ".join(shown_line(use.variable) for use in row.uses if use.tool in row.waiting)
        text = (
            f"The entry {shown_line(str(row.entry))} {_whose(row)}. {tools} would get its value as "
            f"{variables} each time it runs, and can do with it what it likes. Agree only if you know what it does."
        )
        dialog = self._dialog(f"Let {tools} read a secret?", text, DialogAnswer("agree", "Allow it", "admin"))
        self._decide(dialog, "agree", partial(self._keys.agree, row.entry, row.waiting))

    # -- inside -------------------------------------------------------------------------------------------------------

    def _dialog(self, title: str, text: str, answer: DialogAnswer) -> Dialog:
        self.open_now = Dialog(self._page.window(), title, text, (CANCEL, answer), width=480)
        return self.open_now

    def _ask(
        self, dialog: Dialog, answered: object, focus: Field, answer: str, enter: SecretField | None = None
    ) -> None:
        last = enter or (focus if isinstance(focus, SecretField) else None)
        if last is not None:
            last.returnPressed.connect(lambda: _press(dialog, answer))
        dialog.answered.connect(answered)
        dialog.open(focus=focus)

    @staticmethod
    def _decide(dialog: Dialog, answer: str, act: partial[None]) -> None:
        dialog.answered.connect(lambda value: act() if value == answer else None)
        dialog.open()


class _EntryName:
    """A name to be chosen, and below it how tools refer to it."""

    def __init__(self, dialog: Dialog, keys: KeysViewModel) -> None:
        self.field = Field("Name", hint="github", mono=True)
        self._keys = keys
        self._labelled = Labelled("Name", self.field)
        self._reference = Selectable("", "code", "2")
        dialog.body.addWidget(self._labelled)
        dialog.body.addWidget(self._reference)
        self.field.textChanged.connect(lambda _: self._look())

    def entry(self) -> KeyringEntry | None:
        """The entry, or None while this is no name."""
        found = KeyringEntry(OWN_SERVICE, self.field.text().strip())
        return None if self._keys.refusal(found) else found

    def _look(self) -> None:
        found, typed = self.entry(), self.field.text().strip()
        wrong = self._keys.refusal(KeyringEntry(OWN_SERVICE, typed)) if typed else ""
        self._labelled.set_error(wrong)
        self._reference.setText(found.reference if found else "")


def _press(dialog: Dialog, answer: str) -> None:
    if dialog.buttons[answer].isEnabled():
        dialog.answer(answer)


def _secret(dialog: Dialog, caption: str, *, inner: bool = True) -> SecretField:
    """A field of the dialog, which says below what was taken out of a paste."""
    field = SecretField(caption, partial(cleaned, inner_spaces=inner))
    labelled = Labelled(caption, field)
    field.cleaned.connect(labelled.set_note)
    dialog.body.addWidget(labelled)
    return field


def _whose(row: ToolSecretRow) -> str:
    if row.foreign or not row.holders:
        return "belongs to another program"
    return f"was given to {', '.join(map(shown_line, row.holders))}"


def _users(row: ToolSecretRow) -> str:
    return f"Calls of {', '.join(map(shown_line, row.tools))}" if row.tools else "Tools that name it"


def _small(caption: str) -> str:
    return caption[:1].lower() + caption[1:]
