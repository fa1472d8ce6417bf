"""Allowed-tools lists: which tools a skill may call, with which arguments, and why (R-PAT-5 to R-PAT-12, R-PAT-14).

One function decides and explains: ``AllowedList.explain``. The page that shows who may call a skill asks the same
function as the gate. ``AllowedList`` and ``Intersection`` implement the pipeline's ``AllowedTools``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from desktop.domain.approval.judgement import CommandPart
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.servers.mcp_names import named_on_server
from desktop.skills.patterns.calls import ComparedCall
from desktop.skills.patterns.grammar import Pattern, PatternList, parse_patterns
from desktop.skills.patterns.index import PatternRule, RuleIndex
from desktop.skills.patterns.paths import Where
from desktop.skills.patterns.syntax import PatternError

CONTEXT_MANAGER = "context-manager"
_OPERATION = "op"
_SHOWN = 200


class Named(Protocol):
    """What is needed of a ``ToolSpec``."""

    @property
    def name(self) -> str: ...

    @property
    def tags(self) -> tuple[str, ...]: ...

    @property
    def params(self) -> Mapping[str, Any]: ...

    @property
    def on_server(self) -> str: ...

    @property
    def bound_by(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ListJudgement:
    """``rule_text`` is the pattern that decided, as written, or empty; ``reason`` a sentence for a person."""

    allowed: bool
    rule_text: str
    reason: str


class Allows(Protocol):
    """The pipeline's ``AllowedTools``, which stands above this room, and why."""

    def offers(self, spec: Named) -> bool: ...

    def permits(self, spec: Named, arguments: Mapping[str, Any], parts: Sequence[CommandPart] = ()) -> bool: ...

    def denies(self, spec: Named) -> bool: ...

    def constraints(self, spec: Named) -> Sequence[str]: ...

    def names(self, name: str) -> bool: ...

    @property
    def discovers(self) -> bool: ...

    @property
    def exact_names(self) -> Sequence[str]: ...

    def explain(
        self, spec: Named, arguments: Mapping[str, Any] | None = None, parts: Sequence[CommandPart] = ()
    ) -> ListJudgement: ...


