"""Models as rows to choose from: under their connections, with their price and what each can, and found by words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import ModelInfo, ModelRef
from desktop.presenter.common.shown import shown_line
from desktop.presenter.common.words import human_count

LIMIT = 400
"""Models that are shown at once; with more, a part of the name finds the others."""
NAME = 120
"""Characters of a name that are shown."""
SOUGHT = 300
"""Characters of a name that are looked through."""
SLICE = 200
"""Models that are looked through before other work is let in between."""
DRAWN = 40
"""Rows that are made before that."""
DEAREST = 100_000.0
"""Dollars for a million tokens; a price above this is a mistake."""
NOT_NOW = "not available now"
NO_CHARGE, NO_PRICE = "no charge", "price unknown"
GONE = "Chosen"
"""Stands over a model that is chosen and in no list."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A row: a model, or what stands over some (``heading``), or below the last one (``note``)."""

    ref: str = ""
    """The model, or "" for a choice that is none."""
    name: str = ""
    """The name, safe to look at."""
    place: str = ""
    """The name of its connection."""
    facts: str = ""
    """What it can."""
    price: str = ""
    """What it costs, or "" where ``facts`` say it."""
    warning: str = ""
    """Why it is not of use now."""
    heading: str = ""
    """The connection of the rows below it."""
    note: str = ""
    """How many more there are."""

    @property
    def can(self) -> bool:
        """Whether it can be chosen."""
        return not self.heading and not self.note

    @property
    def said(self) -> str:
        """All that it says, for a screen reader."""
        return self.heading or self.note or ", ".join(filter(None, (self.name, self.price, self.facts, self.warning)))


def plain_name(text: str) -> str:
    """The name that a server gives to a model, safe to look at and not too long."""
    line = shown_line(text[: NAME + 1])
    return line if len(line) <= NAME else f"{line[: NAME - 1]}…"


def price_words(model: ModelInfo) -> str:
    """``$2 in, $6 out`` for a million tokens; "" where there is no charge, or nothing that answers."""
    prices = (model.input_price, model.output_price)
    if model.locality in ("demo", "scripted") or prices == (0, 0):
        return ""
    known = [_dollars(price) for price in prices if price is not None and price <= DEAREST]
    return f"{known[0]} in, {known[1]} out" if len(known) == 2 else NO_PRICE


def _dollars(price: float) -> str:
    if price == int(price):
        return f"${int(price):,}"
    return f"${price:.2f}" if price >= 0.095 and abs(price * 100 - round(price * 100)) < 1e-6 else f"${price:.4g}"


def can_words(model: ModelInfo) -> list[str]:
    """What it can, a word each; what is not known is left out."""
    if model.locality == "demo":
        return ["not an AI"]
    said = (
        ("pictures", model.vision is True),
        ("sounds", model.hearing is True),
        ("tools", model.tools is True),
        ("no tools", model.tools is False),
        ("thinking", bool(model.takes.efforts)),
    )
    window = [human_count(model.context_window)] if model.context_window else []
    return [*(word for word, is_so in said if is_so), *window]


def facts_words(model: ModelInfo) -> str:
    """The same in a line, after that it costs nothing."""
    free = model.locality not in ("demo", "scripted") and (model.input_price, model.output_price) == (0, 0)
    return ", ".join([*([NO_CHARGE] if free else []), *can_words(model)])


def too_small(model: ModelInfo, used: int) -> str:
    """That a chat of so many tokens does not fit it, or ""."""
    window = model.context_window
    return f"too small: chat has {human_count(used)}" if window and used > window else ""


class ModelRows:
    """The rows of some models. ``place`` names a connection, ``used`` says how many tokens of a model the chat has."""

    def __init__(
        self,
        models: Sequence[ModelInfo],
        place: Callable[[str], str],
        *,
        current: str = "",
        used: Callable[[str], int] = lambda _ref: 0,
        first: tuple[str, str] | None = None,
    ) -> None:
        self._models = models
        self._place, self._used = place, used
        self._places: dict[str, str] = {}
        self._sought: dict[int, str] = {}
        self._current, self._first = current, first
        at = ModelRef.parse(current)
        self._is_there = not current or any(model.ref == at for model in models)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to choose from."""
        return not self._models and self._is_there and self._first is None

    def find(self, text: str) -> Iterator[list[ModelRow] | None]:
        """Looks for models that have all words of ``text``: None while there is more to do, at last the rows."""
        words = text.casefold()[:SOUGHT].split()
        found: list[ModelInfo] = []
        more = 0
        for at, model in enumerate(self._models):
            if at % SLICE == SLICE - 1:
                yield None
            if words and not self._has(at, model, words):
                continue
            if len(found) < LIMIT:
                found.append(model)
            else:
                more += 1
        rows = self._first_rows(words)
        last = None
        for at, model in enumerate(found):
            if at % DRAWN == DRAWN - 1:
                yield None
            place = self._place_of(model)
            if place != last:
                rows.append(ModelRow(heading=place))
                last = place
            rows.append(self._row(model, place))
        if more:
            rows.append(ModelRow(note=f"{more:,} more: type a part of the name"))
        yield rows

    def _has(self, at: int, model: ModelInfo, words: Sequence[str]) -> bool:
        sought = self._sought.get(at)
        if sought is None:
            name = f"{model.title[:SOUGHT]} {model.ref.model[:SOUGHT]} {self._place_of(model)} {facts_words(model)}"
            sought = self._sought[at] = name.casefold()
        return all(word in sought for word in words)

    def _place_of(self, model: ModelInfo) -> str:
        name = model.ref.connection_id
        place = self._places.get(name)
        if place is None:
            own = "" if model.locality in ("demo", "scripted") else self._place(name)
            place = self._places[name] = plain_name(own or model.title)
        return place

    def _first_rows(self, words: Sequence[str]) -> list[ModelRow]:
        """What stands before the models."""
        rows: list[ModelRow] = []
        if self._first is not None and all(word in self._first[1].casefold() for word in words):
            rows.append(ModelRow(*self._first))
        if not self._is_there and all(word in self._current.casefold() for word in words):
            name = plain_name(self._current.partition("/")[2] or self._current)
            rows += [ModelRow(heading=GONE), ModelRow(self._current, name, warning=NOT_NOW)]
        return rows

    def _row(self, model: ModelInfo, place: str) -> ModelRow:
        ref = str(model.ref)
        small = too_small(model, self._used(ref))
        return ModelRow(ref, plain_name(model.title), place, facts_words(model), price_words(model), small)


def best_row(rows: Sequence[ModelRow], text: str, current: str) -> int:
    """Which row the mark stands on: the model in use while nothing is sought, else the one that is called so or
    begins so, else the first; -1 where nothing can be chosen."""
    sought = text.casefold().strip()
    able = [at for at, row in enumerate(rows) if row.can]
    if not sought:
        return next((at for at in able if rows[at].ref == current), able[0] if able else -1)
    begins = [at for at in able if rows[at].name.casefold().startswith(sought)]
    exact = [at for at in begins if rows[at].name.casefold() == sought]
    return next(iter((*exact, *begins, *able)), -1)
