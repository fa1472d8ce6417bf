"""A page as Markdown for a model: its words, headings, lists, tables and links; no script, no style, no comment.

Text that a page hides (white on white, ``display: none``) is text like any other, unless who asks has it marked.
Characters that draw nothing are taken out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol
from urllib.parse import urljoin

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.hidden_characters import HIDDEN
from desktop.workers.web_host.limits import TITLE
from desktop.workers.web_host.tags import Tag, tags

LEVELS = 8
"""Lists or quotations inside each other that are shown as such."""
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_BLOCKS = frozenset(
    "address article aside body center dd details dialog dir div dl dt fieldset figcaption figure footer form header "
    "hgroup html legend main menu nav p section summary option optgroup".split()
)
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "kbd": "`", "del": "~~", "s": "~~"}
_DROPPED = frozenset({"script", "style", "iframe", "noembed", "noframes"})
_SKIPPED = frozenset({"svg", "template", "canvas", "object"})
"""Left out with all that is in them."""
_LINKED = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class ConvertedPage:
    """A page as it is handed over."""

    title: str
    text: str
    hidden: int
    """Characters that draw nothing, taken out."""


class PageLooking(Protocol):
    """Judges what of a page is not seen, while its tags go by."""

    @property
    def why(self) -> str:
        """Why what comes now is not seen, or ""."""
        ...

    def take(self, tag: Tag) -> None:
        """The next tag."""
        ...

    def why_of(self, tag: Tag) -> str:
        """Why what stands in one tag alone, as in a field, is not seen, or ""."""
        ...


def to_markdown(source: str, address: str, looks: PageLooking | None = None) -> ConvertedPage:
    """Turn HTML into Markdown; ``address`` is what its links start at. ``looks``: what is not seen is marked."""
    return _Converter(address, looks).run(source)


def without_unseen(text: str) -> tuple[str, int]:
    """A text without characters that draw nothing, and how many there were; blanks of other kinds are blanks."""
    gone = 0

    def plain(found: re.Match[str]) -> str:
        nonlocal gone
        if found[0].isspace():
            return "\n" if found[0] in "\r\u2028\u2029\x85" else " "
        gone += 1
        return ""

    return HIDDEN.sub(plain, text.replace("\r\n", "\n")), gone


class _Converter:
    """One conversion. ``_line`` are the pieces of the block that is being written."""

    def __init__(self, address: str, looks: PageLooking | None = None) -> None:
        self._address = address
        self._looks = looks
        self._unseen: list[str] = []
        self._blocks: list[tuple[str, str]] = []
        self._line: list[str] = []
        self._title = ""
        self._lists: list[int] = []
        self._deeper = self._quoted = self._pre = self._tables = self._skips = 0
        self._prefix = self._skipping = ""
        self._links: list[tuple[str, int]] = []
        self._cells: list[str] | None = None
        self._first_row = False
        self._named: Mapping[str, Callable[[Tag], None]] = {
            "ul": self._list,
            "ol": self._list,
            "li": self._item,
            "blockquote": self._quote,
            "pre": self._preformatted,
            "br": lambda _: self._line.append("\n"),
            "hr": lambda _: self._whole("---"),
            "a": self._link,
            "img": self._picture,
            "table": self._table,
            "tr": self._row,
            "td": self._cell,
            "th": self._cell,
            "title": self._head,
            "textarea": self._raw,
            "xmp": self._raw,
            "noscript": self._noscript,
            "base": self._base,
        }

    def run(self, source: str) -> ConvertedPage:
        """All of a page."""
        for piece in tags(source):
            if isinstance(piece, str):
                if self._looks is not None and self._looks.why and not self._skips:
                    self._unseen.append(piece)
                elif not self._skips:
                    self._line.append(piece if self._pre else _BLANKS.sub(" ", piece))
            elif self._skips:
                self._skips += (-1 if piece.closing else 1) if piece.name == self._skipping else 0
            elif self._looks is None:
                self._tag(piece)
            else:
                self._looked_at(piece, self._looks)
        if self._looks is not None:
            self._end_unseen(self._looks.why)
        self._end_row()
        self._flush()
        text, hidden = without_unseen("".join(self._joined()))
        return ConvertedPage(without_unseen(self._title)[0].strip(), text, hidden)

    def _looked_at(self, tag: Tag, looks: PageLooking) -> None:
        """A tag where what is not seen is marked: inside of that no tag counts, so that it all stands in one mark."""
        before = looks.why
        looks.take(tag)
        if before and looks.why == before:
            self._unseen.append(f" {_plain(tag.raw)} " if tag.name in ("textarea", "xmp") else " ")
            return
        self._end_unseen(before)
        if tag.raw and tag.name not in _DROPPED and (why := looks.why_of(tag)):
            self._unseen.append(_plain(tag.raw))
            self._end_unseen(why)
        else:
            self._tag(tag)

    def _end_unseen(self, why: str) -> None:
        words = _BLANKS.sub(" ", "".join(self._unseen)).strip()
        self._unseen = []
        if words:
            self._line.append(f" [{why}: {words}] ")

    def _joined(self) -> Iterator[str]:
        """The blocks with what stands between them: items of a list and rows of a table follow each other at once."""
        before = ""
        for at, (kind, text) in enumerate(self._blocks):
            yield ("\n" if kind and kind == before else "\n\n") + text if at else text
            before = kind

    def _tag(self, tag: Tag) -> None:
        name = tag.name
        if name in _DROPPED:
            return
        if name in _SKIPPED:
            if not tag.closing:
                self._skips, self._skipping = 1, name
        elif name in self._named:
            self._named[name](tag)
        elif name in _HEADINGS:
            self._break()
            self._prefix = "" if tag.closing or self._cells is not None else f"{_HEADINGS[name]} "
        elif name in _BLOCKS:
            self._break()
        elif name in _MARKS and not self._pre:
            self._line.append(_MARKS[name])

    # -- blocks -------------------------------------------------------------------------------------------------------

    def _break(self) -> None:
        """A block ends here; inside a cell of a table there are none."""
        if self._cells is not None or self._tables:
            self._line.append(" ")
        elif self._pre:
            self._line.append("\n")
        else:
            self._flush()

    def _flush(self) -> None:
        """Write the block that was collected."""
        if self._links:
            self._end_link()
        text, prefix = "".join(self._line), self._prefix
        self._line, self._prefix, self._links = [], "", []
        if self._pre:
            text = text.strip("\n")
            fence = "`" * max(3, 1 + max((len(one) for one in re.findall("`+", text)), default=0))
            text = f"{fence}\n{text}\n{fence}" if text else ""
        else:
            lines = (_BLANKS.sub(" ", line).strip() for line in text.split("\n"))
            text = "\n".join(line for line in lines if line and line.strip("*`~"))
        if text:
            self._write(prefix, text)

    def _write(self, prefix: str, text: str) -> None:
        quote = "> " * min(self._quoted, LEVELS)
        indent = "  " * max(0, min(len(self._lists), LEVELS) - 1)
        hang = indent + ("  " if self._lists and not prefix else " " * len(prefix) if prefix[:1] != "#" else "")
        first, *rest = text.split("\n")
        lines = [f"{quote}{indent}{prefix}{first}" if prefix else f"{quote}{hang}{first}"]
        lines += [f"{quote}{hang}{line}" for line in rest]
        item = prefix == "- " or prefix[:1].isdigit()
        self._blocks.append(("item" if item else "", "\n".join(lines)))

    def _whole(self, text: str) -> None:
        if self._cells is None and not self._pre:
            self._flush()
            self._blocks.append(("", text))

    def _list(self, tag: Tag) -> None:
        self._break()
        if not tag.closing:
            number = tag.get("start")
            first = int(number) if number.isdigit() and len(number) < 9 else 1
            if len(self._lists) < LEVELS:
                self._lists.append(first if tag.name == "ol" else -1)
            else:
                self._deeper += 1
        elif self._deeper:
            self._deeper -= 1
        elif self._lists:
            self._lists.pop()

    def _item(self, tag: Tag) -> None:
        self._break()
        if tag.closing or self._cells is not None or self._pre:
            return
        number = self._lists[-1] if self._lists else -1
        self._prefix = "- " if number < 0 else f"{number}. "
        if number >= 0:
            self._lists[-1] = number + 1

    def _quote(self, tag: Tag) -> None:
        self._break()
        self._quoted = max(0, self._quoted + (-1 if tag.closing else 1))

    def _preformatted(self, tag: Tag) -> None:
        if self._cells is not None:
            return
        if tag.closing == bool(self._pre):
            self._flush()
            self._pre = 0 if tag.closing else 1

    # -- tables -------------------------------------------------------------------------------------------------------

    def _table(self, tag: Tag) -> None:
        if tag.closing:
            if self._tables == 1:
                self._end_row()
            self._tables = max(0, self._tables - 1)
        else:
            if not self._tables:
                self._break()
                self._first_row = True
            self._tables += 1
            self._line.append(" ")

    def _row(self, tag: Tag) -> None:
        if self._tables > 1:
            self._line.append(" ")
        elif self._tables:
            self._end_row()
            self._cells = None if tag.closing else []

    def _cell(self, tag: Tag) -> None:
        if self._tables != 1 or self._cells is None:
            self._line.append(" ")
            return
        self._end_cell()

    def _end_cell(self) -> None:
        if self._links:
            self._end_link()
        text = _BLANKS.sub(" ", "".join(self._line)).strip()
        self._line = []
        if self._cells is not None and text:
            self._cells.append(text.replace("|", "\\|"))

    def _end_row(self) -> None:
        if self._cells is None:
            return
        self._end_cell()
        cells, self._cells = self._cells, None
        if not cells:
            return
        row = f"| {' | '.join(cells)} |"
        if self._first_row:
            row += f"\n|{' --- |' * min(len(cells), 1_000)}"
        self._blocks.append(("row", row))
        self._first_row = False

    # -- inside a line ------------------------------------------------------------------------------------------------

    def _link(self, tag: Tag) -> None:
        if not tag.closing:
            if self._links:  # a link inside of one ends it
                self._end_link()
            target = self._followed(tag.get("href"))
            if target:
                self._links = [(target, len(self._line))]
                self._line.append("[")
        elif self._links:
            self._end_link()

    def _end_link(self) -> None:
        target, at = self._links.pop()
        if at >= len(self._line):
            return
        words = _BLANKS.sub(" ", "".join(self._line[at + 1 :])).strip()
        self._line[at:] = [f"[{words}]({target})"] if words else []

    def _followed(self, target: str) -> str:
        """Where a link leads, or "" where that is nowhere on the web."""
        if not target or target.startswith("#") or len(target) > 2_000:
            return ""
        try:
            found = urljoin(self._address, target.strip())
        except ValueError:
            return ""
        return re.sub(r"[\s()<>]", lambda odd: f"%{ord(odd[0]):02X}", found) if found.startswith(_LINKED) else ""

    def _picture(self, tag: Tag) -> None:
        if alt := tag.get("alt").strip():
            self._line.append(f" (picture: {_BLANKS.sub(' ', alt)}) ")

    def _head(self, tag: Tag) -> None:
        if not tag.closing and not self._title:
            self._title = _BLANKS.sub(" ", _plain(tag.raw)).strip()[:TITLE]

    def _raw(self, tag: Tag) -> None:
        if not tag.closing:
            self._line.append(_plain(tag.raw))

    def _noscript(self, tag: Tag) -> None:
        """No scripts are run, so this is what counts."""
        if not tag.closing:
            self._line.append(_BLANKS.sub(" ", " ".join(one for one in tags(tag.raw) if isinstance(one, str))))

    def _base(self, tag: Tag) -> None:
        found = self._followed(tag.get("href"))
        if found.startswith(_LINKED[:2]):
            self._address = found


def _plain(raw: str) -> str:
    return "".join(one if isinstance(one, str) else "" for one in tags(raw))