class AllowedList:
    """What an ``allowed-tools`` text allows. Made with ``of``; never changes, and never raises for what it says.

    ``problem`` is the mistake in a malformed list, which allows nothing (R-PAT-14). ``patterns`` is None when there is
    no list, which allows everything (R-PAT-5), or no readable one.
    """

    __slots__ = ("_index", "patterns", "problem")

    def __init__(self, patterns: PatternList | None, index: RuleIndex | None, problem: PatternError | None) -> None:
        self.patterns = patterns
        self.problem = problem
        self._index = index

    @classmethod
    def of(cls, text: str | Sequence[str] | None, *, cwd: str = "", home: str = "") -> AllowedList:
        """From the value of ``allowed-tools``; None when there is none. ``cwd`` and ``home`` are absolute (R-PAT-17):
        relative paths in calls and in patterns start in ``cwd``, both may begin with ``~``."""
        if text is None:
            return cls(None, None, None)
        try:
            patterns = parse_patterns(text)
            for pattern in patterns.patterns:
                _belongs(pattern)
            return cls(patterns, RuleIndex(patterns, Where(cwd, home)), None)
        except PatternError as error:
            return cls(None, None, error)

    @property
    def discovers(self) -> bool:
        """Whether tools not named here can be reached: no list, or one with a bare ``*`` (R-DSC-3, R-DSC-4)."""
        if self._index is None:
            return self.problem is None
        return any(rule.pattern.selector.text in {"*", "**"} and not rule.pattern.denies for rule in self._index.rules)

    @property
    def exact_names(self) -> tuple[str, ...]:
        """The tools it allows by their exact names, in its order (R-DSC-10)."""
        rules = self._index.rules if self._index else ()
        return tuple(dict.fromkeys(rule.name for rule in rules if rule.name and not rule.pattern.denies))

    def names(self, name: str) -> bool:
        """Whether the tool is allowed by its exact name, not by a glob, tag or ``*`` (R-VIS-1)."""
        rules = self._index.about(name, ()) if self._index else ()
        return any(rule.name and not rule.pattern.denies for rule in rules)

    def offers(self, spec: Named) -> bool:
        """Whether some call of this tool can be allowed; constraints wait for the call (R-PAT-4)."""
        return self.explain(spec).allowed

    def permits(self, spec: Named, arguments: Mapping[str, Any], parts: Sequence[CommandPart] = ()) -> bool:
        """Whether this call is allowed; ``parts`` are those of a command that was taken apart."""
        return self.explain(spec, arguments, parts).allowed

    def denies(self, spec: Named) -> bool:
        """Whether it takes the tool out, whatever the arguments: a malformed list takes out all."""
        return self.problem is not None or any(not rule.checks for rule in self._about(spec)[1])

    def constraints(self, spec: Named) -> tuple[str, ...]:
        """What its calls must fit, as written, alternatives in one text; a lister states it beside the tool (R-DSC-5).
        Denials come with ``$deny``."""
        allows, denies = self._about(spec)
        either = " or ".join(dict.fromkeys(rule.text for rule in allows))
        free = not allows or any(not rule.checks for rule in allows)
        return (*(() if free else (either,)), *(rule.text for rule in denies if rule.checks))

    def explain(
        self, spec: Named, arguments: Mapping[str, Any] | None = None, parts: Sequence[CommandPart] = ()
    ) -> ListJudgement:
        """The decision about a call and what made it; without ``arguments``: about the tool as such."""
        if self.problem is not None:
            return ListJudgement(
                False, "", f"The list of allowed tools is malformed, so it allows nothing: {self.problem}"
            )
        if self._index is None:
            return _NO_LIST
        allows, denies = self._about(spec)
        call = None if arguments is None else ComparedCall(arguments, spec.params, parts)
        also = named_on_server(spec.name, spec.on_server, arguments)
        if also:
            denies = (*denies, *self._index.sides(also, tuple(spec.tags))[1])
        for rule in denies:
            if not rule.checks if call is None else any(call.denied_by(rule, part) for part in call.parts):
                return ListJudgement(False, rule.text, "The list denies it.")
        if spec.name == CONTEXT_MANAGER:
            return _CONTEXT_MANAGER
        return _allowed(allows, call) if allows else _NOT_LISTED

    def _about(self, spec: Named) -> tuple[tuple[PatternRule, ...], tuple[PatternRule, ...]]:
        """The rules that allow the tool, only those of the highest specificity (R-PAT-9), and those that deny it. About
        context-manager only denials of an operation count (R-PAT-12)."""
        if self._index is None:
            return (), ()
        allows, denies = self._index.sides(spec.name, tuple(spec.tags))
        if spec.bound_by:
            denies = (*denies, *self._index.sides(spec.bound_by, ())[1])
        if spec.name == CONTEXT_MANAGER:
            return (), tuple(rule for rule in denies if rule.constrains(_OPERATION))
        return allows, denies


_NO_LIST = ListJudgement(True, "", "No list of allowed tools is given, so every tool is allowed.")
_NOT_LISTED = ListJudgement(False, "", "No pattern of the list selects it.")
_CONTEXT_MANAGER = ListJudgement(True, "", "Operations of context-manager are allowed unless one is denied by name.")


def _allowed(rules: Sequence[PatternRule], call: ComparedCall | None) -> ListJudgement:
    """By the first that covers it; of a command by one for each part."""
    if call is None:
        return ListJudgement(True, rules[0].text, _allowed_by(rules[0], whole=False))
    found: list[PatternRule] = []
    for part in call.parts:
        rule = next((rule for rule in rules if call.allowed_by(rule, part)), None)
        if rule is None:
            return ListJudgement(False, rules[0].text, _not_so(part))
        found.append(rule)
    return ListJudgement(True, " ".join(dict.fromkeys(rule.text for rule in found)), _allowed_by(found[0], whole=True))


