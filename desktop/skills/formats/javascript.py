"""``*.skill.js`` as text: ``export const frontmatter`` or ``skills``, and what else is exported (R-SK-6).

The entry point is the default export; without one, an exported function ``run``.

A light reader of tokens follows strings, templates, comments, regular expressions and brackets, so that only statements
at the top of the module count. Nothing is run. TypeScript is read the same way, for the list only (C-1).

By hand: tree-sitter's grammar of JavaScript takes 18 s for 98 KB of ``/[`` where this takes 3 ms, and nothing else runs
meanwhile. Of eleven mistakes in a value it names two at the place where they are, and TypeScript is another grammar.
"""

from __future__ import annotations

import re

from desktop.domain.text.places import FormatError
from desktop.skills.formats.code import MAX_CODE, CodeFile
from desktop.skills.formats.js_literal import position, read_literal, read_string, skip_blank

ENTRY = "default"
MAX_EXPRESSION = 2_000
MAX_MISSES = 20
"""Slashes that begin no regular expression of at most ``MAX_EXPRESSION`` characters; after these, slashes divide."""
MAX_OPEN = 500
"""Brackets inside each other."""

_RUN = re.compile(r"[^\"'`/()\[\]{}]+")
"""Everything but quotes, slashes and brackets."""
_CODE = re.compile(
    r"(?:[^\"'`/()\[\]{}]++|(?<=[\w$])/(?![/*])|\"(?:[^\"\\\n\r]|\\[\s\S])*+\""
    r"|'(?:[^'\\\n\r]|\\[\s\S])*+'|`(?:[^`\\$]|\\[\s\S]|\$(?!\{)|\$\{[^\"'`/\\{}]*+\})*+`)++"
)
"""Runs, texts, templates with simple ``${…}`` only, and divisions of a word."""
_LAST_WORD = re.compile(r"[\w$]+\Z")
_EXPORT = re.compile(
    r"export\s+(?:(default)\b|const\s+(frontmatter|skills)\s*(?::[^=]{0,200})?=(?!=)"
    r"|(?:async\s+)?function\s*\*?\s*([\w$]+)|(?:const|let|var)\s+([\w$]+)|class\s+[\w$]+|\{([^}]{0,5000})\})"
)
_EXPRESSION = re.compile(r"/(?:[^/\\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+/[a-z]*")
_TEMPLATE = re.compile(r"[^`\\$]+|\\[\s\S]?|\$(?!\{)")
_BEFORE_EXPRESSION = frozenset(
    {
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "else",
        "do",
        "instanceof",
        "yield",
        "await",
    }
)
_CLOSING = {"(": ")", "[": "]", "{": "}", "${": "}"}


def read(text: str, *, typed: bool = False) -> CodeFile:
    """What the module declares and exports. FormatError with its place when that cannot be read statically.

    ``typed``: it is TypeScript, whose types may stand around the value.
    """
    if len(text) > MAX_CODE:
        raise FormatError(f"a code skill has {MAX_CODE:,} characters at most", 1, code="file.too-large")
    return Module(text, typed).read()


