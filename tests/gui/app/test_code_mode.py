"""Code mode as a person meets it: chosen for the agent, seen at work, asked about, and still there after a restart."""

from typing import Any

import pytest
from PySide6.QtWidgets import QLabel

from desktop.ui.chat.composer.pickers import ToolModePicker
from desktop.ui.transcript.pieces.code_card import CodeCard
from tests.gui.app.kit import Running, call

popup = pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
"""What the offscreen screen says of a popup."""

SOURCE = """const name = 'made.txt';
await ctx.manager.invoke('write-file', {path: name, content: 'by code'});
console.log('wrote it');
return {name};"""
TEXT = [{"text": "It is written."}]


def choose(app: Running, mode: str) -> None:
    """By the palette's command, then the row."""
    app.startup._shell.run_command("tool-mode")
    (picker,) = [w for w in app.page.findChildren(ToolModePicker) if w.isVisible()]
    values = [choice.value for choice in picker._choices.shown]
    picker.rows.setCurrentIndex(picker._choices.index(values.index(mode)))
    picker.choose()


def cards(app: Running) -> list[CodeCard]:
    messages = app.page.pane.transcript.page.messages
    return [piece for message in messages for piece, _, _ in message.pieces() if isinstance(piece, CodeCard)]


def opened(app: Running) -> str:
    """Everything that the one card of code says."""
    (card,) = cards(app)
    transcript = app.page.pane.transcript
    last = len(transcript.page.messages) - 1
    if not card.open:
        transcript.activate(last, card.spots()[0])
    return str(cards(app)[0].text)


def label_texts(widget: Any) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel))


@popup
@pytest.mark.spec("R-COD-1", "R-COD-6", "R-COD-18", "R-PRM-2")
async def test_an_agent_set_to_code_runs_it_asks_with_its_line_and_shows_it_live_and_after_a_restart(start) -> None:
    app = await start(call("invoke", code=SOURCE), TEXT)
    assert app.composer.code.isHidden()
    choose(app, "code")
    await app.until(app.composer.code.isVisible, "the mark of code mode")
    app.say("write it")
    request = await app.asked()
    assert request.place.startswith("line 2: await ctx.manager.invoke('write-file'")
    waiting = next(c for c in app.calls if c.tool == "write-file")
    assert waiting.parent
    dialog = app.startup._pages._dialog.dialog
    await app.until(lambda: dialog.view.request is not None, "the dialog")
    assert "line 2: await ctx.manager.invoke('write-file'" in label_texts(dialog)
    await app.until(lambda: not dialog.view.answers.allow.deaf, "the end of the deaf time")
    dialog.view.answers.allow.click()
    await app.answered("It is written.")
    assert (app.home.path / "workspace" / "made.txt").read_text() == "by code"
    said = opened(app)
    for words in ("await ctx.manager.invoke('write-file'", '"name": "made.txt"', "wrote it", "write-file: done"):
        assert words in said
    await app.end()
    again = await start([{"text": "unused"}])
    await again.until(lambda: cards(again), "the stored card")
    assert "".join(opened(again).split()) == "".join(said.split())
    await again.until(again.composer.code.isVisible, "the choice, kept")


@popup
@pytest.mark.spec("R-COD-1")
async def test_a_choice_can_be_taken_back_and_the_next_run_has_its_tools_again(start) -> None:
    app = await start(TEXT)
    choose(app, "both")
    await app.until(app.composer.code.isVisible, "the mark of code mode")
    choose(app, "")
    await app.until(app.composer.code.isHidden, "no mark")
    assert app.startup._services.modes.of(app.models.chat.meters.agent) == ""
