"""``*.skill.js`` as something to run: the module's text as statements of a function (R-SK-14, C-1).

There is no module loader in the sandbox. So ``export`` is taken away where the reader found it, with every line staying
where it is, and what was exported is known by name; ``import`` is a problem with its place.
"""

from __future__ import annotations

import re

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.places import FormatError
from desktop.skills.formats.javascript import ENTRY, Module
from desktop.skills.formats.js_literal import position, skip_blank

DEFAULT = "$exported"
"""The name that a default export without one gets."""

_STATEMENT = re.compile(r"^[ \t]*(?:export|import)\b", re.MULTILINE)
_WHAT = re.compile(
    r"export\s+(?:(?P<default>default)\b|(?P<list>\{(?P<names>[^}]{0,5000})\})|(?P<all>\*)"
    r"|(?P<kind>const|let|var|class|(?:async\s+)?function\s*\*?)(?![\w$])\s*(?P<name>[\w$]*))"
)
_DECLARED = re.compile(r"\s*(?:(?P<function>(?:async[ \t]+)?function\b\s*\*?)|(?P<class>class\b))\s*(?P<name>[\w$]+)?")
_FROM = re.compile(r"\s*from\b")
_NO_IMPORT = "a skill is one file: import and export from are not there; call other skills with ctx.manager.invoke"


@dataclass(frozen=True, slots=True)
class Runnable:
    """``body`` has the lines of the file; ``exports`` maps each exported name to the name that it has in the body."""

    body: str
    exports: dict[str, str]


def runnable(text: str) -> Runnable:
    """The module as statements. FormatError with its place for what cannot be run, or cannot be read at all."""
    module = _Rewritten(text)
    module.read()
    return Runnable(module.body(), module.exports)


class _Rewritten(Module):
    """Collects what to replace."""

    words = ("export", "import")
    word = re.compile(r"(?<![\w$.])(?:export|import)\b")

    def __init__(self, text: str) -> None:
        super().__init__(text, typed=False)
        self.exports: dict[str, str] = {}
        self._edits: list[tuple[int, int, str]] = []

    def body(self) -> str:
        """The text with its edits. What is taken away leaves its line ends."""
        parts, at = [], 0
        for start, end, instead in sorted(self._edits):
            parts += [self._text[at:start], instead, re.sub(r"[^\r\n\u2028\u2029]", "", self._text[start:end])]
            at = end
        return "".join([*parts, self._text[at:]])

    def _rest(self) -> None:
        """Below a place that the reader does not understand: by the lines."""
        for match in _STATEMENT.finditer(self._text, self._at):
            self._statement(match.end() - len("export"))

    def _statement(self, at: int) -> bool:
        if self._text.startswith("import", at):
            self._import(at)
            return False
        found = _WHAT.match(self._text, at)
        if found is None:
            return False
        self._rewrite(found)
        if not super()._statement(at):
            self._at, self._before = found.end(), "="
        return True

    def _import(self, at: int) -> None:
        """FormatError, but for ``import(`` and ``import.meta``, which fail when they are reached."""
        after = skip_blank(self._text, at + len("import"))
        if self._text[after : after + 1] not in ("(", "."):
            raise FormatError(_NO_IMPORT, *position(self._text, at), code="code.import")

    def _rewrite(self, found: re.Match[str]) -> None:
        start, end = found.start(), found.end()
        if found["all"] or (found["list"] and _FROM.match(self._text, end)):
            raise FormatError(_NO_IMPORT, *position(self._text, start), code="code.import")
        if found["default"]:
            self._default(start, end)
        elif found["list"]:
            self._edits.append((start, end, ""))
            for entry in filter(None, map(str.strip, found["names"].split(","))):
                own, _, shown = entry.partition(" as ")
                self.exports[shown.strip() or own.strip()] = own.strip()
        else:
            self._edits.append((start, start + len("export"), ""))
            if found["name"]:
                self.exports[found["name"]] = found["name"]

    def _default(self, start: int, end: int) -> None:
        """A function or class stays what it is, and gets a name if it has none; a value becomes a constant."""
        declared = _DECLARED.match(self._text, end)
        if declared is None:
            self._edits.append((start, end, f"const {DEFAULT} ="))
            self.exports[ENTRY] = DEFAULT
            return
        self._edits.append((start, end, ""))
        name = declared["name"]
        if name and not (declared["class"] and name == "extends"):
            self.exports[ENTRY] = name
            return
        after = declared.end("class") if declared["class"] else declared.end("function")
        self._edits.append((after, after, f" {DEFAULT} "))
        self.exports[ENTRY] = DEFAULT
