"""Tricks: calls made from a draft's own pattern that look like what it means and are something else.

Each family changes a sample call of the pattern in one way. What becomes of the result is not known here: the reader of
commands, the boundary and the rules decide, as for a real call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import islice

from desktop.domain.approval.judgement import Category
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.patterns.syntax import Alternative, Wild, alternatives

MAX_SAMPLES = 16
_LOOKALIKES = str.maketrans("aceopxyisj", "асеорхуіѕј")
"""Latin letters and Cyrillic ones that look the same."""


@dataclass(frozen=True, slots=True)
class Trick:
    """A call that looks like what a rule means and is something else."""

    family: str
    """What kind of trick."""
    text: str
    """A command, a path or the arguments."""
    marked: tuple[tuple[int, int], ...]
    """The ranges of ``text`` that make it a trick."""
    why: str
    """Half a sentence for a person."""
    leads: str = ""
    """Where a path really leads, when a link makes it lead elsewhere than it says."""
    tool: str = ""
    """The tool, if not the draft's own."""
    source: str = ""
    """Where the tool comes from, if not from where the draft's own does."""
    category: Category | None = None
    """The category, if not the draft's own."""
    arguments: dict[str, object] = field(default_factory=dict)
    """Further arguments of the call."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What a glob stands for, made as short as it can be. ``pieces`` are its literals; between them stood stars."""

    pieces: tuple[str, ...]

    @property
    def base(self) -> str:
        """The sample with nothing in the places where the rule has a star."""
        return " ".join("".join(self.pieces).split()) if len(self.pieces) > 1 else self.pieces[0]

    def filled(self, text: str) -> Iterator[str]:
        """With ``text`` in the place of one star, the last first; nothing where there is no star."""
        for at in range(len(self.pieces) - 1, 0, -1):
            yield "".join(self.pieces[:at]) + text + "".join(self.pieces[at:])


def samples(glob: str) -> list[Sample]:
    """Sample texts that the first few alternatives of a glob match."""
    return [_sample(one) for one in islice(alternatives(glob), MAX_SAMPLES)]


def _sample(tokens: Alternative) -> Sample:
    pieces = [""]
    for token in tokens:
        if isinstance(token, str):
            pieces[-1] += token
        elif token.stars:
            pieces.append("")
        else:
            pieces[-1] += _one(token)
    return Sample(tuple(pieces))


def _one(token: Wild) -> str:
    """A character for ``?`` or a class: a letter of the class where it names one."""
    return next((letter for letter in token.regex if letter.isalnum()), "x")


def marked(text: str, base: str) -> tuple[tuple[int, int], ...]:
    """Everything around ``base`` in ``text``, without blanks at its ends; all of it where the base is not there."""
    at = text.find(base) if base else -1
    if at < 0:
        return ((0, len(text)),)
    found = []
    for start, end in ((0, at), (at + len(base), len(text))):
        inner = text[start:end]
        shown = inner.strip(" ")
        if shown:
            found.append((start + inner.index(shown), len(shown)))
    return tuple(found)


def lookalike(text: str) -> str:
    """With the first letter that has one replaced by another that looks the same, or empty."""
    for at, letter in enumerate(text):
        other = letter.translate(_LOOKALIKES)
        if other != letter:
            return text[:at] + other + text[at + 1 :]
    return ""


def about_the_tool(tool: str, text: str, arguments: dict[str, object]) -> Iterator[Trick]:
    """Calls of the sample by what only seems to be the tool, or that do more than it usually does."""

    def named(family: str, name: str, why: str) -> Trick:
        return Trick(family, text, ((0, len(text)),), why, tool=name, arguments=arguments)

    yield Trick("project", text, (), "a project's skill bears the same name", source="project", arguments=arguments)
    yield Trick(
        "shared", text, (), "a skill of a shared folder bears the same name", source="shared", arguments=arguments
    )
    yield Trick("raised", text, (), "what it does makes it an admin call", category=Category.ADMIN, arguments=arguments)
    yield named("longer name", f"{tool}-all", "another tool whose name begins the same")
    yield named("name before", f"my-{tool}", "another tool whose name ends the same")
    if tool.upper() != tool:
        yield named("capital name", tool.upper(), "another tool: capitals are other letters")
    if other := lookalike(tool):
        yield named("look-alike name", other, "another tool: one letter only looks the same")
