"""What a glob is made of: characters to tokens, braces to alternatives (Q-4).

``alternatives`` turns a glob into brace-free ones, as shells do. A glob that would become too many or too long, and
one that says something unsupported in a way that could be misread, is a ``PatternError`` that names the column.
"""

from __future__ import annotations

import re

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass

MAX_GLOB = 2_048
MAX_ALTERNATIVES = 1_000
MAX_EXPANDED = 65_536
"""Characters of all alternatives together."""
MAX_DEPTH = 16
MAX_RANGES = 16


class PatternError(ConfigurationError):
    """A pattern is malformed. ``column`` counts characters from 1 in the text that was given (R-PAT-14)."""

    code = "pattern.malformed"

    def __init__(self, message: str, column: int) -> None:
        super().__init__(f"{message} (column {column})")
        self.problem = message
        self.column = column

    def moved(self, columns: int) -> PatternError:
        """The same error in a text that starts ``columns`` characters earlier."""
        return PatternError(self.problem, self.column + columns)


@dataclass(frozen=True, slots=True)
class Wild:
    """Something in a glob that is no literal. ``regex`` fits one character; empty: a run of ``*``, ``stars`` long."""

    regex: str = ""
    stars: int = 0


ANY = Wild("[^/]")
STAR = Wild(stars=1)
Token = str | Wild
Alternative = list[Token]

_CLASSES = re.compile(r"\\.|\[[!^]?+\]?+(?:\\.|[^\]\\])*+\]|\*+|[^\\\[*?{},]+|.", re.DOTALL)
_NO_CLASSES = re.compile(r"\\.|\*+|[^\\\[*?{},]+|.", re.DOTALL)
_NUMBERS = re.compile(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})")
_LETTERS = re.compile(r"([^/.])\.\.([^/.])", re.DOTALL)


@dataclass(slots=True)
class _Choice:
    options: list[list[Token | _Choice]]


Node = Token | _Choice


@dataclass(slots=True)
class _OpenBrace:
    """A brace that is not closed yet; ``options`` is what stands between its commas so far."""

    column: int
    options: list[list[Node]]


def alternatives(text: str) -> list[Alternative]:
    """The brace-free globs that ``text`` stands for, in order. Raises PatternError."""
    nodes = _tree(text)
    _measured(text, nodes)
    return _expanded(nodes)


def expanded_size(text: str) -> int:
    """How many characters the alternatives have together, without making them. Raises PatternError."""
    return _measured(text, _tree(text))


def _measured(text: str, nodes: list[Node]) -> int:
    count, size = _size(nodes)
    if count > MAX_ALTERNATIVES or size > MAX_EXPANDED:
        raise PatternError("Its braces stand for too many patterns", text.index("{") + 1)
    return size


def check_text(text: str) -> None:
    """Raise PatternError for a glob that is not worth reading."""
    if len(text) > MAX_GLOB:
        raise PatternError(f"A pattern may be {MAX_GLOB:,} characters long, not {len(text):,}", MAX_GLOB + 1)
    if "\0" in text:
        raise PatternError("A pattern cannot contain a null character", text.index("\0") + 1)
    if text.count("..") > MAX_RANGES and "{" in text:
        raise PatternError(f"A pattern may hold {MAX_RANGES} ranges", text.index("{") + 1)


def _tree(text: str) -> list[Node]:
    """Tokens with their braces nested. A brace without partner, or around neither a list nor a range, is literal."""
    check_text(text)
    root = _OpenBrace(0, [[]])
    stack = [root]
    rule, at = _CLASSES, 0
    while at < len(text):
        found = rule.match(text, at)
        assert found is not None
        part = found[0]
        if part == "[":  # no class closes after here
            rule = _NO_CLASSES
        _take(part, at + 1, stack)
        at = found.end()
    while len(stack) > 1:
        opened = stack.pop()
        stack[-1].options[-1] += _literally(opened.options)
    return root.options[0]


