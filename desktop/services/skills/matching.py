"""How well skills in words fit a message: shared words, each worth the more the fewer skills have it.

The thresholds were measured with public skills and plain requests
(tests/unit/services/skills/test_public_skills.py): what is above them is hardly ever wrong, and what a message means is
nearly always among the first ten.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from desktop.domain.skills import SkillDef

MAX_SHOWN = 10
"""Skills that are shown to a model to choose from."""
ENOUGH = 1.6
"""Words that only one skill has, or as much in more common ones; a word of the name counts twice."""
EXPLAINED = 0.3
"""The part of the message, its rare words counting more, that the skill has to share."""
AHEAD = 1.2
"""How many times better than the next one."""
_IN_NAME = 2
_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset(
    "a about after all also an and any are as at be best build building but by can claude code could create creating "
    "do does did file files for from get give guide had has have he help her him his how i if in into is it its just "
    "let make me more my need new no not of on one or our out please practices set she should show skill skills so "
    "some support task tasks tell than that the their them then there these they this those to up us use used user "
    "users uses using want wants was way we what when whenever where which who why will with without work working "
    "would write writing you your add".split()
)
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s", "e")


class _Fit(NamedTuple):
    """``score`` in words that only one skill has; ``explained`` of the message; ``shared`` words."""

    score: float
    explained: float
    shared: int
    skill: SkillDef


class SkillMatch:
    """Finds the skills that a message means among some. Blocks for a moment where they are many: use a thread."""

    def __init__(self, skills: Iterable[SkillDef]) -> None:
        self._words = [(skill, words(skill.name), words(skill.description)) for skill in skills]
        counts = Counter(word for _, name, text in self._words for word in name | text)
        self._maximum = math.log(1 + len(self._words))
        self._worth = {word: math.log(1 + len(self._words) / count) for word, count in counts.items()}

    def ranked(self, text: str) -> list[SkillDef]:
        """All that share a word with the text, best first."""
        return [fit.skill for fit in self._fits(text)]

    def certain(self, text: str) -> SkillDef | None:
        """The one skill that the text means by every measure, if there is one."""
        fits = self._fits(text)
        if not fits:
            return None
        first, next_best = fits[0], fits[1].score if len(fits) > 1 else 0.0
        sure = first.shared >= 2 and first.score >= ENOUGH and first.explained >= EXPLAINED
        return first.skill if sure and first.score >= AHEAD * next_best else None

    def _fits(self, text: str) -> Sequence[_Fit]:
        asked = words(text)
        whole = sum(self._worth.get(word, self._maximum) for word in asked)
        found = [
            _Fit(
                sum(self._worth[word] * (_IN_NAME if word in name else 1) for word in shared) / self._maximum,
                sum(self._worth[word] for word in shared) / whole,
                len(shared),
                skill,
            )
            for skill, name, said in self._words
            if (shared := asked & (name | said))
        ]
        return sorted(found, key=lambda fit: (-fit.score, fit.skill.name))


@lru_cache(maxsize=8_192)
def words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, without their endings."""
    found = (word for word in _WORD.findall(text.casefold()) if len(word) > 2 and word not in _COMMON)
    return frozenset(_stem(word) for word in found)


def _stem(word: str) -> str:
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), "")
    word = word.removesuffix(ending) if ending else word
    word = f"{word[:-1]}y" if word.endswith("i") else word
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
