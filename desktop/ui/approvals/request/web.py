"""A page that an agent wants to read, or a search: the address or the query, what goes out, what comes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.text.words import count_words
from desktop.domain.web.code_like import CodeLike, code_like
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

CAPTION = 128
NAMED = 40
"""Characters of a part that are said again; the address above has all of them."""
NOT_SENT = "Cookies, sign-ins, your files, the conversation"
COMES = (
    ("file", "One page", "Turned into Markdown, at most 5 MB and 20 s. No scripts are run."),
    ("quote", "Marked", "The model is told that it is text from outside, not from you."),
    ("step", "If it leads on", "To another host: you are asked again. To this computer or your own network: refused."),
)
NOT_SEARCHED = "Cookies, your files, the conversation"
FOUND = (
    ("search", "Results", "Titles, addresses and snippets, at most 20. No page is read."),
    ("quote", "Marked", "The model is told that it is text from outside, not from you."),
    ("network", "To read one", "Each page is a request of its own, for its host."),
)
_Row = tuple[str, str, str]


class WebCard(QWidget):
    """All of a call that reads a page, or searches."""

    def __init__(self, request: PermissionRequest) -> None:
        super().__init__()
        preview = request.preview
        column = Column(self, spacing=12)
        if preview["kind"] == "search":
            column.addWidget(_query(str(preview["query"])))
            column.addWidget(_card("What goes out", _searched(request)))
            column.addWidget(_card("What comes in", FOUND))
            return
        column.addWidget(_address(str(preview["address"]), str(preview["query"])))
        column.addWidget(_card("What goes out", _out(request)))
        column.addWidget(_card("What comes in", COMES))


def _address(address: str, query: str) -> QWidget:
    """The address, whole: the host strong, what the model put behind ``?`` marked, and so is what reads like a code."""
    box = QFrame()
    box.setProperty("pane", "card")
    found = code_like(address)
    scheme, _, rest = address.partition("://")
    name = rest.partition("/")[0]
    path = rest[len(name) : len(rest) - len(query)] if query else rest[len(name) :]
    begins = len(scheme) + 3
    pieces = [
        (f"{scheme}://", "quiet"),
        *_pieces(name, begins, found, "strong"),
        *_pieces(path, begins + len(name), found, "quiet"),
        (shown_line(query), "marked"),
    ]
    words = Paragraph(pieces, "code")
    words.setAccessibleName(f"Address: {address}")
    Column(box, margins=(12, 10, 12, 10)).addWidget(words)
    return box


def _pieces(text: str, begins: int, found: Sequence[CodeLike], look: str) -> list[tuple[str, str]]:
    """A stretch of the address that begins there, with what of it reads like a code marked."""
    pieces, at = list[tuple[str, str]](), 0
    for one in found:
        start, end = one.start - begins, one.end - begins
        if start >= 0 and end <= len(text):
            pieces += [(shown_line(text[at:start]), look), (shown_line(text[start:end]), "marked")]
            at = end
    return [*pieces, (shown_line(text[at:]), look)]


def _query(query: str) -> QWidget:
    """What is searched for, whole."""
    box = QFrame()
    box.setProperty("pane", "card")
    words = Paragraph(((shown_line(query), "marked"),), "code")
    words.setAccessibleName(f"Query: {query}")
    Column(box, margins=(12, 10, 12, 10)).addWidget(words)
    return box


def _out(request: PermissionRequest) -> Sequence[_Row]:
    query = shown_line(str(request.preview["query"]))
    rows = [_to(request)]
    if query:
        rows.append(
            ("write", "In the address", f"{query}: {count_words(len(query), 'character')}, which the host will see")
        )
    if found := code_like(str(request.preview["address"])):
        rows.append(("code", "Reads like a code", f"{_named(found)}. Text of yours could leave in that, encoded."))
    return (*rows, ("hidden", "Not sent", NOT_SENT))


def _named(found: Sequence[CodeLike]) -> str:
    shown = ", ".join(shown_line(one.text if len(one.text) <= NAMED else f"{one.text[:NAMED]}…") for one in found[:2])
    more = f" and {len(found) - 2} more" if len(found) > 2 else ""
    return f"{shown}{more}: {count_words(sum(len(one.text) for one in found), 'character')} that are no words"


def _searched(request: PermissionRequest) -> Sequence[_Row]:
    """What a search service hears."""
    query = shown_line(str(request.preview["query"]))
    sent = (
        "write",
        "The query",
        f"{count_words(len(query), 'character')} written by the model, which the service sees",
    )
    key = (("key", "Your key", "The one that you entered for this service, from the keyring"),)
    return (_to(request), sent, *(key if request.preview["key"] else ()), ("hidden", "Not sent", NOT_SEARCHED))


def _to(request: PermissionRequest) -> _Row:
    preview = request.preview
    host, other = (shown_line(str(preview[key])) for key in ("host", "readable"))
    service = f"{shown_line(str(preview['service']))} at " if preview["kind"] == "search" else ""
    where = "in your own network, as you set" if preview["own"] else "a public address"
    through = f", through your network's proxy {shown_line(proxy)}" if (proxy := str(preview.get("proxy", ""))) else ""
    how = "over an encrypted connection" if preview["encrypted"] else "not encrypted: others on the way can read it"
    written = f" (written {other})" if other else ""
    return ("network", "To", f"{service}{host}{written}, {where}, {how}{through}")


def _card(title: str, rows: Sequence[_Row]) -> QWidget:
    card = QFrame()
    card.setProperty("pane", "card")
    column = Column(card, margins=1, spacing=0)
    head = sized(pane("header"), height=36)
    Row(head, margins=(12, 0, 8, 0)).addWidget(Text(title, "medium"), 1)
    column.addWidget(head)
    for at, (icon, caption, words) in enumerate(rows):
        if at:
            column.addWidget(sized(pane("line"), height=1))
        line = QWidget()
        row = Row(line, margins=(12, 8, 12, 8), spacing=8)
        top = Qt.AlignmentFlag.AlignTop
        row.addWidget(Icon(icon, "text-2", 16, line="body"), 0, top)
        row.addWidget(sized(Text(caption, "body", "2"), width=CAPTION), 0, top)
        row.addWidget(Paragraph(words), 1)
        column.addWidget(line)
    return card
