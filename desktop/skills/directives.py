"""Expands the directives of a markdown skill's body, once, before a model sees it (R-SK-12, S-SK-1, S-SK-2).

What a directive stands for is asked of a resolver by its name; the known names are:
``arg``, ``skill``, ``tool``, ``path``, ``config``, ``context``, ``inline``, ``env``. One pass from the inside out:
blocks get their expanded content, and no substituted text is ever read for directives again. What cannot be expanded
stays as it is written, with a problem. How they are written: see ``directive_syntax``.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import field
from itertools import islice
from typing import Any, Literal

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.directive_syntax import parse_directives
from desktop.skills.directive_text import Directive, Form, Part
from desktop.skills.values.kinds import MISSING
from desktop.skills.values.paths import path_get
from desktop.skills.values.scalars import clean
from desktop.skills.values.serialise import stringify

UNSUPPORTED = frozenset({"eval", "script"})
"""They would run code out of a prompt (S-SK-2)."""

ProblemCode = Literal["unknown", "unsupported", "missing", "failed", "limit", "unclosed"]


@dataclass(frozen=True, slots=True)
class DirectiveCall:
    """A directive as a resolver gets it."""

    name: str
    """Its name."""
    form: Form
    """Inline, on a line of its own, or a block."""
    arg: str
    """The text in brackets."""
    attrs: Mapping[str, str]
    """What stands in braces."""
    content: str
    """A block's text, expanded and with its line ends."""
    line: int
    """Counts from 1."""
    column: int
    """Counts from 1."""


Resolver = Callable[[DirectiveCall], Any | Awaitable[Any]]
"""The text to put in (anything else becomes JSON), or None where there is nothing. A KnownError leaves the directive as
it is, with the error's text as the problem; anything else that is raised goes through."""


@dataclass(frozen=True, slots=True)
class DirectiveLimits:
    """Sizes in characters: of a body with directives, of one substituted text, and of all of them together.
    ``max_openings`` is how often a body may look as if a directive began, in code and in words too: each is read."""

    max_body: int = 300_000
    max_openings: int = 10_000
    max_value: int = 100_000
    max_total: int = 1_000_000
    max_directives: int = 500
    max_problems: int = 100


@dataclass(frozen=True, slots=True)
class DirectiveProblem:
    """Why a directive stays as written; ``line`` and ``column`` from 1."""

    line: int
    column: int
    code: ProblemCode
    message: str


@dataclass(frozen=True, slots=True)
class Expanded:
    """The body to use, and what could not be expanded in the order of the text."""

    text: str
    problems: tuple[DirectiveProblem, ...] = ()


_LIMITS = DirectiveLimits()
_OPENING = re.compile(r":[A-Za-z]|:::")
_AT_ONCE = 8_000  # characters read on the loop, in about 5 ms at worst; more are read in a thread


async def expand(
    body: str, resolvers: Mapping[str, Resolver], *, limits: DirectiveLimits = _LIMITS, first_line: int = 1
) -> Expanded:
    """Expand ``body``, whose first line has the number ``first_line`` in its file. Resolvers are asked one by one."""
    if _OPENING.search(body) is None:
        return Expanded(body)
    if message := _too_much(body, limits):
        return Expanded(body, (DirectiveProblem(first_line, 1, "limit", message),))
    if len(body) > _AT_ONCE:
        document = await asyncio.to_thread(parse_directives, body, first_line=first_line, opaque=UNSUPPORTED)
    else:
        document = parse_directives(body, first_line=first_line, opaque=UNSUPPORTED)
    expansion = _Expansion(resolvers, limits)
    for flaw in document.flaws:
        expansion.problem(flaw.line, flaw.column, "limit" if flaw.code == "limit" else "unclosed", flaw.message)
    text = await expansion.text(document.parts)
    problems = sorted(expansion.problems, key=lambda problem: (problem.line, problem.column))
    return Expanded(text, tuple(problems))


def _too_much(body: str, limits: DirectiveLimits) -> str:
    """Why a body is not read at all, known without reading it, or ""."""
    if len(body) > limits.max_body:
        return f"the text has more than {limits.max_body} characters; its directives are not expanded"
    openings = islice(_OPENING.finditer(body), limits.max_openings, None)
    if next(openings, None) is not None:
        return f"directives seem to begin in more than {limits.max_openings} places; none is expanded"
    return ""


