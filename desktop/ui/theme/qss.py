"""The one style sheet, made from the tokens: ``$token`` becomes its colour, ``12px`` is scaled, ``1px`` lines stay.

Widgets say what they are through dynamic properties: ``kind`` of buttons, ``pane`` of frames, ``role`` and ``tone`` of
labels. What QSS cannot draw (badges, switches, meters, key caps, rings) is in ``paint.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from desktop.ui.theme.tokens import Tokens

_TOKEN = re.compile(r"\$([a-z][a-z0-9-]*)")
_PIXELS = re.compile(r"\b(\d+)px")

BASE = """
QToolTip { background: $raised; color: $text; border: 1px solid $border-strong; padding: 4px 8px; font-size: 12px; }
QMainWindow, QStackedWidget[pane="bg"], QFrame[pane="bg"], QWidget[pane="bg"] { background: $bg; }
QFrame[pane="rail"] { background: $rail; border: none; border-right: 1px solid $border; }
QFrame[pane="list"] { background: $bg; border: none; border-right: 1px solid $border; }
QFrame[pane="side"] { background: $bg; border: none; border-left: 1px solid $border; }
QFrame[pane="surface-list"] { background: $surface; border: none; border-right: 1px solid $border; }
QFrame[pane="surface-side"] { background: $surface; border: none; border-left: 1px solid $border; }
QFrame[pane="surface"], QWidget[pane="surface"] { background: $surface; border: none; }
QFrame[pane="header"] { background: transparent; border: none; border-bottom: 1px solid $border; }
QFrame[pane="strip"] { background: $bg; border: none; border-bottom: 1px solid $border; }
QFrame[pane="footer"] { background: transparent; border: none; border-top: 1px solid $border; }
QFrame[pane="card"] { background: $surface; border: 1px solid $border; border-radius: 8px; }
QFrame[pane="card-attention"] { background: $surface; border: 1px solid $border-strong; border-radius: 8px; }
QFrame[pane="chip"] { background: $surface; border: 1px solid $border; border-radius: 6px; }
QFrame[pane="chip-ask"] { background: $surface; border: 1px solid $ask; border-radius: 6px; }
QFrame[pane="quoted"] { background: $sunken; border: 1px solid $border; border-radius: 8px; }
QFrame[pane="plain"] { background: transparent; border: none; }
QFrame[pane="line"] { background: $border; border: none; max-height: 1px; min-height: 1px; }
QFrame[pane="line-v"] { background: $border-strong; border: none; max-width: 1px; min-width: 1px; }
QFrame[pane="allow"] { background: $allow-soft; border: none; border-radius: 6px; }
QFrame[pane="info"] { background: $info-soft; border: none; border-radius: 6px; }
QFrame[pane="ask"] { background: $ask-soft; border: none; border-radius: 6px; }
QFrame[pane="failed"] { background: $failed-soft; border: none; border-radius: 6px; }
QFrame[banner="true"] { border-radius: 0px; }
QFrame[pane="row"] { background: transparent; border: none; border-bottom: 1px solid $border; }
QFrame[pane="row-last"] { background: transparent; border: none; }
"""

TEXT = """
QLabel { background: transparent; border: none; }
QLabel[role="caption"] { font-size: 11px; font-weight: 500; }
QLabel[role="small"] { font-size: 12px; }
QLabel[role="reading"] { font-size: 14px; }
QLabel[role="title"] { font-size: 16px; font-weight: 600; }
QLabel[role="heading"] { font-size: 20px; font-weight: 600; }
QLabel[role="display"] { font-size: 28px; font-weight: 600; }
QLabel[role="strong"] { font-weight: 600; }
QLabel[role="medium"] { font-weight: 500; }
QLabel[role="small-medium"] { font-size: 12px; font-weight: 500; }
QLabel[tone="2"] { color: $text-2; }
QLabel[tone="3"] { color: $text-3; }
QLabel[tone="failed"] { color: $failed; }
QLabel[tone="ask"] { color: $ask; }
QLabel[tone="allow"] { color: $allow; }
QLabel[tone="info"] { color: $info; }
QLabel[tone="admin"] { color: $admin; }
"""

BUTTONS = """
QPushButton { background: $surface; color: $text; border: 1px solid $border-strong; border-radius: 6px;
  padding: 0px 12px; min-height: 30px; font-weight: 500; }
