"""One form for what Markdown says: what we draw, and the HTML that a specification expects, brought to it.

It is a tree of blocks: ``("p", spans)``, ``("h", level, spans)``, ``("code", language, text)``, ``("hr",)``,
``("table", columns, rows)``, ``("quote", blocks)``, ``("item", marker, blocks)``. Spans are ``(text, marks)``; a line
break is ``⏎``. A picture is its description. What is not drawn is left out on both sides: titles, the ends of lists,
whether a list is tight, quotes that hold nothing, addresses that are not offered (only those of the web and of mail).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

from desktop.ui.transcript.markdown.blocks import Block, split_markdown
from desktop.ui.transcript.markdown.inline import InlineParser
from desktop.ui.transcript.markdown.model import TextRun
from desktop.ui.transcript.markdown.text import cells_of

Node = tuple[Any, ...]
BREAK = "⏎"
OFFERED = ("http://", "https://", "mailto:")
MARKS = {"em": "italic", "strong": "bold", "del": "struck", "code": "code"}


def spans_of(parts: Iterable[tuple[str, frozenset[str]]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Neighbours that look alike are one; white space around the whole does not count."""
    found: list[tuple[str, tuple[str, ...]]] = []
    single = ((piece, marks) for text, marks in parts for piece in re.split(f"({BREAK})", text))
    for text, marks in single:
        look = () if text == BREAK else tuple(sorted(marks))
        if found and found[-1][1] == look:
            text = found.pop()[0] + text
        if text:
            found.append((text, look))
    if found:
        found[0] = (found[0][0].lstrip(), found[0][1])
        found[-1] = (found[-1][0].rstrip(), found[-1][1])
    return tuple(span for span in found if span[0])


def address(href: str) -> set[str]:
    return {f"link {unquote(href)}"} if href.lower().startswith(OFFERED) else set()


# -- ours -------------------------------------------------------------------------------------------------------------


def form_of_blocks(source: str) -> list[Node]:
    """What is drawn of a text that has come to its end."""
    blocks, references = split_markdown(source)
    parser = InlineParser()
    root: list[Any] = []
    opened: dict[int, list[Any]] = {}
    for block in blocks:
        markers = dict(block.markers)
        inside = root
        for depth, (kind, ident) in enumerate(block.path):
            if ident not in opened:
                opened[ident] = []
                marker = markers.get(depth, "").replace(")", ".")
                inside.append(("quote", opened[ident]) if kind == "quote" else ("item", marker, opened[ident]))
            inside = opened[ident]
        node = _leaf(block, parser, references)
        if node is not None:
            inside.append(node)
    return root


def _leaf(block: Block, parser: InlineParser, references: dict[str, str]) -> Node | None:
    if block.kind == "code":
        return ("code", block.info.split(" ")[0], block.text)
    if block.kind == "rule":
        return ("hr",)
    if block.kind == "math":
        return ("math", block.text)
    if block.kind == "table":
        count = len(block.info)
        lines = block.text.split("\n")
        rows = [(cells_of(line) + [""] * count)[:count] for line in (lines[0], *lines[2:])]
        return ("table", block.info, [[_spans(cell, parser, references) for cell in row] for row in rows])
    spans = _spans(block.text, parser, references)
    if block.kind == "heading":
        return ("h", block.level, spans)
    return ("p", spans) if spans else None


def _spans(source: str, parser: InlineParser, references: dict[str, str]) -> tuple[Any, ...]:
    text, runs = parser.parse(source, references)
    parts: list[tuple[str, frozenset[str]]] = []
    at = 0
    for run in runs:
        parts += [(text[at : run.start], frozenset()), (text[run.start : run.end], _marks(run))]
        at = run.end
    parts.append((text[at:], frozenset()))
    return spans_of((piece.replace("\u2028", BREAK).replace("\n", " "), marks) for piece, marks in parts)


def _marks(run: TextRun) -> frozenset[str]:
    said = {"bold": run.bold, "italic": run.italic, "struck": run.struck, "code": run.code, "math": bool(run.math)}
    return frozenset({name for name, on in said.items() if on} | address(run.href))


# -- a specification's ------------------------------------------------------------------------------------------------


