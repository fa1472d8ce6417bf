"""Tokens, modes, scale, motion, fonts and icons."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QFontInfo, QFontMetrics, QGuiApplication, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QLineEdit,
    QStyle,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop.domain.fences.colours import CODE_ROLES
from desktop.ui.theme import Theme, parse_color
from desktop.ui.theme.paint import BADGES, STATES, split_ranges
from desktop.ui.theme.qss import make_stylesheet
from desktop.ui.theme.resources import ICONS, TOKENS
from desktop.ui.theme.tokens import load_tokens
from desktop.ui.transcript.colours.finished import TOKENS as CODE_TOKENS
from desktop.ui.transcript.pieces.small import SEVERITIES
from desktop.ui.widgets.controls.fields import Combo
from desktop.ui.widgets.layout.containers import Notice

UI = Path(__file__).parents[3] / "desktop" / "ui"
PANES = ("bg", "surface", "sunken", "raised", "rail", "hover", "selected")


def luminance(color: QColor) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.getRgbF()[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: QColor, other: QColor) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_both_modes_have_the_same_tokens() -> None:
    colors = load_tokens(TOKENS).colors
    assert set(colors["light"]) == set(colors["dark"])


def test_the_style_sheet_refuses_a_token_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("desktop.ui.theme.qss.BASE", "QLabel { color: $nosuch; }")
    with pytest.raises(KeyError, match="nosuch"):
        make_stylesheet(lambda name: name, round, load_tokens(TOKENS))


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_texts_are_readable_on_every_pane(theme: Theme, mode: str) -> None:
    theme.set_choice(mode)
    poor = [
        (text, pane)
        for text in ("text", "text-2", "text-3", "accent-text", "failed", "ask", "allow", "info", "deny")
        for pane in PANES
        if contrast(theme.color(text), theme.color(pane)) < 4.5
    ]
    assert poor == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_code_is_readable_in_every_colour(theme: Theme, mode: str) -> None:
    theme.set_choice(mode)
    grounds = ("code-bg", "surface", "sunken")
    poor = [
        (role, ground)
        for role in CODE_ROLES
        for ground in grounds
        if contrast(theme.color(CODE_TOKENS[role]), theme.color(ground)) < 4.5
    ]
    assert poor == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_placeholder_is_drawn_as_legible_as_a_caption(theme: Theme, mode: str) -> None:
    """Looked at as it is drawn: with a style sheet that colours a field's text, Qt draws it at half that strength."""
    theme.set_choice(mode)
    field = QLineEdit()
    field.setPlaceholderText("MMMMMMMMMM")
    field.resize(300, 34)
    image = field.grab().toImage()
    drawn = {image.pixel(x, y) for x in range(8, 200) for y in range(8, 26)}
    assert max(contrast(QColor(one), theme.color("surface")) for one in drawn) >= 4.5


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_badge_and_state_is_readable_on_its_fill(theme: Theme, mode: str) -> None:
    theme.set_choice(mode)
    tokens = {look.token for look in BADGES.values() if look.token}
    assert [t for t in tokens if contrast(theme.color(t), theme.color(f"{t}-soft")) < 4.5] == []
    assert [s.token for s in STATES.values() if contrast(theme.color(s.token), theme.color("surface")) < 4.5] == []


def test_changing_the_choice_changes_palette_and_says_so(theme: Theme, qapp: QApplication) -> None:
    heard: list[str] = []
    listening = theme.changed.connect(lambda: heard.append(theme.mode))
    theme.set_choice("dark")
    theme.disconnect(listening)
    assert heard == ["dark"]
    assert theme.mode == "dark"
    assert qapp.palette().color(QPalette.ColorRole.Window) == theme.color("bg")


def test_the_system_choice_is_what_the_system_says(theme: Theme) -> None:
    theme.set_choice("dark")
    theme.set_choice("system")
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    assert theme.mode == ("dark" if dark else "light")


def test_an_odd_choice_means_the_system(theme: Theme) -> None:
    theme.set_choice("purple")
    assert theme.choice == "system"


def test_sizes_and_fonts_grow_with_the_scale_inside_its_range(theme: Theme) -> None:
    theme.set_scale(2.0)
    assert (theme.metric("rail"), theme.font("body").pixelSize(), theme.line_height("body")) == (128, 26, 40)
    theme.set_scale(9)
    assert theme.scale == 2.0


