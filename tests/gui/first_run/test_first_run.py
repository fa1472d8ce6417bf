"""The first-run page in each of its states, and what its buttons do."""

import ast
import inspect
import os
import re
from types import ModuleType

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot
from shots.samples import ABSENT, LM_STUDIO, OLLAMA, SampleSetup
from shots.starts import sample_starts

from desktop.app.wiring.settings_pages import SETTINGS_PAGES
from desktop.domain.models import LocalServer
from desktop.models import demo_texts, failures
from desktop.tools.builtin import process_result, shell
from desktop.ui.first_run.page import FirstRunPage
from desktop.ui.settings.models.context_words import context_words
from desktop.ui.settings.models.local_card import port_of, size_words
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Scroller
from desktop.ui.widgets.reading_order import tab_stops
from desktop.ui.widgets.text import Paragraph, Text
from tests.gui.shell.test_window import spin


class Shown:
    def __init__(self, setup: SampleSetup) -> None:
        self.setup = setup
        self.starts, self.startable = sample_starts()
        self.page = FirstRunPage(setup, self.starts)  # type: ignore[arg-type]
        self.page.resize(1216, 800)
        self.page.show()
        self.page.activateWindow()
        spin()

    @property
    def words(self) -> str:
        return "\n".join(label.text() for label in self.page.findChildren(QLabel) if label.isVisible())


@pytest.fixture
def shown(qtbot: QtBot, theme: Theme) -> Shown:
    made = Shown(SampleSetup())
    qtbot.addWidget(made.page)
    return made


def test_it_looks_for_servers_by_itself(shown: Shown) -> None:
    assert ("look",) in shown.setup.calls


def test_models_are_listed_with_the_context_the_server_gives(shown: Shown) -> None:
    rows = [button.accessibleName() for button in shown.page.local._group.buttons()]
    assert rows[0] == "qwen3:30b 32k 18 GB"
    assert "Ollama answers on port 11434" in shown.words
    assert "LM Studio, llama.cpp, vLLM: not running" in shown.words


def test_the_marked_model_is_used_by_button_or_enter(shown: Shown) -> None:
    shown.page.local.use_button.click()
    shown.page.local._group.button(1).setChecked(True)
    assert shown.page.local.use_button.label == "Use mistral-small:24b"
    QTest.keyClick(shown.page.local._group.button(1), Qt.Key.Key_Return)
    used = [call[1] for call in shown.setup.calls if call[0] == "use"]
    assert used == ["ollama/qwen3:30b", "ollama/mistral-small:24b"]


def test_the_mark_stays_when_the_list_is_looked_up_again(shown: Shown) -> None:
    shown.page.local._group.button(2).setChecked(True)
    shown.setup.set(servers=(LM_STUDIO, OLLAMA))
    assert shown.page.local.chosen is not None
    assert shown.page.local.chosen.ref.model == "gemma3:12b"


def test_while_looking_it_says_so(shown: Shown) -> None:
    shown.setup.set(servers=(), looking=True)
    assert shown.page.local.state.state == "running"
    assert "Looking for Ollama" in shown.words
    assert not shown.page.local.look.isEnabled()


def test_when_there_is_no_server_it_says_what_to_do(shown: Shown) -> None:
    shown.setup.set(servers=ABSENT)
    assert "Start Ollama, LM Studio, llama.cpp or vLLM, then look again." in shown.words
    assert not shown.page.local.use_button.isVisible()


def test_an_unknown_context_is_called_unknown(shown: Shown) -> None:
    shown.setup.set(servers=(OLLAMA, LM_STUDIO))
    rows = [button.accessibleName() for button in shown.page.local._group.buttons()]
    assert any("unknown" in row for row in rows)


def test_a_server_in_trouble_says_its_problem(shown: Shown) -> None:
    broken = LocalServer("vllm", "vLLM", "http://127.0.0.1:8000", True, (), "It answered with an error (500).")
    shown.setup.set(servers=(broken,))
    assert "It answered with an error (500)." in shown.words


@pytest.mark.spec("R-UI-6")
def test_a_key_is_masked_handed_over_once_and_cleared_when_kept(shown: Shown) -> None:
    field = shown.page.form.field("key")
    assert field.echoMode() == QLineEdit.EchoMode.Password
    field.setText("sk-secret")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert ("test_and_keep", "mistral", {"key": "sk-secret"}) in shown.setup.calls
    shown.setup.tested.emit("new:mistral", True, "Mistral works: 12 models.")
    assert field.text() == ""
    assert "Mistral works: 12 models." in shown.words


@pytest.mark.spec("R-UI-6")
def test_a_wrong_key_is_explained_in_plain_words_and_marked(shown: Shown) -> None:
    field = shown.page.form.field("key")
    field.setText("wrong")
    shown.page.form.test.click()
    shown.setup.wrong_field = "key"
    shown.setup.tested.emit("new:mistral", False, "Mistral does not know this key (401). Nothing was kept.")
    assert field.wrong
    assert "Mistral does not know this key (401). Nothing was kept." in shown.words
    QTest.keyClicks(field, "x")
    assert not field.wrong


