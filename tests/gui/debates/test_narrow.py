"""The Debates page in a narrow window and with large text: every control is there whole."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractButton, QScrollArea, QWidget

from desktop.models.scripted import ScriptedModel, says
from desktop.ui.debates.header import MeterStrip
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.scaling import rescale
from desktop.ui.widgets.text import Text
from tests.gui.debates.kit import watched
from tests.unit.services.debates.kit import setup


@pytest.mark.parametrize(("width", "scale"), [(900, 1.0), (840, 2.0)])
async def test_no_control_is_cut_where_it_is_narrow_and_the_text_is_large(
    theme: Any, tmp_path: Path, width: int, scale: float
) -> None:
    async with watched(tmp_path, ScriptedModel([says("a1"), says("b1")])) as w:
        theme.set_scale(scale)
        rescale(w.page)
        w.page.resize(width, 720)
        page = w.page.setup
        await w.until(lambda: cut(page) == [], f"the setup whole: {cut(page)}")
        thread, _ = await w.world.run(setup(max_turns=2))
        await w.open(thread)
        await w.until(lambda: cut(w.running) == [], f"the debate whole: {cut(w.running)}")
        assert len([one for one in w.running.findChildren(QAbstractButton) if one.isVisible()]) >= 10


def cut(page: QWidget) -> list[str]:
    """What of the buttons and of the words about a side is not in sight from edge to edge, or has no room for itself:
    a button that may be short keeps its icon."""
    found = []
    shown = [one for one in page.findChildren(QWidget) if one.isVisibleTo(page)]
    for one in (one for one in shown if isinstance(one, QAbstractButton | Field)):
        in_page = page.rect().contains(QRect(one.mapTo(page, QPoint(0, 0)), one.size()))
        scrolled = any(isinstance(above, QScrollArea) and above.isAncestorOf(one) for above in shown)
        small = isinstance(one, QAbstractButton) and one.width() < one.minimumSizeHint().width()
        if small or not (in_page or scrolled):
            found.append(f"{type(one).__name__} {one.accessibleName()}")
    for strip in page.findChildren(MeterStrip):
        texts = [text for text in strip.findChildren(Text) if text.text() in ("rounds", "tokens", "cost", "calls")]
        found += [text.text() for text in texts if text.width() < text.sizeHint().width()]
    return found
