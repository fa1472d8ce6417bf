"""Changes of files that can be undone: how long, and how much of them, is kept."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Settings of what is kept for undoing."""

    keep_days: int = setting(
        30,
        "Keep changes for",
        "whole",
        "What files held before a call changed them is kept this long; then the change cannot be undone any more.",
        "Changes",
        minimum=1,
        maximum=3_650,
        unit="days",
    )
    keep_mb: int = setting(
        500,
        "Keep at most",
        "whole",
        "Space on the disk for it. Where more is needed, the oldest goes first.",
        "Changes",
        minimum=10,
        maximum=100_000,
        unit="MB",
    )
