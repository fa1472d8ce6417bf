"""The models that are asked instead where one cannot answer: a list in an order, made of models that are there."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from desktop.presenter.common.model_rows import plain_name
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.model_picker.field import ModelField
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.layout.beside import Beside
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

TITLE = "If a model cannot answer"
HELP = (
    "Asked in this order where the chosen one is overloaded, takes no more requests or cannot be reached, and no word "
    "of its answer has come. What you ask on your own computer or network never goes to a model elsewhere."
)
ADD = "Add a model…"


class _AddModel(ModelField):
    """Adds a model that can stand in and is not in the list yet."""

    def __init__(self, setup: ModelSetupViewModel) -> None:
        super().__init__("Add a model to ask instead", setup, ("", ADD), optional=False)

    def fits(self, ref: str) -> bool:
        """Whether a model is offered."""
        model = self.setup.model(ref)
        return model is not None and model.locality in ("local", "provider") and ref not in self.setup.fallbacks


class FallbackCard(QWidget):
    """Shows the list, and changes it."""

    def __init__(self, setup: ModelSetupViewModel) -> None:
        super().__init__()
        self._setup = setup
        self._shown: object = None
        column = Column(self, spacing=8)
        words = QWidget()
        lines = Column(words, spacing=2)
        lines.addWidget(Text(TITLE, "medium"))
        lines.addWidget(Paragraph(HELP, "small", "2"))
        self.add = _AddModel(setup)
        self.add.chosen.connect(self._added)
        column.addWidget(Beside(words, self.add, minimum=280))
        self._rows_card = pane("card")
        self._rows_card.setAccessibleName("Models to ask instead, in order")
        self._rows = Column(self._rows_card, margins=0, spacing=0)
        column.addWidget(self._rows_card)
        self.refresh()

    def refresh(self) -> None:
        """Show what the view-model has now."""
        setup = self._setup
        names = {
            str(m.ref): f"{plain_name(m.title)}  ·  {plain_name(setup.place(m.ref.connection_id))}"
            for m in setup.can_stand_in
        }
        state = (setup.fallbacks, tuple(names.items()))
        if state == self._shown:
            return
        self._shown = state
        self.add.setEnabled(any(map(self.add.fits, names)))
        clear(self._rows)
        for at, ref in enumerate(setup.fallbacks):
            self._rows.addWidget(self._row(at, ref, names.get(ref) or f"{ref}  ·  not available now"))
        self._rows_card.setVisible(bool(setup.fallbacks))

    def _row(self, at: int, ref: str, name: str) -> QWidget:
        fallbacks = self._setup.fallbacks
        holder = sized(pane("row" if at < len(fallbacks) - 1 else "row-last"), height=36)
        row = Row(holder, margins=(12, 0, 4, 0), spacing=4)
        row.addWidget(Text(f"{at + 1}", "small", "3"))
        row.addWidget(Text(shown_line(name), "body", elide="middle"), 1)
        up = IconButton("up", f"Ask {name} sooner", side=28, glyph_side=14)
        up.setEnabled(at > 0)
        up.clicked.connect(lambda: self._change(ref, sooner=True))
        remove = IconButton("close", f"Do not ask {name} instead", side=28, glyph_side=14)
        remove.clicked.connect(lambda: self._change(ref, sooner=False))
        row.addWidget(up)
        row.addWidget(remove)
        return holder

    def _added(self, ref: str) -> None:
        self.add.show_ref("")
        self._setup.set_fallbacks((*self._setup.fallbacks, ref))

    def _change(self, ref: str, *, sooner: bool) -> None:
        """Move a model one place up, or take it out. The button that was pressed goes with its row."""
        self.add.setFocus(Qt.FocusReason.OtherFocusReason)
        found = [one for one in self._setup.fallbacks if one != ref]
        if sooner:
            found.insert(max(0, self._setup.fallbacks.index(ref) - 1), ref)
        self._setup.set_fallbacks(found)
