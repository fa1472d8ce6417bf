"""Presentations (PPTX): what stands on each slide, its notes and comments; hidden slides and text are marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from desktop.workers.document_host import limits
from desktop.workers.document_host.package import Package, Relation
from desktop.workers.document_host.reading import DocumentFile, hidden, one_line, table_rows
from desktop.workers.document_host.slide_looks import SlideLooks, box_of, number
from desktop.workers.document_host.xml import Element
from desktop.workers.inside import CallError

CHART_POINTS = 200


@dataclass(frozen=True, slots=True)
class _OneSlide:
    """What the shapes of one slide are looked at with."""

    looks: SlideLooks
    """Whether their texts are seen."""
    relations: dict[str, Relation]
    """What the slide refers to."""


class Slides(DocumentFile):
    """A presentation; a slide is read when it is asked for."""

    kind = "PowerPoint presentation"
    unit = "slide"

    def __init__(self, package: Package, main: str) -> None:
        super().__init__()
        self._package = package
        relations = package.relations(main)
        root = package.tree(main)
        order = root.first("sldIdLst") if root is not None else None
        found = [relations.get(one.get("id")) for one in (order.children if order is not None else ())]
        self._places = [one.target for one in found if one and not one.outside and package.has(one.target)]
        if not self._places:
            raise CallError("document.broken", "It begins like a PowerPoint presentation and has no slide.")
        size = root.first("sldSz") if root is not None else None
        self._size = tuple(number(size.get(name)) if size is not None else 0 for name in ("cx", "cy"))

    @property
    def count(self) -> int:
        return len(self._places)

    def lines(self, part: int) -> Iterator[str]:
        self._package.opened_anew()
        place = self._places[part - 1]
        root = self._package.tree(place)
        relations = self._package.relations(place)
        if root is None:
            return
        if root.get("show") in ("0", "false"):
            yield "[This slide is hidden: it is not shown in the presentation.]"
        tree = root.first("cSld", "spTree")
        shapes = tree.children if tree is not None else []
        seen = _OneSlide(SlideLooks(self._package, root, relations), relations)
        for shape in shapes:
            yield from self._shape(shape, seen)
        for relation in relations.values():
            if relation.outside:
                continue
            if relation.kind == "notesSlide":
                yield from self._notes(relation.target)
            elif relation.kind == "comments":
                yield from self._comments(relation.target)

    def _shape(self, shape: Element, seen: _OneSlide, *, grouped: bool = False) -> Iterator[str]:
        if why := "Hidden" if _is_hidden(shape) else seen.looks.covered(shape):
            words = one_line(" ".join(one.words("t") for one in shape.walk() if one.name == "p"))
            if words:
                yield hidden(why, words)
        else:
            yield from self._shown(shape, seen, grouped=grouped)
            seen.looks.drawn(shape, in_group=grouped)

    def _shown(self, shape: Element, seen: _OneSlide, *, grouped: bool) -> Iterator[str]:
        name = shape.name
        if name == "AlternateContent":
            for one in shape.children[:1]:
                for child in one.children:
                    yield from self._shape(child, seen, grouped=grouped)
        elif name == "grpSp":
            for child in shape.children:
                yield from self._shape(child, seen, grouped=True)
        elif name == "sp":
            yield from self._text(shape, seen, grouped=grouped)
        elif name == "pic":
            if words := _described(shape):
                yield f"(picture: {words})"
        elif name == "graphicFrame":
            yield from self._frame(shape, seen)

    def _text(self, shape: Element, seen: _OneSlide, *, grouped: bool) -> Iterator[str]:
        body = shape.first("txBody")
        if body is None:
            return
        place = shape.first("nvSpPr", "nvPr", "ph")
        kind = place.get("type") if place is not None else ""
        why = seen.looks.of_shape(shape, in_group=grouped)
        lines = [line for one in body.all("p") if (line := _paragraph(one, seen.relations, why))]
        if self._is_outside(shape):
            yield hidden("Outside the slide, not to be seen", " ".join(lines))
        elif kind in ("title", "ctrTitle") and lines:
            yield f"# {one_line(' '.join(lines))}"
            yield ""
        elif kind not in ("sldNum", "dt"):
            yield from (line for text in lines for line in text.split("\n"))
            if lines:
                yield ""

    def _is_outside(self, shape: Element) -> bool:
        place = box_of(shape)
        if place is None or not all(self._size):
            return False
        left, top, right, bottom = place
        return right <= 0 or bottom <= 0 or left >= self._size[0] or top >= self._size[1]

    def _frame(self, frame: Element, seen: _OneSlide) -> Iterator[str]:
        relations = seen.relations
        for one in frame.walk():
            if one.name == "tbl":
                rows = [[_cell(cell, seen) for cell in row.all("tc")] for row in one.all("tr")]
                yield from table_rows(rows).split("\n")
                yield ""
            elif one.name == "chart" and (relation := relations.get(one.get("id"))) and not relation.outside:
                yield from self._chart(relation.target)
            elif one.name == "relIds" and (relation := relations.get(one.get("dm"))) and not relation.outside:
                yield from self._diagram(relation.target)

    def _chart(self, place: str) -> Iterator[str]:
        root = self._package.tree(place)
        if root is None:
            return
        title = root.first("chart", "title")
        yield f"Chart{': ' + one_line(title.words('t')) if title is not None else ''}"
        for series in (one for one in root.walk() if one.name == "ser"):
            name = one_line((series.first("tx") or Element("", {})).words("v"))
            groups = [_points(series, kind) for kind in ("cat", "xVal", "val", "yVal")]
            labels, values = groups[0] or groups[1], groups[2] or groups[3]
            pairs = [f"{labels[at]}: {value}" if at < len(labels) else value for at, value in enumerate(values)]
            yield f"- {name or 'series'}: {'; '.join(pairs[:CHART_POINTS])}"
        yield ""

    def _diagram(self, place: str) -> Iterator[str]:
        root = self._package.tree(place)
        for one in root.walk() if root is not None else ():
            if one.name == "pt" and (words := one_line(one.words("t"))):
                yield f"- {words}"
        yield ""

    def _notes(self, place: str) -> Iterator[str]:
        root = self._package.tree(place)
        for shape in root.walk() if root is not None else ():
            kind = shape.first("nvSpPr", "nvPr", "ph") if shape.name == "sp" else None
            if kind is not None and kind.get("type") == "body" and (body := shape.first("txBody")):
                words = one_line(" ".join(_paragraph(one, {}) for one in body.all("p")))
                if words:
                    yield f"[Notes of the speaker: {words}]"

    def _comments(self, place: str) -> Iterator[str]:
        root = self._package.tree(place)
        for one in root.walk() if root is not None else ():
            if one.name in ("cm", "reply") and (words := one_line(one.words("text", "t"))):
                yield hidden("Comment", words)


def _points(series: Element, kind: str) -> list[str]:
    found = series.first(kind)
    return [one_line(one.words("v")) for one in found.walk() if one.name == "pt"] if found is not None else []


def _is_hidden(shape: Element) -> bool:
    """Whether a person switched it off."""
    about = next((one for held in shape.children[:1] for one in held.children if one.name == "cNvPr"), None)
    return about is not None and about.get("hidden") in ("1", "true")


def _cell(cell: Element, seen: _OneSlide) -> str:
    body, why = cell.first("txBody"), seen.looks.of_cell(cell)
    return " ".join(_paragraph(one, seen.relations, why) for one in body.all("p")) if body is not None else ""


def _is_seen(_: Element) -> str:
    return ""


def _paragraph(paragraph: Element, relations: dict[str, Relation], unseen: Callable[[Element], str] = _is_seen) -> str:
    """``unseen`` tells why a run is not seen."""
    pieces = []
    for one in paragraph.children:
        if one.name in ("r", "fld"):
            words, why = _run(one, relations), unseen(one)
            pieces.append(hidden(why, words) if why and words.strip() else words)
        elif one.name == "br":
            pieces.append("\n")
        elif one.name in ("m", "AlternateContent"):
            pieces.append((one.children[0] if one.name != "m" and one.children else one).words("t"))
    text = "".join(pieces).strip()
    properties = paragraph.first("pPr")
    depth = number(properties.get("lvl")) if properties is not None else 0
    return f"{'  ' * min(depth, 8)}- {text}" if text and depth > 0 else text


def _run(run: Element, relations: dict[str, Relation]) -> str:
    words = run.words("t")
    link = run.first("rPr", "hlinkClick")
    relation = relations.get(link.get("id")) if link is not None else None
    if relation is None or not relation.outside or not words.strip():
        return words
    target = one_line(relation.target)[: limits.NAME * 10]
    return f"[{one_line(words)}]({target})" if target.startswith(("http://", "https://", "mailto:")) else words


def _described(shape: Element) -> str:
    found = next((one for one in shape.walk() if one.name == "cNvPr"), None)
    return one_line(found.get("descr"))[:1_000] if found is not None else ""
