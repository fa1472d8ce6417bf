"""What a person wrote at a middleware's key (``retry: 3``), read before anything runs: right, or an error in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.domain.errors import ToolFailure
from desktop.pipeline.skill_context import Context, NotMiddleware

MAXIMUM = 1e9
"""No number of a key is larger; what runs may stop earlier."""


def config_of(ctx: Context) -> Any:
    """What the served skill says at this middleware's key. Raises NotMiddleware where it was called by itself."""
    if not ctx.is_middleware:
        name = ctx.run.tool.name
        raise NotMiddleware(f"{name} stands around a call: write it into a skill's metadata, or add it to a call.")
    return ctx.locals["config"]


def options(asked: Any, main: str) -> Mapping[str, Any]:
    """The options of a key: a mapping as it is, ``true`` for all defaults, anything else as the option ``main``."""
    if isinstance(asked, Mapping):
        return asked
    return {} if asked is True else {main: asked}


def number(value: Any, key: str, default: float | None = None, *, minimum: float = 0.0, whole: bool = False) -> float:
    """A number of at least ``minimum``; ``default`` for None and, as ``true`` means no other value, for True.

    Raises ToolFailure ``skill.configuration`` for texts, negatives, NaN and where there is no default."""
    if default is not None and (value is None or value is True):
        return default
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and minimum <= value <= MAXIMUM
    if not fits or (whole and value != int(value)):
        kind = "a whole number" if whole else "a number"
        raise wrong(f"metadata.{key} has to be {kind} of at least {minimum:g}, not {_shown(value)}.")
    return float(value)


def wrong(message: str) -> ToolFailure:
    """The error for what a key says."""
    return ToolFailure(message, code="skill.configuration", next_step="Correct the skill's metadata.")


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}…"
