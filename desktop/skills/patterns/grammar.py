"""The grammar of pattern lists: text to records, with every mistake at its column (R-PAT-14).

    pattern-list = [ pattern *( WS pattern ) ]
    pattern      = selector [ "(" spec *( "," spec ) ")" ]
    selector     = "#" tag | glob
    spec         = "$deny" | "$policy=" ( "allow" | "ask" | "deny" ) | name "=" glob

Whitespace inside ``()`` and ``{}`` does not split, a comma inside ``{}`` separates no specs, ``\\`` takes the next
character as it is. A brace without its partner is literal and protects nothing. This is the only entry for pattern
lists; path expressions and the ``$`` keys of ``invoke`` are other languages (C-5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from desktop.skills.names import normal_tags
from desktop.skills.patterns.globs import compile_glob
from desktop.skills.patterns.syntax import MAX_ALTERNATIVES, MAX_GLOB, PatternError, check_text, expanded_size

Policy = Literal["allow", "ask", "deny"]
POLICIES: dict[str, Policy] = {"allow": "allow", "ask": "ask", "deny": "deny"}
MAX_LIST = 500_000
MAX_PATTERNS = 20_000
MAX_SPECS = 32
MAX_EXPANDED_LIST = 400_000
"""Characters of everything that the braces of one list stand for: making it ready takes 1 us each."""
LARGE = 1_000
"""A glob that stands for more characters than this may be too much (each becomes up to 14 of a regular expression), so
it is compiled when it is read; all others are compiled when they are needed, and cannot fail then."""

_SIMPLE = re.compile(r"[^\s(){}\\,\[\]#\0][^\s(){}\\,\[\]\0]*+(?!\S)")
_BLANK = re.compile(r"\s*")
_STOP = re.compile(r"[\s(){}\\,]")
_BRACES = re.compile(r"\\.|[(){}]", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w-]*(?:\.[\w-]+|\[[0-9]+\])*")


class Selector(NamedTuple):
    """The tools that a pattern is about: a normalised ``tag`` (R-PAT-15), or a ``glob`` as it was written."""

    kind: Literal["tag", "glob"]
    text: str


class Constraint(NamedTuple):
    """``name`` is an argument or a dotted path into the arguments, ``glob`` what its value must fit (R-PAT-4)."""

    name: str
    glob: str
    column: int


class Meta(NamedTuple):
    """A directive: ``$policy=...``, or ``$deny``, which is short for ``$policy=deny`` (Q-5)."""

    policy: Policy
    column: int


class Pattern(NamedTuple):
    """One pattern of a list. ``text`` is as written, ``column`` where it begins, from 1."""

    selector: Selector
    text: str
    column: int
    constraints: tuple[Constraint, ...] = ()
    metas: tuple[Meta, ...] = ()

    @property
    def policy(self) -> Policy | None:
        """What the pattern says about trust (allow, ask or deny), or None."""
        return self.metas[0].policy if self.metas else None

    @property
    def denies(self) -> bool:
        return self.policy == "deny"


class PatternList(NamedTuple):
    """A parsed list of patterns. ``text`` is what the columns count in: a list of texts is joined with single
    spaces."""

    patterns: tuple[Pattern, ...]
    text: str


def parse_patterns(text: str | Sequence[str]) -> PatternList:
    """Parse a list of patterns. Raises PatternError with the column of the first mistake."""
    whole = text if isinstance(text, str) else _joined(text)
    if len(whole) > MAX_LIST:
        raise PatternError(f"A pattern list may be {MAX_LIST:,} characters long, not {len(whole):,}", MAX_LIST + 1)
    found: list[Pattern] = []
    for pattern in _PatternReader(whole).patterns():
        if len(found) == MAX_PATTERNS:
            raise PatternError(f"A list may hold {MAX_PATTERNS:,} patterns", pattern.column)
        found.append(pattern)
    return PatternList(tuple(found), whole)


def parse_pattern(text: str) -> Pattern:
    """Read exactly one pattern. Raises PatternError."""
    found = parse_patterns(text).patterns
    if len(found) != 1:
        raise PatternError("There is no pattern" if not found else "One pattern was expected", 1)
    return found[0]


def _joined(texts: Sequence[str]) -> str:
    at = 1
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise PatternError(f"Entry {number} of the list is no text", at)
        at += len(text) + 1
    return " ".join(texts)


class _PatternReader:
    """Walks once over the text, from one special character to the next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closing = _partners(text) if "{" in text else {}
        self._size = 0

    def patterns(self) -> Iterator[Pattern]:
        text, at = self._text, 0
        while True:
            at = self._blank(at)
            if at == len(text):
                return
            simple = _SIMPLE.match(text, at)
            if simple is None:
                pattern, at = self._pattern(at)
            else:
                if simple.end() - at > MAX_GLOB:
                    raise PatternError("A pattern is too long", at + 1)
                pattern = Pattern(Selector("glob", simple[0]), simple[0], at + 1)
                at = simple.end()
            yield pattern

    def _blank(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found else at

    def _next(self, at: int) -> tuple[str, int]:
        """The next special character that counts, and where; an empty text at the end."""
        while (found := _STOP.search(self._text, at)) is not None:
            if found[0] == "\\":
                at = found.end() + 1
            elif found[0] == "{":
                at = self._closing.get(found.start(), found.start()) + 1
            elif found[0] == "}":
                at = found.end()
            else:
                return found[0], found.start()
        return "", len(self._text)

    def _pattern(self, start: int) -> tuple[Pattern, int]:
        stop, at = self._next(start)
        if stop == ")":
            raise PatternError("A parenthesis is closed that was never opened", at + 1)
        if stop == ",":
            raise PatternError("Patterns are separated by spaces, not by commas", at + 1)
        selector = self._selector(start, at)
        if stop != "(":
            return Pattern(selector, self._text[start:at], start + 1), at
        constraints, metas, end = self._specs(at)
        if self._text[end : end + 1].strip():
            raise PatternError("A space is missing between two patterns", end + 1)
        return Pattern(selector, self._text[start:end], start + 1, constraints, metas), end

    def _specs(self, opened: int) -> tuple[tuple[Constraint, ...], tuple[Meta, ...], int]:
        constraints: list[Constraint] = []
        metas: list[Meta] = []
        for start, end in (parts := list(self._parts(opened))):
            found = self._spec(start, end)
            if isinstance(found, Meta):
                metas.append(found)
            else:
                constraints.append(found)
        if len(parts) > MAX_SPECS:
            raise PatternError(f"A pattern may have {MAX_SPECS} specifiers", parts[MAX_SPECS][0] + 1)
        if len(metas) > 1:
            raise PatternError("A pattern has one directive", metas[1].column)
        return tuple(constraints), tuple(metas), parts[-1][1] + 1

    def _parts(self, opened: int) -> Iterator[tuple[int, int]]:
        """Where each spec starts and ends; parentheses inside a value must be balanced."""
        start, at, depth = opened + 1, opened + 1, 0
        while True:
            stop, at = self._next(at)
            if not stop:
                raise PatternError("A parenthesis is opened and never closed", opened + 1)
            if stop == "(":
                depth += 1
            elif stop in ",)" and depth == 0:
                yield start, at
                if stop == ")":
                    return
                start = at + 1
            elif stop == ")":
                depth -= 1
            at += 1

    def _selector(self, start: int, end: int) -> Selector:
        text = self._text[start:end]
        if not text:
            raise PatternError("A pattern begins with a name or a tag, not with a parenthesis", start + 1)
        if not text.startswith("#"):
            self._check(text, start)
            return Selector("glob", text)
        tags = normal_tags([text])
        if not tags or re.search(r"[*?\[{\\]", text):
            raise PatternError("After # comes a tag of letters and digits, without wildcards", start + 1)
        return Selector("tag", tags[0])

    def _spec(self, start: int, end: int) -> Constraint | Meta:
        part = self._text[start:end]
        text = part.strip()
        start += len(part) - len(part.lstrip())
        if not text:
            raise PatternError("A specifier is empty", start + 1)
        if text.startswith("$"):
            return _meta(text, start)
        name, equals, value = text.partition("=")
        if not equals:
            raise PatternError(f"A specifier is written name=value, not {text[:40]!r}", start + 1)
        if not _NAME.fullmatch(name.rstrip()):
            raise PatternError(f"{name[:40]!r} is no name of an argument", start + 1)
        at = start + len(name) + 1 + len(value) - len(value.lstrip())
        if not value.strip():
            raise PatternError(f"The specifier {name.strip()[:40]} has no value", at + 1)
        self._check(value.strip(), at)
        return Constraint(name.rstrip(), value.strip(), start + 1)

    def _check(self, glob: str, start: int) -> None:
        """Raise PatternError for a glob that cannot be compiled, or one too many of those that stand for many."""
        try:
            size = _expanded_size(glob)
            if max(size, len(glob)) > LARGE:
                compile_glob(glob)
        except PatternError as error:
            raise error.moved(start) from None
        self._size += size
        if self._size > MAX_EXPANDED_LIST:
            raise PatternError("Up to here the braces of the list stand for too many patterns", start + 1)


def _expanded_size(glob: str) -> int:
    """``expanded_size``, estimated where that does; 0 for a glob without braces and classes."""
    check_text(glob)
    if "[" not in glob and "{" not in glob:
        return 0
    if "[" in glob or ".." in glob or glob.count("{") > 1:
        return expanded_size(glob)
    size = (glob.count(",") + 1) * len(glob)
    return size if size < MAX_ALTERNATIVES else expanded_size(glob)


def _partners(text: str) -> dict[int, int]:
    """Where each opening brace is closed; a pair lies on one side of every parenthesis."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for found in _BRACES.finditer(text):
        mark = found[0]
        if mark == "{":
            opened.append(found.start())
        elif mark == "(":
            opened.append(-1)
        elif mark == "}" and opened and opened[-1] >= 0:
            closing[opened.pop()] = found.start()
        elif mark == ")":
            while opened and opened.pop() >= 0:
                pass
    return closing


def _meta(text: str, start: int) -> Meta:
    name, equals, value = (part.strip() for part in text.partition("="))
    policy = POLICIES.get(value)
    if name == "$deny" and not equals:
        return Meta("deny", start + 1)
    if name == "$policy" and policy is not None:
        return Meta(policy, start + 1)
    if name == "$deny":
        raise PatternError("$deny takes no value", start + 1)
    if name == "$policy":
        raise PatternError("$policy is allow, ask or deny", start + 1)
    raise PatternError(f"There is no directive {name[:40]}; there are $deny and $policy", start + 1)
