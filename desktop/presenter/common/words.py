"""Times, counts and costs as a person reads them, the same everywhere. Pure functions."""

from __future__ import annotations

import time

from desktop.domain.messages import Usage


def clock_s(at: float) -> str:
    """``14:02:05``, by the clock of this machine."""
    return time.strftime("%H:%M:%S", time.localtime(at))


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


def span_words(seconds: float) -> str:
    """``12 s``, ``3 min 5 s``: how long something took, in whole seconds."""
    minutes, rest = divmod(max(1, round(seconds)), 60)
    if not minutes:
        return f"{rest} s"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def human_cost(cost: float | None) -> str:
    """``$0.087``; an unknown cost says so and is never zero."""
    if cost is None:
        return "cost unknown"
    if cost == 0:
        return "$0"
    return f"${cost:.3f}" if cost < 1 else f"${cost:.2f}"


def saved_words(saved: float | None) -> str:
    """``saved $0.41``, or what a cache has cost more than it won; "" for nothing and for what is not known."""
    if not saved or abs(saved) < 0.0005:
        return ""
    return f"saved {human_cost(saved)}" if saved > 0 else f"cost {human_cost(-saved)} more than without it"


def cache_words(usage: Usage | None) -> tuple[str, str]:
    """``68 % came from the cache, saved $0.41``, and what that means; ("", "") where no cache had a part in it."""
    if usage is None or not (usage.cached_tokens or usage.written_tokens) or not usage.input_tokens:
        return "", ""
    share = f"{100 * min(usage.cached_tokens, usage.input_tokens) // usage.input_tokens} % came from the cache"
    sent, same = human_count(usage.input_tokens), human_count(usage.cached_tokens)
    about = f"In this chat {sent} tokens were sent; {same} of them were the same as before."
    return ", ".join(filter(None, (share, saved_words(usage.saved_usd)))), about


def footer_of(usage: Usage | None, elapsed_ms: int, model: str) -> str:
    """``2.1k tokens, $0.010, 6.2 s``; empty when nothing is known."""
    words: list[str] = []
    if usage is not None and (usage.input_tokens or usage.output_tokens):
        words.append(f"{human_count(usage.input_tokens + usage.output_tokens)} tokens")
        words.append(human_cost(usage.cost_usd))
    if elapsed_ms:
        words.append(f"{elapsed_ms / 1000:.1f} s")
    if model and words:
        words.insert(0, model.partition("/")[2] or model)
    return ", ".join(words)
