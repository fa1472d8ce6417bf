"""Finished code in the colours of its language, which come from another process while the page is read."""

from collections.abc import AsyncIterator

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor

from desktop.domain.fences.colours import ColourSpans
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.fences.shown import FencesViewModel
from desktop.presenter.transcript.items import TextPart, TranscriptItem
from desktop.services.fences.service import FenceService
from desktop.ui.theme import Theme
from desktop.ui.transcript import TranscriptView
from desktop.ui.transcript.pieces.code import CodePiece
from desktop.workers.fence_child import fence_host
from tests.gui.transcript.conftest import said
from tests.harness.timeouts import until

pytestmark = pytest.mark.spec("R-DOC-2")

ZIG = "const answer = 42;"
LONG = "\n".join(f"const a{number} = {number};" for number in range(300))


class Known(QObject):
    """Gives the colours that it is told of, and remembers what it was asked."""

    coloured = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, str]] = []
        self.found: dict[str, ColourSpans] = {}

    def key(self, language: str, code: str) -> str:
        return f"{language} {code}"

    def colours(self, key: str, language: str, code: str) -> ColourSpans | None:
        self.asked.append((language, code))
        return self.found.get(key)

    def come(self, language: str, code: str, colours: ColourSpans) -> None:
        self.found[self.key(language, code)] = colours
        self.coloured.emit(self.key(language, code), colours)


@pytest.fixture
def known(view: TranscriptView) -> Known:
    made = Known()
    view.colours.set_source(made)
    return made


@pytest.fixture
async def fences() -> AsyncIterator[FencesViewModel]:
    child, bridge = fence_host(), Bridge()
    yield FencesViewModel(FenceService(child), bridge)
    await bridge.shutdown()
    await child.stop()


def fenced(code: str, language: str = "zig") -> str:
    return f"Words.\n\n```{language}\n{code}\n```\n\nMore words."


def parts_of(view: TranscriptView) -> list[CodePiece]:
    flows = [flow for message in view.page.messages for flow in message.flows or ()]
    return [piece for flow in flows for piece in flow.pieces if isinstance(piece, CodePiece)]


def has_colour(view: TranscriptView, theme: Theme, token: str) -> bool:
    """Whether letters have the hue of a colour: a thin letter has hardly a point of the very colour."""
    image, wanted = view.viewport().grab().toImage(), theme.color(token).hue()
    points = (QColor(image.pixel(x, y)) for y in range(image.height()) for x in range(image.width()))
    return any(abs(point.hue() - wanted) < 12 and point.saturation() > 90 for point in points)


async def test_code_is_drawn_in_the_colours_of_its_language_when_they_come(
    view: TranscriptView, theme: Theme, fences: FencesViewModel
) -> None:
    view.colours.set_source(fences)
    view.set_items([said(1, fenced(ZIG))])
    height, copied = view.page.height(), parts_of(view)[0].plain(0, len(ZIG))
    assert not has_colour(view, theme, "code-keyword"), "nothing here knows the language by itself"
    await until(lambda: has_colour(view, theme, "code-keyword"), "the colours came")
    assert has_colour(view, theme, "code-number")
    assert view.page.height() == height
    assert parts_of(view)[0].plain(0, len(ZIG)) == copied == ZIG


def test_all_parts_of_long_code_take_the_colours_of_the_whole(view: TranscriptView, known: Known) -> None:
    view.set_items([said(1, fenced(LONG))])
    assert known.asked == [("zig", LONG)]
    parts = parts_of(view)
    assert len(parts) > 5
    words = [(at, at + 5, "keyword") for at in range(len(LONG)) if LONG.startswith("const", at)]
    known.come("zig", LONG, ColourSpans.packed(words))  # type: ignore[arg-type]
    found = []
    for part in parts:
        spans = part.code.spans(part.base, part.base + len(part.text)) or []
        found += [part.text[start:end] for start, end, _ in spans]
    assert found == ["const"] * 300


def test_code_that_is_still_written_keeps_the_colours_of_the_moment(view: TranscriptView, known: Known) -> None:
    text = f"Words.\n\n```zig\n{LONG}"
    view.set_items([said(1, text, live=True)])
    assert known.asked == []
    view.append_text("m1", "m1:0", "\n```\n\nNext words.\n\n")
    view.stream.flush()
    assert ("zig", LONG) in known.asked, "the code is whole although the answer goes on"
    known.asked.clear()
    view.append_text("m1", "m1:0", "And more.\n\n```go\nfunc")
    view.stream.flush()
    assert known.asked == [], "nothing is asked twice, and not of code that goes on"


def test_an_answer_that_ends_inside_its_code_is_coloured_then(view: TranscriptView, known: Known) -> None:
    view.set_items([said(1, "```zig\nconst a", live=True)])
    assert known.asked == []
    part = TextPart("m1:0", "```zig\nconst a = 1;")
    view.change_item(TranscriptItem("m1", "a", "Agent", "12:00", (part,)))
    assert known.asked == [("zig", "const a = 1;")]


def test_colours_that_are_known_count_from_the_first_layout(view: TranscriptView, theme: Theme, known: Known) -> None:
    known.found[known.key("zig", ZIG)] = ColourSpans.packed([(0, 5, "keyword")])
    view.set_items([said(1, fenced(ZIG))])
    assert has_colour(view, theme, "code-keyword")


def test_another_theme_has_the_same_colours_in_its_own_tones(view: TranscriptView, theme: Theme, known: Known) -> None:
    known.found[known.key("zig", ZIG)] = ColourSpans.packed([(0, 5, "keyword")])
    view.set_items([said(1, fenced(ZIG))])
    theme.set_choice("dark")
    assert has_colour(view, theme, "code-keyword")


def test_code_whose_language_nobody_knows_stays_as_it_is(view: TranscriptView, theme: Theme, known: Known) -> None:
    view.set_items([said(1, fenced("return 1", "python") + "\n\n```\nno name\n```\n")])
    assert known.asked == [("python", "return 1")], "code without a name is of no language"
    known.come("python", "return 1", ColourSpans())
    assert has_colour(view, theme, "code-keyword"), "the colours of the moment stay"