QPushButton:hover { background: $hover; }
QPushButton:pressed, QPushButton:open { background: $pressed; }
QPushButton:disabled { background: transparent; color: $text-disabled; border-color: $border; }
QPushButton[small="true"] { padding: 0px 8px; min-height: 22px; }
QPushButton[kind="primary"] { background: $accent; color: $on-accent; border-color: $accent; }
QPushButton[kind="primary"]:hover { background: $accent-hover; border-color: $accent-hover; }
QPushButton[kind="primary"]:pressed { background: $accent-pressed; border-color: $accent-pressed; }
QPushButton[kind="primary"]:disabled { background: $pressed; color: $text-disabled; border-color: $pressed; }
QPushButton[kind="quiet"] { background: transparent; color: $text-2; border-color: transparent; }
QPushButton[kind="quiet"]:hover { background: $hover; }
QPushButton[kind="quiet"]:pressed { background: $pressed; }
QPushButton[kind="quiet"]:disabled { color: $text-disabled; }
QPushButton[kind="admin"] { background: $surface; color: $admin; border-color: $admin; }
QPushButton[kind="admin"]:hover { background: $admin-soft; }
QPushButton[kind="danger"] { background: transparent; color: $deny; border-color: transparent; }
QPushButton[kind="danger"]:hover { background: $deny-soft; }
QPushButton[kind="admin"]:disabled { color: $text-disabled; border-color: $border; background: transparent; }
QPushButton[kind="danger"]:disabled { color: $text-disabled; }
QPushButton[kind="deaf"], QPushButton[kind="deaf"]:hover, QPushButton[kind="deaf"]:pressed {
  background: $surface; color: $text-2; border-color: $border-strong; }
QToolButton { background: transparent; color: $text-2; border: 1px solid transparent; border-radius: 6px;
  padding: 0px; }
QToolButton:hover { background: $hover; }
QToolButton:checked { background: $selected; }
QToolButton:pressed, QToolButton:open { background: $pressed; }
QToolButton:disabled { color: $text-disabled; background: transparent; }
QToolButton[kind="rail"] { color: $text-2; border: none; border-radius: 8px; padding: 4px 0px 4px 0px;
  font-size: 11px; font-weight: 500; }
QToolButton[kind="rail"]:hover { background: $hover; }
QToolButton[kind="rail"]:pressed { background: $pressed; }
QToolButton[kind="rail"]:checked { background: $surface; color: $text; }
QLabel[kind="count"] { background: $ask; color: $surface; border-radius: 8px; font-size: 11px; font-weight: 600;
  min-height: 16px; max-height: 16px; min-width: 8px; padding: 0px 4px; qproperty-alignment: AlignCenter; }
QToolButton::menu-indicator { image: none; width: 0px; }
QPushButton::menu-indicator { image: none; width: 0px; }
"""

FIELDS = """
QLineEdit, QPlainTextEdit[kind="field"], QComboBox, QSpinBox {
  background: $surface; color: $text; border: 1px solid $control-border; border-radius: 6px; padding: 0px 8px;
  selection-background-color: $selection; selection-color: $text; placeholder-text-color: $text-3; }
QLineEdit, QComboBox, QSpinBox { min-height: 30px; }
QPlainTextEdit[kind="field"] { padding: 4px; }
QLineEdit:focus, QPlainTextEdit[kind="field"]:focus, QSpinBox:focus {
  border: 2px solid $focus; padding: 0px 7px; min-height: 28px; }
