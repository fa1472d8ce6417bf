"""Where the files under ``resources/`` lie; the only module of the windows that knows."""

from __future__ import annotations

from pathlib import Path

RESOURCES = Path(__file__).resolve().parents[3] / "resources"
TOKENS = RESOURCES / "theme" / "tokens.json"
ICONS = RESOURCES / "icons"
FONTS = RESOURCES / "fonts"