def test_a_test_under_way_shows_it_and_can_be_cancelled(shown: Shown) -> None:
    form = shown.page.form
    form.field("key").setText("k")
    form.test.click()
    shown.setup.set(testing=True)
    assert (form.busy.isVisible(), form.test.isVisible(), form.cancel.isVisible()) == (True, False, True)
    form.cancel.click()
    assert ("cancel_test",) in shown.setup.calls
    shown.setup.testing = False
    shown.setup.tested.emit("new:mistral", False, "Stopped. Nothing was kept.")
    spin()
    assert form.test.isVisible()


def test_without_a_keyring_it_says_plainly_that_the_key_is_not_kept(shown: Shown) -> None:
    shown.setup.set(keyring_note="There is no system keyring. A key is kept only until Assent is closed.")
    assert "A key is kept only until Assent is closed." in shown.words
    assert "The key is kept in the keyring" not in shown.words


def test_each_provider_asks_for_what_it_needs(shown: Shown) -> None:
    shown.page.form.choose("azure")
    assert list(shown.page.form._fields) == ["key", "base_url", "api_version", "deployment"]
    shown.page.form.choose("openai_compatible")
    assert list(shown.page.form._fields) == ["base_url", "key"]
    assert shown.page.form.field("key").echoMode() == QLineEdit.EchoMode.Password


def test_where_a_key_is_to_be_had_is_shown_as_text(shown: Shown) -> None:
    shown.page.form.help.click()
    assert "console.mistral.ai/api-keys" in shown.words


def test_the_demo_is_labelled_not_an_ai(shown: Shown) -> None:
    names = [child.accessibleName() for child in shown.page.findChildren(object) if hasattr(child, "accessibleName")]
    assert "not an AI" in names
    shown.page.demo.click()
    assert ("start_demo",) in shown.setup.calls


def texts_of(source: ModuleType) -> str:
    """All that a module says."""
    nodes = ast.walk(ast.parse(inspect.getsource(source)))
    return "\n".join(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


@pytest.mark.parametrize("source", [demo_texts, failures, shell, process_result])
def test_every_settings_page_that_is_named_exists(source: ModuleType) -> None:
    named = re.findall(r"Settings, ([A-Z][a-z]+(?: [a-z]+)*)", texts_of(source))
    assert named
    for words in named:
        assert any(words.startswith(row.title) for row in SETTINGS_PAGES), words


def test_in_a_narrow_window_the_ways_stand_below_each_other(shown: Shown) -> None:
    shown.page.resize(700, 800)
    spin()
    assert shown.page.key_card.y() > shown.page.local.y()
    assert shown.page.key_card.x() == shown.page.local.x()


def test_in_a_narrow_window_the_button_that_has_the_keys_is_seen_at_once(shown: Shown) -> None:
    shown.setup.set(servers=ABSENT)
    shown.page.resize(872, 800)
    spin()
    spin()
    scroller = shown.page.findChild(Scroller)
    assert shown.page.first_focus() is shown.page.demo
    assert scroller.verticalScrollBar().value() == 0
    seen = shown.page.demo.mapTo(shown.page, shown.page.demo.rect().bottomLeft())
    assert seen.y() < shown.page.height(), "the demo is below what the window shows"
    order = list(tab_stops(shown.page))
    assert order.index(shown.page.local.look) < order.index(shown.page.demo) < order.index(shown.page.form.field("key"))
    shown.page.resize(1216, 800)
    spin()
    assert shown.page.demo.mapTo(shown.page, QPoint()).x() > shown.page.key_card.x(), "beside the others it is the last"
    assert shown.page.key_card.height() == shown.page.local.height() >= 424


@pytest.mark.parametrize(
    ("tokens", "words"), [(None, "unknown"), (512, "512"), (8192, "8k"), (32_768, "32k"), (128_000, "128k")]
)
def test_a_context_size_in_words(tokens: int | None, words: str) -> None:
    assert context_words(tokens) == words


def test_sizes_and_ports_in_words() -> None:
    assert [size_words(None), size_words(18_000_000_000), size_words(350_000_000)] == ["", "18 GB", "350 MB"]
    odd = LocalServer("vllm", "vLLM", "http://host:notaport", True)
    assert [port_of(OLLAMA), port_of(odd)] == ["11434", "http://host:notaport"]


def test_with_text_at_200_percent_no_word_of_the_narrowest_page_is_cut(qtbot: QtBot, theme: Theme) -> None:
    theme.set_scale(2.0)
    shown = Shown(SampleSetup())
    qtbot.addWidget(shown.page)
    shown.setup.set(servers=ABSENT)
    shown.page.resize(832, 640)
    spin()
    spin()
    held = [one for kind in (Text, Button) for one in shown.page.findChildren(kind) if one.isVisible()]
    cut = [one.text() for one in held if one.width() < one.sizeHint().width()]
    paragraphs = [one for one in shown.page.findChildren(Paragraph) if one.isVisible()]
    assert len(paragraphs) > 5
    cut += [one.text() for one in paragraphs if one.height() < one.heightForWidth(one.width())]
    assert cut == []
    page = shown.page.findChild(Scroller)
    assert page.widget().width() <= page.viewport().width(), "nothing stands beyond the edge"
    if folder := os.environ.get("ASSENT_SHOTS"):
        page.widget().grab().save(f"{folder}/first-run-200.png")
