"""The rules of trust as the Rules page lists them (R-PRM-11, R-PRM-12).

The service's list is memory and is asked on the loop; what is saved and revoked is written in the store's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.rules import RuleDecision, RuleDraft, RuleView
from desktop.domain.errors import AssentError, KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import ToolCallFinished
from desktop.presenter.approvals.rules_list import DRAFT, RuleListModel

if TYPE_CHECKING:
    from desktop.domain.approval.rules import RulePort
    from desktop.presenter.events.bridge import Bridge

LEFT_AS_IT_IS = {
    "ask": "This rule asks already.",
    "deny": "This rule denies already.",
    "allow": "This rule allows already.",
}
_NOW = {"ask": "Asks now", "deny": "Denies now", "allow": "Allows now"}
UNDOS = 20


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """What the toolbar says; empty lets everything through."""

    text: str = ""
    decision: str = ""
    origin: str = ""

    @property
    def narrowed(self) -> bool:
        """Whether a filter hides some rules."""
        return bool(self.text.strip() or self.decision or self.origin)

    def of(self, rules: tuple[RuleView, ...]) -> list[RuleView]:
        """The rules that fit: every word of the text is in the pattern or in the project's name."""
        words = self.text.casefold().split()
        found = (
            [
                rule
                for rule in rules
                if (not self.decision or rule.decision == self.decision)
                and (not self.origin or rule.origin == self.origin)
            ]
            if self.decision or self.origin
            else list(rules)
        )
        if not words:
            return found
        about = ((rule, f"{rule.pattern} {rule.detail}".casefold()) for rule in found)
        return [rule for rule, text in about if all(word in text for word in words)]


class RulesViewModel(QObject):
    """``changed`` after other rows are in ``model``; ``rules_changed`` when other rules are in force; ``used`` after
    calls; ``said`` (sentence, undo token) for the list, ``told`` for whoever is elsewhere; ``wanted`` (rule id) when a
    rule shall be shown."""

    changed = Signal()
    rules_changed = Signal()
    used = Signal()
    said = Signal(str, str)
    told = Signal(str)
    failed = Signal(str)
    wanted = Signal(str)

    def __init__(self, service: RulePort, bridge: Bridge) -> None:
        super().__init__()
        self.service = service
        self._bridge = bridge
        self.model = RuleListModel(self)
        self.chosen = RuleFilter()
        self.rules: tuple[RuleView, ...] = ()
        self._undo: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {}
        self._number = 0
        self._draft: RuleDraft | None = None
        self._end = service.on_change(self._other_rules)
        self.destroyed.connect(self._end)
        self.refresh()

    # -- the list -----------------------------------------------------------------------------------------------------

    @property
    def shown(self) -> int:
        """How many of them fit the filter; the one that is being written is not counted."""
        return self.model.rowCount() - (self.model.draft is not None)

    def _other_rules(self) -> None:
        self.refresh()
        self.rules_changed.emit()

    def refresh(self) -> None:
        """Read the service anew: rules, or how often they were used."""
        rules = self.service.rules()
        if rules != self.rules:
            self.rules = rules
            self._list()

    def choose(self, **changes: str) -> None:
        """Change the filter: ``text``, ``decision``, ``origin``."""
        wanted = replace(self.chosen, **changes)
        if wanted != self.chosen:
            self.chosen = wanted
            self._list()

    def show_all(self) -> None:
        """Remove all filters."""
        self.choose(text="", decision="", origin="")

    def take(self, events: object) -> None:
        """Note that calls were made, so that the uses of rules are read again. For the bridge's ``events``."""
        if isinstance(events, list | tuple) and any(isinstance(event, ToolCallFinished) for event in events):
            self.used.emit()

    def rule(self, rule_id: str) -> RuleView | None:
        """The rule of this id, if it is in force."""
        return next((rule for rule in self.rules if rule.rule_id == rule_id), None)

    def find(self, decided: Mapping[str, Any]) -> RuleView | None:
        """The rule that an entry of the activity log names, if it is still in force."""
        ids = decided.get("rule_ids") or (decided.get("rule_id"),)
        by_id = next((rule for rule in self.rules if rule.rule_id in ids), None)
        pattern = decided.get("pattern")
        return by_id or next((rule for rule in self.rules if rule.pattern == pattern and rule.editable), None)

    def show(self, rule_id: str) -> None:
        """Have a rule shown, whatever the filter."""
        found = self.rule(rule_id)
        if found is None:
            return
        if not self.chosen.of((found,)):
            self.show_all()
        self.wanted.emit(rule_id)

    def write(self, draft: RuleDraft | None) -> None:
        """The rule that is being written: a row of its own until it is saved, or its rule's row marked as open."""
        self._draft = draft
        new = None
        if draft is not None and not draft.replaces:
            new = RuleView(DRAFT, draft.pattern, draft.decision, draft.origin, thread_id=draft.thread_id)
        self.model.write(new, draft.replaces if draft is not None else "")

    def _list(self) -> None:
        self.model.show(self.chosen.of(self.rules))
        self.changed.emit()

    # -- acting -------------------------------------------------------------------------------------------------------

    def revoke(self, rule_id: str) -> None:
        """Revoke a rule; from now on it applies to nothing. Can be undone."""
        rule = self.rule(rule_id)
        if rule is not None and rule.editable:
            self._spawn(self._revoke(rule), "revoke a rule")

    def turn(self, rule_id: str, decision: RuleDecision) -> None:
        """Have it ask or deny instead, at once: that lets nothing through that was stopped before."""
        rule = self.rule(rule_id)
        if rule is None or not rule.editable or decision == "allow":
            return
        if rule.decision == decision:
            self.said.emit(LEFT_AS_IT_IS[decision], "")
        else:
            self._spawn(self._turn(rule, decision), "change a rule")

    def undo(self, token: str) -> None:
        """Take back what a toast said."""
        act = self._undo.pop(token, None)
        if act is not None:
            self._spawn(act(), "undo")

    async def _revoke(self, rule: RuleView) -> None:
        await self.service.revoke(rule.rule_id)

        async def back() -> None:
            await self.service.restore(rule.rule_id)

        self.say(f"Revoked: {rule.pattern}", back)

    async def _turn(self, rule: RuleView, decision: RuleDecision) -> None:
        origin = "request" if rule.origin == "request" else "you"
        made = await self.service.save(
            RuleDraft(rule.pattern, decision, rule.thread_id, rule.rule_id, origin)  # type: ignore[arg-type]
        )

        async def back() -> None:
            await self.service.restore(rule.rule_id)
            await self.service.revoke(made.rule_id)

        self.say(f"{_NOW[decision]}: {rule.pattern}", back)

    def say(self, sentence: str, undo: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """A toast, with Undo if there is a way back."""
        token = ""
        if undo is not None:
            self._number += 1
            token = f"rule-{self._number}"
            self._undo[token] = undo
            while len(self._undo) > UNDOS:
                del self._undo[next(iter(self._undo))]
        self.said.emit(sentence, token)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=lambda error: self.failed.emit(sentence_of(error)))


def sentence_of(error: AssentError) -> str:
    """What happened, and the next step."""
    if isinstance(error, KnownError):
        return error.advice
    return "Assent made a mistake. Nothing was changed."
