"""The app's looks."""

from __future__ import annotations

from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class Appearance:
    """Settings of the app's looks."""

    theme: Literal["system", "light", "dark"] = setting(
        "system",
        "Theme",
        "choice",
        "Light, dark, or as the system is set.",
        "Appearance",
        choices=(("system", "Follow the system"), ("light", "Light"), ("dark", "Dark")),
    )
    text_scale: float = setting(
        1.0,
        "Text size",
        "number",
        "Size of all text, from 80 % to 200 % of the usual size.",
        "Appearance",
        minimum=0.8,
        maximum=2.0,
        unit="×",
    )
    reduce_motion: Literal["system", "on", "off"] = setting(
        "system",
        "Reduce motion",
        "choice",
        "Show changes at once, without animation.",
        "Appearance",
        choices=(("system", "Follow the system"), ("on", "On"), ("off", "Off")),
    )
