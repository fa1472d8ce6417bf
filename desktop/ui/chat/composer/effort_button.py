"""The button beside the model that says how much it thinks."""

from __future__ import annotations

from desktop.presenter.chat.agent_choices import NO_EFFORT
from desktop.ui.widgets.controls.buttons import Button


class EffortButton(Button):
    """Hidden where there is nothing to choose, and while an agent of another maker is at work (``show_own``)."""

    def __init__(self) -> None:
        super().__init__(NO_EFFORT, "quiet", icon="think", small=True, chevron=True, shrinks=True)
        self._words = ""
        self._own = False
        self.setToolTip("How much the model thinks (Ctrl+Shift+E)")
        self.hide()

    def show_effort(self, words: str) -> None:
        """What was chosen; "" where there is nothing to choose."""
        self._words = words
        self.set_label(words or NO_EFFORT)
        said = f": {words}" if words not in ("", NO_EFFORT) else ""
        self.setAccessibleName(f"How much the model thinks{said}")
        self._show()

    def show_own(self, own: bool) -> None:
        """Whether an agent of another maker works, which has a model of its own."""
        self._own = own
        self._show()

    def _show(self) -> None:
        self.setVisible(bool(self._words) and not self._own)
