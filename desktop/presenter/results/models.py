"""The view-models of results, as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.results.cards import Listen, ResultCards
from desktop.presenter.results.viewer import ResultViewModel

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.results.service import ResultService


@dataclass(frozen=True, slots=True)
class ResultModels:
    """Of the open chat."""

    cards: ResultCards
    """Which results it has."""
    shown: ResultViewModel
    """The one that stands beside it."""


def result_models(service: ResultService, on_done: Listen, bridge: Bridge) -> ResultModels:
    """``on_done`` tells of each change that a call made."""
    cards = ResultCards(service, on_done, bridge)
    return ResultModels(cards, ResultViewModel(service, cards, bridge))
