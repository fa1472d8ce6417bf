"""OpenDocument presentations (ODP): what stands on each slide, its notes and comments; what is hidden is marked."""

from __future__ import annotations

from collections.abc import Iterator

from desktop.workers.document_host import limits
from desktop.workers.document_host.looks import UNKNOWN
from desktop.workers.document_host.open_document.words import OpenWords
from desktop.workers.document_host.package import Package
from desktop.workers.document_host.reading import DocumentFile, hidden, one_line, table_rows
from desktop.workers.document_host.xml import Element, for_each
from desktop.workers.inside import CallError

_CENTIMETRES = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6, "px": 2.54 / 96}
_SHAPES = frozenset(
    "frame custom-shape rect ellipse circle polygon path connector caption line polyline regular-polygon".split()
)
WHERE = "slide"
"""On the ground of the slide itself."""
_ASIDE = ("date-time", "footer", "header", "page-number")
"""What the slides have in common."""


class OpenSlides(DocumentFile):
    """A presentation of OpenOffice or LibreOffice, read whole."""

    kind = "OpenDocument presentation"
    unit = "slide"

    def __init__(self, package: Package) -> None:
        super().__init__()
        self._words = OpenWords(package)
        self._size = self._page_size(package)
        self._slides: list[list[str]] = []
        self._held = 0
        self._below: list[tuple[float, float, float, float]] = []
        """Where on a slide something is filled or drawn already."""
        for_each(package.open("content.xml"), self._slide, depth=3, mixed=True)
        if not self._slides:
            raise CallError("document.broken", "It begins like an OpenDocument presentation and has no slide.")

    @property
    def count(self) -> int:
        return len(self._slides)

    def lines(self, part: int) -> Iterator[str]:
        yield from self._slides[part - 1]

    def _page_size(self, package: Package) -> tuple[float, float]:
        found: list[tuple[float, float]] = []

        def take(element: Element) -> None:
            size = element.first("page-layout-properties") if element.name == "page-layout" else None
            if size is not None:
                found.append((_length(size.get("page-width")), _length(size.get("page-height"))))

        if package.has("styles.xml"):
            for_each(package.open("styles.xml"), take, depth=2)
        return max(found, default=(0.0, 0.0))

    def _slide(self, page: Element) -> None:
        if page.name != "page":
            return
        if self._held > limits.TEXT:
            self.note(f"Only the first {len(self._slides):,} slides were read.")
            return
        lines = []
        style = page.get("style-name")
        if self._words.property_of(style, "drawing-page-properties", "visibility") == "hidden":
            lines.append("[This slide is hidden: it is not shown in the presentation.]")
        self._below = []
        with self._words.on(self._words.ground_of_slide(style, page.get("master-page-name"))):
            for shape in page.children:
                lines += self._shape(shape)
        self._slides.append([line for text in lines for line in text.split("\n")])
        self._held += sum(map(len, lines))

    def _shape(self, shape: Element) -> Iterator[str]:
        name = shape.name
        if name in ("g", "a"):
            for child in shape.children:
                yield from self._shape(child)
        elif name == "notes":
            text = one_line(" ".join(line for child in shape.children for line in self._shape(child)))
            if text:
                yield f"Notes: {text}"
        elif name == "annotation":
            yield self._words.piece(shape).strip()
        elif name in _SHAPES and shape.get("class") not in _ASIDE:
            lines = self._on_its_ground(shape)
            if lines and self._is_outside(shape):
                yield hidden("Outside the slide, not to be seen", " ".join(lines))
            elif lines and shape.get("class") == "title":
                yield f"# {one_line(' '.join(lines))}"
                yield ""
            else:
                yield from lines
                if lines:
                    yield ""

    def _on_its_ground(self, shape: Element) -> list[str]:
        """What stands in a shape, judged on what it is filled with, or on what lies below it."""
        fill, place = self._words.fill_of_shape(shape.get("style-name")), _place(shape)
        picture = shape.first("image") is not None
        if shape.name == "frame" and not picture and fill == UNKNOWN:
            fill = None  # a frame is not filled unless its style says so
        ground = fill if fill is not None else UNKNOWN if any(_meet(place, one) for one in self._below) else WHERE
        if fill is not None or picture:
            self._below.append(place)
        if ground == WHERE:
            return [line for line in self._inside(shape) if line.strip()]
        with self._words.on(ground):
            return [line for line in self._inside(shape) if line.strip()]

    def _inside(self, holder: Element) -> Iterator[str]:
        for child in holder.children:
            name = child.name
            if name in ("p", "h"):
                yield self._words.styled(child)
            elif name == "list":
                yield from self._list(child, 0)
            elif name == "table":
                yield table_rows(self._words.rows(child))
            elif name in ("text-box", "frame", "g"):
                yield from self._inside(child)
            elif name in ("desc", "title"):
                yield self._words.piece(child).strip()

    def _list(self, element: Element, depth: int) -> Iterator[str]:
        for item in (one for one in element.children if one.name in ("list-item", "list-header")):
            for child in item.children:
                if child.name in ("p", "h") and (words := self._words.styled(child).strip()):
                    yield "  " * min(depth, 8) + f"- {words}"
                elif child.name == "list":
                    yield from self._list(child, depth + 1)

    def _is_outside(self, shape: Element) -> bool:
        wide, high = self._size
        if not wide or not high or not shape.get("x") or not shape.get("width"):
            return False
        left, top, right, bottom = _place(shape)
        return right <= 0 or bottom <= 0 or left >= wide or top >= high


def _place(shape: Element) -> tuple[float, float, float, float]:
    left, top = _length(shape.get("x")), _length(shape.get("y"))
    return left, top, left + _length(shape.get("width")), top + _length(shape.get("height"))


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _length(text: str) -> float:
    """In centimetres."""
    try:
        return float(text[:-2]) * _CENTIMETRES.get(text[-2:], 0.0)
    except ValueError:
        return 0.0
