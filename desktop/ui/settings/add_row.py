"""The line below a list of machine texts with which one more is added."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.dialogs.files import choose_folder
from desktop.ui.widgets.scaling import Row


class AddRow(QWidget):
    """``wanted``: what stands in the field is to be added. A folder can also be picked."""

    wanted = Signal()

    def __init__(self, name: str, *, folders: bool) -> None:
        super().__init__()
        row = Row(self, spacing=8)
        self.field = Field(f"Add to {name}", hint="/a/folder or ~/a/folder" if folders else "One more", mono=True)
        self.field.returnPressed.connect(self.wanted)
        row.addWidget(self.field, 1)
        self.add = Button("Add", icon="new")
        self.add.clicked.connect(self.wanted)
        row.addWidget(self.add)
        if folders:
            browse = Button("Choose…", "quiet", icon="folder")
            browse.clicked.connect(self._browse)
            row.addWidget(browse)

    def _browse(self) -> None:
        choose_folder(self.window(), "Choose a folder", self._picked)

    def _picked(self, path: str) -> None:
        self.field.setText(path)
        self.wanted.emit()
