"""Times, counts and costs as a person reads them, the same everywhere. Pure functions."""

from __future__ import annotations

import time


def clock(at: float) -> str:
    """``14:02`` in local time."""
    return time.strftime("%H:%M", time.localtime(at))


def human_count(count: int) -> str:
    """``61.3k``, ``1.2M``: token counts for meters and footers."""
    if count < 1000:
        return str(count)
    if count < 999_500:
        value = count / 1e3
        return f"{value:.1f}k" if value < 100 else f"{value:.0f}k"
    return f"{count / 1e6:.1f}M"


def human_cost(cost: float | None) -> str:
    """``$0.087``; an unknown cost says so and is never zero."""
    if cost is None:
        return "cost unknown"
    if cost == 0:
        return "$0"
    return f"${cost:.3f}" if cost < 1 else f"${cost:.2f}"
