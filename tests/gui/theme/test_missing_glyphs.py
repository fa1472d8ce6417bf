"""What no font draws is said once, with the name of the package that draws it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QFont

from desktop.presenter.transcript_items import TextPart, TranscriptItem
from desktop.ui.chat.missing_fonts import MissingFonts
from desktop.ui.theme import Theme
from desktop.ui.theme.missing_glyphs import advice, missing_scripts

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
    assert missing_scripts(f"{HINDI} and {THAI} {PARTY}", alone) == ("emoji", "Devanagari", "Thai")
    assert missing_scripts(f"{HINDI} {THAI}", alone, {"Thai"}) == ("Devanagari",)
    assert missing_scripts("Plain words, Größe, Ελληνικά, кириллица", alone) == ()


@pytest.mark.parametrize(
    ("scripts", "system", "sentence"),
    [
        (("Thai",), DEBIAN, "No font here draws Thai. Install the package fonts-noto-core."),
        (("Devanagari", "Thai"), UBUNTU,
         "No font here draws Devanagari and Thai. Install the package fonts-noto-core."),
        (
            ("emoji", "Devanagari", "Thai"), DEBIAN,
            "No font here draws emoji, Devanagari and Thai. Install the packages fonts-noto-color-emoji and "
            "fonts-noto-core.",
        ),
        (
            ("emoji", "Thai"), {"ID": "fedora"},
            "No font here draws emoji and Thai. Install the packages google-noto-color-emoji-fonts and "
            "google-noto-sans-thai-fonts.",
        ),
        (("emoji",), {"ID": "opensuse-leap", "ID_LIKE": "suse opensuse"},
         "No font here draws emoji. Install the package google-noto-coloremoji-fonts."),
        (("emoji",), None, "No font here draws emoji. Install the font Noto Color Emoji."),
        (("emoji",), {"ID": "other"}, "No font here draws emoji. Install the font Noto Color Emoji."),
    ],
)  # fmt: skip
def test_the_package_has_the_name_that_it_has_on_this_system(
    scripts: tuple[str, ...], system: dict[str, str] | None, sentence: str
) -> None:
    assert advice(scripts, system) == sentence


def test_it_is_said_once_for_each_script_also_after_a_restart_and_not_of_text_that_still_streams(alone: QFont) -> None:
    chat, said, kept = Chat(), [], [""]
    missing = MissingFonts(chat, said.append, (), lambda told: kept.__setitem__(0, told), chat, lambda: alone)  # type: ignore[arg-type]
    chat.items_reset.emit((item("hello"), item(HINDI, live=True)))
    assert said == []
    chat.item_changed.emit(item(HINDI))
    assert len(said) == 1
    assert "Devanagari" in said[0]
    chat.item_added.emit(item(HINDI))
    assert len(said) == 1
    missing.deleteLater()
    again: list[str] = []
    later = Chat()
    MissingFonts(later, again.append, kept[0].split(), kept.append, later, lambda: alone)  # type: ignore[arg-type]
    later.items_reset.emit((item(HINDI),))
    assert again == []
    later.items_reset.emit((item(THAI),))
    assert len(again) == 1
    assert "Thai" in again[0]
