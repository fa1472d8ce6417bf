"""Pictures of choosing a model for ``dev.py shots``: real widgets, sample data, nothing that runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from desktop.domain.context import ContextShares
from desktop.domain.messages import Usage
from desktop.domain.models import Connection, ModelRef
from desktop.domain.threads import ThreadRecord
from desktop.presenter.chat.state import Meters
from desktop.ui.chat.composer.model_popup import ChatModelPopup
from desktop.ui.chat.context_popover import ContextPopover
from desktop.ui.chat.page import ChatPage
from shots import chat as chat_shots
from shots.samples import LISTED

HOSTILE = "a\u202eleb<b>o</b>" + "-very-long-name" * 300


def _choosing(act: str = "") -> ChatPage:
    """The list of models over the composer."""
    page = chat_shots._page(chat_shots.sample_items())
    page.resize(1280, 800)
    page.show()
    setup = cast(Any, page._models.setup)
    setup.connections = (
        Connection("mistral", "mistral", "Mistral"),
        Connection("work", "anthropic", "Anthropic, work key"),
    )
    setup.more, setup.fallbacks = LISTED, ("work/claude-sonnet",)
    used = Usage(335_000, 11_000, cost_usd=0.33)
    page._models.chat._record = ThreadRecord("t2", "Gaps in the March tide data", 0.0, 0.0, usage=used)
    page._models.chat._record = replace(page._models.chat._record, model="mistral/mistral-large")
    page._models.chat._estimate = 44_600
    if act == "hostile":
        strange = tuple(
            replace(LISTED[0], ref=ModelRef("mistral", f"{HOSTILE}{n}"), title=f"{n}{HOSTILE}") for n in range(300)
        )
        setup.more = (*strange, *LISTED)
    popup = ChatModelPopup(page, page._models, popup=False)

    def opened() -> None:
        composer = page.pane.foot.composer
        popup.open_at(composer.model, over=composer)
        if act == "correct":
            popup.correct()
        elif act == "add":
            popup.add_next()
        elif act == "about":
            popup.turn()
        elif act == "none":
            popup.chooser.field.setText("nothing like this")

    QTimer.singleShot(60, page, opened)
    return page


def _context(act: str = "") -> ChatPage:
    """What fills the model's window, below the figures in the head."""
    page = chat_shots._page(chat_shots.sample_items())
    page.resize(1280, 800)
    page.show()
    context = page._models.context
    context._shares["t"] = ContextShares(9_100, 22, 23_400, 12_100)
    used = Usage(335_000, 11_000, cached_tokens=228_000, cost_usd=0.33, written_tokens=31_000, saved_usd=0.41)
    meters = Meters("assistant", "Workbench", "m/x", "mistral-large", 44_600, 131_000, 346_000, 0.33, used=used)
    if act == "empty":
        meters = Meters("assistant", "Workbench", "m/x", "mistral-large", 12_000, None)
        context._shares.clear()
        context._accounts.clear()
    popover = ContextPopover(page, context, popup=False)
    popover.show_meters(meters)
    QTimer.singleShot(60, page, lambda: popover.open_at(page.pane.header.meters))
    return page


def model_pictures() -> dict[str, Callable[[], QWidget]]:
    """Choosing a model."""
    return {
        "36-models": _choosing,
        "36-models-200": _choosing,
        "36-models-about-200": lambda: _choosing("about"),
        "36-context": _context,
        "36-context-200": _context,
        "36-context-empty": lambda: _context("empty"),
        "36-models-correct": lambda: _choosing("correct"),
        "36-models-add": lambda: _choosing("add"),
        "36-models-none": lambda: _choosing("none"),
        "36-models-hostile": lambda: _choosing("hostile"),
    }


def pictures() -> dict[str, Callable[[], QWidget]]:
    """Those of the chat page, and of choosing a model in it."""
    return {**chat_shots.pictures(), **model_pictures()}