def _take(part: str, column: int, stack: list[_OpenBrace]) -> None:
    current = stack[-1].options
    if part == "{":
        if len(stack) > MAX_DEPTH:
            raise PatternError(f"Braces are nested more than {MAX_DEPTH} deep", column)
        stack.append(_OpenBrace(column, [[]]))
    elif part == "," and len(stack) > 1:
        current.append([])
    elif part == "}" and len(stack) > 1:
        stack.pop()
        stack[-1].options[-1] += _closed(current, column)
    else:
        current[-1].append(_token(part, column))


def _token(part: str, column: int) -> Token:
    if part[0] == "*":
        return Wild(stars=len(part))
    if part == "?":
        return ANY
    if part[0] == "\\" and len(part) == 2:
        return part[1]
    if part[0] == "[" and len(part) > 1:
        return Wild(_class(part[1:-1], column))
    return part


def _closed(options: list[list[Node]], column: int) -> list[Node]:
    if len(options) > 1:
        return [_Choice(options)]
    inside = options[0]
    if len(inside) == 1 and isinstance(inside[0], str) and ".." in inside[0]:
        made = _range(inside[0], column)
        if made is not None:
            return [_Choice([[item] for item in made])]
    return [*_literally(options), "}"]


def _literally(options: list[list[Node]]) -> list[Node]:
    nodes: list[Node] = []
    for option in options:
        nodes += ["," if nodes else "{", *option]
    return nodes


def _range(text: str, column: int) -> list[str] | None:
    """``1..12`` and ``01..12`` count, ``a..e`` runs through letters, in either direction; else it is no range."""
    numbers, letters = _NUMBERS.fullmatch(text), _LETTERS.fullmatch(text)
    found = numbers or letters
    if found is None:
        return None
    low, high = sorted(map(int if numbers else ord, found.groups()))
    if high - low >= MAX_ALTERNATIVES:
        raise PatternError(f"The range {text} stands for more than {MAX_ALTERNATIVES:,} patterns", column)
    if letters and not numbers:
        return [chr(code) for code in range(low, high + 1) if chr(code) != "/"]
    padded = any(re.match("-?0[0-9]", end) for end in found.groups())
    width = max(map(len, found.groups())) if padded else 0
    return [f"{number:0{width}}" for number in range(low, high + 1)]


def _class(body: str, column: int) -> str:
    """A regular expression for one character of ``[body]``; never a slash."""
    if re.search(r"\[[:.=]", body):
        raise PatternError("Named classes such as [:alpha:] are not supported; write [a-z]", column)
    negated = body[0] in "!^"
    letters = re.findall(r"\\.|.", body[1:] if negated else body, re.DOTALL)
    parts, slash, at = [], False, 0
    while at < len(letters):
        low = high = letters[at][-1]
        if at + 2 < len(letters) and letters[at + 1] == "-":
            high = letters[at + 2][-1]
            at += 2
        at += 1
        if low > high:
            raise PatternError(f"The range {low}-{high} runs backwards", column)
        slash = slash or low <= "/" <= high
        parts.append(re.escape(low) if low == high else f"{re.escape(low)}-{re.escape(high)}")
    inside = "".join(parts)
    if negated:
        return f"[^/{inside}]"
    return f"(?!/)[{inside}]" if slash else f"[{inside}]"


def _size(nodes: list[Node]) -> tuple[int, int]:
    """How many alternatives there are, and of how many characters all together, without making them."""
    count, size = 1, 0
    for node in nodes:
        if isinstance(node, _Choice):
            inner = [_size(option) for option in node.options]
            options, characters = sum(each[0] for each in inner), sum(each[1] for each in inner)
        else:
            options, characters = 1, len(node) if isinstance(node, str) else 1
        count, size = count * options, size * options + characters * count
    return count, size


def _expanded(nodes: list[Node]) -> list[Alternative]:
    made: list[Alternative] = [[]]
    for node in nodes:
        if isinstance(node, _Choice):
            options = [each for option in node.options for each in _expanded(option)]
            made = [head + tail for head in made for tail in options]
        else:
            for alternative in made:
                alternative.append(node)
    return made