@dataclass(slots=True)
class _Expansion:
    """One expansion of a text: the texts asked for and put in so far."""

    resolvers: Mapping[str, Resolver]
    limits: DirectiveLimits
    problems: list[DirectiveProblem] = field(default_factory=list)
    _seen: int = 0
    _asked: int = 0
    _put_in: int = 0

    def problem(self, line: int, column: int, code: ProblemCode, message: str) -> None:
        """Take note of one, if there is room."""
        if len(self.problems) < self.limits.max_problems:
            self.problems.append(DirectiveProblem(line, column, code, message))

    async def text(self, parts: Iterable[Part]) -> str:
        """Parts as text, directives expanded."""
        return "".join([part if isinstance(part, str) else await self._directive(part) for part in parts])

    async def _directive(self, directive: Directive) -> str:
        self._seen += 1
        if self._seen % 256 == 0:
            await asyncio.sleep(0)  # others get their turn in a text full of directives
        content = await self.text(directive.body)
        found = await self._found(directive, content)
        if found is None:
            return directive.source + content + directive.tail
        ends_line = directive.form == "block" and directive.tail.endswith(("\n", "\r"))
        return found + "\n" if ends_line and found and not found.endswith("\n") else found

    async def _found(self, directive: Directive, content: str) -> str | None:
        """What to put in, or None after a problem."""
        shown = f"{':' * _COLONS[directive.form]}{directive.name}"
        resolver = self.resolvers.get(directive.name)
        if directive.name in UNSUPPORTED:
            return self._not(directive, "unsupported", f"{shown} would run code and is not supported")
        if resolver is None:
            return self._not(directive, "unknown", f"there is no directive {shown}")
        self._asked += 1
        if self._asked > self.limits.max_directives:
            return self._not(directive, "limit", f"there are more than {self.limits.max_directives} directives")
        try:
            found = resolver(_call(directive, content))
            if inspect.isawaitable(found):
                found = await found
        except KnownError as error:
            return self._not(directive, "failed", f"{shown}[{directive.arg}]: {error}")
        if found is None:
            return self._not(directive, "missing", f"{shown}[{directive.arg}] has no value")
        return self._fitting(directive, clean(found) if isinstance(found, str) else stringify(found))

    def _fitting(self, directive: Directive, text: str) -> str | None:
        if len(text) > self.limits.max_value:
            message = f"{directive.name} gives {len(text)} characters; {self.limits.max_value} are allowed"
            return self._not(directive, "limit", message)
        if self._put_in + len(text) > self.limits.max_total:
            message = f"all directives together give more than {self.limits.max_total} characters"
            return self._not(directive, "limit", message)
        self._put_in += len(text)
        return text

    def _not(self, directive: Directive, code: ProblemCode, message: str) -> str | None:
        """Take note of a problem; the directive stays as written."""
        self.problem(directive.line, directive.column, code, message)
        return None


_COLONS: dict[Form, int] = {"inline": 1, "leaf": 2, "block": 3}


def _call(directive: Directive, content: str) -> DirectiveCall:
    arg, attrs = directive.arg.strip(), directive.attrs
    return DirectiveCall(directive.name, directive.form, arg, attrs, content, directive.line, directive.column)


# -- resolvers that need nothing but what they are given --------------------------------------------------------------


def value_resolver(data: Mapping[str, Any]) -> Resolver:
    """Members of ``data`` by name, else by path expression: for ``:arg``, ``:config`` and ``:context``."""

    def resolve(call: DirectiveCall) -> Any:
        found = data.get(call.arg, MISSING)
        return path_get(data, call.arg) if found is MISSING else found

    return resolve


def env_resolver(environ: Mapping[str, str], allowed: Collection[str]) -> Resolver:
    """Variables of ``environ`` whose names are in ``allowed`` (S-SK-1); any other is refused, set or not."""

    def resolve(call: DirectiveCall) -> Any:
        if call.arg not in allowed:
            raise KnownError(
                "skills may not read this environment variable", code="directive.env", next_step="Allow it by name."
            )
        return environ.get(call.arg)

    return resolve
