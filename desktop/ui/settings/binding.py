"""Makes the theme follow the settings."""

from __future__ import annotations

from desktop.presenter.settings.page import SettingsViewModel
from desktop.ui.theme import Theme

MOTION = {"on": "less", "off": "full", "system": "system"}


def bind_theme(theme: Theme, settings: SettingsViewModel) -> None:
    """Apply what is set now and whenever it changes."""

    def apply(key: str) -> None:
        if key == "appearance.theme":
            theme.set_choice(str(settings.get(key)))
        elif key == "appearance.text_scale":
            theme.set_scale(float(settings.get(key)))
        elif key == "appearance.reduce_motion":
            theme.set_motion(MOTION.get(str(settings.get(key)), "system"))

    for key in ("appearance.theme", "appearance.text_scale", "appearance.reduce_motion"):
        apply(key)
    settings.changed.connect(apply)
