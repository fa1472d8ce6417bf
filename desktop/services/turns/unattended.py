"""What a job may do while nobody is there: its list of tools, and names for what is admin."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, TypeVar

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.judgement import Category, CommandPart
from desktop.domain.definitions import DefinitionProblem
from desktop.domain.jobs import JobPolicy
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.supervision import ExecutionBudget, Priority
from desktop.domain.text.suggestions import nearest
from desktop.domain.tools import ToolSpec
from desktop.pipeline.names import AllowedTools
from desktop.services.rules.text import ANY_COMMAND, SOURCE, allows_any_command, read_rule
from desktop.services.rules.trust import ELSEWHERE, Entry, RuleSet, binds
from desktop.services.threads.masking import HOLDS_A_KEY, Mask, place_of_key
from desktop.skills.patterns import PatternError, matching, parse_patterns
from desktop.skills.patterns.grammar import Pattern, Selector
from desktop.skills.patterns.paths import Where
from desktop.skills.patterns.policies import Owner
from desktop.tools.builtin.catalogue import COMMAND_TOOLS

MAXIMUM = 100
CODE_TOOL = ToolSpec(
    "agent-code", "Runs the code of an agent that calls its tools by code.", {}, Category.READ, gives="calls"
)
"""As a list sees it: the real one is made by each run (``agents.skill.calls``), so it is in no table."""
_NAME_SHOWN = 60
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,127}")
_Number = TypeVar("_Number", int, float)


class JobPermission:
    """Implements ``domain.jobs.Unattended``; ``present`` is as there. ``admin_allowed`` is the app's switch, read at
    each call: while it is off, no job makes an admin call, whatever it lists (C-34)."""

    def __init__(self, policy: JobPolicy, admin_allowed: Callable[[], bool], where: Where) -> None:
        self._policy = policy
        self._admin_allowed = admin_allowed
        listed = [Entry(read_entry(text), Owner()) for text in policy.allowed_tools or ()]
        self._listed = RuleSet(listed, where) if policy.allowed_tools is not None else None
        self.present = False

    def for_continuing(self) -> JobPermission:
        """The same, for a person who goes on with what the job had begun."""
        found = copy(self)
        found.present = True
        return found

    def refusal(self, facts: CallFacts) -> str:
        """Why the call may not be made, or "". The category is that of this very call (R-CRON-4)."""
        if facts.category is Category.READ and not facts.asks:
            return f"{facts.tool} is denied by the job's list" if self.denies(facts) else ""
        if self._listed is None:
            does = "goes to other computers" if facts.asks else "changes things"
            return f"{facts.tool} {does} and is not on the job's list"
        if facts.category is Category.ADMIN:
            return self._admin(facts)
        return "" if self._fits(facts) else f"{facts.tool} is not on the job's list, or not for this"

    @property
    def at_edge(self) -> bool:
        """Whether what stays within the edge of its folder may be done without being listed."""
        return self._policy.at_edge

    def denies(self, facts: CallFacts) -> bool:
        """Whether the job's list denies the call."""
        return self._policy_of(facts) == "deny"

    def _policy_of(self, facts: CallFacts) -> str:
        found = self._listed.match(facts) if self._listed is not None else None
        return found.policy if found is not None else ""

    def _fits(self, facts: CallFacts) -> bool:
        """A pattern of the list that names the tool fits (R-CRON-3)."""
        found = self._listed.match(facts) if self._listed is not None else None
        return found is not None and found.policy == "allow" and found.specific

    def _admin(self, facts: CallFacts) -> str:
        """Only by exact name, never by a glob or a tag (R-CRON-3)."""
        if facts.tool not in self._policy.allow_admin:
            return f"this call of {facts.tool} is admin, which the job does not allow by name"
        if not self._fits(facts):
            return f"{facts.tool} is not on the job's list, or not for this"
        return "" if self._admin_allowed() else "admin calls of jobs are switched off in Settings"


def read_entry(text: str) -> Pattern:
    """An entry of a job's list: it allows, or denies where it says ``$deny``. Raises PatternError for what is not
    exactly one pattern, and for any other decision."""
    found = parse_patterns(text).patterns
    if len(found) == 1 and found[0].policy == "deny":
        return found[0]
    return read_rule(text, "allow")


