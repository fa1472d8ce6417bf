"""How an MCP server is started, as a person reads it: what runs with what, or the address; and what confines it."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.presenter.mcp.rows import McpRow
from desktop.ui.widgets.layout.containers import caption_value
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Selectable

MAX_LINES = 60
CAPTIONS = 120


def started_card(row: McpRow) -> QWidget:
    """All of it on one card."""
    card = pane("card")
    column = Column(card, margins=(16, 12, 16, 12), spacing=8)
    for caption, words, mono in _facts(row):
        value: QWidget
        if mono:
            value = Selectable(words, "code", "1")
        else:
            value = Paragraph(words, "body", "2")
        value.setAccessibleName(f"{caption}: {words}")
        column.addLayout(caption_value(caption, value, column=CAPTIONS))
    return card


def _facts(row: McpRow) -> list[tuple[str, str, bool]]:
    start = row.start
    found = [
        ("Address" if row.is_web else "Program", shown_line(row.where if row.is_web else start.command), True),
        ("Arguments", _lines(start.args), True),
        ("Variables", _pairs(start.env, "="), True),
        ("Headers", _pairs(start.headers, ": "), True),
        ("Key", shown_line(start.bearer), True),
        (
            "" if row.is_web else "Folder",
            "" if row.is_web else shown_line(start.cwd) or "the workspace",
            bool(start.cwd),
        ),
        ("Network", start.network, False),
        ("One call takes", f"at most {start.timeout}" if start.timeout else "", False),
        ("Starts", "whenever Assent starts" if row.enabled else "not, for enabled is false there", False),
        ("Started again", f"{start.restarts} times by itself" if start.restarts else "", False),
        ("Confined", shown(row.confinement), False),
        ("Says of itself", shown(" ".join(filter(None, (row.says, row.note)))), False),
        ("Protocol", shown_line(start.protocol), False),
        ("Declared", f"in line {row.line} of mcp.yaml", False),
    ]
    return [fact for fact in found if fact[0] and fact[1]]


def _lines(values: tuple[str, ...]) -> str:
    more = f"\nand {len(values) - MAX_LINES} more" if len(values) > MAX_LINES else ""
    return "\n".join(map(shown_line, values[:MAX_LINES])) + more


def _pairs(pairs: tuple[tuple[str, str], ...], sign: str) -> str:
    return _lines(tuple(f"{name}{sign}{value}" for name, value in pairs))
