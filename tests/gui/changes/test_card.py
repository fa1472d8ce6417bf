"""What is kept, in the settings: how much it is, and clearing it after a question."""

from pytestqt.qtbot import QtBot
from shots.changes import SampleKept

from desktop.ui.settings.changes.card import CLEAR, KEEP, KeptCard
from desktop.ui.theme import Theme
from desktop.ui.widgets.dialogs.base import Dialog
from tests.harness.timeouts import WAIT_MS


class Kept(SampleKept):
    """Counts how often it is looked at and cleared."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = self.cleared = 0

    def refresh(self) -> None:
        self.looked += 1

    def clear(self) -> None:
        self.cleared += 1


def test_the_amount_is_looked_at_when_it_is_shown_and_cleared_after_a_question(qtbot: QtBot, theme: Theme) -> None:
    kept = Kept()
    card = KeptCard(kept)
    kept.setParent(card)
    qtbot.addWidget(card)
    card.resize(700, 400)
    with qtbot.waitExposed(card, timeout=WAIT_MS):
        card.show()
    assert kept.looked == 1
    assert card.words.text() == "14.2 MB: 76 versions of files, the oldest of 02 Nov."
    for answer, cleared in ((KEEP, 0), (CLEAR, 1)):
        card.clear_button.click()
        dialog = next(one for one in card.findChildren(Dialog) if one.isVisible())
        dialog.answer(answer)
        assert kept.cleared == cleared
    kept.some, kept.words = False, "Nothing is kept."
    kept.changed.emit()
    assert not card.clear_button.isEnabled()
    kept.failed.emit("The disk says no.")
    assert card.refusal.text() == "The disk says no."
    assert card.refusal.isVisible()
