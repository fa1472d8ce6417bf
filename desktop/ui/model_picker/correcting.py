"""What a person knows better of a model than its server or a table: written in the place of what is known of it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal

from desktop.domain.model_settings import EFFORTS, MAX_CONTEXT, ModelTraits
from desktop.presenter.common.model_rows import plain_name
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Field, Labelled
from desktop.ui.widgets.layout.containers import Scroller
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.text import Text

YES_NO: tuple[tuple[str, bool | None], ...] = (("yes", True), ("no", False))
SETTINGS = (("temperature", "Temperature"), ("top_p", "top_p"), ("seed", "Seed"), ("stop", "Stop"))
NOT_A_COUNT = f"A whole number of tokens, from 1 to {MAX_CONTEXT:,}."
NOT_LEVELS = f"Levels among {', '.join(EFFORTS)}, or no."


class CorrectModel(Scroller):
    """``done`` when it was kept, or given up."""

    done = Signal()

    def __init__(self, setup: ModelSetupViewModel, ref: str) -> None:
        super().__init__(margins=(16, 14, 16, 14), spacing=8)
        self._setup, self.ref = setup, ref
        self._before = setup.correction(ref)
        name = plain_name(setup.describe(ref)[0])
        self.setAccessibleName(f"Correct what is known of {name}")
        self.column.addWidget(Text(f"What {name} can", "medium", elide="middle"))
        self.flags: dict[str, Combo] = {}
        model = setup.model(ref)
        seen, calls = (model.vision, model.tools) if model is not None else (None, None)
        takes = setup.traits(ref).settings
        self._flag("pictures", "Pictures", seen, self._before.pictures)
        self._flag("tools", "Tools", calls, self._before.tools)
        for key, caption in SETTINGS:
            self._flag(key, caption, takes.get(key), self._before.settings.get(key))
        self.context, self.efforts = Field("Context, in tokens"), Field("Levels of effort")
        listed = model.context_window if model is not None else None
        self.context.setPlaceholderText(f"as listed: {listed:,}" if listed else "as listed: unknown")
        self.context.setText(str(self._before.context or ""))
        known = setup.traits(ref).efforts
        self.efforts.setPlaceholderText(f"as listed: {', '.join(known) or 'no'}" if known is not None else "as listed")
        self.efforts.setText(", ".join(self._before.efforts) or "no" if self._before.efforts is not None else "")
        self.places = {
            "context": Labelled("Context, in tokens", self.context),
            "effort": Labelled("Levels of effort", self.efforts),
        }
        for place in self.places.values():
            self.column.addWidget(place)
        self._buttons()
        self.column.addStretch(1)

    def _flag(self, key: str, caption: str, listed: bool | None, mine: bool | None) -> None:
        box = Combo(caption)
        word = {True: "yes", False: "no", None: "unknown"}[listed if mine is None else None]
        as_listed = f"as listed: {word}" if mine is None else "as listed"
        box.fill([(as_listed, None), *YES_NO], mine)
        self.flags[key] = box
        row = Row(spacing=8)
        row.addWidget(Text(caption, "small", "2"), 1)
        row.addWidget(box, 1)
        self.column.addLayout(row)

    def _buttons(self) -> None:
        row = Row(spacing=8)
        row.addStretch(1)
        give_up, keep = Button("Cancel", small=True, key="Esc"), Button("Save", "primary", small=True)
        give_up.clicked.connect(self.done)
        keep.clicked.connect(self.keep)
        row.addWidget(give_up)
        row.addWidget(keep)
        self.column.addLayout(row)

    def first_focus(self) -> None:
        """Where keys go first."""
        self.flags["pictures"].setFocus(Qt.FocusReason.OtherFocusReason)

    def keep(self) -> None:
        """Keep what is said, or say at its field what is wrong."""
        context, efforts = _count(self.context.text()), _levels(self.efforts.text())
        self.places["context"].set_error(NOT_A_COUNT if context is not None and context < 0 else "")
        self.places["effort"].set_error(NOT_LEVELS if efforts == ("?",) else "")
        wrong = [place.control for place in self.places.values() if isinstance(place.control, Field)]
        first = next((field for field in wrong if field.wrong), None)
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        said = {key: box.currentData() for key, box in self.flags.items()}
        others = {
            name: is_so
            for name, is_so in self._before.settings.items()
            if name != "effort" and name not in self.flags  # what this form has no field for stays
        }
        settings = others | {key: said[key] for key, _ in SETTINGS if said[key] is not None}
        kept = self._before.structured
        known = ModelTraits(settings, efforts, kept, said["pictures"], said["tools"], context)
        problem = self._setup.correct(self.ref, known)
        self.places["effort"].set_error(problem)
        if not problem:
            self.done.emit()


def _count(text: str) -> int | None:
    """The number in a field; -1 where it is none."""
    plain = "".join(text.split()).replace(",", "")
    if not plain:
        return None
    fits = plain.isascii() and plain.isdecimal() and len(plain) < 12 and 1 <= int(plain) <= MAX_CONTEXT
    return int(plain) if fits else -1


def _levels(text: str) -> tuple[str, ...] | None:
    """The levels in a field, the least first; ("?",) where one is none."""
    words = text.replace(",", " ").casefold().split()
    if not words:
        return None
    if words == ["no"]:
        return ()
    found = tuple(one for one in EFFORTS if one in words)
    return found if len(found) == len(words) else ("?",)
