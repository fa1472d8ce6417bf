"""One kind of an answer's text held against a person's expressions, while it comes in and over its seams.

An answer comes in blocks: text, thinking, text again, calls between. A person reads the blocks of one kind in one go.
So every expression looks twice: at each block by itself, as it is written (``^``, ``$`` and ``\\b`` mean the block's
ends), and at all blocks of that kind as they are read (``desktop.domain.text.as_read``), over the seams and over the
rounds of one turn.

===============================================  =======================================================================
where a hit stands                               what becomes of it
===============================================  =======================================================================
inside a block, in pieces of any size            held back until it is known; the whole of it is replaced
over a seam: thinking, a call, a round between   what stood before the seam was shown and stays; the rest is replaced
with unseen characters or marks in between       as if they were not there, in a block and over a seam
full-width letters, ligatures, composed accents  as their usual letters
text on one side, thinking on the other          not held: nobody reads them in one go
a hit that begins over 200 characters before     not held, over a seam; inside a block it is
a hit that text behind a seam makes of what      not held: it was shown, and nothing of it is left to replace
stands before it, by looking ahead
an accent that comes in a piece of its own       its letter was shown without it; the rest is replaced
letters of another script that look alike        not held
===============================================  =======================================================================

What may begin a hit is held back and no more: of a word all its letters but the last. At the end of a block everything
is shown, so that text and thinking keep their order.
"""

from __future__ import annotations

from typing import Any

from desktop.agents.middleware.settings import options, wrong
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.as_read import AsRead, as_read
from desktop.domain.text.expressions import Expressions, ExpressionSearch

REMOVED = "[removed]"
CONTEXT = 200
"""Characters that are kept of what was shown: for hits that begin there, and for expressions that look at what stands
before (``\\b``)."""


@dataclass(frozen=True, slots=True)
class FilterConfig:
    """``refuse``: an answer with a hit ends there; else the hit is replaced by ``instead``, which is never empty: what
    stands around a hit could make another one."""

    expressions: tuple[str, ...]
    refuse: bool = False
    instead: str = REMOVED

    @classmethod
    def of(cls, asked: Any) -> FilterConfig:
        """What the key ``content-filter`` of a skill says. Raises ToolFailure ``skill.configuration``."""
        given = options(asked, "patterns")
        patterns, action = given.get("patterns", ()), given.get("action", "replace")
        if not isinstance(patterns, (list, tuple)) or not all(isinstance(one, str) for one in patterns):
            raise wrong("content-filter.patterns has to be a list of regular expressions.")
        if action not in ("replace", "refuse"):
            raise wrong("content-filter.action has to be replace or refuse.")
        instead = str(given.get("instead", REMOVED))
        return cls(tuple(patterns), action == "refuse", instead if as_read(instead).text.strip() else REMOVED)


class ContentRefused(Exception):
    """Expression ``number`` fits. ``before``: the text up to the hit, which may be shown."""

    def __init__(self, number: int, before: str) -> None:
        super().__init__(number)
        self.number, self.before = number, before


class Screen:
    """One kind of text on its way; ``before`` is what a person read of it in earlier rounds. Blocks for as long as the
    expressions take: use it in threads."""

    def __init__(self, expressions: Expressions, config: FilterConfig, before: str = "") -> None:
        self._expressions = expressions
        self._config = config
        self._before = before.rpartition(config.instead)[2][-2 * CONTEXT :]
        self._text = ""  # of this block
        self._at = 0  # where what was not given yet begins
        self._floor = -CONTEXT  # where a hit over a seam may begin: behind the last one that was replaced
        self._looked = 0
        self.hits = 0

    @property
    def open(self) -> bool:
        """Whether something of a block came since the last one ended."""
        return bool(self._text)

    def feed(self, text: str) -> str:
        """What may be seen by now. Raises Refused, LimitReached. A long stretch that is held back is looked at again
        only when it has grown by an eighth: else the work would grow with its square."""
        self._text += text
        held = len(self._text) - self._at
        if held < self._looked + self._looked // 8:
            return ""
        return self._given(whole=False)

    def flush(self) -> str:
        """The rest of the block, which is over; what was shown of it is looked at again when the next block begins."""
        rest = self._given(whole=True)
        shown = self._before + self._text
        self._floor = max(self._floor - len(self._text), -CONTEXT)
        self._before, self._text, self._at, self._looked = shown[-2 * CONTEXT :], "", 0, 0
        return rest

    def whole(self, text: str) -> str:
        """Screen a text that is there as a whole, and does not stream in."""
        self._text += text
        return self.flush()

    def _given(self, *, whole: bool) -> str:
        written, seams = self._expressions.look(self._text, whole=whole), self._seams(whole)
        seen: list[str] = []
        while True:
            hits = (written.first(self._at), seams.first(self._at, self._floor) if seams else None)
            open_end = (0, len(self._text), -1)
            number, start, end = min((hit for hit in hits if hit), key=lambda hit: hit[1:], default=open_end)
            start = max(start, self._at)
            seen.append(self._text[self._at : start])
            self._at = start
            if end < 0:
                break
            if self._config.refuse:
                raise ContentRefused(number, "".join(seen))
            self.hits += 1
            seen.append(self._config.instead)
            self._at = self._floor = end
        self._forget()
        return "".join(seen)

    def _seams(self, whole: bool) -> _Seams | None:
        """The end of what was shown and what is new, as they are read; None where the block says it all."""
        self._floor = max(self._floor, self._at - CONTEXT, -len(self._before))
        read = as_read(self._before + self._text)
        if read.same and self._floor >= 0:
            return None
        return _Seams(read, self._expressions.look(read.text, whole=whole), len(self._before))

    def _forget(self) -> None:
        """Drop the part of the block that was shown long ago."""
        drop = max(0, self._at - CONTEXT)
        self._before = (self._before + self._text[:drop])[-2 * CONTEXT :]
        self._text, self._at, self._floor = self._text[drop:], self._at - drop, self._floor - drop
        self._looked = len(self._text) - self._at


class _Seams:
    """Hits in what was read, as places of the block; those before it have a negative start."""

    def __init__(self, read: AsRead, look: ExpressionSearch, before: int) -> None:
        self._read, self._look, self._before = read, look, before

    def first(self, at: int, floor: int) -> tuple[int, int, int] | None:
        """The first that begins at ``floor`` or later and ends behind ``at``."""
        place = self._read.at(floor + self._before)
        while (hit := self._look.first(place)) is not None:
            number, start, end = hit
            began = self._read.begins[start] - self._before
            if end < 0:
                return number, began, -1
            if (ended := self._read.ends[end - 1] - self._before) > at:
                return number, began, ended
            place = start + 1
        return None
