"""Choosing files and folders: the desktop's own dialog where there is one, else Qt's in our icons and colours."""

from __future__ import annotations

import os
from collections.abc import Callable

from PySide6.QtCore import QDir, QFileInfo, Qt
from PySide6.QtGui import QAbstractFileIconProvider, QIcon, QShowEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit, QPushButton, QToolButton, QWidget

from desktop.ui.theme import theme
from desktop.ui.widgets.tips import plain_tip

BUTTONS = {
    "backButton": ("left", "Back"),
    "forwardButton": ("right", "Forward"),
    "toParentButton": ("undo", "To the folder above"),
    "newFolderButton": ("new", "New folder"),
    "listModeButton": ("queue", "As a list"),
    "detailModeButton": ("activity", "With details"),
}
"""Qt's names of the buttons in its dialog -> (our icon, what it does)."""

KINDS = {QAbstractFileIconProvider.IconType.File: "file", QAbstractFileIconProvider.IconType.Computer: "server"}
"""Other kinds of place are folders."""


COMPLETIONS = "completions"
"""The name of the list of files that a written name may mean: a window of its own, with a ground of its own."""
FOLDER = "lastFolder"
"""The window's property with the folder in which a file was chosen last."""


class FileIcons(QAbstractFileIconProvider):
    """Folders and files in our family of icons."""

    def icon(self, what: QAbstractFileIconProvider.IconType | QFileInfo) -> QIcon:
        """The icon of a kind of entry or of one entry."""
        if isinstance(what, QFileInfo):
            return theme().icon("folder" if what.isDir() else "file")
        return theme().icon(KINDS.get(what, "folder"))


class FileDialog(QFileDialog):
    """Opened with ``open``, never ``exec``; it is gone once it is closed."""

    def __init__(self, parent: QWidget, title: str) -> None:
        super().__init__(parent, title)
        self._icons = FileIcons()
        self.setIconProvider(self._icons)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._window = parent.window()
        last = str(self._window.property(FOLDER) or "")
        self.setDirectory(last if os.path.isdir(last) else QDir.homePath())
        self.accepted.connect(self._remember)

    def _remember(self) -> None:
        """The next dialog of this window begins where this one ended."""
        self._window.setProperty(FOLDER, self.directory().absolutePath())

    def showEvent(self, event: QShowEvent) -> None:
        """Qt's own dialog has its widgets by now; the desktop's has none of them."""
        for name, (icon, words) in BUTTONS.items():
            button = self.findChild(QToolButton, name)
            if button is not None:
                button.setIcon(theme().icon(icon))
                button.setToolTip(plain_tip(words))
                button.setAccessibleName(words)
        field = self.findChild(QLineEdit)
        completer = field.completer() if field is not None else None
        popup = completer.popup() if completer is not None else None
        if popup is not None:
            popup.setObjectName(COMPLETIONS)
        for answer in self.findChildren(QPushButton):  # Qt's pictures are of another family
            answer.setIcon(QIcon())
        super().showEvent(event)


def choose_folder(parent: QWidget, title: str, chosen: Callable[[str], object]) -> None:
    """A folder of the person's choice; ``chosen`` is called unless the dialog is cancelled."""
    dialog = FileDialog(parent, title)
    dialog.setFileMode(FileDialog.FileMode.Directory)
    dialog.setOption(FileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(lambda path: chosen(path) if path else None)
    dialog.open()
