"""The rules of the running app: read from the store, in force at the gate, and the desk where a person changes them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop.conversation.rule_calls import recorded
from desktop.conversation.rule_desk import RuleDesk
from desktop.conversation.rule_simulator import Simulator
from desktop.conversation.rule_trial import Judges
from desktop.conversation.trust import TrustRules
from desktop.domain.safety import CallFacts, Redactor, SettingsProvider
from desktop.domain.tools import ToolSpec
from desktop.safety.boundary import PathPolicy
from desktop.safety.shell import ShellReader
from desktop.skills.patterns.grammar import Pattern
from desktop.store import Store
from desktop.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class RuleRooms:
    """The rule book that the gate asks, and the desk of the Rules page."""

    book: TrustRules
    desk: RuleDesk


async def open_rules(
    store: Store, redactor: Redactor, tools: ToolRegistry, safety: SettingsProvider, policy: PathPolicy,
    allowed: Sequence[Pattern] = (),
) -> RuleRooms:  # fmt: skip
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

    judges = Judges(ShellReader(policy, safety).read_now, policy.explain, specs, *real)
    desk = RuleDesk(
        book, specs, Simulator(store.rules, judges).run,
        writes_pass=lambda: safety().auto_approve_workspace_writes,
    )  # fmt: skip
    return RuleRooms(book, desk)


def _real(*folders: str) -> list[str]:
    """Paths are compared where they lead, so what relative ones start from must be such a place."""
    return [os.path.realpath(os.path.expanduser(folder)) for folder in folders]
