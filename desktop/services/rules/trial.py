"""Tricks as calls: read by the reader of commands and judged by the boundary, as a real call is before rules see it.

A pattern is tried on every tool there is that it selects: what it lets through is what really would pass.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, PathVerdict, ShellReading
from desktop.domain.tools import ToolSpec
from desktop.safety.shell.programs.builtins import WITHOUT_OPTIONS
from desktop.safety.shell.programs.known_options import known
from desktop.safety.shell.syntax.words import base_name
from desktop.services.rules.tricks import Trick, about_the_tool, lookalike, samples
from desktop.services.rules.tricks_paths import path_tricks
from desktop.services.rules.tricks_shell import shell_tricks
from desktop.skills.patterns.commands import ARGUMENT
from desktop.skills.patterns.globs import compile_glob
from desktop.skills.patterns.grammar import Pattern
from desktop.skills.patterns.index import tag_set
from desktop.skills.patterns.paths import is_path_name
from desktop.tools.builtin.catalogue import COMMAND_TOOLS

_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")


@dataclass(frozen=True, slots=True)
class Judges:
    """What stands before the rules: the reader of shell commands and the boundary, both blocking; the tools; and the
    real folders that relative paths and ``~`` mean."""

    read: Callable[[str], ShellReading]
    explain: Callable[[str, Access], PathVerdict]
    tools: Callable[[], Iterable[ToolSpec]]
    workspace: str
    home: str


@dataclass(slots=True)
class RuleTrial:
    """The tricks of one pattern. ``readings`` are kept over several trials of one simulation. Blocking."""

    pattern: Pattern
    judges: Judges
    thread_id: str = ""
    readings: dict[str, ShellReading] = field(default_factory=dict)

    def calls(self) -> Iterator[tuple[Trick, CallFacts | None]]:
        """Each trick and the call that it would be; None: the blocklist or the boundary refuses it."""
        for about in self.subjects():
            for trick in about.tricks():
                yield (trick if trick.tool else replace(trick, tool=about.name)), about.facts(trick)

    def subjects(self) -> list[Subject]:
        """The tools that it selects and that have the arguments it looks at; else one of a name that would fit."""
        chosen = [spec for spec in self.judges.tools() if _selects(self.pattern, spec)]
        fitting = [spec for spec in chosen if _has_arguments(self.pattern, spec)] or chosen
        if fitting:
            return [Subject(self, spec.name, spec) for spec in fitting]
        selector = self.pattern.selector
        pieces = samples(selector.text)[0].pieces if selector.kind == "glob" else ("",)
        return [Subject(self, "x".join(pieces) if any(pieces) else "some-tool", None)]


def _selects(pattern: Pattern, spec: ToolSpec) -> bool:
    kind, text = pattern.selector
    return text in tag_set(spec.tags) if kind == "tag" else compile_glob(text).matches(spec.name)


def _has_arguments(pattern: Pattern, spec: ToolSpec) -> bool:
    """Whether a call of it can have the arguments at all."""
    known = spec.params.get("properties")
    if not isinstance(known, Mapping) or spec.params.get("additionalProperties", True) is not False:
        return True
    named = (part.name for part in pattern.constraints if not part.name.startswith("call-"))
    return all(re.split(r"[.\[]", name)[0] in known for name in named)


@dataclass(slots=True)
class Subject:
    """One tool that the pattern of a trial is about; ``spec`` None: there is none of this name."""

    trial: RuleTrial
    name: str
    spec: ToolSpec | None
    pattern: Pattern = field(init=False)
    judges: Judges = field(init=False)

    def __post_init__(self) -> None:
        self.pattern, self.judges = self.trial.pattern, self.trial.judges

    @property
    def _path_argument(self) -> str:
        named = [part.name for part in self.pattern.constraints if is_path_name(part.name)]
        properties = self.spec.params.get("properties", {}) if self.spec is not None else {}
        return named[0] if named else next((str(name) for name in properties if is_path_name(str(name))), "")

    def _glob(self, name: str, otherwise: str) -> str:
        return next((part.glob for part in self.pattern.constraints if part.name == name), otherwise)

    def tricks(self) -> Iterator[Trick]:
        """All tricks that are tried on this rule."""
        if self.name in COMMAND_TOOLS:
            glob = self._glob(ARGUMENT, "*")
            base = samples(glob)[0].base.strip() or "git status"
            key = os.path.relpath(f"{self.judges.home}/.ssh/id_ed25519", self.judges.workspace)
            yield from shell_tricks(glob, key)
            yield from about_the_tool(self.name, base, {ARGUMENT: base})
            return
        if name := self._path_argument:
            glob = self._glob(name, "**")
            yield from path_tricks(glob, self.judges.workspace, self.judges.home)
        arguments = self._sampled()
        text = ", ".join(f"{key}={value}" for key, value in arguments.items())
        yield from about_the_tool(self.name, text or self.name, dict(arguments))
        for name in arguments:
            if name != self._path_argument:
                yield from _values(name, str(arguments[name]), arguments)

    def _sampled(self) -> dict[str, object]:
        """A value for each constraint on an argument."""
        about = [part for part in self.pattern.constraints if not part.name.startswith("call-")]
        return {part.name: samples(part.glob)[0].base or "a.md" for part in about}

    def facts(self, trick: Trick) -> CallFacts | None:
        """The call that a trick would be, or None."""
        category = trick.category or (self.spec.category if self.spec is not None else Category.WRITE)
        tags = self.spec.tags if self.spec is not None else ()
        if self.pattern.selector.kind == "tag":
            tags = (*tags, self.pattern.selector.text)
        arguments = trick.arguments or {**self._sampled(), self._path_argument or ARGUMENT: trick.text}
        facts = CallFacts(
            trick.tool or self.name,
            category,
            trick.text,
            tags,
            arguments,
            trick.source or "library",
            thread_id=self.trial.thread_id,
            also=self.spec.bound_by if self.spec is not None else "",
        )
        if ARGUMENT in arguments and self.name in COMMAND_TOOLS:
            return self._command(facts, str(arguments[ARGUMENT]))
        path = arguments.get(self._path_argument) if self._path_argument else None
        return self._path(facts, str(path), trick.leads) if path is not None else facts

    def _command(self, facts: CallFacts, command: str) -> CallFacts | None:
        readings = self.trial.readings
        reading = readings.get(command)
        if reading is None:
            reading = readings[command] = self.judges.read(command)
        if reading.blocked is not None:
            return None
        return _with(facts, category=_higher(facts.category, reading.category), parts=reading.parts)

    def _path(self, facts: CallFacts, path: str, leads: str) -> CallFacts | None:
        access = Access.READ if facts.category is Category.READ else Access.WRITE
        verdict = self.judges.explain(leads or path, access)
        if not verdict.allowed:
            return None
        category = Category.ADMIN if verdict.elevated else facts.category
        return _with(facts, category=category, resolved={self._path_argument: verdict.resolved})


def unlisted(pattern: Pattern) -> tuple[str, ...]:
    """Programs that a pattern lets have any option, and of which there is no table of options."""
    globs = [part.glob for part in pattern.constraints if part.name == ARGUMENT]
    made = [sample for glob in globs for sample in samples(glob) if len(sample.pieces) > 1]
    words = [[word for word in sample.pieces[0].split() if not _ASSIGNED.match(word)][:1] for sample in made]
    names = dict.fromkeys(base_name(word) for found in words for word in found)
    return tuple(name for name in names if known(name) is None and name not in WITHOUT_OPTIONS and name != "git")


def _values(name: str, value: str, arguments: dict[str, object]) -> Iterator[Trick]:
    """Values of an argument that are nearly the one that is meant."""
    for family, other, why in (
        ("value before", f"x{value}", "a value that ends the same"),
        ("capitals", value.upper(), "capitals are other letters"),
        ("look-alike", lookalike(value), "one letter only looks the same"),
        ("new line", f"{value}\n", "a new line belongs to the value"),
        ("unseen character", f"{value}\u200b", "it holds a character that cannot be seen"),
        ("parent", f"{value}/../../x", "'..' leads elsewhere"),
        ("null", f"{value}\0", "no such character can be meant"),
        ("option", f"{value} --force", "more than one word"),
        ("second command", f"{value}; ./evil", "what a shell would take for two commands"),
        ("substitution", f"{value}$(./evil)", "what a shell would run"),
        ("list", [value, "x"], "each element counts"),
        ("object", {"value": value}, "an object is no text"),
        ("number", 1, "a number is another value"),
        ("nothing", None, "nothing is another value"),
    ):
        if other in ("", value):
            continue
        text = f"{name}={other}"
        yield Trick(
            family, text, ((len(name) + 1, len(text) - len(name) - 1),), why, arguments={**arguments, name: other}
        )
    without = {key: held for key, held in arguments.items() if key != name} or {"another": "x"}
    yield Trick("missing", f"without {name}", ((0, 7),), "the argument has to be there", arguments=without)


def _higher(one: Category, other: Category) -> Category:
    return one if one.rank >= other.rank else other


def _with(facts: CallFacts, **changes: object) -> CallFacts:
    values = {name: getattr(facts, name) for name in CallFacts.__slots__}
    return CallFacts(**{**values, **changes})
