"""A look inside a server's resource before it is put in: its first lines or its picture, its kind and its size.

What the server wrote is shown as plain text and decides nothing; a picture is read in a thread. Nothing is opened.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

from desktop.domain.messages import ImageBlock
from desktop.domain.servers.mcp import McpRead, McpResource
from desktop.domain.text.words import size_of, size_words
from desktop.presenter.chat.from_servers import FromServers, kind_words
from desktop.ui.chat.composer.thumbnail import Thumbnail
from desktop.ui.theme import theme
from desktop.ui.transcript.pieces.pooled import Pool
from desktop.ui.widgets.controls.fields import MonoView
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import Icon, KeyCaps
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

LINES, CHARACTERS = 40, 4_000
"""Of a text that are shown."""
SIDE = 200
"""Pixels of a picture at 100 %."""


class LookInside(QFrame):
    """It takes no keys: they stay in the composer."""

    def __init__(self, servers: FromServers) -> None:
        super().__init__()
        self.setProperty("pane", "surface-side")
        self._servers = servers
        self._pool = Pool(self)
        self.resource: McpResource | None = None
        column = Column(self, spacing=0)
        inside = Column(margins=(16, 12, 16, 8), spacing=6)
        self._title = Text("", "strong", elide="right")
        self._uri = Text("", "code", "2", elide="middle")
        whose = Row(spacing=6)
        whose.addWidget(Icon("server", "text-2", 14, line="small"), 0, Qt.AlignmentFlag.AlignTop)
        self._whose = Paragraph("", "small", "2")
        whose.addWidget(self._whose, 1)
        self._says = Text("", "small", "2", elide="right")
        inside.addWidget(self._title)
        inside.addWidget(self._uri)
        inside.addLayout(whose)
        inside.addWidget(self._says)
        self.text = MonoView("The beginning of it", "", wrap=True)
        self.text.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside.addWidget(self.text, 100)  # all the room there is; what stands below takes it where there is no text
        self._pictures = Row(spacing=8)
        inside.addLayout(self._pictures)
        inside.addStretch(1)
        column.addLayout(inside, 1)
        column.addWidget(self._make_foot())
        servers.looked.connect(self._looked)

    def _make_foot(self) -> QFrame:
        foot = pane("footer")
        row = Row(foot, margins=(12, 6, 12, 6), spacing=6)
        for keys, words in (("Enter", "put in"), ("Space", "close")):
            row.addWidget(KeyCaps(keys))
            row.addWidget(Text(words, "small", "2"))
            row.addSpacing(theme().px(6))
        row.addStretch(1)
        return foot

    def show_for(self, resource: McpResource, where: str) -> None:
        """Read this one, and show its beginning; ``where`` its server is."""
        self.resource = resource
        name = resource.title or resource.name or resource.uri
        self.setAccessibleName(f"Inside {shown_line(name)[:100]}")
        self._title.setText(shown_line(name))
        self._uri.setText(shown_line(resource.uri))
        says = f" It says: {shown(resource.description)[:300]}" if resource.description else ""
        self._whose.set_pieces(f"Of {shown_line(where)}.{says}")
        self._show(f"Reading it from {shown_line(resource.server)}", "")
        self._servers.look(resource)

    def _show(self, says: str, text: str) -> None:
        clear(self._pictures)
        self._says.setText(says)
        self._says.setAccessibleName(says)
        self.text.setPlainText(text)
        self.text.setVisible(bool(text))

    def _looked(self, resource: McpResource, found: object) -> None:
        if resource is not self.resource:
            return
        if not isinstance(found, McpRead):
            self._show("It cannot be read now", shown(str(found))[:CHARACTERS])
            return
        words = "\n".join(part.text if part.kind == "resource" else part.as_text for part in found.parts)
        lines = words[:CHARACTERS].split("\n")
        cut = len(words) > CHARACTERS or len(lines) > LINES
        images = [one for one in found.media if isinstance(one, ImageBlock)]
        only = bool(images) and len(images) == len(found.parts)
        size = size_words(sum(len(one.data) * 3 // 4 for one in images) if only else size_of(words))
        kind = "picture" if only else kind_words(McpResource("", "", media_type=resource.media_type)) or "text"
        count = f", {len(images)} pictures" if len(images) > 1 else ""
        said = f"{kind}, {size}{count}{'. Its beginning' if cut and not only else ''}"
        self._show(said, "" if only else shown("\n".join(lines[:LINES])))
        for image in images[:3]:
            self._pictures.addWidget(Thumbnail(image, self._pool.run, SIDE), 0, Qt.AlignmentFlag.AlignTop)
        self._pictures.addStretch(1)
