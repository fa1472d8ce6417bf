"""A result beside the chat: a page that was written, a table, values, and a version that is not kept any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QWidget

from desktop.domain.files.results import DrawnSize, ResultKind, ResultValue, ResultVersion
from desktop.presenter.results.viewer import ShownResult
from desktop.presenter.transcript.items import ResultPart, TextPart, TranscriptItem
from desktop.workers.result_host.drawn import Drawn
from desktop.workers.result_host.host import FONTS, MONO, OWN

WIDE = 526
PAGE = """<!doctype html><title>The surge of 17 March</title>
<style>
  body { font: 15px/1.5 Inter, sans-serif; color: #1b1f1d; margin: 24px } h1 { font-size: 22px; margin: 0 0 6px }
  p { color: #47514c; margin: 0 } svg { width: 100%; margin: 24px 0 } td, th { padding: 8px 12px; text-align: right }
  table { width: 100%; border: 1px solid #dde3de; border-radius: 8px; border-spacing: 0; margin-bottom: 20px }
  th { background: #f3f5f2; font-size: 13px; color: #47514c } td { border-top: 1px solid #dde3de }
  td:first-child, th:first-child { text-align: left }
</style>
<h1>The surge of 17 March</h1>
<p>Quay 3 rose 84 cm above the tide table, 20 minutes before the other gauges.</p>
<svg viewBox="0 0 400 200"><path d="M34 20H396M34 70H396M34 120H396M34 170H396" stroke="#dde3de"/>
<path d="M34 150C90 150 110 132 146 90S200 30 222 30S320 138 396 154" stroke="#2b4db0" stroke-width="2" fill="none"/>
<path d="M34 154C150 150 190 70 250 70S330 140 396 155" stroke="#9a4300" stroke-width="2" stroke-dasharray="5 3"
 fill="none"/><circle cx="222" cy="30" r="4" fill="#2b4db0"/><g font-size="11"><text x="230" y="28" font-weight="bold">
quay 3, 23:10</text><text x="240" y="90" fill="#9a4300">gauge 8</text><text x="6" y="24">3 m</text>
<text x="6" y="124">2 m</text><text x="34" y="190">21:00</text><text x="210" y="190">23:00</text></g></svg>
<table><tr><th>Gauge<th>Highest<th>Above table<tr><td>Quay 3<td>2.78 m<td>84 cm<tr><td>Gauge 7<td>no data<td>no data
<tr><td>Gauge 8<td>2.31 m<td>41 cm</table><p>Gauge 7 was without power from 22:00 to 01:36.</p>
<script src="https://cdn.example.org/chart.js"></script><script>draw()</script>
<img src="https://tides.example.org/logo.png">"""


def items(opened: str) -> tuple[TranscriptItem, ...]:
    """A question, and an answer with what it made; ``opened``: which of it stands beside the chat."""
    asked = TextPart("q", "Make a page about the surge for the office, and the levels of that night as a table.")
    files = (("surge.html", "version 3, web page, 14 KB", "page"), ("surge-levels.csv", "table, 6.9 KB", "table"))
    cards = tuple(
        ResultPart(name, name, f"{facts}, open at the right" if name == opened else facts, kind, "", name == opened)
        for name, facts, kind in files
    )
    told = TextPart("a", "The page is written. I made the night the largest thing on it:")
    return (
        TranscriptItem("u1", "human", "You", "16:10", (asked,)),
        TranscriptItem("a1", "a", "Workbench", "16:12", (told, *cards)),
    )


def _shown(name: str, kind: ResultKind, count: int, **more: Any) -> ShownResult:
    at = time.mktime((2026, 3, 18, 16, 12, 0, 0, 77, -1))
    versions = tuple(ResultVersion(number, at, 14_000) for number in range(1, count + 1))
    return ShownResult(f"/p/{name}", name, kind, versions, count, **more)


def _beside(page: Any, now: ShownResult) -> Any:
    page.resize(1280, 800)
    result = page._models.results.shown
    page.side.show("result")
    result.shown = now
    result.changed.emit()
    return page


def drawn_page(chat: Callable[..., Any]) -> QWidget:
    """A page that was drawn as the result host draws it."""
    made = Drawn(PAGE, is_svg=False, fonts=[FONTS / name for name in (*OWN, *MONO)], readable=False)
    made.draw(WIDE, 1.0)
    size = DrawnSize(made.width, made.height, made.height)
    foot = "No script, no network: 2 scripts and 1 picture left out."
    now = _shown("surge.html", "page", 3, drawn=size, foot=foot, left=tuple(made.left))
    page = _beside(chat(items("surge.html")), now)
    page.side.result.page.take(0, made.tile(0))
    shown: QWidget = page
    return shown


def table(chat: Callable[..., Any]) -> QWidget:
    """Levels of a night."""
    page = _beside(chat(items("surge-levels.csv")), _shown("surge-levels.csv", "table", 1, foot="240 rows, 4 columns."))
    rows = page._models.results.shown.table
    rows.show_table(("time", "quay 3", "gauge 7", "gauge 8"), 240)
    levels = [(f"2026-03-17 {21 + at // 60}:{at % 60:02d}", f"{1.2 + at / 100:.2f}", "", "1.02") for at in range(200)]
    rows.take(0, levels)
    shown: QWidget = page
    return shown


def values(chat: Callable[..., Any]) -> QWidget:
    """Values with others inside."""
    page = _beside(chat(items("")), _shown("stations.json", "tree", 12, now="The file was changed since."))
    tree = page._models.results.shown.tree
    tree.show_tree(ResultValue("", "object", "", 4, 4))
    inside = (("station", "text", "Quay 3"), ("height", "number", "2.78"), ("open", "word", "true"))
    nodes = [ResultValue(key, kind, words, 0, 0) for key, kind, words in inside]  # type: ignore[arg-type]
    tree.take([], 0, [*nodes, ResultValue("levels", "list", "", 240, 240)])
    page.side.result.tree.expandAll()
    shown: QWidget = page
    return shown


def gone(chat: Callable[..., Any]) -> QWidget:
    """A version that is not there any more."""
    why = "This version is not kept any more. Settings, Undo and changes, says for how long it is."
    shown: QWidget = _beside(chat(items("")), _shown("surge.html", "page", 2, problem=why))
    return shown


def pictures(chat: Callable[..., Any], sizes: tuple[str, ...]) -> dict[str, Callable[[], QWidget]]:
    """Name -> how to build it; ``chat`` makes the page of a chat with these messages."""
    return {
        **{f"38-result{size}": lambda: drawn_page(chat) for size in sizes},
        **{f"38-result-table{size}": lambda: table(chat) for size in sizes},
        "38-result-values": lambda: values(chat),
        "38-result-gone": lambda: gone(chat),
    }
