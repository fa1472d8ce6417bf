"""The keyring page: rows with what they need, questions that name who is affected, values that leave no trace."""

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit
from pytestqt.qtbot import QtBot
from shots.keys import GITHUB, LOGIN, WEATHER, SampleKeys
from shots.samples import SampleSetup

from desktop.domain.keyring import OUTSIDE_TOKEN, KeyringEntry
from desktop.domain.models import Connection
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.keys import KeysViewModel, Use, cleaned
from desktop.safety.secrets.keyring import KeyringSecrets
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.safety.secrets.tool_secrets import ToolSecrets
from desktop.ui.settings.keys.page import KeysPage
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.controls.secret_field import SecretField
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.workers.keyring_child import keyring_host
from tests.gui.shell.test_window import spin
from tests.harness.timeouts import WAIT_S

SECRET = "tok-A1b2C3d4E5f6G7h8"
SERVICE = "assent-gui-tests"


def eye_of(field: SecretField) -> IconButton:
    return field.findChild(IconButton)


class Shown:
    def __init__(self) -> None:
        self.keys = SampleKeys()
        self.page = KeysPage(self.keys)  # type: ignore[arg-type]
        self.page.resize(900, 700)
        self.page.show()
        self.page.activateWindow()
        spin()

    def press(self, tip: str) -> None:
        button = next(b for b in self.page.findChildren(Button) if b.isVisible() and tip in (b.toolTip(), b.label))
        button.click()

    @property
    def dialog(self) -> Dialog:
        found = self.page.dialogs.open_now
        assert found is not None
        return found

    def fields(self, kind: type[QLineEdit] = SecretField) -> list[Any]:
        return self.dialog.findChildren(kind)

    @property
    def words(self) -> str:
        return "\n".join(label.text() for label in self.page.window().findChildren(QLabel) if label.isVisible())


@pytest.fixture
def shown(qtbot: QtBot, theme: Theme) -> Shown:
    made = Shown()
    qtbot.addWidget(made.page)
    return made


def test_the_token_of_other_programs_is_deleted_after_a_question(shown: Shown) -> None:
    assert "The token of `assent mcp --http`: a program that has it calls what you offer to other apps." in shown.words
    shown.press("Delete assent/mcp-http-token")
    assert "given the next one" in shown.words
    assert "that runs now takes it until you stop it" in shown.words
    shown.dialog.answered.emit("delete")
    assert shown.keys.calls[-1][0] == "delete_token"


@pytest.mark.spec("R-UI-6", "R-SEC-1")
def test_every_row_says_who_uses_it_and_how_it_stands(shown: Shown) -> None:
    for words in ("Used by deploy-app (DEPLOY_TOKEN).", "Used by gh-issues (GH_TOKEN), gh-pulls (GH_TOKEN)."):
        assert words in shown.words
    names = {card.accessibleName() for card in shown.page.findChildren(object) if hasattr(card, "accessibleName")}
    assert {
        "assent/weather-station: missing",
        "login/ida@example.org: not allowed yet",
        "Mistral: in the keyring",
        "assent/connection/mistral: never given to tools",
    } <= names
    assert ("look",) in shown.keys.calls


@pytest.mark.spec("R-UI-6")
def test_a_deletion_names_who_fails_from_then_on_and_that_it_is_for_good(shown: Shown) -> None:
    shown.press("Delete assent/github")
    assert "gh-issues, gh-pulls fail from then on" in shown.words
    assert "cannot be undone" in shown.words
    QTest.keyClick(shown.dialog, Qt.Key.Key_Escape)
    shown.press("Delete assent/github")
    assert shown.dialog.focusWidget() is shown.dialog.buttons["cancel"]
    shown.dialog.answer("delete")
    shown.press("Delete the key of Mistral")
    assert "Chats that use Mistral fail" in shown.words
    shown.dialog.answer("delete")
    deleted = [call for call in shown.keys.calls if "delete" in call[0]]
    assert deleted == [("delete", GITHUB), ("delete_provider", "mistral")]


