"""What is read in help is laid out piece by piece, and its links lead to other pages of it or into the browser."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from desktop.presenter.help.page import HelpViewModel
from desktop.services.help.pages import pages_of, sections_of
from desktop.services.help.search import HelpIndex
from desktop.ui.help.reader import HelpReader, pieces_of
from desktop.ui.skills.markdown_view import MarkdownView
from desktop.ui.transcript.markdown.inline import InlineParser
from desktop.ui.widgets.controls import spoken_role
from desktop.ui.widgets.text import Paragraph
from tests.harness.timeouts import until

FIRST = """# First steps

Begin here. [Rules](rules.md)

[a file](file:///etc/passwd) [up](../secret.md) [script](javascript:x) [web](https://example.org/)

## Try it
<!-- there: page:chats -->

```sh
assent --version
```
"""
RULES = "# Rules\n\nWhat passes.\n"
ACTS = "# First steps\n\nNo.\n\n## Stop\n<!-- there: quit -->\n\nIt would end.\n"


class _Book:
    def __init__(self, first: str) -> None:
        sections = (*sections_of("first-steps", first), *sections_of("rules", RULES))
        self.pages, self.news = pages_of(sections), ()
        self.find = HelpIndex(sections).find


Opened = Callable[..., tuple[HelpViewModel, HelpReader]]


@pytest.fixture
def opened(qtbot: Any, theme: Any) -> Opened:
    """Makes a reader over pages of its own."""
    del theme
    holder = QWidget()
    qtbot.addWidget(holder)

    def make(first: str = FIRST) -> tuple[HelpViewModel, HelpReader]:
        book = _Book(first)
        none: Any = None
        help = HelpViewModel(lambda: book, none, book=book)
        reader = HelpReader(help)
        reader.setParent(holder)
        reader.resize(400, 600)
        help.turned.connect(lambda: reader.show_reading(help.reading))
        reader.page_wanted.connect(help.show_page)
        return help, reader

    return make


async def laid_out(reader: HelpReader) -> list[MarkdownView]:
    await until(lambda: not reader._turn.isActive(), "the page laid out")
    return reader.findChildren(MarkdownView)


def press(view: MarkdownView, words: str) -> None:
    """At the middle of the first line that has these words, where its link is."""
    for x in range(2, view.width(), 3):
        for y in range(2, view.height(), 4):
            piece = view._piece_at(QPoint(x, y))
            if piece is not None and words in piece.link_at(x, y - piece.y):
                QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
                return
    raise AssertionError(f"no link to {words}")


async def test_a_link_to_another_page_opens_it_and_the_way_back_is_kept(opened: Opened) -> None:
    help, reader = opened()
    help.open_at("first-steps")
    (view, *_) = await laid_out(reader)
    press(view, "rules.md")
    assert help.reading.title == "Rules"
    assert help.can_go_back
    await laid_out(reader)
    help.back()
    assert help.reading.title == "First steps"
    await laid_out(reader)


async def test_only_pages_of_help_and_the_web_can_be_pressed(opened: Opened) -> None:
    help, reader = opened()
    help.open_at("first-steps")
    views = await laid_out(reader)
    links = {
        piece.link_at(x, y - piece.y)
        for view in views
        for x in range(2, view.width(), 3)
        for y in range(2, view.height(), 4)
        if (piece := view._piece_at(QPoint(x, y))) is not None
    }
    assert links - {""} == {"rules.md", "https://example.org/"}


@pytest.mark.spec("R-UI-9")
def test_elsewhere_a_link_to_a_page_of_help_is_none() -> None:
    (_, runs) = InlineParser().parse("[Rules](rules.md) [web](https://example.org/)")
    assert [run.href for run in runs if run.href] == ["https://example.org/"]


async def test_for_a_screen_reader_titles_are_headings(opened: Opened) -> None:
    spoken_role.install()
    help, reader = opened()
    help.open_at("first-steps")
    await laid_out(reader)
    told = {one.text(): QAccessible.queryAccessibleInterface(one) for one in reader.findChildren(Paragraph)}
    said = {words: (one.role(), one.text(QAccessible.Text.Name)) for words, one in told.items() if one is not None}
    for title in ("First steps", "Try it"):
        assert said[title] == (QAccessible.Role.Heading, title)


async def test_a_section_offers_its_place_and_its_command_unless_the_place_does_something(opened: Opened) -> None:
    help, reader = opened()
    wanted: list[str] = []
    help.there_wanted.connect(wanted.append)
    help.open_at("first-steps")
    await laid_out(reader)
    names = [child.accessibleName() for child in reader.findChildren(QWidget) if child.accessibleName()]
    assert "Take me there: Try it" in names, "on a page of several places each says which"
    assert "Copy the command: Try it" in names
    help.go_there(help.reading.sections[1])
    assert wanted == ["page:chats"]
    help, reader = opened(ACTS)
    help.there_wanted.connect(wanted.append)
    help.open_at("first-steps")
    await laid_out(reader)
    help.go_there(help.reading.sections[1])
    assert wanted == ["page:chats"]


def test_a_text_is_cut_between_paragraphs_and_never_inside_code() -> None:
    text = (
        "\n\n".join(["word " * 120] * 3)
        + "\n\n```sh\n"
        + "x\n\n" * 400
        + "```\n"
        + "".join(f"- {n}\n" for n in range(400))
    )
    pieces = list(pieces_of(text))
    assert "\n".join(pieces) == text.rstrip("\n")
    assert len(pieces) > 4
    assert all(piece.count("```") % 2 == 0 for piece in pieces)
    assert list(pieces_of("")) == []


async def test_a_text_is_not_laid_out_again_where_only_the_height_changes(opened: Opened) -> None:
    help, reader = opened()
    reader.window().resize(420, 700)
    reader.window().show()
    help.open_at("first-steps")
    views = await laid_out(reader)
    await until(lambda: all(view.isVisible() for view in views), "the page in sight")
    QCoreApplication.sendPostedEvents()
    widths: list[int] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
                widths.append(watched.width())
            return False

    watch = Watch()
    for view in views:
        view.installEventFilter(watch)
    before = {view.width() for view in views}
    for height in (500, 120, 40, 600):
        reader.resize(reader.width(), height)
        QCoreApplication.sendPostedEvents()
    assert set(widths) <= before
    assert reader.height() == 600