def policy_problems(policy: JobPolicy, mask: Mask = lambda text: text) -> Iterator[DefinitionProblem]:
    """All that is wrong with it, at once. ``mask``: a key in a pattern is refused, for masked it would fit nothing."""
    if len(policy.allowed_tools or ()) > MAXIMUM or len(policy.allow_admin) > MAXIMUM:
        yield DefinitionProblem("policy", "job.many", f"A job lists at most {MAXIMUM} tools.")
    yield from _list_problems(policy, mask)
    for path, value in (("max_rounds", policy.max_rounds), ("max_tokens", policy.max_tokens)):
        if value is not None and (isinstance(value, bool) or value < 1):
            yield DefinitionProblem(f"policy.{path}", "job.limit", "It must be at least 1.")
    for path, number in (("max_cost", policy.max_cost), ("deadline_s", policy.deadline_s)):
        if number is not None and not 0 < number < 1e9:
            yield DefinitionProblem(f"policy.{path}", "job.limit", "It must be more than nothing.")


def _list_problems(policy: JobPolicy, mask: Mask) -> Iterator[DefinitionProblem]:
    for at, text in enumerate((policy.allowed_tools or ())[:MAXIMUM]):
        try:
            read_entry(text)
        except PatternError as error:
            yield DefinitionProblem(f"policy.allowed_tools[{at}]", "job.pattern", f"{mask(text)[:80]!r}: {error}")
        if place_of_key(text, mask) is not None:
            words = f"{HOLDS_A_KEY}, which is written nowhere: put * in its place."
            yield DefinitionProblem(f"policy.allowed_tools[{at}]", "job.key", words)
    if policy.allow_admin and policy.allowed_tools is None:
        words = "A job that only reads makes no admin calls: list its tools, or leave this empty."
        yield DefinitionProblem("policy.allow_admin", "job.admin_unlisted", words, warning=True)
    for at, name in enumerate(policy.allow_admin[:MAXIMUM]):
        if not _NAME.fullmatch(name):
            words = f"{mask(name)[:80]!r} is no name of a tool; admin is allowed by exact name only."
            yield DefinitionProblem(f"policy.allow_admin[{at}]", "job.admin", words)


def tool_problems(policy: JobPolicy, tools: Iterable[ToolSpec]) -> Iterator[DefinitionProblem]:
    """Entries that allow none of the tools that there are now: the job may be kept like that."""
    known = {tool.name: tool for tool in (CODE_TOOL, *tools)}
    for at, text in enumerate((policy.allowed_tools or ())[:MAXIMUM]):
        try:
            pattern, fits = read_entry(text), matching([text], known.values())
            sources = {known[name].source for name in fits}
        except PatternError:
            continue
        if pattern.policy != "deny" and allows_any_command(pattern) and not COMMAND_TOOLS.isdisjoint(fits):
            words = f"{text[:80]}: {ANY_COMMAND[0].lower()}{ANY_COMMAND[1:]}"
            yield DefinitionProblem(f"policy.allowed_tools[{at}]", "job.any_command", words, warning=True)
        if not fits:
            yield _no_tool(f"policy.allowed_tools[{at}]", text, pattern.selector, known)
        elif sources <= ELSEWHERE and not binds(pattern):
            whose = " or ".join(sorted(sources))
            words = f"{text[:80]}: a skill of a {whose} folder is only allowed with ({SOURCE}={min(sources)})."
            yield DefinitionProblem(f"policy.allowed_tools[{at}]", "job.elsewhere", words, warning=True)
    for at, name in enumerate(policy.allow_admin[:MAXIMUM]):
        if name not in known and _NAME.fullmatch(name):
            yield _no_tool(f"policy.allow_admin[{at}]", name, Selector("glob", name), known)


def _no_tool(path: str, text: str, selector: Selector, known: Iterable[str]) -> DefinitionProblem:
    if selector.kind == "tag":
        words = "no tool has this tag."
    elif any(letter in selector.text for letter in "*?[{"):
        words = "no tool has a name like this."
    else:
        suggested = nearest(selector.text.lower().replace("_", "-"), known)
        words = f"no tool has this name; did you mean {suggested[0]}?" if suggested else "no tool has this name."
    return DefinitionProblem(path, "job.no_tool", f"{text[:80]}: {words}", warning=True)


@dataclass(frozen=True, slots=True)
class _AsListed:
    """The part of ``pipeline.AllowedTools`` that is as another list has it."""

    listed: AllowedTools

    def denies(self, spec: ToolSpec) -> bool:
        """Whether the list denies a tool."""
        return self.listed.denies(spec)

    def names(self, name: str) -> bool:
        """Whether the list names a tool."""
        return self.listed.names(name)

    @property
    def exact_names(self) -> Sequence[str]:
        """The exact names in the list."""
        return self.listed.exact_names


