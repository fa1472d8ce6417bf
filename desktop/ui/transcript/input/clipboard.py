"""What leaves the page: text for the clipboard, and the menu under the pointer."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from desktop.ui.transcript.surface import Surface


def to_clipboard(text: str, markdown: str = "") -> None:
    """Plain text, and the same as Markdown for those who take it."""
    data = QMimeData()
    data.setText(text)
    if markdown:
        data.setData("text/markdown", markdown.encode("utf-8", "surrogatepass"))
    QGuiApplication.clipboard().setMimeData(data)


def page_menu(view: Surface, point: QPointF) -> QMenu:
    """Copy, select, and what can be done with the link and the message under the pointer."""
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    selected = view.selection.range() is not None
    menu.addAction("Copy", view.copy).setEnabled(selected)
    menu.addAction("Copy as Markdown", view.copy_markdown).setEnabled(selected)
    menu.addAction("Select all", view.select_all)
    if link := view.pointer.link_at(point):
        menu.addSeparator()
        menu.addAction("Open link", lambda: view.link_activated.emit(link))
        menu.addAction("Copy link", lambda: to_clipboard(link.partition("\n")[0]))
    found = view.pointer.message_at(point.y(), point.x())
    if found is not None:
        message_id = view.page.messages[found[0]].item.message_id
        menu.addSeparator()
        for name, words in view.overlays.actions(found[0]):
            menu.addAction(words, partial(view.act, message_id, name))
    return menu
