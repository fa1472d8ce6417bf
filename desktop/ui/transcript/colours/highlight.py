"""Colours of code while it is written: one compiled regular expression per language, and what stays open at the end of
a part. Finished code has those of ``finished.py``.

``highlight`` gives (start, end, token) with the tokens code-keyword, code-string, code-number, code-comment, code-name
and diff-*; a language that is not known gives nothing. Linear patterns only: code is untrusted text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from desktop.domain.loading.lazy_dataclass import dataclass

Span = tuple[int, int, str]

TOKENS = {"c": "code-comment", "s": "code-string", "k": "code-keyword", "n": "code-number", "d": "code-name"}
_NUMBER = r"(?<![\w.])(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)[a-zA-Z%]{0,4}\b"
_DOUBLE = r'"(?:[^"\\\n]|\\.)*"?'
_SINGLE = r"'(?:[^'\\\n]|\\.)*'?"
_BACKTICK = r"`(?:[^`\\]|\\.)*(?:`|\Z)"
_BLOCK = r"/\*(?:.|\n)*?(?:\*/|\Z)"


@dataclass(frozen=True)
class Language:
    """``comment`` and ``string`` are patterns; ``words`` keywords; ``define`` words after which a name is a name."""

    comment: str
    string: str
    words: str
    define: str = ""
    extra: str = ""
    flags: int = 0


def _words(text: str) -> str:
    return "|".join(text.split())


_C_LIKE = rf"//[^\n]*|{_BLOCK}"
_PY_STRINGS = (
    r'[rRbBuUfF]{0,2}(?:"""(?:[^\\]|\\.)*?(?:"""|\Z)|' + r"'''(?:[^\\]|\\.)*?(?:'''|\Z)|" + f"{_DOUBLE}|{_SINGLE})"
)

LANGUAGES: dict[str, Language] = {
    "python": Language(
        r"\#[^\n]*",
        _PY_STRINGS,
        "and as assert async await break case class continue def del elif else except finally for from global if import"
        " in is lambda match nonlocal not or pass raise return try while with yield True False None",
        "def class",
        r"(?P<d2>@[\w.]+)",
    ),
    "javascript": Language(
        _C_LIKE,
        f"{_DOUBLE}|{_SINGLE}|{_BACKTICK}",
        "abstract any as async await boolean break case catch class const continue debugger declare default delete do"
        " else enum export extends false finally for from function get if implements import in instanceof interface"
        " keyof let namespace new null number of private protected public readonly return set static string super"
        " switch this throw true try type typeof undefined unknown var void while with yield",
        "function class interface type enum",
    ),
    "bash": Language(
        r"(?<![\w$&])\#[^\n]*",
        r'"(?:[^"\\]|\\.)*"?|\'[^\']*\'?',
        "if then else elif fi for while until do done case esac in function return local export readonly set unset"
        " source exit break continue shift trap eval exec",
        "function",
        r"(?P<d2>\$\{?[\w@#?*!-]+\}?)",
    ),
    "json": Language(r"//[^\n]*", _DOUBLE, "true false null", "", r'(?P<d2>"(?:[^"\\\n]|\\.)*"(?=\s*:))'),
    "yaml": Language(
        r"(?<!\S)\#[^\n]*",
        f"{_DOUBLE}|{_SINGLE}",
        "true false null yes no on off",
        "",
        r"(?P<d2>(?m:^[ \t]*(?:-[ \t]+)?[\w./-]+)(?=:(?:\s|$)))",
    ),
    "sql": Language(
        rf"--[^\n]*|{_BLOCK}",
        f"{_DOUBLE}|{_SINGLE}",
        "add all alter and any as asc begin between by case cast check column commit constraint create cross default"
        " delete desc distinct drop else end exists foreign from full group having if in index inner insert into is"
        " join key left like limit not null offset on or order outer primary references replace returning right"
        " rollback select set table then transaction true false union unique update using values view when where with"
        " int integer text real blob varchar boolean date timestamp",
        "",
        "",
        re.IGNORECASE,
    ),
    "rust": Language(
        _C_LIKE,
        rf"b?{_DOUBLE}|b?'(?:[^'\\\n]|\\.)'",
        "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move"
        " mut pub ref return self Self static struct super trait true type unsafe use where while i8 i16 i32 i64 i128"
        " u8 u16 u32 u64 u128 usize isize f32 f64 bool char str String Vec Option Result",
        "fn struct enum trait mod type",
        r"(?P<d2>\b\w+!)",
    ),
    "go": Language(
        _C_LIKE,
        f"{_DOUBLE}|{_SINGLE}|{_BACKTICK}",
        "break case chan const continue default defer else fallthrough for func go goto if import interface map package"
        " range return select struct switch type var nil true false string int int64 bool byte error float64 rune",
        "func type",
    ),
    "c": Language(
        _C_LIKE,
        f"{_DOUBLE}|{_SINGLE}",
        "alignas auto bool break case catch char class const constexpr continue default delete do double else enum"
        " explicit extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr"
        " operator override private protected public register return short signed sizeof static struct switch template"
        " this throw true try typedef typename union unsigned using virtual void volatile while NULL",
        "class struct enum namespace",
        r"(?P<k2>(?m:^[ \t]*\#[ \t]*\w+))",
    ),
    "java": Language(
        _C_LIKE,
        rf'"""(?:[^\\]|\\.)*?(?:"""|\Z)|{_DOUBLE}|{_SINGLE}',
        "abstract assert boolean break byte case catch char class const continue default do double else enum extends"
        " false final finally float for fun if implements import instanceof int interface long native new null package"
        " private protected public record return short static super switch synchronized this throw throws transient"
        " true try val var void volatile when while yield",
        "class interface enum record fun",
        r"(?P<d2>@\w+)",
    ),
    "html": Language(
        r"<!--(?:.|\n)*?(?:-->|\Z)",
        f"{_DOUBLE}|{_SINGLE}",
        "",
        "",
        r"(?P<k2></?[A-Za-z][\w:-]*|/?>)|(?P<d2>\b[\w:-]+(?==))",
    ),
    "css": Language(
        _BLOCK,
        f"{_DOUBLE}|{_SINGLE}",
        "important and not only from to",
        "",
        r"(?P<k2>@[\w-]+)|(?P<d2>(?<![\w-])[\w-]+(?=\s{0,9}:))",
    ),
    "toml": Language(
        r"\#[^\n]*",
        rf'"""(?:[^\\]|\\.)*?(?:"""|\Z)|{_DOUBLE}|{_SINGLE}',
        "true false",
        "",
        r"(?P<k2>(?m:^[ \t]*\[\[?[^\]\n]*\]\]?))|(?P<d2>(?m:^[ \t]*[\w.\"-]+)(?=[ \t]*=))",
    ),
}
ALIASES = {
    "py": "python",
    "python3": "python",
    "js": "javascript",
    "ts": "javascript",
    "typescript": "javascript",
    "jsx": "javascript",
    "tsx": "javascript",
    "node": "javascript",
    "sh": "bash",
    "shell": "bash",
    "zsh": "bash",
    "console": "bash",
    "yml": "yaml",
    "rs": "rust",
    "golang": "go",
    "cpp": "c",
    "c++": "c",
    "h": "c",
    "hpp": "c",
    "cc": "c",
    "csharp": "java",
    "cs": "java",
    "kotlin": "java",
    "kt": "java",
    "xml": "html",
    "svg": "html",
    "vue": "html",
    "scss": "css",
    "less": "css",
    "patch": "diff",
    "jsonc": "json",
    "json5": "json",
    "ini": "toml",
    "sqlite": "sql",
    "postgresql": "sql",
    "mysql": "sql",
}
_RESUME = {"/*": "*/", '"""': '"""', "'''": "'''", "`": "`", "<!--": "-->"}
"""What may stay open over the end of a part, and what closes it."""


def fence_name(info: str) -> str:
    """The language that a fence names, as it is written."""
    words = info.split(None, 1)
    return words[0].strip("{}.") if words else ""


def language_of(info: str) -> str:
    """The language that a fence names; "" when it is none of those here."""
    name = fence_name(info).casefold()
    name = ALIASES.get(name, name)
    return name if name in LANGUAGES or name == "diff" else ""


@lru_cache(maxsize=32)
def _pattern(name: str) -> re.Pattern[str]:
    spec = LANGUAGES[name]
    parts = [f"(?P<c>{spec.comment})"]
    if spec.extra:
        parts.append(spec.extra)
    parts += [f"(?P<s>{spec.string})"]
    if spec.define:
        parts.append(rf"(?P<k3>\b(?:{_words(spec.define)})\b)(?P<gap>\s+)(?P<d>[\w$]+)")
    if spec.words:
        parts.append(rf"(?P<k>\b(?:{_words(spec.words)})\b)")
    parts.append(f"(?P<n>{_NUMBER})")
    return re.compile("|".join(parts), spec.flags)


def highlight(language: str, code: str, state: str = "") -> tuple[list[Span], str]:
    """Spans of a part of code. ``state`` is what the part before left open; returns what this one leaves open."""
    if language == "diff":
        return _diff(code), ""
    if language not in LANGUAGES:
        return [], ""
    spans: list[Span] = []
    at = 0
    if state:
        closer = _RESUME[state]
        found = code.find(closer)
        at = len(code) if found < 0 else found + len(closer)
        spans.append((0, at, "code-comment" if state in ("/*", "<!--") else "code-string"))
        if found < 0:
            return spans, state
    for match in _pattern(language).finditer(code, at):
        _add_match(match, spans)
    return spans, _left_open(spans, code)


def _add_match(match: re.Match[str], spans: list[Span]) -> None:
    kind = match.lastgroup or ""
    if kind == "d":
        spans.append((*match.span("k3"), "code-keyword"))
        spans.append((*match.span("d"), "code-name"))
    else:
        spans.append((*match.span(), TOKENS[kind[0]]))


def _left_open(spans: list[Span], code: str) -> str:
    if not spans or spans[-1][1] < len(code):
        return ""
    last = code[spans[-1][0] :].lstrip("rRbBuUfF")
    for opener, closer in _RESUME.items():
        if last.startswith(opener):
            return "" if len(last) >= len(opener) + len(closer) and last.endswith(closer) else opener
    return ""


def _diff(code: str) -> list[Span]:
    spans: list[Span] = []
    at = 0
    for line in code.split("\n"):
        token = "code-name" if line.startswith(("@@", "diff ", "+++", "---")) else ""
        token = token or {"+": "diff-add", "-": "diff-del"}.get(line[:1], "")
        if token:
            spans.append((at, at + len(line), token))
        at += len(line) + 1
    return spans
