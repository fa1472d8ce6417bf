"""How much runs may use."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.supervision import RUN_ROUNDS, ExecutionBudget
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class Limits:
    """Settings of how much runs may use, and how many work at once."""

    concurrent_runs: int = setting(
        4, "Runs at the same time", "whole", "Further runs wait for their turn.", "Chats", minimum=1, maximum=32
    )
    run_tokens: int = setting(
        0,
        "Tokens of a run",
        "whole",
        "What one message may use with all agents that work on it; the Run panel can give more. 0: no limit.",
        "Chats",
        minimum=0,
        maximum=1_000_000_000,
        unit="tokens",
        zero="No limit",
    )
    run_cost_usd: float = setting(
        0,
        "Cost of a run",
        "number",
        "The same in money, where the provider says what it costs. 0: no limit.",
        "Chats",
        minimum=0,
        maximum=100_000,
        unit="USD",
        zero="No limit",
    )
    run_rounds: int = setting(
        RUN_ROUNDS,
        "Most rounds for one run",
        "whole",
        "All agents of a run together, however they call each other.",
        "Chats",
        minimum=1,
        maximum=100_000,
    )
    thread_rounds: int = setting(
        5_000,
        "Most rounds for one chat",
        "whole",
        "All answers of one chat together, with those of its branches.",
        "Chats",
        minimum=1,
        maximum=1_000_000,
    )
    run_minutes: float = setting(
        0,
        "Time of a run",
        "number",
        "How long a run may work; while it waits for you no time passes. 0: no limit.",
        "Chats",
        minimum=0,
        maximum=100_000,
        unit="minutes",
        zero="No limit",
    )

    @property
    def run(self) -> ExecutionBudget:
        """What a run that begins now may use."""
        return ExecutionBudget(
            self.run_tokens or None, self.run_cost_usd or None, self.run_rounds, self.run_minutes * 60 or None
        )
