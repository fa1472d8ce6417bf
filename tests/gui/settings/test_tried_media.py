"""A tried call that gives pictures and sounds shows them, says what they are, and saves them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.domain.messages import AudioBlock, ImageBlock
from desktop.domain.tools import ToolResult
from desktop.ui.settings.trial_view import TrialView
from desktop.ui.theme.active import Theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.files import FileDialog
from tests.gui.skills.kit import SkillsBench
from tests.harness.timeouts import until
from tests.unit.pipeline.kit import FakeTool


def picture() -> bytes:
    image = QImage(900, 300, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(buffer.data().data())


@pytest.mark.spec("R-MOD-6")
async def test_what_a_tried_tool_gives_is_seen_and_can_be_saved(theme: Theme, tmp_path: Path, qtbot: QtBot) -> None:
    shot, sound = picture(), b"RIFF0000WAVE"
    media = tuple(
        kind(media_type, base64.b64encode(data).decode(), name)
        for kind, media_type, data, name in (
            (ImageBlock, "image/png", shot, "the shot"),
            (ImageBlock, "image/png", b"no picture", "broken"),
            (AudioBlock, "audio/wav", sound, "say"),
        )
    )

    async def gives(_args: Any, _context: Any) -> ToolResult:
        return ToolResult("taken", media=media)

    bench = SkillsBench(tmp_path, (FakeTool("shoot", params={"type": "object"}, body=gives),), lambda: None)
    await bench.open()
    view = TrialView(bench.trials)
    qtbot.addWidget(view)
    view.resize(800, 700)
    view.show()
    view.follow("shoot")
    bench.trials.run("shoot", {})
    await until(lambda: bench.trials.trial is not None and bench.trials.trial.over, "the call")
    (label,) = [one for one in view.findChildren(QLabel) if one.accessibleName() == "Image the-shot.png"]
    await until(lambda: not label.pixmap().isNull(), "the picture")
    assert label.pixmap().width() <= 2 * 360
    words = "\n".join(one.text() for one in view.findChildren(QLabel) if one.isVisible())
    assert "the-shot.png" in words
    assert "audio/wav" in words
    for number, data in ((0, shot), (2, sound)):
        [one for one in view.findChildren(Button) if one.label == "Save…"][number].click()
        dialog = view.findChildren(FileDialog)[-1]
        place = tmp_path / f"saved-{number}"
        dialog.fileSelected.emit(str(place))
        dialog.close()
        await until(place.exists, "the file")
        assert place.read_bytes() == data
    await bench.end()