@pytest.mark.spec("R-ENV-5")
def test_another_programs_entry_is_agreed_to_for_the_tools_that_are_named(shown: Shown) -> None:
    shown.press("Let deploy-app read login/ida@example.org")
    assert "belongs to another program" in shown.words
    assert "DEPLOY_TOKEN" in shown.words
    QTest.keyClick(shown.dialog, Qt.Key.Key_Return)
    assert not any(call[0] == "agree" for call in shown.keys.calls), "Enter gives the safe answer at most"
    shown.press("Let deploy-app read login/ida@example.org")
    shown.dialog.answer("agree")
    assert ("agree", LOGIN, ("deploy-app",)) in shown.keys.calls


@pytest.mark.spec("R-UI-6")
def test_a_missing_secret_is_added_for_the_tools_that_wait_for_it(shown: Shown) -> None:
    shown.press("Add assent/weather-station")
    (value,) = shown.fields()
    assert value.hasFocus()
    QTest.keyClicks(value, SECRET)
    QTest.keyClick(value, Qt.Key.Key_Return)
    assert ("keep", WEATHER, SECRET, ("read-gauges",)) in shown.keys.calls
    assert value.text() == ""


@pytest.mark.spec("R-UI-6")
def test_a_new_secret_shows_how_tools_refer_to_it_and_wants_a_name_and_a_value(shown: Shown) -> None:
    shown.press("Add a secret…")
    name = next(field for field in shown.fields(Field) if not isinstance(field, SecretField))
    (value,) = shown.fields()
    keep = shown.dialog.buttons["keep"]
    QTest.keyClicks(name, "git{hub")
    assert not keep.isEnabled()
    assert "no braces" in shown.words
    name.clear()
    QTest.keyClicks(name, "github")
    assert "${keyring:assent/github}" in shown.words
    QTest.keyClicks(value, "  ")
    assert not keep.isEnabled()
    QTest.keyClicks(value, SECRET)
    assert keep.isEnabled()
    shown.dialog.answer("keep")
    assert ("keep", GITHUB, SECRET, ()) in shown.keys.calls


@pytest.mark.spec("R-UI-6")
def test_cancelling_forgets_what_was_entered(shown: Shown) -> None:
    shown.press("Enter another value for assent/github")
    (value,) = shown.fields()
    QTest.keyClicks(value, SECRET)
    QTest.keyClick(value, Qt.Key.Key_Escape)
    assert value.text() == ""
    shown.press("Enter another key for Amazon Bedrock")
    first, *others = shown.fields()
    assert len(others) == 2
    QTest.keyClicks(first, SECRET)
    shown.dialog.answer("replace")
    (call,) = [call for call in shown.keys.calls if call[0] == "replace_provider"]
    assert call[2] == {"secret_access_key": SECRET, "access_key_id": "", "session_token": ""}
    assert not any(call[0] == "keep" for call in shown.keys.calls)


# -- the field --------------------------------------------------------------------------------------------------------


@pytest.fixture
def field(qtbot: QtBot, theme: Theme) -> SecretField:
    made = SecretField("Secret", cleaned)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    made.setFocus()
    spin()
    return made


@pytest.mark.spec("R-UI-6")
def test_a_secret_is_dots_to_the_eye_to_the_ear_and_to_the_input_method(field: SecretField) -> None:
    QTest.keyClicks(field, SECRET)
    assert field.displayText() == "●" * len(SECRET)
    spoken: QAccessibleInterface = QAccessible.queryAccessibleInterface(field)
    assert SECRET not in spoken.text(QAccessible.Text.Value)
    assert field.inputMethodQuery(Qt.InputMethodQuery.ImCursorPosition) is not None
    for hint in ("HiddenText", "SensitiveData", "NoPredictiveText", "NoAutoUppercase"):
        assert field.inputMethodHints() & getattr(Qt.InputMethodHint, f"Imh{hint}"), hint
    given = field.inputMethodQuery(Qt.InputMethodQuery.ImSurroundingText)
    assert SECRET not in str(given)


def test_the_eye_shows_what_was_typed_for_a_while(qtbot: QtBot, theme: Theme) -> None:
    field = SecretField("Secret", cleaned, shown_ms=50)
    qtbot.addWidget(field)
    field.show()
    QTest.keyClicks(field, SECRET)
    assert eye_of(field).accessibleName().startswith("Show")
    eye_of(field).click()
    assert (field.displayText(), eye_of(field).accessibleName()) == (SECRET, "Hide what was typed")
    qtbot.waitUntil(lambda: field.echoMode() == QLineEdit.EchoMode.Password, timeout=60_000)
    assert field.displayText() != SECRET
    assert not eye_of(field).isChecked()


