"""What no font draws is said once, with the name of the package that draws it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QFont
from pytestqt.qtbot import QtBot

from desktop.presenter.transcript.items import TextPart, TranscriptItem
from desktop.ui.theme import Theme
from desktop.ui.theme.missing_glyphs import advice, characters_by_script, draws
from desktop.ui.transcript.missing_fonts import MissingFonts
from tests.harness.timeouts import WAIT_S

HINDI, THAI, PARTY = "नमस्ते", "สวัสดี", "\U0001f9e9"
DEBIAN = {"ID": "debian"}
UBUNTU = {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}


class Chat(QObject):
    """The signals of a chat."""

    items_reset = Signal(object)
    item_added = Signal(object)
    item_changed = Signal(object)


@pytest.fixture
def alone(theme: Theme) -> QFont:
    """Inter, as if the system had no other font."""
    font = QFont(theme.font("reading"))
    font.setStyleStrategy(QFont.StyleStrategy.NoFontMerging)
    return font


def item(text: str, *, live: bool = False) -> TranscriptItem:
    return TranscriptItem("m", "a", "Assistant", "", (TextPart("p", text),), live=live)


def test_scripts_that_nothing_draws_are_found_and_plain_text_asks_for_none(alone: QFont) -> None:
    found = characters_by_script(f"{HINDI} and {THAI} {PARTY}")
    assert list(found) == ["emoji", "Devanagari", "Thai"]
    assert not any(draws(alone, script, characters) for script, characters in found.items())
    assert list(characters_by_script(f"{HINDI} {THAI}", {"Thai"})) == ["Devanagari"]
    assert characters_by_script("Plain words, Größe, Ελληνικά, кириллица") == {}
    assert draws(alone, "emoji", "ab")
    assert draws(alone, "Thai", "ab")


@pytest.mark.parametrize(
    ("scripts", "system", "sentence"),
    [
        (("Thai",), DEBIAN, "No font here draws Thai. Install the package fonts-noto-core."),
        (
            ("Devanagari", "Thai"),
            UBUNTU,
            "No font here draws Devanagari and Thai. Install the package fonts-noto-core.",
        ),
        (
            ("emoji", "Devanagari", "Thai"),
            DEBIAN,
            "No font here draws emoji, Devanagari and Thai. Install the packages fonts-noto-color-emoji and "
            "fonts-noto-core.",
        ),
        (
            ("emoji", "Thai"),
            {"ID": "fedora"},
            "No font here draws emoji and Thai. Install the packages google-noto-color-emoji-fonts and "
            "google-noto-sans-thai-fonts.",
        ),
        (
            ("emoji",),
            {"ID": "opensuse-leap", "ID_LIKE": "suse opensuse"},
            "No font here draws emoji. Install the package google-noto-coloremoji-fonts.",
        ),
        (("emoji",), None, "No font here draws emoji. Install the font Noto Color Emoji."),
        (("emoji",), {"ID": "other"}, "No font here draws emoji. Install the font Noto Color Emoji."),
    ],
)
def test_the_package_has_the_name_that_it_has_on_this_system(
    scripts: tuple[str, ...], system: dict[str, str] | None, sentence: str
) -> None:
    assert advice(scripts, system) == sentence


def test_it_is_said_once_for_each_script_also_after_a_restart_and_not_of_text_that_still_streams(
    qtbot: QtBot, alone: QFont
) -> None:
    chat, said, kept = Chat(), [], [""]

    def keep(told: str) -> None:
        kept[0] = told

    missing = MissingFonts((chat,), said.append, lambda: kept[0], keep, chat, lambda: alone)
    chat.items_reset.emit((item("hello"), item(HINDI, live=True)))
    looked_through(qtbot, missing)
    assert said == []
    chat.item_changed.emit(item(HINDI))
    qtbot.waitUntil(lambda: len(said) == 1, timeout=WAIT_S * 1000)
    assert "Devanagari" in said[0]
    chat.item_added.emit(item(HINDI))
    looked_through(qtbot, missing)
    assert len(said) == 1
    missing.deleteLater()
    again: list[str] = []
    later = Chat()
    restarted = MissingFonts((later,), again.append, lambda: kept[-1], kept.append, later, lambda: alone)
    later.items_reset.emit((item(HINDI),))
    looked_through(qtbot, restarted)
    assert again == []
    later.items_reset.emit((item(THAI), item(f"{PARTY} {THAI}")))
    qtbot.waitUntil(lambda: len(again) == 1, timeout=WAIT_S * 1000)
    assert "Thai" in again[0]
    assert "emoji" in again[0]


def looked_through(qtbot: QtBot, missing: MissingFonts) -> None:
    qtbot.waitUntil(lambda: not missing.busy, timeout=WAIT_S * 1000)


def test_the_window_is_never_kept_for_more_than_one_script_or_one_text(qtbot: QtBot, alone: QFont) -> None:
    chat, turns, asked = Chat(), [0], list[int]()

    def font() -> QFont:
        asked.append(turns[0])
        return alone

    turn = QTimer(chat, interval=0)
    turn.timeout.connect(lambda: turns.__setitem__(0, turns[0] + 1))
    turn.start()
    missing = MissingFonts((chat,), lambda _: None, str, lambda _: None, chat, font)
    chat.items_reset.emit(tuple(item(f"{HINDI} {THAI} {PARTY}") for _ in range(5)))
    assert asked == []
    looked_through(qtbot, missing)
    assert len(asked) == len(set(asked)) == 3


def test_what_one_page_has_named_no_other_names_again(qtbot: QtBot, alone: QFont) -> None:
    chat, debate, kept = Chat(), Chat(), [""]
    said: list[str] = []
    pages = [
        MissingFonts((one,), said.append, lambda: kept[0], lambda told: kept.__setitem__(0, told), one, lambda: alone)
        for one in (chat, debate)
    ]
    chat.items_reset.emit((item(HINDI),))
    looked_through(qtbot, pages[0])
    debate.item_added.emit(item(HINDI))
    debate.item_added.emit(item(THAI))
    looked_through(qtbot, pages[1])
    qtbot.waitUntil(lambda: len(said) == 2, timeout=WAIT_S * 1000)
    first, second = sorted(said)  # two threads put them into words: either may be done first
    assert ("Devanagari" in first, "Thai" in first) == (True, False)
    assert ("Devanagari" in second, "Thai" in second) == (False, True)
    assert kept[0].split() == ["Devanagari", "Thai"]
