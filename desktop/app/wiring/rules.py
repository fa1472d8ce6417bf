"""The rules of the running app: read from the store, in force at the gate, and the service that changes them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.rules import RuleDraft, Simulation
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Redactor, SettingsProvider
from desktop.domain.tools import ToolSpec
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.shell.lazy import LazyShellReader
from desktop.services.rules.calls import recorded
from desktop.services.rules.editing import RuleService
from desktop.services.rules.grants import GrantBook
from desktop.services.rules.trust import TrustRules
from desktop.skills.patterns.grammar import Pattern
from desktop.skills.patterns.paths import Where
from desktop.store import Store
from desktop.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from desktop.services.rules import simulator as rules_simulator
    from desktop.services.rules import trial as rules_trial
    from desktop.services.rules.simulator import Simulator
else:
    rules_simulator = lazy_module("desktop.services.rules.simulator")
    rules_trial = lazy_module("desktop.services.rules.trial")


@dataclass(frozen=True, slots=True)
class RuleServices:
    """The rule book that the gate asks, and the service of the Rules page."""

    book: TrustRules
    service: RuleService
    grants: GrantBook


async def open_rules(
    store: Store,
    redactor: Redactor,
    tools: ToolRegistry,
    safety: SettingsProvider,
    policy: BoundaryPolicy,
    allowed: Sequence[Pattern] = (),
) -> RuleServices:
    """Read what was remembered; ``allowed`` are rules of this start only. Raises what the store raises."""
    real = await asyncio.to_thread(_real, safety().workspace, str(Path.home()))

    def record(facts: CallFacts, at: float) -> None:
        store.rules.record(make=lambda: recorded(facts, at, redactor))

    book = TrustRules(
        kept=store.rules, cwd=real[0], home=real[1], record=record, patterns=allowed, mask=redactor.mask_known
    )
    await book.load()

    def specs() -> list[ToolSpec]:
        return [tool.spec for tool in tools.tools()]

    simulate = _simulator(store, policy, safety, specs, real)
    service = RuleService(book, specs, simulate, writes_pass=lambda: safety().auto_approve_workspace_writes)
    grants = GrantBook(store.grants, Where(*real), mask=redactor.mask_known)
    await grants.open()
    return RuleServices(book, service, grants)


def _simulator(
    store: Store, policy: BoundaryPolicy, safety: SettingsProvider, specs: Callable[[], list[ToolSpec]], real: list[str]
) -> Callable[[TrustRules, RuleDraft, Pattern], Awaitable[Simulation]]:
    """The simulator of rules that are not saved yet. It and its tricks (0.5 MB) are imported with the first trial."""

    def made() -> Simulator:
        judges = rules_trial.Judges(LazyShellReader(policy, safety).read_now, policy.explain, specs, *real)
        return rules_simulator.Simulator(store.rules, judges)

    async def simulate(rules: TrustRules, draft: RuleDraft, pattern: Pattern) -> Simulation:
        return await (await asyncio.to_thread(made)).run(rules, draft, pattern)

    return simulate


def _real(*folders: str) -> list[str]:
    """Paths are compared where they lead, so what relative ones start from must be such a place."""
    return [os.path.realpath(os.path.expanduser(folder)) for folder in folders]