QPlainTextEdit[kind="field"]:focus { padding: 3px; min-height: 0px; }
QLineEdit[error="true"], QLineEdit[error="true"]:focus { border-color: $failed; }
QLineEdit[echoMode="2"] { lineedit-password-character: 8226; }
QLineEdit:disabled, QComboBox:disabled { color: $text-disabled; border-color: $border; background: transparent; }
QComboBox[quiet="true"] { border-color: $border; min-height: 22px; padding: 0px 8px; font-size: 12px; }
QLineEdit[kind="bare"], QLineEdit[kind="bare"]:focus { background: transparent; border: none; padding: 0px; }
QLineEdit[kind="bare"] { font-size: 16px; }
QComboBox:hover { background: $hover; }
QComboBox:focus { border: 2px solid $focus; padding: 0px 7px; min-height: 28px; }
QComboBox[quiet="true"]:focus { min-height: 20px; }
QComboBox::drop-down { border: none; width: 28px; }
QComboBox::down-arrow { image: none; }
QComboBox QAbstractItemView { background: $raised; color: $text; border: 1px solid $border-strong; padding: 4px;
  selection-background-color: $selected; selection-color: $text; outline: none; }
QComboBox QAbstractItemView::item { min-height: 28px; padding: 0px 8px; border-radius: 6px; }
QComboBox QAbstractItemView::item:selected { background: $selected; color: $text; }
QPlainTextEdit, QTextEdit { background: transparent; border: none; selection-background-color: $selection;
  selection-color: $text; placeholder-text-color: $text-3; }
"""

VIEWS = """
QAbstractScrollArea { background: transparent; border: none; }
QScrollArea > QWidget > QWidget[pane="scrolled"] { background: transparent; }
QListView, QTreeView, QTableView { background: transparent; border: none; outline: none; }
QTableView { selection-background-color: transparent; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0px; border: none; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0px; border: none; }
QScrollBar::handle { background: $border-strong; border: 3px solid transparent; border-radius: 6px; }
QScrollBar::handle:vertical { min-height: 32px; margin: 2px 3px; border: none; border-radius: 3px; }
QScrollBar::handle:horizontal { min-width: 32px; margin: 3px 2px; border: none; border-radius: 3px; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: $control-border; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0px; height: 0px; border: none; background: none; }
QScrollBar::add-page, QScrollBar::sub-page { background: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QMenu { background: $raised; color: $text; border: 1px solid $border-strong; border-radius: 8px; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 6px; min-height: 20px; }
QMenu::item:selected { background: $selected; }
QMenu::item:disabled { color: $text-disabled; }
QMenu::separator { height: 1px; background: $border; margin: 4px 8px; }
QMenu::icon { padding-left: 8px; }
QSplitter::handle { background: $border; }
QDialog { background: $raised; }
QHeaderView { background: $raised; border: none; }
QHeaderView::section { background: $raised; color: $text-2; border: none; border-bottom: 1px solid $border;
  padding: 4px 8px; font-weight: 500; }
QFileDialog QListView, QFileDialog QTreeView { background: $surface; border: 1px solid $border; border-radius: 6px;
  alternate-background-color: $surface; }
QFileDialog QListView::item:selected, QFileDialog QTreeView::item:selected { background: $selected; color: $text; }
QListView#completions { background: $raised; color: $text; border: 1px solid $border-strong;
  selection-background-color: $selected; selection-color: $text; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QFileDialog QToolButton { min-width: 28px; min-height: 28px; }
"""


def make_stylesheet(color: Callable[[str], str], px: Callable[[float], int], tokens: Tokens) -> str:
    """The sheet for one mode and scale."""
    known = tokens.colors["light"]

    def token(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in known:
            raise KeyError(f"the style sheet names an unknown token: {name}")
        return color(name)

    def pixels(match: re.Match[str]) -> str:
        value = int(match.group(1))
        return f"{value if value <= 1 else px(value)}px"

    return _PIXELS.sub(pixels, _TOKEN.sub(token, BASE + TEXT + BUTTONS + FIELDS + VIEWS))
