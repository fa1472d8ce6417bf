"""Globs: one text against one pattern, anchored and case-sensitive (Q-4, R-PAT-3).

``*`` and ``?`` stay within one folder and never take a leading dot, ``**`` as a whole folder name goes through any
number of folders, ``[abc]`` is one of, ``[^x]`` and ``[!x]`` none of, ``{a,b}`` either, ``\\`` takes the next
character literally. Nothing else is special: ``!``, ``+(a)``, ``@(a)`` are what they look like. No glob fits the empty
text, and no wildcard fits ``.`` or ``..``.

It agrees with picomatch 4 but for the differences that tests/unit/skills/patterns/picomatch.json lists and explains.
Matching takes time in proportion to text times pattern: what is made here never tries one place twice, because
everything a star skips ends at the first place where the rest up to the next star fits.
"""

from __future__ import annotations

import re
from functools import lru_cache

from desktop.skills.patterns.syntax import STAR, Alternative, PatternError, Token, Wild, alternatives

EXACT, WITH_LITERALS, TAG, BARE = 3, 2, 1, 0
MAX_WILD = 16_384
"""How many characters the regular expression of one glob may take: its compilation takes 1 us each."""

_LITERAL = re.compile(r"[^*?\[{\\\0]{1,2048}")
_ONE_STAR = re.compile(r"([^*?\[{\\\0/]{0,1000})\*([^*?\[{\\\0/]{0,1000})")
_SPECIAL = re.compile(r"[*?\[\]{},\\]")
_WORD = re.compile(r"[^\W_]")
_FOLDERS = r"(?:(?!\.)[^/]*+/)*?"
_MORE = r"/(?!\.)[^/]*+"
_ENDS = r"(?![^/])"


class Glob:
    """A compiled glob. ``literal`` is the one text it fits when it ``is_literal``, else empty.

    ``specificity``: 3 exact, 2 a glob with a letter or digit in each alternative, 0 without (R-PAT-9); 1 is for tags.
    ``cost`` is the length of its regular expression, 0 when it needs none.
    """

    __slots__ = ("_chunks", "_exact", "_regex", "_source", "is_literal", "literal", "specificity", "text")

    def __init__(self, text: str, made: list[Alternative]) -> None:
        wild = [found for found in made if any(isinstance(token, Wild) for token in found)]
        literals = {_joined(found) for found in made if found not in wild} if len(wild) < len(made) else set()
        self.text = text
        self.is_literal = len(made) == 1 and not wild
        self.literal = next(iter(literals)) if self.is_literal else ""
        self.specificity = _specificity(made, self.is_literal)
        self._exact = frozenset(literals | {text}) - {""}
        self._chunks = _chunks(wild[0]) if len(wild) == 1 else None
        self._source = "" if self._chunks else "|".join(map(_alternative, wild))
        self._regex: re.Pattern[str] | None = None

    def __repr__(self) -> str:
        return f"Glob({self.text!r})"

    @property
    def cost(self) -> int:
        return len(self._source)

    def matches(self, text: str) -> bool:
        """Whether it fits the whole text. Never raises."""
        if text in self._exact:
            return True
        if self._chunks is not None:
            return _fits(self._chunks, text)
        if self._source:
            if self._regex is None:
                self._regex = re.compile(self._source)
            return bool(text) and self._regex.fullmatch(text) is not None
        return False


@lru_cache(maxsize=4096)
def compile_glob(text: str) -> Glob:
    """A glob from its text. Raises PatternError for what is too large or cannot be meant."""
    if _LITERAL.fullmatch(text):
        return Glob(text, [[text]])
    simple = _ONE_STAR.fullmatch(text)
    if simple is not None:
        return Glob(text, [[part for part in (simple[1], STAR, simple[2]) if part]])
    glob = Glob(text, alternatives(text))
    if glob.cost > MAX_WILD:
        raise PatternError("It stands for too many patterns with wildcards", 1)
    return glob