def test_less_motion_stops_movement_but_not_the_deaf_time(theme: Theme) -> None:
    theme.set_motion("less")
    assert [theme.duration(name) for name in ("quick", "settle", "spinner", "caret")] == [0, 0, 0, 0]
    assert theme.duration("deaf") == 400


def test_the_shipped_typefaces_are_used_with_figures_of_equal_width(theme: Theme) -> None:
    assert QFontInfo(theme.font("body")).family() == "Inter"
    assert QFontInfo(theme.font("code")).family() == "JetBrains Mono"
    metrics = QFontMetrics(theme.font("body"))
    assert metrics.horizontalAdvance("1111") == metrics.horizontalAdvance("8888")


@pytest.mark.parametrize("path", sorted(ICONS.glob("*.svg")), ids=lambda path: path.stem)
def test_an_icon_is_drawn_in_the_asked_colour(theme: Theme, path: Path) -> None:
    image = theme.pixmap(path.stem, "admin", 20, 2.0).toImage()
    solid = [
        image.pixelColor(x, y)
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y).alpha() > 250
    ]
    assert solid
    wanted = theme.color("admin")
    assert max(abs(c.red() - wanted.red()) + abs(c.blue() - wanted.blue()) for c in solid) <= 4


def test_the_eight_digit_form_ends_with_alpha() -> None:
    color = parse_color("#171C1A40")
    assert (color.name(), color.alpha()) == ("#171c1a", 0x40)


@pytest.mark.parametrize(
    ("ranges", "pieces"),
    [
        (((0, 2),), [("ab", True), ("cd", False)]),
        (((1, 1), (3, 9)), [("a", False), ("b", True), ("c", False), ("d", True)]),
        (((0, 3), (1, 2), (9, 1)), [("abc", True), ("d", False)]),
    ],
)
def test_matches_are_cut_at_the_ends_of_the_text(ranges: tuple, pieces: list) -> None:
    assert split_ranges("abcd", ranges) == pieces


def test_no_widget_names_a_colour_of_its_own() -> None:
    found = [
        f"{path.relative_to(UI)}: {match.group()}"
        for path in UI.rglob("*.py")
        for match in re.finditer(r"[\"']#[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?[\"']", path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_the_chosen_line_of_an_open_list_is_neutral(qtbot: QtBot, theme: Theme) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    combo = Combo("Size")
    QVBoxLayout(window).addWidget(combo)
    combo.fill([("80 %", 1), ("100 %", 2), ("125 %", 3)], 2)
    for mode in ("light", "dark"):
        theme.set_choice(mode)
        window.show()
        line = QPixmap(160, 28)
        line.fill(theme.color("raised"))
        option = QStyleOptionViewItem()
        option.initFrom(combo.view())
        option.widget = combo.view()
        option.rect = line.rect()
        option.state |= QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_Enabled
        painter = QPainter(line)
        combo.itemDelegate().paint(painter, option, combo.model().index(1, 0))
        painter.end()
        assert line.toImage().pixelColor(148, 14).name() == theme.color("selected").name(), mode


def test_what_is_only_said_has_no_warning_triangle() -> None:
    glyphs = {STATES["info"].icon, Notice.ICONS["info"], SEVERITIES["info"][2]}
    assert glyphs == {"info"}
    used = {*glyphs, *Notice.ICONS.values(), *(look[2] for look in SEVERITIES.values())}
    assert all((ICONS / f"{name}.svg").is_file() for name in used)


def test_a_redress_tells_each_widget_a_few_times_however_deep_it_stands(theme: Theme, qtbot: QtBot) -> None:
    changes: list[QEvent.Type] = []

    class Told(QLabel):
        def changeEvent(self, event: QEvent) -> None:
            changes.append(event.type())
            super().changeEvent(event)

    top = inner = QFrame()
    qtbot.addWidget(top)
    for _ in range(24):
        inner = QFrame(inner)
        inner.setProperty("pane", "card")
    label = Told("words", inner)
    label.setProperty("tone", "2")
    top.show()
    for redress in (lambda: theme.set_scale(1.2), lambda: theme.set_choice("dark")):
        changes.clear()
        redress()
        assert 0 < len(changes) <= 8
    assert label.palette().color(label.foregroundRole()) == theme.color("text-2")
    assert QFontInfo(label.font()).pixelSize() == theme.font("body").pixelSize()