class _Html(HTMLParser):
    """Tags that Markdown makes become blocks and marks; every other tag is its own text, as it is with us."""

    def __init__(self) -> None:
        super().__init__()
        self.root: list[Any] = []
        self._inside = [self.root]
        self._numbers: list[int | None] = []
        self._parts: list[tuple[str, frozenset[str]]] = []
        self._marks: list[tuple[str, set[str]]] = []
        self._code: str | None = None
        self._table: tuple[list[str], list[list[Any]]] = ([], [])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if self._code is not None and tag == "code":
            self._code = said.get("class", "").removeprefix("language-")
        elif tag in MARKS:
            self._marks.append((tag, {MARKS[tag]}))
        elif tag == "a":
            self._marks.append((tag, address(said.get("href", ""))))
        elif tag == "img":
            self.handle_data(said.get("alt", ""))
        elif tag == "br":
            self.handle_data(BREAK)
        elif tag == "input":
            self._inside[-1].insert(0, "☑" if "checked" in said else "☐")
        elif not self._block(tag, said):
            self.handle_data(self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def _block(self, tag: str, said: dict[str, str]) -> bool:
        if tag in ("p", "h1", "h2", "h3", "h4", "h5", "h6", "thead", "tbody"):
            self._paragraph()
        elif tag == "hr":
            self._paragraph()
            self._inside[-1].append(("hr",))
        elif tag == "pre":
            self._paragraph()
            self._code = ""
        elif tag in ("ul", "ol"):
            self._paragraph()
            self._numbers.append(int(said.get("start", "1")) if tag == "ol" else None)
        elif tag in ("li", "blockquote"):
            self._paragraph()
            self._inside.append([])
        elif tag == "table":
            self._paragraph()
            self._table = ([], [])
        elif tag == "tr":
            self._table[1].append([])
        elif tag in ("th", "td"):
            if tag == "th":
                self._table[0].append((said.get("align") or "-")[0])
            self._parts = []
        else:
            return False
        return True

    def handle_endtag(self, tag: str) -> None:
        if self._marks and self._marks[-1][0] == tag:
            self._marks.pop()
        elif tag == "p":
            self._paragraph()
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._inside[-1].append(("h", int(tag[1]), self._spans()))
        elif tag not in ("code", "tr", "thead", "tbody") and not self._block_end(tag):
            self.handle_data(f"</{tag}>")

    def _block_end(self, tag: str) -> bool:
        if tag == "pre":
            text = "".join(text for text, _ in self._parts).removesuffix("\n")
            self._parts = []
            self._inside[-1].append(("code", self._code, text))
            self._code = None
        elif tag in ("ul", "ol"):
            self._numbers.pop()
        elif tag == "blockquote":
            self._paragraph()
            if inside := self._inside.pop():
                self._inside[-1].append(("quote", inside))
        elif tag == "li":
            self._item()
        elif tag in ("th", "td"):
            self._table[1][-1].append(self._spans())
        elif tag == "table":
            self._inside[-1].append(("table", "".join(self._table[0]), self._table[1]))
        else:
            return False
        return True

    def _item(self) -> None:
        self._paragraph()
        inside = self._inside.pop()
        number = self._numbers[-1]
        marker = "•" if number is None else f"{number}."
        if number is not None:
            self._numbers[-1] = number + 1
        if inside and isinstance(inside[0], str):
            marker = inside.pop(0)
        self._inside[-1].append(("item", marker, inside))

    def handle_data(self, data: str) -> None:
        marks = frozenset().union(*(marks for _, marks in self._marks)) if self._marks else frozenset()
        self._parts.append((data if self._code is not None else data.replace("\n", " "), marks))

    def handle_comment(self, data: str) -> None:
        self.handle_data(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.handle_data(f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        self.handle_data(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self.handle_data(f"<![{data}]>")

    def _spans(self) -> tuple[Any, ...]:
        parts, self._parts = self._parts, []
        return spans_of((text.replace(BREAK + " ", BREAK), marks) for text, marks in _joined(parts))

    def _paragraph(self) -> None:
        spans = self._spans()
        if spans:
            self._inside[-1].append(("p", spans))


def _joined(parts: list[tuple[str, frozenset[str]]]) -> list[tuple[str, frozenset[str]]]:
    """A line break takes the end of its line with it."""
    found: list[tuple[str, frozenset[str]]] = []
    for text, marks in parts:
        if found and found[-1][0].endswith(BREAK):
            text = text.removeprefix(" ")
        found.append((text, marks))
    return found


def form_of_html(html: str) -> list[Node]:
    """What a specification says that a text means."""
    reader = _Html()
    reader.feed(html)
    if re.match("<[a-z]", reader.rawdata):  # a tag that never ends: newer versions of Python let it go without a word
        rest, reader.rawdata = reader.rawdata, ""
        reader.handle_data(rest)
    reader.close()
    reader._paragraph()
    return reader.root
