"""How much a model thinks, chosen beside the model, kept for the agent, sent with its requests."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.domain.models import ModelRequest
from desktop.models.providers import SCRIPTED
from desktop.models.router import ModelRouter
from desktop.models.scripted import ScriptedModel
from desktop.ui.chat.composer.pickers import EffortPicker
from tests.gui.app.kit import Running

popup = pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
"""What the offscreen screen says of a popup."""


def choose(app: Running, *keys: Qt.Key) -> list[str]:
    """By the palette's command, then keys; what was offered."""
    app.startup._shell.run_command("effort")
    (picker,) = [w for w in app.page.findChildren(EffortPicker) if w.isVisible()]
    for key in keys:
        QTest.keyClick(picker, key)
    return [choice.label for choice in picker._choices.shown]


def requests(app: Running) -> list[ModelRequest]:
    client = app.startup._services.models.client
    assert isinstance(client, ModelRouter)
    scripted = client._special[SCRIPTED]
    assert isinstance(scripted, ScriptedModel)
    return scripted.requests


@popup
@pytest.mark.spec("R-MOD-5", "R-MOD-1")
async def test_effort_is_chosen_beside_the_model_sent_and_kept_for_the_agent(start) -> None:
    app = await start([{"text": "Thought about it."}])
    chip = app.composer.effort
    app.models.setup.look()
    await app.until(chip.isVisible, "the effort beside the model")
    assert chip.accessibleName() == "How much the model thinks"
    offered = choose(app, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert offered == ["As the model does by itself", "low", "medium", "high"]
    await app.until(lambda: chip.accessibleName() == "How much the model thinks: high", "the choice")
    app.say("think")
    await app.answered("Thought about it.")
    assert [request.settings.effort for request in requests(app)] == ["high"]
    await app.end()
    again = await start([{"text": "unused"}])
    kept = again.composer.effort
    await again.until(lambda: kept.accessibleName() == "How much the model thinks: high", "the choice, kept")
    assert choose(again, Qt.Key.Key_Return) == ["As the model does by itself"], "nothing is known of the model yet"
    await again.until(kept.isHidden, "nothing to choose")
