"""What a person does with rules: see them all, write, try, save, change and revoke them (R-PRM-11)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest, RuleRecord
from desktop.domain.approval.rules import RuleDraft, RuleOrigin, RuleProblem, RuleView, Simulation
from desktop.domain.errors import ConfigurationError
from desktop.domain.ids import new_id
from desktop.domain.tools import ToolSpec
from desktop.services.rules.text import ABOUT, problem_of, proposed, read_rule
from desktop.services.rules.trust import BUILT_IN, ORIGIN, WITHOUT_KEY, RememberedRule, TrustRules
from desktop.services.threads.masking import HOLDS_A_KEY
from desktop.skills.patterns.grammar import Pattern
from desktop.tools.builtin.catalogue import FILE_WRITERS

YOU = "you"
"""What a rule's record says of where it came from when a person wrote it on the page."""
_WHAT_ASKS = {
    Category.READ: "",
    Category.WRITE: "as every call that can change something",
    Category.ADMIN: "every time, whatever a rule says",
}

Simulate = Callable[[TrustRules, RuleDraft, Pattern], Awaitable[Simulation]]


class RuleService:
    """Implements ``domain.rules.RulePort``. ``tools`` are all that is registered now; ``writes_pass``: whether the
    opt-in setting lets file tools write in the workspace. Used on the loop."""

    def __init__(
        self,
        rules: TrustRules,
        tools: Callable[[], Iterable[ToolSpec]],
        simulate: Simulate,
        *,
        writes_pass: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rules = rules
        self._tools = tools
        self._simulate = simulate
        self._writes_pass = writes_pass
        self._clock = clock

    # -- seeing -------------------------------------------------------------------------------------------------------

    def rules(self) -> tuple[RuleView, ...]:
        """All rules in force: those of the person, then what is built in, tool by tool. No library, project or setting
        can bring rules along."""
        return (*map(_view, self._rules.kept), *map(self._built_in, self._tools()))

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Told after each change, on the loop; returns what detaches the listener."""
        return self._rules.on_change(listener)

    def _built_in(self, spec: ToolSpec) -> RuleView:
        """What happens to calls of a tool that no rule is about; a single call may be raised by what it does."""
        rule_id = f"{BUILT_IN}{spec.name}"
        uses, at = self._rules.built_in_uses.get(rule_id, (0, None))
        detail = _WHAT_ASKS[spec.category]
        if spec.name in FILE_WRITERS and self._writes_pass():
            detail = "outside the workspace; inside it passes, as set in Settings"
        asks = spec.about == "host"
        detail = "for each host, until you allow it" if asks else detail
        decision = "allow" if spec.category is Category.READ and not asks else "ask"
        return RuleView(rule_id, spec.name, decision, "built_in", detail, last_used_at=at, uses=uses)  # type: ignore[arg-type]

    # -- writing ------------------------------------------------------------------------------------------------------

    def propose(self, request: PermissionRequest) -> RuleDraft:
        """The narrowest rule that would have answered this request: in a project it holds there alone."""
        known = {"path": request.paths[0]} if len(request.paths) == 1 and "path" in request.arguments else {}
        if request.preview.get("kind") in ("web", "search"):
            known["host"] = str(request.preview["host"])
        text = proposed(request.tool, request.arguments, known)
        return RuleDraft(text, "allow", request.project, origin="request")

    def check(self, draft: RuleDraft) -> RuleProblem | None:
        """Whether it could be saved. Quick, without disk."""
        problem = problem_of(draft.pattern, draft.decision)
        if problem is not None:
            return problem
        if place := self._rules.key_in(draft.pattern):
            return RuleProblem(f"{HOLDS_A_KEY}. {WITHOUT_KEY}", *place)
        start = len(draft.pattern) - len(draft.pattern.lstrip())
        text = draft.pattern.strip()
        if draft.replaces and draft.replaces not in {found.record.rule_id for found in self._rules.kept}:
            return RuleProblem("The rule that is being changed is no longer there.")
        for found in self._rules.kept:
            same = (found.shown, found.record.decision, found.record.thread_id)
            if same == (text, draft.decision, draft.thread_id) and found.record.rule_id != draft.replaces:
                return RuleProblem("There is such a rule already.", start, len(text))
        return self._unknown_argument(read_rule(text, draft.decision), start)

    def _unknown_argument(self, pattern: Pattern, start: int) -> RuleProblem | None:
        """A constraint on an argument that the tool does not have would never fit: a rule that denies would be none."""
        spec = next((spec for spec in self._tools() if spec.name == pattern.selector.text), None)
        names = spec.params.get("properties") if spec is not None else None
        if spec is not None and isinstance(names, dict) and spec.about == "host":
            names = {**names, spec.about: {}}
        if spec is None or not isinstance(names, dict) or spec.params.get("additionalProperties", True) is not False:
            return None
        for part in pattern.constraints:
            if part.name not in ABOUT and part.name.partition(".")[0].partition("[")[0] not in names:
                has = ", ".join(names) or "none"
                where = start + part.column - 1
                return RuleProblem(f"{spec.name} has no argument {part.name}; it has {has}.", where, len(part.name))
        return None

    def simulate(self, draft: RuleDraft) -> Awaitable[Simulation]:
        """Try it on recorded calls and on the built-in tricks. Raises KnownError for what ``check`` refuses."""
        return self._simulate(self._rules, draft, self._pattern(draft))

    async def save(self, draft: RuleDraft) -> RuleView:
        """Save a rule; it applies once this returns, also for running agents. Raises KnownError."""
        pattern = self._pattern(draft)
        origin = ORIGIN if draft.origin == "request" else YOU
        record = RuleRecord(
            new_id(),
            pattern.selector.text,
            {},
            draft.decision,
            origin,
            self._clock(),
            pattern=draft.pattern.strip(),
            thread_id=draft.thread_id,
        )
        return _view(await self._rules.put(record, draft.replaces))

    def _pattern(self, draft: RuleDraft) -> Pattern:
        problem = self.check(draft)
        if problem is not None:
            raise ConfigurationError(problem.message, next_step="Correct the pattern.")
        return read_rule(draft.pattern.strip(), draft.decision)

    # -- revoking -----------------------------------------------------------------------------------------------------

    async def revoke(self, rule_id: str) -> None:
        """Revoke a rule; from now on it applies to nothing. Raises KnownError when it is not there or not editable."""
        _editable(rule_id)
        await self._rules.revoke(rule_id)

    async def restore(self, rule_id: str) -> None:
        """Bring a revoked rule back."""
        _editable(rule_id)
        await self._rules.restore(rule_id)


def _editable(rule_id: str) -> None:
    if rule_id.startswith(BUILT_IN):
        raise ConfigurationError("A built-in rule cannot be revoked.", next_step="Write a rule of your own instead.")


def _view(found: RememberedRule) -> RuleView:
    record = found.record
    origin: RuleOrigin = "you" if record.origin == YOU else "request"
    return RuleView(
        record.rule_id,
        found.shown,
        record.decision,
        origin,
        "",
        record.created_at,
        record.last_used_at,
        record.uses,
        record.thread_id,
        True,
        found.problem,
    )
