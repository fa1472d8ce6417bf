"""A fence that can be drawn is shown as its drawing, and as its text when a person wants that or nothing draws it."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.domain.fences.drawing import Drawing, DrawingKind, Label, Shape, Undrawn
from desktop.presenter.transcript.items import TextPart, TranscriptItem
from desktop.ui.theme import Theme
from desktop.ui.transcript import TranscriptView
from desktop.ui.transcript.drawings.shown import KEPT_POINTS, FenceDrawings
from desktop.ui.transcript.pieces.base import Spot
from desktop.ui.transcript.pieces.code import CodePiece
from tests.gui.transcript.conftest import said, until

pytestmark = pytest.mark.spec("R-DOC-2")

SOURCE = "flowchart LR\nA --> B"
BOX = Shape("MLLLZ", (10.0, 10.0, 190.0, 10.0, 190.0, 90.0, 10.0, 90.0), "admin", "text")
DRAWING = Drawing(200, 100, (BOX, Label(100, 50, "A", anchor="middle")), "mermaid", "flowchart: A, B")


class Known(QObject):
    """Gives the drawings that it is told of, and remembers what it was asked."""

    drawn = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.found: dict[str, Drawing | Undrawn] = {}

    def key(self, language: str, code: str) -> str:
        return f"{language} {code}"

    def drawing(self, key: str, kind: DrawingKind, source: str) -> Drawing | Undrawn | None:
        self.asked.append(source)
        return self.found.get(key)

    def come(self, source: str, drawing: Drawing | Undrawn) -> None:
        self.found[self.key("diagram", source)] = drawing
        self.drawn.emit(self.key("diagram", source), drawing)


@pytest.fixture
def known(view: TranscriptView) -> Known:
    made = Known()
    view.drawings.set_source(made)
    return made


def fenced(code: str = SOURCE, language: str = "mermaid") -> str:
    return f"Before.\n\n```{language}\n{code}\n```\n\nAfter."


def parts_of(view: TranscriptView) -> list[CodePiece]:
    return [piece for piece, _, _ in view.page.messages[0].pieces() if isinstance(piece, CodePiece)]


def spots(view: TranscriptView) -> dict[str, Spot]:
    return {spot.label.partition(":")[0]: spot for piece in parts_of(view) for spot in piece.spots()}


def has_colour(view: TranscriptView, theme: Theme, token: str) -> bool:
    image, wanted = view.viewport().grab().toImage(), theme.color(token).rgb()
    return any(QColor(image.pixel(x, y)).rgb() == wanted for y in range(image.height()) for x in range(image.width()))


def test_a_drawing_takes_the_place_of_its_text_when_it_comes(view: TranscriptView, theme: Theme, known: Known) -> None:
    view.set_items([said(1, fenced())])
    assert known.asked == [SOURCE]
    assert not spots(view).keys() & {"Shown as drawing", "Show as text"}
    height = view.page.height()
    known.come(SOURCE, DRAWING)
    assert until(lambda: "Show as text" in spots(view))
    assert until(lambda: has_colour(view, theme, "admin")), "it is painted"
    assert view.page.height() != height
    assert spots(view)["Shown as drawing"].label == "Shown as drawing: flowchart: A, B"


def test_a_drawing_that_is_known_is_there_from_the_first_layout(view: TranscriptView, known: Known) -> None:
    known.found[known.key("diagram", SOURCE)] = DRAWING
    view.set_items([said(1, fenced())])
    assert "Show as text" in spots(view)


def test_text_and_drawing_are_a_press_away_and_the_choice_is_kept(
    view: TranscriptView, theme: Theme, known: Known
) -> None:
    known.found[known.key("diagram", SOURCE)] = DRAWING
    view.set_items([said(1, fenced())])
    assert until(lambda: has_colour(view, theme, "admin"))
    view.activate(0, spots(view)["Show as text"])
    assert not has_colour(view, theme, "admin")
    assert parts_of(view)[0].boxes[0].box.text == SOURCE
    theme.set_scale(1.25)
    assert "Show as drawing" in spots(view), "also after everything was laid out anew"
    view.activate(0, spots(view)["Show as drawing"])
    assert until(lambda: has_colour(view, theme, "admin"))


def test_keys_reach_the_choice(view: TranscriptView, known: Known) -> None:
    known.found[known.key("diagram", SOURCE)] = DRAWING
    view.set_items([said(1, fenced())])
    view.setFocus()
    for _ in range(10):
        QTest.keyClick(view, Qt.Key.Key_Tab)
        if view.keys.focus == spots(view)["Show as text"].key:
            break
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert "Show as drawing" in spots(view)


@pytest.mark.parametrize("code", [SOURCE, "flowchart LR\n" + "\n".join(f"a{n} --> b{n}" for n in range(120))])
def test_what_is_copied_is_the_source_however_it_is_shown(view: TranscriptView, known: Known, code: str) -> None:
    known.found[known.key("diagram", code)] = DRAWING
    view.set_items([said(1, fenced(code))])
    view.activate(0, spots(view)["Copy mermaid"])
    assert QApplication.clipboard().text() == code
    view.select_all()
    assert view.selected_text() == f"Before.\n\n{code}\n\nAfter."
    view.copy_markdown()
    assert f"```mermaid\n{code}\n```" in QApplication.clipboard().text()
    view.find("b1")


def test_a_long_source_that_is_drawn_has_no_room_of_its_own(view: TranscriptView, known: Known) -> None:
    code = "flowchart LR\n" + "\n".join(f"a{n} --> b{n}" for n in range(300))
    known.found[known.key("diagram", code)] = DRAWING
    view.set_items([said(1, fenced(code))])
    first, *others = parts_of(view)
    assert len(others) > 3
    assert first.height < 200
    assert [part.height for part in others] == [0] * len(others)


def test_what_cannot_be_drawn_stays_its_text_with_the_reason(view: TranscriptView, known: Known) -> None:
    view.set_items([said(1, fenced())])
    before = parts_of(view)[0].height
    known.come(SOURCE, Undrawn("It cannot be read: unterminated node label."))
    assert until(lambda: parts_of(view)[0].height > before)
    assert parts_of(view)[0].boxes[0].box.text == SOURCE
    assert "Show as text" not in spots(view)


def test_a_fence_that_is_still_written_is_not_drawn(view: TranscriptView, known: Known) -> None:
    view.set_items([said(1, f"Before.\n\n```mermaid\n{SOURCE}", live=True)])
    assert known.asked == []
    view.append_text("m1", "m1:0", "\n```\n\nAfter.\n\n")
    view.stream.flush()
    assert known.asked == [SOURCE]
    known.come(SOURCE, DRAWING)
    assert until(lambda: "Show as text" in spots(view)), "drawn while the answer goes on"
    view.append_text("m1", "m1:0", "More.")
    view.stream.flush()
    assert "Show as text" in spots(view)
    part = TextPart("m1:0", f"Before.\n\n```mermaid\n{SOURCE}\n```\n\nAfter.\n\nMore.")
    view.change_item(TranscriptItem("m1", "a", "Agent", "12:00", (part,)))
    assert "Show as text" in spots(view)


def test_other_code_is_asked_about_by_nobody(view: TranscriptView, known: Known) -> None:
    view.set_items([said(1, fenced("x = 1", "python") + "\n\n```\nflowchart LR\n```\n")])
    assert known.asked == []


def test_a_drawing_wider_than_the_column_is_scrolled_sideways(view: TranscriptView, known: Known) -> None:
    wide = Drawing(4_000, 100, (BOX,), "mermaid", "")
    known.found[known.key("diagram", SOURCE)] = wide
    view.set_items([said(1, fenced())])
    scroll = parts_of(view)[0].scroll
    assert scroll.longest > 0
    assert scroll.by(50)


def test_a_drawing_of_another_theme_is_painted_anew(view: TranscriptView, theme: Theme, known: Known) -> None:
    known.found[known.key("diagram", SOURCE)] = DRAWING
    view.set_items([said(1, fenced())])
    assert until(lambda: has_colour(view, theme, "admin"))
    theme.set_choice("dark")
    assert until(lambda: has_colour(view, theme, "admin"))


def test_large_drawings_in_sight_together_are_each_painted_once(theme: Theme) -> None:
    """Each as large as is painted at all: together more than are kept."""
    jobs: list[tuple[Callable[[], Any], Callable[[Any], None]]] = []
    drawings = FenceDrawings(lambda work, done: jobs.append((work, done)))
    large, painted = Drawing(13_000, 700, ()), 0

    def seen() -> list[QImage | None]:
        return [drawings.picture(key, large, theme, 1.0, 2.0) for key in ("one", "two", "three")]

    seen()
    while jobs and painted < 9:
        work, done = jobs.pop(0)
        done(work())
        painted += 1
        seen()
    assert painted == 3
    sizes = [image.width() * image.height() for image in seen() if image is not None]
    assert len(sizes) == 3
    assert sum(sizes) < KEPT_POINTS * 1.1
