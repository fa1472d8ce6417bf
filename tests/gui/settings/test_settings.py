"""Settings: pages from the schema, refusals, problems of the file, models and keys."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QStackedWidget, QWidget
from pytestqt.qtbot import QtBot
from shots.middleware import SampleMiddleware
from shots.samples import CONNECTIONS, SampleBoundaries, SampleSettings, SampleSetup
from shots.updates import SampleUpdates

from desktop.app.wiring.settings_pages import SETTINGS_PAGES
from desktop.domain.models import Connection, ModelInfo, ModelRef
from desktop.domain.safety import ConfinementReport
from desktop.models.providers import PROVIDERS
from desktop.ui.settings.models.connections import KEY_WORDS
from desktop.ui.settings.models.page import ModelsPage
from desktop.ui.settings.models.provider_form import ProviderForm
from desktop.ui.settings.rows import SettingRow, parsed
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import Combo, Field
from desktop.ui.widgets.controls.toggles import Segmented, Switch
from desktop.ui.widgets.layout.containers import Scroller
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.text import Text
from tests.gui.settings.page_kit import settings_page
from tests.gui.shell.test_window import spin

ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-typed-0123456789abcdef"
MISTRAL = Connection("mistral", "mistral", "Mistral", "", "connection/mistral")


OPEN = ConfinementReport("none", "Nothing confines shell commands here.", (), ("the network", "denied paths"))


class Shown:
    def __init__(self) -> None:
        self.settings, self.setup = SampleSettings(), SampleSetup()
        self.setup.connections = (MISTRAL,)
        self.boundaries = SampleBoundaries()
        self.middleware = SampleMiddleware()
        self.middleware.chains["chat"] = tuple(replace(row, on=True) for row in self.middleware.chains["chat"])
        self.page = settings_page(
            self.settings,
            OPEN,
            setup=self.setup,
            boundaries=self.boundaries,
            middleware=self.middleware,
            updates=SampleUpdates(),
        )
        self.page.resize(1216, 800)
        self.page.show()
        self.page.activateWindow()
        spin()

    def row(self, key: str) -> SettingRow:
        spec = next(spec for spec in self.settings.schema() if spec.key == key)
        self.page.show_settings(spec.page)
        return next(row for row in self.page.findChildren(SettingRow) if row.spec.key == key)

    def button(self, label: str) -> Button:
        return next(b for b in self.page.window().findChildren(Button) if b.label == label and b.isVisible())

    @property
    def words(self) -> str:
        return "\n".join(label.text() for label in self.page.findChildren(QLabel) if label.isVisible())

    def sets(self) -> list[tuple]:
        return [call[1:] for call in self.settings.calls if call[0] == "set"]


@pytest.fixture
def shown(qtbot: QtBot, theme: Theme) -> Shown:
    made = Shown()
    qtbot.addWidget(made.page)
    return made


def test_every_setting_of_the_schema_has_a_page_and_a_control(shown: Shown) -> None:
    pages = {row.name for row in SETTINGS_PAGES}
    assert {spec.page for spec in shown.settings.schema()} <= pages
    for name in pages - {"Models and keys"}:
        shown.page.show_settings(name)
    rows = {row.spec.key for row in shown.page.findChildren(SettingRow)}
    switches = {
        "middleware.switched_on",
        "middleware.switched_off",
        "other_apps.offered",
        "updates.look",
        "web.search",
    }  # of their own pages
    assert rows | switches == {spec.key for spec in shown.settings.schema() if spec.page != "Models and keys"}


def test_every_settings_page_that_a_text_of_ours_names_is_there() -> None:
    named = {
        page
        for source in (ROOT / "desktop").rglob("*.py")
        for page in re.findall(r"\bSettings, ([A-Z][a-z]+(?: [a-z]+)*)[*.,:)\"]", source.read_text("utf-8"))
    }
    assert {"Models and keys", "Filesystem boundaries"} <= named
    assert named <= {row.title for row in SETTINGS_PAGES}


def test_every_settings_page_that_a_page_for_users_names_is_there() -> None:
    titles = tuple(row.title for row in SETTINGS_PAGES)
    named = [
        (page.name, words)
        for page in [ROOT / "README.md", *(ROOT / "resources/help").glob("*.md")]
        for words in re.findall(r"\bSettings,\*{0,2} \*{0,2}([A-Z].{24})", " ".join(page.read_text("utf-8").split()))
    ]
    assert len(named) > 12
    assert [name for name in named if not name[1].startswith(titles)] == []


def test_a_choice_a_switch_a_number_and_a_size_are_set(shown: Shown) -> None:
    segmented = shown.row("appearance.theme").control.widget
    assert isinstance(segmented, Segmented)
    segmented._group.button(2).click()
    scale = shown.row("appearance.text_scale").control.widget
    assert isinstance(scale, Combo)
    scale.setCurrentIndex(7)
    scale.activated.emit(7)
    switch = shown.row("chat.send_on_enter").control.widget
    assert isinstance(switch, Switch)
    switch.click()
    field = shown.row("tools.bash.timeout_s").findChild(Field)
    field.selectAll()
    QTest.keyClicks(field, "30")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert shown.sets() == [
        ("appearance.theme", "dark"),
        ("appearance.text_scale", 2.0),
        ("chat.send_on_enter", False),
        ("tools.bash.timeout_s", 30.0),
    ]


def test_a_limit_that_is_none_says_so_in_words_and_is_emptied_to_be_so_again(shown: Shown) -> None:
    words = {spec.key: spec.zero for spec in shown.settings.schema() if spec.zero}
    assert words["tools.memory_gb"] == "Half of this computer's"
    zeros = {spec.key for spec in shown.settings.schema() if "0: " in spec.help}
    assert zeros == set(words), "whatever gives 0 another meaning says so in its field"
    for key, zero in words.items():
        field = shown.row(key).findChild(Field)
        assert (field.text(), field.placeholderText()) == ("", zero), key
        assert field.fontMetrics().horizontalAdvance(zero) < field.width() - 16, zero
    field = shown.row("tools.memory_gb").findChild(Field)
    for typed in ("2,5", ""):
        field.selectAll()
        QTest.keyClicks(field, typed) if typed else field.del_()
        QTest.keyClick(field, Qt.Key.Key_Return)
    assert shown.sets() == [("tools.memory_gb", 2.5), ("tools.memory_gb", 0)]


def test_a_refused_value_goes_back_and_says_why(shown: Shown) -> None:
    row = shown.row("tools.bash.timeout_s")
    field = row.findChild(Field)
    field.setText("99999999")
    shown.settings.refused.emit("tools.bash.timeout_s", "The time limit must be at most 86400.")
    assert field.text() == "120"
    assert "The time limit must be at most 86400." in shown.words


def test_a_value_of_ones_own_can_be_reset(shown: Shown) -> None:
    row = shown.row("appearance.theme")
    assert not row._reset.isVisible()
    shown.settings.set("appearance.theme", "dark")
    assert row._reset.isVisible()
    row._reset.click()
    assert ("reset", "appearance.theme") in shown.settings.calls


@pytest.mark.spec("R-UI-5")
def test_folders_are_added_and_removed_by_keyboard(shown: Shown) -> None:
    row = shown.row("security.allowed_paths")
    field = row.findChild(Field)
    QTest.keyClicks(field, "~/data")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert shown.settings.get("security.allowed_paths") == ("~/.agent/workspace", "/tmp/agent", "~/data")
    remove = next(b for b in row.findChildren(IconButton) if b.accessibleName() == "Remove /tmp/agent")
    remove.setFocus()
    QTest.keyClick(remove, Qt.Key.Key_Space)
    assert shown.settings.get("security.allowed_paths") == ("~/.agent/workspace", "~/data")


@pytest.mark.spec("R-UI-5")
def test_the_filesystem_page_says_what_confines_commands(shown: Shown) -> None:
    shown.page.show_settings("Filesystem")
    assert "Nothing confines shell commands here." in shown.words
    assert "Shell commands are not confined on this computer." in shown.words
    assert "Their network is not confined either." in shown.words


def test_mistakes_of_the_file_are_named_with_their_line(shown: Shown) -> None:
    assert not shown.page.problems.isVisible()
    shown.settings.problems = ("config.yaml line 12, column 3: not a number.",)
    shown.settings.problems_changed.emit()
    assert "line 12, column 3" in shown.words
    assert "the last good ones stay in force" in shown.words


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [("whole", "1 000", 1000), ("whole", "12x", "12x"), ("number", "1,5", 1.5), ("text", " a ", "a")],
)
def test_what_is_typed_becomes_a_value_of_its_kind(kind: str, text: str, value: object) -> None:
    assert parsed(kind, text) == value


@pytest.mark.spec("R-UI-6")
def test_a_key_is_replaced_without_ever_being_shown(shown: Shown) -> None:
    shown.button("Replace key…").click()
    field = next(f for f in shown.page.window().findChildren(Field) if f.accessibleName() == "New key")
    assert (field.text(), field.echoMode()) == ("", QLineEdit.EchoMode.Password)
    QTest.keyClicks(field, "sk-new")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert ("replace_key", "mistral", {"key": "sk-new"}) in shown.setup.calls
    assert field.text() == ""


@pytest.mark.spec("R-UI-6")
def test_every_secret_of_a_provider_is_masked_handed_over_and_cleared(shown: Shown) -> None:
    shown.setup.set(providers=PROVIDERS)
    shown.page.show_settings("Models and keys")
    form = shown.page.findChild(ProviderForm)
    form.choose("bedrock_access_key")
    typed = {"access_key_id": "AKIA", "secret_access_key": "s", "session_token": "t", "region": "eu-central-1"}
    for name, text in typed.items():
        form.field(name).setText(text)
    masked = {name for name in typed if form.field(name).echoMode() == QLineEdit.EchoMode.Password}
    assert masked == {"secret_access_key", "session_token"}
    form.test.click()
    assert ("test_and_keep", "bedrock_access_key", typed) in shown.setup.calls
    shown.setup.tested.emit("new:bedrock_access_key", True, "It works.")
    assert [form.field(name).text() for name in typed] == ["", "", "", "eu-central-1"]


@pytest.mark.spec("R-UI-6")
def test_an_access_key_is_replaced_as_a_whole(shown: Shown) -> None:
    shown.setup.providers = PROVIDERS
    shown.page.show_settings("Models and keys")
    shown.setup.set(connections=(Connection("b", "bedrock_access_key", "Bedrock", "", "connection/b"),))
    spin()
    shown.button("Replace key…").click()
    fields = {f.accessibleName(): f for f in shown.page.window().findChildren(Field) if f.accessibleName()}
    fields["New secret access key"].setText("s")
    fields["New access key ID"].setText("a")
    QTest.keyClick(fields["New access key ID"], Qt.Key.Key_Return)
    given = {"secret_access_key": "s", "access_key_id": "a", "session_token": ""}
    assert ("replace_key", "b", given) in shown.setup.calls


@pytest.mark.spec("R-UI-6")
def test_deleting_a_connection_asks_first_and_escape_keeps_it(shown: Shown) -> None:
    shown.button("Delete…").click()
    spin()
    QTest.keyClick(shown.page.window().focusWidget(), Qt.Key.Key_Escape)
    assert not [call for call in shown.setup.calls if call[0] == "delete_connection"]
    shown.button("Delete…").click()
    shown.button("Delete connection and key").click()
    assert ("delete_connection", "mistral") in shown.setup.calls


@pytest.mark.spec("R-UI-6")
def test_a_connection_is_tested_and_the_outcome_stays_beside_it(shown: Shown) -> None:
    shown.button("Test").click()
    assert ("test_connection", "mistral") in shown.setup.calls
    shown.setup.tested.emit("mistral", False, "Mistral does not know this key (401).")
    spin()
    assert "Mistral does not know this key (401)." in shown.words


def card(shown: Shown, name: str) -> Any:
    spin()
    return next(one for one in shown.page.findChildren(QFrame) if one.accessibleName() == name and one.isVisible())


def test_a_connection_is_edited_in_its_place_and_stays_there_until_it_works(shown: Shown) -> None:
    shown.button("Edit").click()
    spin()
    editor = card(shown, "Edit Mistral")
    title = next(line for line in editor.findChildren(Text) if line.text() == "Mistral")
    assert title.width() >= title.sizeHint().width()
    fields = {field.accessibleName(): field for field in editor.findChildren(Field)}
    assert fields["Address"].placeholderText() == "the provider's own"
    assert fields["Name in lists"].hasFocus()
    assert [one for one in shown.page.findChildren(QFrame) if one.accessibleName() == "Mistral"] == []
    QTest.keyClicks(fields["Key"], KEY)
    fields["Address"].setFocus()
    editor.save.click()
    name, given = next(call[1:] for call in shown.setup.calls if call[0] == "edit_connection")
    assert (name, given["name"], given["base_url"], given["key"]) == ("mistral", "Mistral", "", KEY)
    shown.setup.wrong_field = "key"
    shown.setup.tested.emit("mistral", False, "Mistral does not know this key (401).")
    spin()
    assert card(shown, "Edit Mistral") is editor
    assert "Mistral does not know this key (401)." in shown.words
    assert (fields["Key"].wrong, fields["Key"].text()) == (True, KEY), "what was typed is still there"
    assert fields["Key"].hasFocus(), "keys go to what is wrong"
    shown.setup.set(looking=True)
    assert card(shown, "Edit Mistral") is editor, "a change elsewhere leaves it alone"
    editor.save.click()
    shown.setup.tested.emit("mistral", True, "It works: 13 models.")
    spin()
    assert "It works: 13 models." in [label.text() for label in card(shown, "Mistral").findChildren(QLabel)]
    assert shown.button("Edit").hasFocus()


def test_escape_gives_an_edit_up_and_forgets_the_key(shown: Shown) -> None:
    shown.button("Edit").click()
    editor = card(shown, "Edit Mistral")
    key = next(field for field in editor.findChildren(Field) if field.accessibleName() == "Key")
    QTest.keyClicks(key, KEY)
    QTest.keyClick(key, Qt.Key.Key_Escape)
    assert key.text() == ""
    spin()
    assert card(shown, "Mistral").isVisible()
    assert not [call for call in shown.setup.calls if call[0] == "edit_connection"]


def test_the_second_line_of_a_connection_names_its_provider(shown: Shown) -> None:
    work = Connection("work", "mistral", "Work", secret_name="connection/work")
    shown.setup.set(connections=(work,))
    assert "Mistral, key in the system keyring" in [line.text() for line in card(shown, "Work").findChildren(Text)]


def test_while_new_chats_use_the_demo_a_connected_model_is_offered_and_never_taken_unasked(shown: Shown) -> None:
    model = ModelInfo(ModelRef("mistral", "large"), "Mistral Large")
    assert "New chats still use the demo" not in shown.words
    shown.setup.set(instead_of_demo=model)
    assert "New chats still use the demo, which is no AI. Mistral Large of Mistral is ready." in shown.words
    assert not [call for call in shown.setup.calls if call[0] == "use"]
    shown.button("Use it for new chats").click()
    shown.setup.set(instead_of_demo=None)
    assert [call for call in shown.setup.calls if call[0] == "use"] == [("use", "mistral/large")]
    assert "New chats still use the demo" not in shown.words
    assert shown.page.window().focusWidget().accessibleName().startswith("Default model: ")


@pytest.mark.parametrize("note", ["", "There is no keyring on this system."])
def test_the_foot_of_the_form_speaks_of_a_key_only_where_there_is_one(shown: Shown, note: str) -> None:
    shown.page.findChild(ModelsPage).begin_adding()
    shown.setup.set(providers=PROVIDERS, keyring_note=note)
    form = shown.page.findChildren(ProviderForm)[0]
    for info in PROVIDERS:
        if info.locality == "demo":
            continue
        form.choose(info.provider)
        said, wanted = form._note.text(), [need.rstrip("?") for need in info.needs]
        if {"key", "secret_access_key"} & set(wanted):
            assert ("forgotten" if note else "in the keyring of your system") in said, info.title
            assert form.help.isVisible() is (info.provider != "openai_compatible")
        else:
            assert info.title in ("Ollama", "LM Studio", "llama.cpp", "vLLM")
            assert said.startswith("No key is needed. If this server asks for one, choose “Other server")
            assert not form.help.isVisible()


def test_a_connection_without_a_key_is_edited_without_a_word_about_keys(shown: Shown) -> None:
    shown.setup.set(providers=PROVIDERS, connections=(Connection("vllm", "vllm", "vLLM", "http://127.0.0.1:8000"),))
    spin()
    page: Any = shown.page.findChild(ModelsPage)
    page.cards.edits["vllm"].click()
    said = [label.text() for label in page.cards.editor.findChildren(QLabel)]
    assert "Nothing changes until a test works." in said
    assert not [one for one in said if "keyring" in one]


@pytest.mark.spec("R-MOD-7")
def test_models_to_ask_instead_are_added_moved_up_and_taken_out_and_one_that_is_away_stays(shown: Shown) -> None:
    page: Any = shown.page.findChild(ModelsPage)
    card, refs = page.fallbacks, [str(model.ref) for model in shown.setup.models]
    assert [ref for ref in refs if card.add.fits(ref)] == refs
    for ref in refs[:2]:
        card.add._take(ref)
    assert shown.setup.fallbacks == tuple(refs[:2])
    assert not card.add.fits(refs[0])
    assert card.add.label == "Add a model…", "the next one can be chosen"
    shown.setup.set(fallbacks=(*refs[:2], "lab/away-7b"))
    first, last = shown.setup.models[0].title, "lab/away-7b  ·  not available now"
    assert last in [label.text() for label in card.findChildren(QLabel)]
    buttons = {button.accessibleName(): button for button in card.findChildren(IconButton)}
    assert [button.isEnabled() for name, button in buttons.items() if name.endswith("sooner")] == [False, True, True]
    buttons[f"Ask {last} sooner"].click()
    assert shown.setup.fallbacks == (refs[0], "lab/away-7b", refs[1])
    spin()
    gone = next(
        b for b in card.findChildren(IconButton) if first in b.accessibleName() and "instead" in b.accessibleName()
    )
    gone.click()
    assert shown.setup.fallbacks == ("lab/away-7b", refs[1])


def test_after_success_another_return_adds_nothing_and_what_is_said_goes_with_the_connection(shown: Shown) -> None:
    shown.page.findChild(ModelsPage).begin_adding()
    form = shown.page.findChildren(ProviderForm)[0]
    form.choose("openai_compatible")
    address = form.field("base_url")
    address.setFocus()
    address.setText("http://127.0.0.1:9/v1")
    QTest.keyClick(address, Qt.Key.Key_Return)
    added = Connection("openai_compatible", "openai_compatible", "Lab")
    shown.setup.set(connections=(MISTRAL, added))
    shown.setup.tested.emit("new:openai_compatible", True, "Lab works: 2 models.")
    spin()
    assert (address.text(), form.outcome.isVisible()) == ("", True)
    QTest.keyClick(shown.page.window().focusWidget(), Qt.Key.Key_Return)
    assert len([call for call in shown.setup.calls if call[0] == "test_and_keep"]) == 1
    shown.setup.set(connections=(MISTRAL,))
    assert not form.outcome.isVisible()


def test_deleting_a_connection_names_it_in_full_and_its_key_only_where_there_is_one(shown: Shown) -> None:
    long = "Other server that speaks the format of OpenAI 2"
    shown.setup.set(connections=(Connection("lab2", "openai_compatible", long),))
    spin()
    shown.button("Delete…").click()
    spin()
    said = "\n".join(label.text() for label in shown.page.window().findChildren(QLabel) if label.isVisible())
    assert f"The connection is forgotten: {long}." in said
    assert shown.button("Delete connection")


@pytest.mark.spec("R-SEC-2")
def test_a_card_says_where_the_keyring_says_that_the_key_lies(shown: Shown) -> None:
    for place, words in KEY_WORDS.items():
        shown.setup.set(key_place=lambda _, place=place: place)
        assert f"Mistral, {words}" in [line.text() for line in card(shown, "Mistral").findChildren(Text)]


def test_while_the_keyring_waits_the_forms_do_not_say_that_the_key_is_forgotten(shown: Shown) -> None:
    shown.page.findChild(ModelsPage).begin_adding()
    shown.setup.set(keyring_note="Your keyring has not taken the key yet.", keyring_waiting=True)
    spin()
    shown.button("Edit").click()
    spin()
    said = [line.text() for line in shown.page.findChildren(QLabel) if line.isVisible()]
    assert said.count("The key is saved as soon as your keyring takes it") == 2
    assert "The key is forgotten when Assent is closed" not in said


def test_without_a_keyring_the_page_says_why_once_and_the_forms_what_follows(shown: Shown) -> None:
    shown.page.findChild(ModelsPage).begin_adding()
    note = "Assent found no safe keyring on this computer."
    shown.setup.set(keyring_note=note)
    spin()
    shown.button("Edit").click()
    spin()
    said = [line.text() for line in shown.page.findChildren(QLabel) if line.isVisible()]
    assert sum(note in text for text in said) == 1
    assert said.count("The key is forgotten when Assent is closed") == 2


@pytest.mark.parametrize(("scale", "width"), [(1.0, 1216), (1.0, 832), (2.0, 832)])
def test_the_name_of_a_connection_has_its_room_beside_or_above_its_buttons(
    shown: Shown, theme: Theme, scale: float, width: int
) -> None:
    theme.set_scale(scale)
    shown.page.resize(width, 800)
    spin()
    card = next(one for one in shown.page.findChildren(QFrame) if one.accessibleName() == "Mistral")
    lines = card.findChildren(Text)
    assert "Mistral" in [line.text() for line in lines]
    assert [line.text() for line in lines if line.width() < line.sizeHint().width()] == []
    for label in ("Test", "Edit", "Replace key…", "Delete…"):
        button = shown.button(label)
        assert button.width() >= button.sizeHint().width(), label


def test_the_default_model_is_chosen_from_what_is_there(shown: Shown) -> None:
    shown.page.findChild(ModelsPage).default._take("ollama/gemma3:12b")
    assert ("use", "ollama/gemma3:12b") in shown.setup.calls


def test_a_default_model_that_is_gone_is_still_named(shown: Shown) -> None:
    shown.setup.set(default_model="lab/old-model")
    default = shown.page.findChild(ModelsPage).default
    assert default.accessibleName() == "Default model: old-model, not available now"


def test_everything_that_takes_keys_has_a_name(shown: Shown) -> None:
    for row in SETTINGS_PAGES:
        shown.page.show_settings(row.name)
    nameless = [
        child
        for child in shown.page.findChildren(QWidget)
        if child.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not child.accessibleName()
        and not child.objectName().startswith("qt_")
        and child.window() is shown.page.window()
    ]
    assert nameless == []


def test_title_and_help_of_a_setting_keep_their_room_and_the_control_goes_below_them(
    qtbot: QtBot, theme: Theme, shown: Shown
) -> None:
    shown.page.show_settings("Appearance")
    row = next(row for row in shown.page.findChildren(SettingRow) if row.spec.title == "Theme")
    try:
        for scale, width, below in ((1.0, 1216, False), (2.0, 896, True), (2.0, 1400, False)):
            theme.set_scale(scale)
            shown.page.resize(width, 700)
            spin(60)
            control, title = row.control.widget, row.findChild(QLabel)
            beside = control.mapTo(row, control.rect().topLeft()).x() > title.width() // 2
            assert beside is not below, (scale, width)
            assert title.width() >= theme.px(150), "no word of it is broken"
    finally:
        theme.set_scale(1.0)


def test_a_page_that_was_resized_while_another_was_shown_is_as_wide_as_its_room(qtbot: QtBot, theme: Theme) -> None:
    stack = QStackedWidget()
    qtbot.addWidget(stack)
    page, inside = Scroller(), QFrame()
    page.column.addWidget(inside)
    stack.addWidget(page)
    stack.addWidget(QFrame())
    stack.resize(500, 400)
    stack.show()
    spin(30)
    stack.setCurrentIndex(1)
    stack.resize(900, 400)
    spin(30)
    stack.setCurrentIndex(0)
    spin(30)
    assert inside.width() > 800


def test_the_form_of_one_more_connection_opens_by_its_button_or_the_name_of_a_kind(shown: Shown) -> None:
    page: Any = shown.page.findChild(ModelsPage)
    assert not page.form.isVisible(), "there are connections"
    shown.button("Add a connection").click()
    assert page.form.isVisible()
    assert page.form.isAncestorOf(shown.page.window().focusWidget())
    shown.button("OpenAI").click()
    assert page.form._choice.currentData() == "openai"
    assert shown.page.window().focusWidget().accessibleName() == "Key"


def test_a_connection_says_that_it_works_and_how_many_models_it_has(shown: Shown) -> None:
    shown.setup.set(connections=CONNECTIONS)
    states = {one.accessibleName() for one in shown.page.findChild(ModelsPage).cards.findChildren(StateLabel)}
    assert states == {"works, 13 models", "does not work now"}