def test_the_eye_grows_with_the_text(field: SecretField, theme: Theme) -> None:
    small = eye_of(field).size()
    theme.set_scale(2.0)
    field.resize(400, theme.px(32))
    QApplication.sendPostedEvents()
    assert (eye_of(field).size(), eye_of(field).geometry().right() < field.width()) == (small * 2, True)
    assert field.textMargins().right() >= eye_of(field).width() - theme.px(4), "no letter below it"


def test_the_eye_is_shut_again_by_a_second_press_and_when_the_secret_was_taken(field: SecretField) -> None:
    QTest.keyClicks(field, SECRET)
    eye_of(field).click()
    eye_of(field).click()
    assert field.displayText() != SECRET
    eye_of(field).click()
    assert field.taken() == SECRET
    QTest.keyClicks(field, "another")
    assert field.displayText() != "another"


@pytest.mark.spec("R-UI-6")
def test_nothing_of_a_secret_can_be_copied_out_or_brought_back(field: SecretField) -> None:
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("what was there")
    QTest.keyClicks(field, SECRET)
    field.selectAll()
    field.copy()
    field.cut()
    assert field.text() == ""
    QTest.keyClicks(field, SECRET)
    assert clipboard.text() == "what was there"
    if clipboard.supportsSelection():
        assert clipboard.text(clipboard.Mode.Selection) != SECRET
    assert field.taken() == SECRET
    field.undo()
    QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert (field.text(), field.isUndoAvailable(), field.isRedoAvailable()) == ("", False, False)
    plain = Field("An ordinary field", secret=True)
    QTest.keyClicks(plain, SECRET)
    plain.clear()
    plain.setEchoMode(QLineEdit.EchoMode.Normal)
    plain.undo()
    assert plain.text() == SECRET, "which is why a secret's field is not just cleared"
    plain.deleteLater()


@pytest.mark.spec("R-UI-6")
def test_a_paste_loses_what_copying_added_and_says_so(field: SecretField) -> None:
    told: list[str] = []
    field.cleaned.connect(told.append)
    clipboard = QGuiApplication.clipboard()
    clipboard.setText(f"\u2060 {SECRET}\u200b\n")
    field.paste()
    assert field.text() == SECRET
    assert told == ["4 spaces, line breaks or invisible characters were taken out of what was pasted."]
    assert clipboard.text() == f"\u2060 {SECRET}\u200b\n", "the clipboard is the person's"
    field.wipe()
    QTest.keyClicks(field, "correct horse ")
    assert field.text() == "correct horse ", "a space that is typed may be followed by a word"
    assert field.taken() == "correct horse"
    clipboard.clear()


def test_what_is_cleaned() -> None:
    assert cleaned("a b\n") == ("a b", "1 space, line break or invisible character was taken out of what was pasted.")
    assert cleaned(" a b\n", inner_spaces=False)[0] == "ab"
    assert cleaned("sk-grüße") == ("sk-grüße", "")


# -- the view-model over a real keyring -------------------------------------------------------------------------------


class State:
    def __init__(self) -> None:
        self.value: Any = {}

    async def get(self, *, key: str, default: Any = None) -> Any:
        return self.value

    async def put(self, *, key: str, value: Any) -> None:
        self.value = value