@dataclass(frozen=True, slots=True)
class ReadOnly(_AsListed):
    """A list of which only that is left which reads, for a job that lists nothing (R-CRON-2)."""

    def offers(self, spec: ToolSpec) -> bool:
        """Whether the tool declares that it only reads."""
        return spec.category is Category.READ and self.listed.offers(spec)

    def permits(self, spec: ToolSpec, arguments: Mapping[str, Any], parts: Sequence[CommandPart] = ()) -> bool:
        """Whether the list permits the call, as in ``offers``; its real category is judged later."""
        return spec.category is Category.READ and self.listed.permits(spec, arguments, parts)

    def constraints(self, spec: ToolSpec) -> Sequence[str]:
        """The list's constraints on a tool."""
        return self.listed.constraints(spec)

    @property
    def discovers(self) -> bool:
        """Whether the list lets tools be discovered."""
        return self.listed.discovers


@dataclass(frozen=True, slots=True)
class ListedOrReading(_AsListed):
    """What a job's list allows, and all that reads and is not denied by it."""

    undenied: AllowedTools

    def offers(self, spec: ToolSpec) -> bool:
        """By the list, or by the category that the tool declares."""
        return self.listed.offers(spec) or self._may_read(spec)

    def permits(self, spec: ToolSpec, arguments: Mapping[str, Any], parts: Sequence[CommandPart] = ()) -> bool:
        """Whether the lists permit the call, as in ``offers``; its real category is judged later."""
        reads = spec.category is Category.READ and self.undenied.permits(spec, arguments, parts)
        return reads or self.listed.permits(spec, arguments, parts)

    def constraints(self, spec: ToolSpec) -> Sequence[str]:
        """The list's constraints on a tool; for one that reads, only those that deny."""
        return (self.undenied if self._may_read(spec) else self.listed).constraints(spec)

    @property
    def discovers(self) -> bool:
        """What reads and is not offered natively is found by looking for it."""
        return True

    def _may_read(self, spec: ToolSpec) -> bool:
        return spec.category is Category.READ and self.undenied.offers(spec)


def list_of_job(tools: Sequence[str], read_list: Callable[[str], AllowedTools]) -> AllowedTools:
    """The patterns of a job's list as a list of a run; ``read_list`` reads patterns. Raises PatternError."""
    denied = [text for text in tools if read_entry(text).policy == "deny"]
    return ListedOrReading(read_list(" ".join(tools)), read_list(" ".join(["*", *denied])))


@dataclass(frozen=True, slots=True)
class JobTerms:
    """What a job's run is bound to, however many agents hand it on."""

    unattended: JobPermission
    """What may be done without a person."""
    max_rounds: int
    """The limit on rounds."""
    budget: ExecutionBudget
    """What the run may use."""
    tools: tuple[str, ...] | None
    """The patterns that its agent's own list is narrowed to; None: only what reads. At the edge of its folder all
    tools are offered that its list does not deny: the gate says which calls stay within."""
    set_by: str = "the job"
    """What is said of a limit that stops it (R-LIM-5)."""
    of_app: tuple[str, ...] = ()
    """The limits where the app's own budget is the tighter one."""
    attended: bool = False
    """Whether a person goes on with it and waits."""


def usual_priority(terms: JobTerms | None) -> Priority:
    """Runs that somebody waits for go before those of jobs."""
    return Priority.NORMAL if terms is None or terms.attended else Priority.LOW


def terms_of(
    policy: JobPolicy, above: ExecutionBudget, admin_allowed: Callable[[], bool], where: Where, name: str = ""
) -> JobTerms:
    """The terms of a job of this name; ``above`` is the app's own budget, which stays in force. Raises PatternError."""
    budget = ExecutionBudget(
        max_tokens=_minimum(policy.max_tokens, above.max_tokens),
        max_cost_usd=_minimum(policy.max_cost, above.max_cost_usd),
        max_rounds=_minimum(policy.max_rounds, above.max_rounds),
        deadline_s=_minimum(policy.deadline_s, above.deadline_s),
    )
    tools = policy.allowed_tools
    if tools is not None:
        tools = tuple(dict.fromkeys((*tools, *policy.allow_admin)))
    if policy.at_edge:
        tools = ("*", *(text for text in tools or () if read_entry(text).policy == "deny"))
    own = {
        "max_tokens": policy.max_tokens,
        "max_cost_usd": policy.max_cost,
        "max_rounds": policy.max_rounds,
        "deadline_s": policy.deadline_s,
    }
    of_app = tuple(limit for limit, value in own.items() if getattr(budget, limit) != value)
    set_by = f"the job {name[:_NAME_SHOWN]}".rstrip()
    return JobTerms(JobPermission(policy, admin_allowed, where), policy.max_rounds, budget, tools, set_by, of_app)


def _minimum(one: _Number | None, other: _Number | None) -> _Number | None:
    return min((value for value in (one, other) if value is not None), default=None)
