"""Globs as git reads them in a ``.gitignore``, as expressions over the bytes of a path. Pure.

A glob without a slash is about names at any depth; one with a slash begins at its folder. ``**`` stands for folders.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from desktop.domain.loading.lazy_dataclass import dataclass

_CLASSES: dict[bytes, Callable[[int], bool]] = {
    b"alnum": lambda c: chr(c).isalnum() and c < 128,
    b"alpha": lambda c: chr(c).isalpha() and c < 128,
    b"blank": lambda c: c in b" \t",
    b"cntrl": lambda c: c < 32 or c == 127,
    b"digit": lambda c: c in b"0123456789",
    b"graph": lambda c: 32 < c < 127,
    b"lower": lambda c: 97 <= c <= 122,
    b"print": lambda c: 32 <= c < 127,
    b"punct": lambda c: 32 < c < 127 and not chr(c).isalnum(),
    b"space": lambda c: c in b" \t\n\r\v\f",
    b"upper": lambda c: 65 <= c <= 90,
    b"xdigit": lambda c: c in b"0123456789abcdefABCDEF",
}
MAX_BRACES = 200


@dataclass(frozen=True, slots=True)
class GlobLine:
    """One line of a ``.gitignore``, or one glob of a search."""

    expression: bytes
    """Matches the whole path from the glob's folder on."""
    negated: bool
    """It takes back what a line before it said."""
    folders_only: bool
    """It is about folders alone."""


def read_line(line: bytes) -> GlobLine | None:
    """A line of a ``.gitignore``; None for one that says nothing, or can never match."""
    text = _without_end(line)
    if not text or text.startswith(b"#"):
        return None
    negated = text.startswith(b"!")
    return read_glob(text[1:] if negated else text, negated=negated)


def read_glob(text: bytes, *, negated: bool = False) -> GlobLine | None:
    """A glob by itself."""
    folders_only = text.endswith(b"/")
    text = text.removesuffix(b"/")
    anchored = b"/" in text
    text = text.removeprefix(b"/")
    body = _translated(text) if text else None
    if body is None:
        return None
    return GlobLine(body if anchored else b"(?:.*/)?" + body, negated, folders_only)


def _without_end(line: bytes) -> bytes:
    """Without the line's end and the spaces before it, unless a backslash keeps them."""
    text = line.removesuffix(b"\n").removesuffix(b"\r")
    bare = text.rstrip(b" ")
    slashes = len(bare) - len(bare.rstrip(b"\\"))
    return bare + b" " if len(bare) < len(text) and slashes % 2 else bare


def braces(glob: str) -> list[str]:
    """``*.{ts,tsx}`` as the globs that it stands for; as it is where its braces are not in pairs, or are too many."""
    found, done = [glob], []
    while found:
        one = found.pop()
        start, end, commas = _brace(one)
        if not commas:
            done.append(one)
            continue
        cuts = [start, *commas, end]
        found += [one[:start] + one[a + 1 : b] + one[end + 1 :] for a, b in pairwise(cuts)]
        if len(found) + len(done) > MAX_BRACES:
            return [glob]
    return sorted(set(done))


def _brace(text: str) -> tuple[int, int, list[int]]:
    """The first pair of braces with a comma in it: where it begins and ends, and its commas; none where there is
    none."""
    commas: list[int] = []
    depth, start = 0, -1
    escaped = False
    for at, letter in enumerate(text):
        if escaped or letter == "\\":
            escaped = not escaped
        elif letter == "{":
            start, commas = (at, []) if depth == 0 else (start, commas)
            depth += 1
        elif letter == "," and depth == 1:
            commas.append(at)
        elif letter == "}" and depth:
            depth -= 1
            if depth == 0 and commas:
                return start, at, commas
    return -1, -1, []


def _translated(text: bytes) -> bytes | None:
    """The expression of a glob; None where git lets it match nothing."""
    out, at = b"", 0
    while at < len(text):
        one = text[at : at + 1]
        if one == b"*":
            piece, at = _stars(text, at)
        elif one == b"?":
            piece, at = b"[^/]", at + 1
        elif one == b"[":
            found = _class(text, at)
            if found is None:
                return None
            piece, at = found
        elif one == b"\\":
            if at + 1 == len(text):
                return None
            piece, at = _literal(text[at + 1]), at + 2
        else:
            piece, at = _literal(text[at]), at + 1
        out += piece
    return out


def _stars(text: bytes, at: int) -> tuple[bytes, int]:
    """Stars from a place on. Two of them are folders where nothing but slashes is beside them."""
    end = at
    while text[end : end + 1] == b"*":
        end += 1
    alone = end - at == 2 and text[at - 1 : at] in (b"", b"/") if at else end - at == 2
    if alone and text[end : end + 1] == b"/":
        return b"(?:.*/)?", end + 1
    if alone and end == len(text):
        return b".+" if at else b".*", end
    return b"[^/]*", end


def _class(text: bytes, at: int) -> tuple[bytes, int] | None:
    """``[a-z]`` from a place on, written out; None where it does not end."""
    at += 1
    negated = text[at : at + 1] in (b"!", b"^")
    at += negated
    members: set[int] = set()
    first, before = True, -1
    while first or text[at : at + 1] != b"]":
        first = False
        if at >= len(text):
            return None
        if text[at : at + 2] == b"[:" and (end := text.find(b":]", at + 2)) >= 0:
            named = _CLASSES.get(text[at + 2 : end])
            if named is None:
                return None
            members.update(filter(named, range(256)))
            at, before = end + 2, -1
            continue
        is_range = text[at : at + 1] == b"-" and before >= 0 and text[at + 1 : at + 2] not in (b"]", b"")
        at += is_range
        if text[at : at + 1] == b"\\":
            at += 1
            if at >= len(text):
                return None
        code = text[at]
        members.update(range(before, code + 1) if is_range else (code,))
        before = -1 if is_range else code
        at += 1
    if negated:
        members = set(range(256)) - members
    members.discard(0x2F)
    if not members:
        return None
    return b"[" + b"".join(b"\\x%02x" % code for code in sorted(members)) + b"]", at + 1


def _literal(code: int) -> bytes:
    return b"\\x%02x" % code
