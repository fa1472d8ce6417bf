"""Finds directives in a markdown body as remark writes them, and leaves everything else alone (R-SK-12).

``:name[label]{attrs}`` stands within text, ``::name[label]{attrs}`` on a line of its own, and ``:::name[label]{attrs}``
opens a block that a line of as many colons closes. A block within a block has another number of colons; with the same
number the inner one closes first.

So that prose stays prose: within text a label or attributes must follow the name at once, and no letter or digit stands
before the colon, but for scripts without spaces (``12:30``, ``http://``, ``a:b[c]``, ``:smile:``, ``: definition`` are
text). Code spans, fenced and indented code and comments hold no directives. A backslash before the colon keeps a
directive as text and goes. Labels and attributes lie on one line; a label is taken as it is, directives in it included.
"""

from __future__ import annotations

import re
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.directive_text import Directive, DirectiveHead, Form, InlineText, Part, head_at

MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something in the text that is no directive but was meant to be one."""

    line: int
    column: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class DirectiveDocument:
    """A body as text and directives in order; joined as written they are the body, but for backslashes that went."""

    parts: tuple[Part, ...]
    flaws: tuple[Flaw, ...] = ()


def parse_directives(body: str, *, first_line: int = 1, opaque: frozenset[str] = frozenset()) -> DirectiveDocument:
    """Read a body whose first line has the number ``first_line``. Blocks named in ``opaque`` are not looked into."""
    reader = _Lines(first_line, opaque)
    for line in _LINE.findall(body):
        reader.line(line)
    return reader.end()


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")
_FENCE = re.compile(r"(?P<lead>[ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<run>`{3,}(?=[^`]*$)|~{3,})")
_COLONS = re.compile(r"([ \t]*)(\\?)(:{2,})(?!:)")
_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+|[ \t]{0,3}(?:#{1,6}[ \t]|>)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")


@dataclass(slots=True)
class _OpenBlock:
    """A block that is not closed yet; ``head`` None: one of another kind (``::: note``), kept for its closing line."""

    colons: int
    head: Directive | None
    source: str
    parts: list[Part] = field(default_factory=list)
    opaque: bool = False


class _Lines:
    """Reads line by line: which are code, which open and close blocks, and which are text."""

    def __init__(self, first_line: int, opaque: frozenset[str]) -> None:
        self._number = first_line - 1
        self._opaque = opaque
        self._stack = [_OpenBlock(0, None, "")]
        self._chunk: list[str] = []
        self._chunk_line = first_line
        self._flaws: list[Flaw] = []
        self._fence: tuple[str, bool] | None = None
        self._in_comment = self._in_list = self._in_code = False
        self._after_blank = True

    def line(self, line: str) -> None:
        """Take the next line with its end."""
        self._number += 1
        text = line.rstrip("\r\n")
        if self._fence is not None and self._in_fence(text):
            self._raw(line)
        elif self._in_comment:
            self._in_comment = "-->" not in text
            self._raw(line)
        elif not text.strip():
            self._raw(line)
        else:
            self._filled(line, text)
            self._after_blank = False
            return
        self._after_blank = True

    def end(self) -> DirectiveDocument:
        """The document that was read; blocks that are still open become text."""
        self._flush()
        while len(self._stack) > 1:
            self._give_up()
        return DirectiveDocument(_joined(self._stack[0].parts), tuple(self._flaws))

    def _filled(self, line: str, text: str) -> None:
        """A line that is neither blank nor within code or a comment."""
        indent = len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip(" "))
        if self._after_blank and indent < 2:
            self._in_list = False
        self._in_list = self._in_list or _ITEM.match(text) is not None
        self._in_code = indent >= 4 and not self._in_list and (self._after_blank or self._in_code)
        fence = _FENCE.match(text)
        if self._in_code:
            self._raw(line)
        elif fence is not None:
            self._fence = fence["run"], ">" in fence["lead"]
            self._raw(line)
        elif text.lstrip().startswith("<!--"):
            self._in_comment = "-->" not in text
            self._raw(line)
        elif not ((indent < 4 or self._in_list) and self._colons(line, text)):
            self._plain(line, text)

    def _in_fence(self, text: str) -> bool:
        """Whether the line is of the fenced code that was open before it; its closing line is."""
        run, quoted = self._fence or ("", False)
        inner = text.lstrip(" \t>") if quoted else text.strip()
        if quoted and not text.lstrip().startswith(">"):
            self._fence = None
            return False
        if len(inner.rstrip()) >= len(run) and set(inner.rstrip()) == {run[0]}:
            self._fence = None
        return True

    def _plain(self, line: str, text: str) -> None:
        """A line of text; code spans don't reach from one item, heading or quotation into the next."""
        if _MARKER.match(text):
            self._flush()
        if not self._chunk:
            self._chunk_line = self._number
        self._chunk.append(line)

    def _raw(self, line: str) -> None:
        self._flush()
        self._stack[-1].parts.append(line)

    def _flush(self) -> None:
        if self._chunk:
            text = "".join(self._chunk)
            self._chunk = []
            opened = self._stack[-1]
            opened.parts += [text] if opened.opaque else InlineText(text, self._chunk_line).parts()

    # -- blocks and leaves --------------------------------------------------------------------------------------------

    def _colons(self, line: str, text: str) -> bool:
        """Handle a line that begins with colons; False where it is mere text."""
        match = _COLONS.match(text)
        if match is None:
            return False
        escaped, colons = bool(match[2]), len(match[3])
        rest = text[match.end() :]
        if not rest.strip() and not escaped:
            return self._close(colons, line)
        if self._stack[-1].opaque:
            return False
        if rest[:1] in " \t" and colons > 2 and not escaped and len(self._stack) <= MAX_DEPTH:
            self._flush()
            self._stack.append(_OpenBlock(colons, None, line))
            return True
        head = head_at(text, match.end() - 1)
        if head is None or text[head.end :].strip():
            return False
        if escaped:
            self._raw(match[1] + line[match.start(3) :])
        else:
            self._opened(head, colons, line, len(match[1]) + 1)
        return True

    def _opened(self, head: DirectiveHead, colons: int, line: str, column: int) -> None:
        self._flush()
        form: Form = "leaf" if colons == 2 else "block"
        source = line.rstrip("\r\n") if form == "leaf" else line
        directive = Directive(form, head.name, head.arg, head.attrs, self._number, column, source)
        if form == "leaf":
            self._stack[-1].parts += [directive, line[len(source) :]]
        elif len(self._stack) > MAX_DEPTH:
            self._flaw(directive, "limit", f"blocks are nested more than {MAX_DEPTH} deep")
            self._stack[-1].parts.append(line)
        else:
            self._stack.append(_OpenBlock(colons, directive, line, opaque=head.name in self._opaque))

    def _close(self, colons: int, line: str) -> bool:
        """Close the innermost block of as many colons, else the outermost of fewer, and what is open within it."""
        places = range(1, len(self._stack))
        same = [place for place in places if self._stack[place].colons == colons]
        fewer = [place for place in places if self._stack[place].colons < colons]
        if not same and not fewer:
            return False
        self._flush()
        place = same[-1] if same else fewer[0]
        while len(self._stack) > place + 1:
            self._give_up()
        done = self._stack.pop()
        if done.head is None:
            self._stack[-1].parts += [done.source, *done.parts, line]
        else:
            self._stack[-1].parts.append(_closed(done.head, _joined(done.parts), line))
        return True

    def _give_up(self) -> None:
        """The innermost block has no end: its opening line is text."""
        left = self._stack.pop()
        self._stack[-1].parts += [left.source, *left.parts]
        if left.head is not None:
            self._flaw(left.head, "unclosed", f"the block :::{left.head.name} is not closed")

    def _flaw(self, directive: Directive, code: str, message: str) -> None:
        self._flaws.append(Flaw(directive.line, directive.column, code, message))


def _closed(head: Directive, body: tuple[Part, ...], tail: str) -> Directive:
    return Directive(head.form, head.name, head.arg, head.attrs, head.line, head.column, head.source, body, tail)


def _joined(parts: list[Part]) -> tuple[Part, ...]:
    """Neighbouring texts as one."""
    found: list[Part] = []
    texts: list[str] = []
    for part in [*parts, ""]:
        if isinstance(part, str):
            texts.append(part)
            continue
        if text := "".join(texts):
            found.append(text)
        texts = []
        found.append(part)
    if text := "".join(texts):
        found.append(text)
    return tuple(found)
