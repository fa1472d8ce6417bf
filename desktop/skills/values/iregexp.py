"""The patterns of ``match()`` and ``search()`` in a JSONPath: I-Regexp (RFC 9485), bounded in time.

A pattern may come out of the document that is searched, so neither it nor the text is to be trusted.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from desktop.domain.loading.lazy import lazy_module, load
from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.domain.text.expressions import MAX_LENGTH, too_many_repeats
from desktop.skills.values.kinds import PathError

# With the first pattern: that takes 25 ms.
if TYPE_CHECKING:
    import regex
else:
    regex = lazy_module("regex")

SECONDS = 0.1
"""Of work, for all patterns of one evaluation."""

_ESCAPED = r"\\[-()*+.?\[\\\]^nrt{|}]"
_CATEGORY = r"\\[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}"
_CHAR = rf"(?:[^-\[\\\]]|{_ESCAPED})"
_MEMBER = rf"(?:{_CHAR}(?:-{_CHAR})?|{_CATEGORY})"
_TOKEN = lazy_pattern(
    rf"(?P<atom>[^()*+?\[\\\]{{|}}]|{_ESCAPED}|{_CATEGORY}|\[\^?(?:-|(?={_MEMBER})){_MEMBER}*-?\])"
    r"|(?P<count>[*+?]|\{[0-9]+(?:,[0-9]*)?\})|(?P<open>\()|(?P<close>\))|(?P<other>\|)"
)
_RESPELT = {".": r"[^\n\r]", "$": r"\Z"}
"""What the engine would read in another way."""


class PatternMatcher:
    """Matches texts for one evaluation, and knows how much time is left for it."""

    def __init__(self) -> None:
        self._left = SECONDS

    def fits(self, text: str, pattern: str, *, whole: bool) -> bool:
        """Whether the text, or without ``whole`` any part of it, fits. Nothing fits what is no pattern.

        Raises PathError for a pattern that is too large, and when those of an evaluation take too long together.
        """
        load(regex)  # whatever that takes is not counted
        found, began = False, time.thread_time()
        try:
            expression = _compiled(pattern)
            search = expression and (expression.fullmatch if whole else expression.search)
            found = bool(search and search(text, timeout=self._left))
        except TimeoutError:
            self._left = 0
        self._left -= time.thread_time() - began
        if self._left <= 0:
            raise PathError(
                "The patterns of this path take too long on these texts.",
                next_step="Write them in a simpler way, without repeats within repeats.",
                code="value.limit",
            )
        return found


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Any:
    """The pattern in the engine's words, or None if it is none."""
    if len(pattern) > MAX_LENGTH or too_many_repeats(pattern):
        raise PathError(f"The pattern {pattern[:40]!r}… is too large.", code="value.limit")
    words = _respelt(pattern)
    try:
        return None if words is None else regex.compile(words)
    except regex.error:
        return None


def _respelt(pattern: str) -> str | None:
    """The pattern as the engine has to read it; None if it is no I-Regexp. The engine sees whether groups close."""
    words, before, at = [], "", 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        kind = token.lastgroup if token else None
        if token is None or (kind == "count" and before not in ("atom", "close")):
            return None
        words.append(_RESPELT.get(token.group(), token.group()))
        before, at = str(kind), token.end()
    return "".join(words)
