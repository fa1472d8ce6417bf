"""Which scripts of a text no font of this system draws, and the package that has them.

Inter and the fonts that come with most systems have Latin, Greek and Cyrillic. What else is drawn depends on what is
installed: without it, emoji, Devanagari and Thai are boxes.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Collection, Iterable, Mapping

from PySide6.QtGui import QFont, QFontMetrics, QTextLayout

SCRIPTS: Mapping[str, re.Pattern[str]] = {
    "emoji": re.compile("[\U0001f300-\U0001faff]"),
    "Devanagari": re.compile("[\u0904-\u0939]"),
    "Thai": re.compile("[\u0e01-\u0e2e]"),
}
_NOTO = {"emoji": "Noto Color Emoji", "Devanagari": "Noto Sans Devanagari", "Thai": "Noto Sans Thai"}
_PACKAGES: Mapping[str, Mapping[str, str]] = {
    "debian": {"emoji": "fonts-noto-color-emoji", "Devanagari": "fonts-noto-core", "Thai": "fonts-noto-core"},
    "fedora": {
        "emoji": "google-noto-color-emoji-fonts",
        "Devanagari": "google-noto-sans-devanagari-fonts",
        "Thai": "google-noto-sans-thai-fonts",
    },
    "suse": {
        "emoji": "google-noto-coloremoji-fonts",
        "Devanagari": "google-noto-sans-devanagari-fonts",
        "Thai": "google-noto-sans-thai-fonts",
    },
    "arch": {"emoji": "noto-fonts-emoji", "Devanagari": "noto-fonts", "Thai": "noto-fonts"},
    "alpine": {"emoji": "font-noto-emoji", "Devanagari": "font-noto-devanagari", "Thai": "font-noto-thai"},
}
MAXIMUM = 40
"""Different characters of one script that are looked up."""


def characters_by_script(text: str, known: Collection[str] = ()) -> dict[str, list[str]]:
    """Different characters of the scripts that a text has; those that are ``known`` are left out."""
    found = {name: set(has.findall(text)) for name, has in SCRIPTS.items() if name not in known and has.search(text)}
    return {script: sorted(different)[:MAXIMUM] for script, different in found.items()}


def draws(font: QFont, script: str, characters: Iterable[str]) -> bool:
    """Whether something draws all of them. For the first of a script this takes 1 to 6 ms on the Qt thread, most of
    which the page would take later to draw it: ask for one script at a time."""
    if script == "emoji":  # QFontMetrics would load every font that comes before the one with emoji: 11 ms
        return all(_has_glyphs(font, one) for one in characters)
    metrics = QFontMetrics(font)
    return all(metrics.inFontUcs4(ord(one)) for one in characters)


def _has_glyphs(font: QFont, character: str) -> bool:
    layout = QTextLayout(character, font)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    glyphs = [glyph for run in layout.glyphRuns() for glyph in run.glyphIndexes()]
    return bool(glyphs) and all(glyphs)


def advice(scripts: Collection[str], system: Mapping[str, str] | None = None) -> str:
    """What to install for these; ``system`` is what the system says of itself (os-release)."""
    likes = [] if system is None else f"{system.get('ID', '')} {system.get('ID_LIKE', '')}".lower().split()
    names = next((table for name, table in _PACKAGES.items() if any(name in like for like in likes)), None)
    wanted = list(dict.fromkeys((names or _NOTO)[script] for script in scripts))
    what = "package" if names else "font"
    noun = what if len(wanted) == 1 else f"{what}s"
    return f"No font here draws {_listed(list(scripts))}. Install the {noun} {_listed(wanted)}."


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def os_release() -> Mapping[str, str] | None:
    """What the system says of itself, or None where it says nothing. Reads a file: call it in a thread."""
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return None
