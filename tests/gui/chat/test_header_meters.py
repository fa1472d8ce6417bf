"""The meters in the head of a thread say less where there is little room, and never half of something."""

import pytest
from pytestqt.qtbot import QtBot

from desktop.presenter.chat.state import Meters
from desktop.ui.chat.header import ThreadHeader
from desktop.ui.theme import Theme
from tests.harness.timeouts import WAIT_MS

LEFT_OUT = Meters("a", "A", "m/x", "M", 1_400, 2_000, 10_500, None, True, True)
SUMMARISED = Meters("a", "A", "m/x", "M", 44_600, 131_000, 61_300, 0.087, True, False)
FULL = Meters("a", "A", "m/x", "M", 1_990, 2_000, 10_500, 0.01)


@pytest.mark.spec("R-CTX-3")
@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize(("meters", "notice"), [(LEFT_OUT, "left out"), (SUMMARISED, "summarised"), (FULL, "full")])
def test_no_meter_is_cut_and_what_is_not_sent_is_said_at_any_width(
    qtbot: QtBot, theme: Theme, meters: Meters, notice: str, scale: float
) -> None:
    header = ThreadHeader()
    qtbot.addWidget(header)
    header.show_title("A title that is long enough to need all of the room that there is, and more")
    theme.set_scale(scale)
    header.show_meters(meters)
    header.show()
    shown = header.meters
    seen = []
    for width in (1240, 900, 760, 640, 560, 480):
        header.resize(round(width * scale), round(48 * scale))
        texts = [one for one in (shown.label, shown.tokens, shown.cost, shown.context) if not one.isHidden()]
        qtbot.waitUntil(
            lambda texts=texts: all(one.width() >= one.sizeHint().width() for one in texts), timeout=WAIT_MS
        )
        assert notice in shown.context.text()
        assert ("messages are" in shown.context.toolTip()) == (notice != "full")
        qtbot.waitUntil(lambda: header.title.width() >= 120 * scale, timeout=WAIT_MS)
        seen.append(sum(not text.isHidden() for text in (shown.label, shown.tokens, shown.cost)))
    assert (seen[0], seen[-1]) == (3, 0)
    header.resize(round(1240 * scale), round(48 * scale))
    assert not shown.tokens.isHidden()
    theme.set_scale(1.0)
    header.hide()
