"""Which texts from outside were read in each run: what it asks for next may follow from them, and says so (R-WEB-3)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace

from desktop.domain.text.outside import OutsideText, named

MAX_RUNS = 10_000
MAX_TEXTS = 200
"""Texts of a run that are known one by one; of more it is still known that there were some."""
MAX_CHARACTERS = 2_000_000
"""Of all texts of a run that are kept to be shown: of the oldest beyond that only the name stays."""
MANY = "many others"


class ReadTexts:
    """All runs of the process, apart from each other. Implements ``OutsideTexts``."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, dict[tuple[str, str], OutsideText]] = OrderedDict()

    def heard(self, run_id: str, texts: Iterable[OutsideText]) -> None:
        """An agent of this run is about to read them."""
        known = self._runs.setdefault(run_id, {})
        for one in texts:
            key = (one.whose, one.about)
            if len(known) >= MAX_TEXTS and key not in known:
                key, one = (MANY, ""), OutsideText(MANY, at=one.at)
            known.pop(key, None)
            known[key] = one
        _within(known)
        self._runs.move_to_end(run_id)
        while len(self._runs) > MAX_RUNS:
            self._runs.popitem(last=False)

    def read_in(self, run_id: str) -> tuple[OutsideText, ...]:
        """Those of a run, the latest last."""
        return tuple(self._runs.get(run_id, {}).values())

    def follows(self, run_id: str) -> str:
        """Whose texts were read, in words that go on in a sentence, or ""."""
        names = named(one.whose for one in self.read_in(run_id))
        return f"text of {names} was read since your last message" if names else ""

    def forget(self, run_id: str) -> None:
        """The run is over, or the person has spoken and nobody else is at work in it."""
        self._runs.pop(run_id, None)


def _within(known: dict[tuple[str, str], OutsideText]) -> None:
    room = MAX_CHARACTERS
    for key in reversed(list(known)):
        room -= len(known[key].text)
        if room < 0 and known[key].text:
            known[key] = replace(known[key], text="")
