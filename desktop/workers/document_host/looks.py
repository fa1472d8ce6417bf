"""Whether somebody can see a text of an Office file: its colour beside that of what is behind it, and its size."""

from __future__ import annotations

import re

WHITE = "ffffff"
UNKNOWN = ""
"""A ground of which nothing is known, as a picture: no colour is judged on it."""
LEAST_CONTRAST = 1.2
"""Below this (1 is the same colour, 21 is black on white) nobody reads it."""
SAME_TINT = 40
"""Of 255: yellow is as light as white, and is seen on it."""
TINY = 2.0
"""Points of a font that nobody can read."""
TOO_SMALL = "Hidden, too small to be read"
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})?([0-9a-fA-F]{6})")


def hex_of(text: str) -> str:
    """A colour as six digits, of ``FFAABB``, ``#ffaabb`` or with its opacity before it; "" for what is none."""
    found = _HEX.fullmatch(text.strip().removeprefix("#"))
    return found[1].lower() if found is not None else ""


def lost_on(colour: str, ground: str) -> str:
    """Why a text of this colour is not seen on this ground, or ""."""
    if not colour or not ground or _contrast(colour, ground) >= LEAST_CONTRAST or _apart(colour, ground) > SAME_TINT:
        return ""
    pale = all(_apart(one, WHITE) <= SAME_TINT for one in (colour, ground))
    return "Hidden, white on white" if pale else "Hidden, in the colour of what is behind it"


def _apart(one: str, other: str) -> int:
    """How far the most different of red, green and blue is, of 255."""
    return max(abs(a - b) for a, b in zip(bytes.fromhex(one), bytes.fromhex(other), strict=True))


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