def _not_so(part: CommandPart | None) -> str:
    """Why what the list says does not cover this."""
    if part is None:
        return "The list allows it only with other arguments."
    shown = part.text if len(part.text) <= _SHOWN else f"{part.text[:_SHOWN]}…"
    if part.hidden:
        return f"The list allows only commands that can be read in full, and here {part.hidden}."
    more = f", which must stand in the list: {', '.join(part.said)}" if part.said else ""
    return f"The list allows only other commands than {shown!r}{more}."


def _allowed_by(rule: PatternRule, *, whole: bool) -> str:
    if not rule.checks:
        return "The list allows it."
    if whole:
        return "The list allows it with these arguments."
    return f"The list allows it with {', '.join(check.text for check in rule.checks)}."


def _belongs(pattern: Pattern) -> None:
    if pattern.policy not in {None, "deny"}:
        raise PatternError("$policy=allow and $policy=ask belong into trust rules", pattern.metas[0].column)


NamedBy = Literal["child", "both", "either"]


@dataclass(frozen=True, slots=True)
class Intersection:
    """What a caller and a list below it both allow: a child never does more than its parent (R-AG-5).

    ``named_by`` says whose exact names count: the ``child``'s, which its author wrote; those of ``both``, where a
    model wrote the child's list and so cannot uncover what is hidden; those of ``either``, where one list narrows
    another of the same agent.
    """

    parent: Allows
    child: Allows
    named_by: NamedBy = "child"

    @property
    def discovers(self) -> bool:
        return self.parent.discovers and self.child.discovers

    @property
    def exact_names(self) -> Sequence[str]:
        """In the order of the list that gives them; which of them both allow is what ``offers`` says."""
        if self.named_by == "either":
            return tuple(dict.fromkeys((*self.parent.exact_names, *self.child.exact_names)))
        return self.child.exact_names

    def names(self, name: str) -> bool:
        """Whether the tool is named exactly, by the list that counts."""
        if self.named_by == "child":
            return self.child.names(name)
        by_parent, by_child = self.parent.names(name), self.child.names(name)
        return by_parent and by_child if self.named_by == "both" else by_parent or by_child

    def denies(self, spec: Named) -> bool:
        return self.parent.denies(spec) or self.child.denies(spec)

    def constraints(self, spec: Named) -> tuple[str, ...]:
        """The constraints of both lists: each has to hold."""
        return tuple(dict.fromkeys((*self.parent.constraints(spec), *self.child.constraints(spec))))

    def offers(self, spec: Named) -> bool:
        return self.parent.offers(spec) and self.child.offers(spec)

    def permits(self, spec: Named, arguments: Mapping[str, Any], parts: Sequence[CommandPart] = ()) -> bool:
        return self.parent.permits(spec, arguments, parts) and self.child.permits(spec, arguments, parts)

    def explain(
        self, spec: Named, arguments: Mapping[str, Any] | None = None, parts: Sequence[CommandPart] = ()
    ) -> ListJudgement:
        """The parent's refusal, else the child's decision."""
        above = self.parent.explain(spec, arguments, parts)
        if above.allowed:
            return self.child.explain(spec, arguments, parts)
        return ListJudgement(False, above.rule_text, f"The caller itself may not: {above.reason}")


def matching(text: str | Sequence[str], specs: Iterable[Named]) -> list[str]:
    """The names of the tools that some pattern of the text selects, for the box that tests a pattern (S-PAT-2).

    Raises PatternError.
    """
    index = RuleIndex(parse_patterns(text), Where())
    return [spec.name for spec in specs if index.about(spec.name, tuple(spec.tags))]