class Module:
    """Reads the statements of a module; ``js_module`` rewrites what it finds. ``words`` and ``word`` are what the
    statements that it looks for begin with."""

    words: tuple[str, ...] = ("export",)
    word = re.compile(r"(?<![\w$.])export\b")

    def __init__(self, text: str, typed: bool) -> None:
        self._text = text
        self._typed = typed
        self._at = 0
        self._open: list[str] = []
        self._before = ""  # the token before: whether a slash divides depends on it
        self._misses = 0
        self._run_end = 0
        self._searched = 0
        self._file = CodeFile(ENTRY)

    def read(self) -> CodeFile:
        try:
            while (at := skip_blank(self._text, self._at)) < len(self._text):
                self._at = at
                if not self._skip():
                    self._token(self._text[self._at])
        except FormatError as error:
            if error.code != "code.syntax" or (self._file.frontmatter is None and self._file.skills is None):
                raise
            self._rest()
        if ENTRY not in self._file.functions and "run" in self._file.functions:
            self._file.own = "run"
        return self._file

    def _rest(self) -> None:
        """The exports below a place that this reader does not understand, by their lines."""
        for match in re.finditer(r"^export\b", self._text[self._at :], re.MULTILINE):
            found = _EXPORT.match(self._text, self._at + match.start())
            if found is not None and not found[2]:
                self._exported(found)

    def _skip(self) -> bool:
        """Everything in one go up to the next bracket or odd quote; not where the module's own exports may be."""
        start = self._at
        if start < self._searched or (found := _CODE.match(self._text, start)) is None or found.end() <= start:
            return False  # Python 3.11.2 and older find nothing where there is something (possessive quantifiers)
        if not self._open and any(self._text.find(word, start, found.end()) >= 0 for word in self.words):
            self._searched = found.end()
            return False
        self._at = found.end()
        self._note(start)
        return True

    def _note(self, start: int) -> None:
        """Remember the last word or sign of what was just passed."""
        tail = self._text[max(start, self._at - 40) : self._at].rstrip()
        last = _LAST_WORD.search(tail, max(0, len(tail) - 12))
        mark = tail[-1:]
        self._before = last[0] if last is not None else "text" if mark and mark in "\"'`" else mark

    def _token(self, first: str) -> None:
        if first in "\"'":
            _, self._at = read_string(self._text, self._at)
            self._before = "text"
        elif first == "`":
            self._at += 1
            self._template()
        elif first == "/" and self._expression_may_begin():
            match = _EXPRESSION.match(self._text, self._at, self._at + MAX_EXPRESSION)
            self._at = match.end() if match is not None else self._at + 1
            self._misses += match is None
            self._before = "text"
        elif first in "()[]{}/":
            self._bracket(first)
        else:
            self._run()

    def _expression_may_begin(self) -> bool:
        before = self._before
        if self._misses > MAX_MISSES:
            return False
        if not before or before in _BEFORE_EXPRESSION:
            return True
        return not (before in (")", "]", "}", "text") or before[-1].isalnum() or before[-1] in "_$")

    def _run(self) -> None:
        """Words and signs up to the next quote, slash or bracket; at the top of the module, up to an export."""
        start = self._at
        if start >= self._run_end:
            run = _RUN.match(self._text, start)
            assert run is not None  # ``_token`` has dealt with what it does not take
            self._run_end = run.end()
        if not self._open:
            for word in self.word.finditer(self._text, start, self._run_end):
                if self._statement(word.start()):
                    return
        self._at = self._run_end
        self._note(start)

    def _statement(self, at: int) -> bool:
        """Whether a statement of the module begins here; it has been read then."""
        found = _EXPORT.match(self._text, at)
        if found is None:
            return False
        self._at, self._before = found.end(), "="
        self._exported(found)
        return True

    def _bracket(self, mark: str) -> None:
        self._at += 1
        self._before = mark
        if mark in "([{":
            if len(self._open) == MAX_OPEN:
                raise FormatError("brackets are nested too deep", *position(self._text, self._at), code="code.syntax")
            self._open.append(mark)
        elif mark in ")]}":
            if not self._open or _CLOSING[self._open[-1]] != mark:
                place = position(self._text, self._at - 1)
                raise FormatError(f"{mark} has no matching bracket", *place, code="code.syntax")
            if self._open.pop() == "${":
                self._template()

    def _template(self) -> None:
        """Up to the closing backtick, or into the next ``${``."""
        start = self._at
        while (match := _TEMPLATE.match(self._text, self._at)) is not None:
            self._at = match.end()
        if self._text.startswith("${", self._at):
            self._at += 2
            self._open.append("${")
            self._before = "{"
        elif self._text.startswith("`", self._at):
            self._at += 1
            self._before = "text"
        else:
            raise FormatError("this template is not closed", *position(self._text, start), code="code.syntax")

    def _exported(self, found: re.Match[str]) -> None:
        default, declared, function, variable, names = found.groups()
        if declared:
            self._declare(declared)
        elif default:
            self._file.functions["default"] = ""
        elif function or variable:
            self._file.functions[function or variable] = ""
        elif names:
            for name in names.split(","):
                self._file.functions[name.split(" as ")[-1].strip()] = ""

    def _declare(self, name: str) -> None:
        start = self._at
        if getattr(self._file, name) is not None:
            raise FormatError(f"{name} is given twice", *position(self._text, start), code="frontmatter.ambiguous")
        literal, self._at = read_literal(self._text, start)
        setattr(self._file, name, literal)
        self._before = "text"
        after = skip_blank(self._text, self._at)
        ended = after >= len(self._text) or self._text[after] == ";" or "\n" in self._text[self._at : after]
        if not ended and not self._typed:
            raise FormatError(
                "an operation follows the value: frontmatter has to be written out",
                *position(self._text, after),
                code="frontmatter.not-literal",
            )
