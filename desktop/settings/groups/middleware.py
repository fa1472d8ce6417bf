"""The library's middleware."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Settings of the library's middleware ``rate-limit``."""

    per_minute: int = setting(
        10,
        "Starts of one agent a minute",
        "whole",
        "Yours count and never wait. A job, and a model that calls the agent, wait, say so, and can be stopped.",
        "Middleware",
        minimum=1,
        maximum=10_000,
    )
    skills_per_minute: int = setting(
        60,
        "Starts of one skill a minute",
        "whole",
        "Of a skill that an agent works on; the next one waits.",
        "Middleware",
        minimum=1,
        maximum=10_000,
    )


@dataclass(frozen=True, slots=True)
class ContentFilterSettings:
    """Settings of the library's middleware ``content-filter``."""

    patterns: tuple[str, ...] = setting(
        (),
        "What the content filter looks for",
        "expressions",
        "Regular expressions, upper and lower case alike. Answers are held against them before you see them.",
        "Middleware",
    )
    action: Literal["replace", "refuse"] = setting(
        "replace",
        "What it does",
        "choice",
        "Replace: the place is replaced; calls of tools stay as the model wrote them. Refuse: the answer ends there, "
        "and a call whose arguments fit is not made.",
        "Middleware",
        choices=(("replace", "Replace"), ("refuse", "Refuse")),
    )
    replacement: str = setting(
        "[removed]", "Put in its place", "text", "Stands where something was. Empty: [removed].", "Middleware"
    )


@dataclass(frozen=True, slots=True)
class ResponseCacheSettings:
    """Settings of the library's middleware ``response-cache``."""

    minutes: float = setting(
        60,
        "Cached answers are kept",
        "number",
        "In memory, until Assent ends at the latest. An answer is given again only for the very same request to the "
        "same model with the same key.",
        "Middleware",
        minimum=1,
        maximum=10_000,
        unit="minutes",
    )
    entries: int = setting(
        200, "Cached answers", "whole", "The oldest go first.", "Middleware", minimum=1, maximum=1_000, unit="answers"
    )


@dataclass(frozen=True, slots=True)
class MiddlewareSettings:
    """What stands around agents, requests and calls."""

    switched_on: tuple[str, ...] = setting(
        (), "Switched on", "texts", "Middleware that is off at first: its name, or the file it is in.", "Middleware"
    )
    switched_off: tuple[str, ...] = setting(
        (), "Switched off", "texts", "Middleware that is on at first: its name, or the file it is in.", "Middleware"
    )
    rate_limit: RateLimit = field(default_factory=RateLimit)
    content_filter: ContentFilterSettings = field(default_factory=ContentFilterSettings)
    response_cache: ResponseCacheSettings = field(default_factory=ResponseCacheSettings)
