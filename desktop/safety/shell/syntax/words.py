"""Words of a shell command: what bash would make of quotes, escapes and expansions, as far as reading can tell.

A word is *dynamic* when its text depends on something that only running shows: a variable, a substitution, a pattern.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from desktop.domain.loading.lazy_dataclass import dataclass

_SIMPLE_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
_ANSI_C = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_IN_QUOTES = re.compile(r'\\([\\"$`\n])')
_OUTSIDE = re.compile(r"\\(.)", re.DOTALL)
_GLOB = re.compile(r"(?<!\\)[*?\[]")
_BRACES = re.compile(r"(?<!\\)\{[^{}]*(?:,|\.\.)[^{}]*\}")
_KNOWN = re.compile(r"\$\{?(HOME|PWD)\}?$")
UNREAD = re.compile(r"(?<!\\)(?:`|\$\(|<\(|>\()")
SUM = re.compile(r"\$\(\(.*?\)\)|\$\[[^\]]*\]", re.DOTALL)
"""``$((x))`` and ``$[x]``."""
_OPENING = re.compile(r"(?<!\\)[$<>]\(")
_QUOTED_OR_BRACKET = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|[()]", re.DOTALL)
MAX_BRACES = 64


class Word(NamedTuple):
    """``text`` without quotes, expansions left as they are written. ``known`` is the text with HOME and PWD put in.
    ``dynamic``: its real text shows only when it runs; ``split``: it may become several words or none. A tuple, for a
    long command has hundreds."""

    text: str
    known: str
    dynamic: bool = False
    glob: bool = False
    unread: bool = False
    start: int = 0

    @property
    def split(self) -> bool:
        """Whether its text is not a literal at all."""
        return self.dynamic or self.glob

    @property
    def literal_start(self) -> str:
        """What is certain of its beginning."""
        found = re.search(r"[$`*?\[{<]", self.known)
        return self.known[: found.start()] if found else self.known


@dataclass(slots=True)
class _WordPart:
    text: str = ""
    known: str = ""
    dynamic: bool = False
    glob: bool = False
    unread: bool = False

    def add(self, text: str, known: str | None = None) -> None:
        self.text += text
        self.known += text if known is None else known


def word_of(node: Any, variables: Mapping[str, str]) -> Word:
    """A syntax node as a word. ``variables`` are HOME and PWD."""
    part = _WordPart()
    _collect(node, part, variables)
    is_home = part.known == "~" or part.known.startswith("~/")
    if is_home and not node_text(node).startswith(("'", '"', "\\")):
        part.known = variables["HOME"] + part.known[1:]
    return Word(part.text, part.known, part.dynamic, part.glob, part.unread, node.start_byte)


def _collect(node: Any, part: _WordPart, variables: Mapping[str, str]) -> None:
    kind, raw = node.type, node_text(node)
    if kind == "raw_string":
        part.add(raw[1:-1])
    elif kind == "ansi_c_string":
        part.add(ansi_c(raw[2:-1]))
    elif kind == "string":
        _collect_string(node, part, variables)
    elif kind in ("concatenation", "command_name", "translated_string"):
        _collect_pieces(node, part, variables)
    elif kind in ("simple_expansion", "expansion"):
        _collect_variable(raw, part, variables)
    elif kind in ("command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression", "array"):
        part.add(raw)
        part.dynamic = True
    elif kind == "variable_assignment":
        _collect_assignment(node, part, variables)
    else:
        _collect_plain(raw, part)


def _collect_plain(raw: str, part: _WordPart) -> None:
    """Collect text outside quotes."""
    part.glob = part.glob or _GLOB.search(raw) is not None
    part.dynamic = part.dynamic or _BRACES.search(raw) is not None
    if UNREAD.search(raw):
        part.unread = part.dynamic = True
    part.add(_OUTSIDE.sub(lambda m: "" if m[1] == "\n" else m[1], raw))


def _collect_pieces(node: Any, part: _WordPart, variables: Mapping[str, str]) -> None:
    before = len(part.text)
    for child, after in zip(node.children, [*node.children[1:], None], strict=True):
        if child.type == "$" and after is not None and after.type == "string":
            continue  # $"..." is a string to be translated
        _collect(child, part, variables)
    if _BRACES.search(part.text[before:]) or ("{" in part.text[before:] and "}" in part.text[before:]):
        part.dynamic = True


def _collect_string(node: Any, part: _WordPart, variables: Mapping[str, str]) -> None:
    """Collect a double-quoted string. The grammar drops some of the text between expansions, so it is cut from the
    source."""
    source: bytes = node.text
    position = source.index(b'"') + 1
    end = len(source) - (1 if source.endswith(b'"') and len(source) > position else 0)
    for child in node.children:
        if child.type in ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"):
            at = child.start_byte - node.start_byte
            _add_quoted(source[position:at], part)
            _collect(child, part, variables)
            position = child.end_byte - node.start_byte
    _add_quoted(source[position:end], part)


def _add_quoted(raw: bytes, part: _WordPart) -> None:
    text = raw.decode("utf-8", "replace")
    if re.search(r"(?<!\\)(?:`|\$\()", text):
        part.unread = part.dynamic = True
    part.add(_IN_QUOTES.sub(lambda m: "" if m[1] == "\n" else m[1], text))


def _collect_variable(raw: str, part: _WordPart, variables: Mapping[str, str]) -> None:
    part.dynamic = True
    if "@P}" in raw or UNREAD.search(raw[1:]) or joined_by_quotes(raw):
        part.unread = True
    found = _KNOWN.match(raw)
    part.add(raw, variables[found[1]] if found else None)


def _collect_assignment(node: Any, part: _WordPart, variables: Mapping[str, str]) -> None:
    for child in node.children:
        if child.is_named and child.type != "variable_name":
            _collect(child, part, variables)
        else:
            part.add(node_text(child))


def substitutions(text: str) -> list[str]:
    """The texts in backquotes, ``$( )`` and ``<( )``, found without the grammar. What is not closed goes to the end."""
    found = [unescaped(part) for part in re.findall(r"(?<!\\)`((?:\\.|[^`\\])*)(?:`|$)", text, re.DOTALL)]
    at = 0
    while match := _OPENING.search(text, at):
        end = _closing(text, match.end())
        found.append(text[match.end() : end])
        at = end
    return found


def unescaped(text: str) -> str:
    """What is left of escapes between backquotes."""
    return re.sub(r"\\([\\$`])", r"\1", text)


def _closing(text: str, at: int) -> int:
    """Where the parenthesis that opened before ``at`` closes."""
    depth = 1
    for match in _QUOTED_OR_BRACKET.finditer(text, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return len(text)


def joined_by_quotes(raw: str) -> bool:
    """Whether a substitution comes about only when quotes are taken away: ``$""(rm)``."""
    bare = re.sub(r"[\"'\\]", "", raw)
    return any(bare.count(mark) > raw.count(mark) for mark in ("$(", "<(", ">("))


def ansi_c(raw: str) -> str:
    """The text of ``$'...'``."""

    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "xuU" and len(code) > 1:
            number = int(code[1:], 16)
            return chr(number) if number <= 0x10FFFF else ""
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        if code[0] == "c" and len(code) > 1:
            return chr(ord(code[1]) & 0x1F)
        return _SIMPLE_ESCAPES.get(code, "\\" + code)

    return _ANSI_C.sub(one, raw)


def node_text(node: Any) -> str:
    """The text of the command that a node of the parser stands for."""
    raw: bytes = node.text
    return raw.decode("utf-8", "replace")


def literal(text: str, start: int = 0) -> Word:
    """A word that was built here, not read."""
    return Word(text, text, start=start)


def joined(words: Sequence[Word]) -> Word:
    """Words as the text that a shell would be given."""
    text = " ".join(word.text for word in words)
    return Word(text, text, dynamic=any(word.dynamic for word in words))


def braces(text: str) -> list[str]:
    """The words that ``{a,b}`` stands for, at most 64; ranges are left alone."""
    waiting: list[str] = [text]
    done: list[str] = []
    while waiting and len(done) + len(waiting) <= MAX_BRACES:
        current = waiting.pop()
        found = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if found is None:
            done.append(current)
            continue
        waiting += [current[: found.start()] + choice + current[found.end() :] for choice in found[1].split(",")]
    return done + waiting


def base_name(word: str) -> str:
    """The last part of a command word: ``/bin/rm`` is rm."""
    if os.sep == "/":
        if "/" not in word:
            return word
        return word.rstrip("/").rpartition("/")[2] or word
    return os.path.basename(word.rstrip("/")) or word
