"""The design tokens: every colour, size and duration a widget may use, read from ``tokens.json``.

Plain classes here and in what else runs before the first paint: a named tuple takes eight times as long to make.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

Mode = Literal["light", "dark"]


class TypeStep:
    """One step of the type scale: pixel size, line height in pixels, weight 100 to 900, and whether it is mono."""

    __slots__ = ("line", "mono", "px", "weight")

    def __init__(self, px: int, line: int, weight: int, mono: bool = False) -> None:
        self.px, self.line, self.weight, self.mono = px, line, weight, mono


class Tokens:
    """The parsed file. ``colors[mode][token]`` is ``#RRGGBB`` or ``#RRGGBBAA``; ``metrics`` are pixels at 100 %;
    ``durations`` are milliseconds."""

    __slots__ = ("colors", "durations", "family", "metrics", "mono", "steps")

    def __init__(
        self,
        *,
        colors: Mapping[str, Mapping[str, str]],
        metrics: Mapping[str, int],
        durations: Mapping[str, int],
        steps: Mapping[str, TypeStep],
        family: str,
        mono: str,
    ) -> None:
        self.colors, self.metrics, self.durations = colors, metrics, durations
        self.steps, self.family, self.mono = steps, family, mono


def load_tokens(path: Path) -> Tokens:
    """Read the token file. It is ours and shipped: an unreadable one is a broken installation and raises."""
    raw: dict[str, Any] = json.loads(path.read_bytes())
    kind = raw["type"]
    return Tokens(
        colors=raw["color"],
        metrics=_metrics(raw),
        durations={name: entry["ms"] for name, entry in raw["duration"].items()},
        steps=_steps(kind["scale"]),
        family=kind["family"][0],
        mono=kind["mono"][0],
    )


def _metrics(raw: Mapping[str, Any]) -> dict[str, int]:
    """Sizes under their own names, ``space-*`` and ``radius-*``, plus the panes and control parts the README names."""
    metrics: dict[str, int] = dict(raw["size"])
    metrics.update({f"space-{name}": value for name, value in raw["space"].items()})
    metrics.update({f"radius-{name}": value for name, value in raw["radius"].items() if isinstance(value, int)})
    metrics.update(EXTRA_METRICS)
    return metrics


def _steps(scale: Mapping[str, Mapping[str, Any]]) -> dict[str, TypeStep]:
    steps = {
        name: TypeStep(entry["px"], entry["line"], entry["weight"], name == "code") for name, entry in scale.items()
    }
    steps["mono-small"] = TypeStep(11, 16, 400, True)
    steps["mono-title"] = TypeStep(16, 24, 500, True)
    return steps


EXTRA_METRICS = {
    "settings-nav": 216,
    "inbox": 320,
    "skill-list": 352,
    "overlay-width": 1040,
    "fold-width": 840,
    "icon-badge": 14,
    "meter-width": 64,
    "palette-width": 640,
    "palette-top": 96,
    "palette-head": 56,
    "palette-row": 36,
    "toast": 40,
    "switch-width": 32,
    "switch-height": 20,
    "rail-item-height": 52,
}
"""Sizes that tokens.json does not give."""