def escape_glob(text: str) -> str:
    """A glob that fits exactly ``text``."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def segments(tokens: Alternative) -> list[Alternative]:
    """What stands between the slashes."""
    found: list[Alternative] = [[]]
    for token in tokens:
        if isinstance(token, Wild):
            found[-1].append(token)
            continue
        first, *others = token.split("/")
        if first:
            found[-1].append(first)
        found += [[other] if other else [] for other in others]
    return found


def is_globstar(segment: Alternative) -> bool:
    """``**`` as a whole folder name."""
    return len(segment) == 1 and isinstance(segment[0], Wild) and segment[0].stars == 2


def _joined(tokens: Alternative) -> str:
    return "".join(token for token in tokens if isinstance(token, str))


def _specificity(made: list[Alternative], literal: bool) -> int:
    if literal:
        return EXACT
    return WITH_LITERALS if all(_WORD.search(_joined(found)) for found in made) else BARE


# -- stars between literals, without a regular expression --------------------------------------------------------------


def _chunks(tokens: Alternative) -> tuple[str, ...] | None:
    """The literals around the stars, or None when the glob has more than stars in one folder name."""
    chunks = [""]
    for token in tokens:
        if isinstance(token, str):
            if "/" in token:
                return None
            chunks[-1] += token
        elif not token.stars or (token.stars == 2 and len(tokens) == 1):
            return None
        elif chunks[-1] or len(chunks) == 1:
            chunks.append("")
    return tuple(chunks)


def _fits(chunks: tuple[str, ...], text: str) -> bool:
    first, last = chunks[0], chunks[-1]
    if not text.startswith(first) or not text.endswith(last) or "/" in text or not text:
        return False
    if text[0] == "." and (not first or text in {".", ".."}):
        return False
    at, end = len(first), len(text) - len(last)
    for chunk in chunks[1:-1]:
        found = text.find(chunk, at, end)
        if found < 0:
            return False
        at = found + len(chunk)
    return at <= end


# -- everything else ---------------------------------------------------------------------------------------------------


def _alternative(tokens: Alternative) -> str:
    """A regular expression for the whole text.

    Each stretch between two ``**`` takes the first place where it fits: a later one could only be reached through
    folders that the next ``**`` can go through as well, because a pattern decides for each name whether it may begin
    with a dot.
    """
    groups = _groups(segments(tokens))
    first, *others = groups
    source, slash = _folders(first), "/" if first else ""
    if not others:
        return source
    for group in others[:-1]:
        source += f"{slash}(?>{_FOLDERS}{_folders(group)}{_ENDS})"
        slash = "/"
    if others[-1]:
        return source + slash + _FOLDERS + _folders(others[-1])
    return source + _below(groups[-2])


def _below(group: list[Alternative]) -> str:
    """For a ``**`` at the end: everything below ``group``, and itself too unless it ends in a star (as picomatch)."""
    if not group:
        return rf"(?!\.)[^/]*+(?:{_MORE})*+"
    before = group[-1][-1] if group[-1] else ""
    return f"(?:{_MORE}){'++' if isinstance(before, Wild) and before.stars else '*+'}"


def _groups(found: list[Alternative]) -> list[list[Alternative]]:
    """The stretches between ``**``; several of them in a row are one. Empty at an end: begins or ends with ``**``."""
    groups: list[list[Alternative]] = [[]]
    for segment in found:
        if not is_globstar(segment):
            groups[-1].append(segment)
        elif groups[-1] or len(groups) == 1:
            groups.append([])
    return groups


def _folders(group: list[Alternative]) -> str:
    return "/".join(map(_segment, group))


def _segment(tokens: Alternative) -> str:
    """A regular expression for one name between slashes."""
    if not tokens:
        return ""
    chunks: list[str] = [""]
    for token in tokens:
        if isinstance(token, Wild) and token.stars:
            chunks.append("")
        else:
            chunks[-1] += _one(token)
    guard = _guard(tokens)
    if len(chunks) == 1:
        return guard + chunks[0]
    if not any(chunks):
        return rf"{guard}[^/]++"
    middle = "".join(f"(?>[^/]*?{chunk})" for chunk in chunks[1:-1] if chunk)
    tail = f"(?>[^/]*{chunks[-1]}{_ENDS})" if chunks[-1] else "[^/]*+"
    return guard + chunks[0] + middle + tail


def _one(token: Token) -> str:
    return token.regex if isinstance(token, Wild) else re.escape(token)


def _guard(tokens: Alternative) -> str:
    """Wildcards take no leading dot, and a name with wildcards is never ``.`` or ``..``."""
    first = tokens[0]
    if isinstance(first, Wild):
        return r"(?!\.)"
    if first.startswith(".") and any(isinstance(token, Wild) for token in tokens):
        return r"(?!\.\.?(?![^/]))"
    return ""