class World:
    """The page's model, with three tools: one's own entry, another program's, a provider's."""

    def __init__(self) -> None:
        self.redactor = SecretRedactor()
        self.keyring = KeyringSecrets(keyring_host(), timeout_s=WAIT_S, on_value=self.redactor.remember)
        self.setup = SampleSetup()
        self.setup.connections = (Connection("mistral", "mistral", "Mistral", "", "connection/gui-mistral"),)
        self.tools = ToolSecrets(self.keyring, State(), lambda: {"connection/gui-mistral"})
        self.bridge = Bridge()
        self.mine, self.other = KeyringEntry("assent", "gui-test"), KeyringEntry(SERVICE, "ida")
        stolen = KeyringEntry("assent", "connection/gui-mistral")
        self.uses = [Use("gh", "TOKEN", self.mine), Use("deploy", "T", self.other), Use("thief", "K", stolen)]
        self.keys = KeysViewModel(self.tools, self.keyring, (self.setup,), self.bridge, lambda: self.uses)  # type: ignore[arg-type]
        self.told: list[tuple[str, bool, str]] = []
        self.keys.told.connect(lambda *what: self.told.append(what))

    async def settled(self) -> dict[str, str]:
        async with asyncio.timeout(WAIT_S):
            while self.bridge.task_names:
                await asyncio.sleep(0.01)
        return {str(row.entry): row.state for row in self.keys.tools} | {
            row.connection_id: row.state for row in self.keys.providers
        }

    async def after(self, *act: Any) -> tuple[bool, str]:
        act[0](*act[1:])
        await self.settled()
        return self.told[-1][1:]


@pytest.fixture
async def world(keyring_session: Any) -> AsyncIterator[World]:
    made = World()
    yield made
    for entry in (made.mine, made.other, KeyringEntry("assent", "connection/gui-mistral")):
        await made.keyring.drop(entry.service, entry.user)
    await made.keyring.close()
    await made.bridge.shutdown()


@pytest.mark.spec("R-UI-6", "R-ENV-5")
async def test_the_page_follows_the_real_keyring(world: World) -> None:
    other_program = KeyringSecrets(keyring_host(), timeout_s=WAIT_S)
    await other_program.put("connection/gui-mistral", "sk-0123456789")
    await other_program.keep(world.other.service, world.other.user, "value-of-another")
    await other_program.close()
    world.keys.look()
    stolen = "assent/connection/gui-mistral"
    mine, other = str(world.mine), str(world.other)
    assert await world.settled() == {mine: "missing", other: "not_agreed", stolen: "never", "mistral": "kept"}
    assert world.keys.own == (), "no program was given a token"
    await world.keyring.put(OUTSIDE_TOKEN, "t" * 43)
    world.keys.look()
    await world.settled()
    assert [(str(row.entry), row.state) for row in world.keys.own] == [("assent/mcp-http-token", "kept")]
    assert (await world.after(world.keys.delete_token))[0]
    assert await world.keyring.get(OUTSIDE_TOKEN) is None
    assert world.keys.own == ()
    assert not world.redactor.contains_known("value-of-another"), "it was not looked at"
    assert await world.after(world.keys.test, world.mine) == (False, f"There is no {mine} in the keyring.")
    assert await world.after(world.keys.keep, world.mine, f" {SECRET}\n", ("gh",)) == (
        True,
        "It is in the keyring: 20 characters.",
    )
    assert await world.keyring.lookup("assent", "gui-test") == SECRET
    assert await world.after(world.keys.test, world.mine) == (True, "It is in the keyring: 20 characters.")
    assert await world.after(world.keys.agree, world.other, ["deploy"]) == (True, "deploy may read it.")
    assert await world.settled() == {mine: "kept", other: "kept", stolen: "never", "mistral": "kept"}
    assert await world.after(world.keys.delete, world.mine) == (True, "It is deleted.")
    assert await world.after(world.keys.disagree, world.other) == (True, "No tool reads it any more.")
    assert (await world.after(world.keys.delete_provider, "mistral"))[0]
    assert await world.settled() == {mine: "missing", other: "not_agreed", stolen: "never", "mistral": "missing"}
    gc.collect()
    assert SECRET not in repr(vars(world.keys)) + repr(world.told)


@pytest.mark.spec("R-SEC-2")
async def test_without_a_keyring_it_says_so_once_and_keeps_secrets_until_the_end() -> None:
    world = World()
    world.keys.look()
    assert set((await world.settled()).values()) == {"silent", "not_agreed", "never"}
    assert "found no safe keyring" in world.keys.note
    assert await world.after(world.keys.keep, world.mine, SECRET) == (
        True,
        "No keyring could save it, so it is forgotten when Assent is closed.",
    )
    assert world.tools.place(world.mine) == "session"
    await world.keyring.close()
    await world.bridge.shutdown()
