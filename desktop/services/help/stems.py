"""What words of help have in common: ``goes``, ``going`` and ``go`` are one, so are ``copies`` and ``copied``."""

from __future__ import annotations

import re
from functools import lru_cache

WORD = re.compile(r"\w+")
_FORMS = (
    "go goes went gone",
    "write wrote written",
    "choose chose chosen",
    "run ran",
    "keep kept",
    "say said",
    "make made",
    "take took taken",
    "find found",
    "send sent",
    "give gave given",
    "see saw seen",
    "begin began begun",
    "lose lost",
    "get got",
    "spend spent",
    "forget forgot forgotten",
    "color colour colours coloured",
    "license licence licences",
)
"""Words whose forms follow no rule, and two that are spelt in two ways."""
_IRREGULAR = {form: forms.split()[0] for forms in _FORMS for form in forms.split()[1:]}
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """What a word has in common with its other forms."""
    small = word.casefold()
    small = _IRREGULAR.get(small, small)
    if len(small) <= 3 or not small.isascii() or not small.isalpha():
        return small
    return _end(_without_ending(_singular(small)))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search(r"(?:ss|x|z|ch|sh)es$", word):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_ending(word: str) -> str:
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 2 and _VOWEL.search(rest):
            doubled = len(rest) > 2 and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word


def _end(word: str) -> str:
    """British and American endings, a silent e, and y where others have i."""
    word = re.sub(r"(?<=\w\w)is(?=e?$)", "iz", word) if word.endswith(("ise", "is")) and len(word) > 5 else word
    word = word[:-1] if word.endswith("e") and len(word) > 3 else word
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word
