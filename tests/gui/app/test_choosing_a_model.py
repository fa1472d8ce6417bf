"""The list of models over the composer, in the whole app, over a server that lists what it likes."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from desktop.app.home.folder import Home
from desktop.ui.chat.composer.model_popup import ChatModelPopup
from desktop.ui.model_picker.correcting import NOT_A_COUNT
from tests.gui.app.kit import Running
from tests.servers.raw_web import RawWeb, raw_web

popup = pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
"""What the offscreen screen says of a popup."""


@pytest.fixture
async def web() -> AsyncIterator[RawWeb]:
    async with raw_web() as made:
        yield made


def connected(home: Home | Any, web: RawWeb) -> None:
    home.mkdir(parents=True, exist_ok=True)
    lab = f"{{id: lab, provider: openai_compatible, title: Lab, base_url: '{web.url('/v1')}'}}"
    config = f"models:\n  # mine\n  default: scripted/scripted\n  connections: [{lab}]\n"
    (home / "config.yaml").write_text(config)


def lists(web: RawWeb, *names: str, context: int = 64_000) -> None:
    web.answer("/v1/models", {"data": [{"id": name, "context_length": context} for name in names]})
    web.answer("/v1/model/info", {}, status=404)


async def opened(app: Running) -> ChatModelPopup:
    """By its keys' command; what it shows once all models are listed."""
    app.startup._shell.run_command("choose-model")
    (made,) = [w for w in app.page.findChildren(ChatModelPopup) if w.isVisible()]
    await app.until(lambda: not app.models.setup.looking and not made.chooser.list.searching, "the models")
    return made


def names(made: ChatModelPopup) -> list[str]:
    return [row.name for row in made.chooser.list.rows if row.can]


@popup
@pytest.mark.spec("R-MOD-5", "R-MOD-7")
async def test_a_model_is_found_and_taken_others_stand_in_and_what_is_known_is_corrected(
    start, tmp_path, web: RawWeb
) -> None:
    connected(tmp_path / "home", web)
    lists(web, "small-1", "large-2", "other")
    app = await start()
    made = await opened(app)
    await app.until(lambda: "large-2" in names(made), "the server's models")
    assert made.chooser.field.hasFocus()
    QTest.keyClicks(made.chooser.field, "large")
    await app.until(lambda: names(made) == ["large-2"], "what is called so")
    QTest.keyClick(made.chooser.field, Qt.Key.Key_Return)
    await app.until(lambda: app.models.chat.meters.model == "lab/large-2", "the choice")
    await app.until(app.composer.text.hasFocus, "the keys in the text")

    made = await opened(app)
    await app.until(lambda: made.about.ref == "lab/large-2" and made.about.add is not None, "what is known of it")
    made.add_next()
    able = ["small-1", "other"]  # it cannot stand in for itself, and the scripted one for nobody
    await app.until(lambda: names(made) == able, "those that can stand in")
    QTest.keyClicks(made.chooser.field, "oth")
    await app.until(lambda: names(made) == ["other"], "what is called so")
    QTest.keyClick(made.chooser.field, Qt.Key.Key_Return)
    await app.until(lambda: app.models.setup.fallbacks == ("lab/other",), "a model to try next")
    assert made.isVisible()
    await app.until(lambda: "other" in words(made), "its row")

    made.correct()
    form = made.correcting
    assert form is not None
    form.context.setText("many")
    form.keep()
    await app.until(lambda: NOT_A_COUNT in words(made), "what is wrong")
    form.context.setText("32 000")
    form.flags["pictures"].setCurrentIndex(form.flags["pictures"].findData(True))
    form.keep()
    listed = app.models.setup.model
    await app.until(lambda: listed("lab/large-2").context_window == 32_000, "what is known better")
    await app.until(lambda: listed("lab/large-2").vision is True, "that it sees")
    assert listed("lab/small-1").context_window == 64_000
    assert app.models.setup.describe("lab/large-2") == ("large-2", 32_000)
    QTest.keyClick(made.chooser.field, Qt.Key.Key_Escape)
    await app.until(lambda: not any(w.isVisible() for w in app.page.findChildren(ChatModelPopup)), "it is closed")
    kept = (tmp_path / "home" / "config.yaml").read_text()
    assert "# mine" in kept
    assert "lab/large-2 pictures=yes context=32000" in kept


def words(made: ChatModelPopup) -> str:
    return " ".join(label.text() for label in made.findChildren(QLabel) if label.isVisible())


@popup
async def test_names_made_to_harm_are_shown_for_what_they_are_also_once_one_is_chosen(
    start, tmp_path, web: RawWeb
) -> None:
    connected(tmp_path / "home", web)
    strange = [f"{n}-\u202e<b>evil</b>\u2066 & {'x' * 5_000}" for n in range(1_500)]
    lists(web, *strange, "plain")
    app = await start()
    made = await opened(app)
    await app.until(lambda: len(names(made)) >= 400, "the server's models")
    for text in ("evil", "99", "plain"):
        made.chooser.field.setText(text)
        await app.until(lambda: not made.chooser.list.searching, "an answer")
    await app.until(lambda: names(made) == ["plain"], "what is called so")
    made.chooser.field.setText("evil 7-")
    await app.until(lambda: names(made) and "7-" in names(made)[0], "an answer")
    shown = names(made)[0]
    assert "\u202e" not in shown
    assert "\\u{202e}<b>evil</b>" in shown
    QTest.keyClick(made.chooser.field, Qt.Key.Key_Return)
    await app.until(lambda: app.models.chat.meters.model.startswith("lab/"), "the choice")
    await app.until(lambda: "evil" in app.composer.model.text(), "the button")
    assert "\u202e" not in app.composer.model.text()


@popup
async def test_a_model_that_is_gone_stays_chosen_and_says_so(start, tmp_path, web: RawWeb) -> None:
    connected(tmp_path / "home", web)
    lists(web, "here")
    app = await start()
    app.models.chat.set_model("lab/gone")
    made = await opened(app)
    await app.until(lambda: "here" in names(made), "the server's models")
    first = made.chooser.list.rows[1]
    assert (first.ref, first.warning) == ("lab/gone", "not available now")
    assert made.chooser.row == first
    QTest.keyClick(made.chooser.field, Qt.Key.Key_Escape)
    assert app.models.chat.meters.model == "lab/gone"
