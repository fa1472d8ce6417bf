"""Which scripts of a text no font of this system draws, and the package that has them.

Inter and the fonts that come with most systems have Latin, Greek and Cyrillic. What else is drawn depends on what is
installed: without it, emoji, Devanagari and Thai are boxes.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Collection, Mapping

from PySide6.QtGui import QFont, QFontMetrics

SCRIPTS: Mapping[str, re.Pattern[str]] = {
    "emoji": re.compile("[\U0001f300-\U0001faff]"),
    "Devanagari": re.compile("[\u0904-\u0939]"),
    "Thai": re.compile("[\u0e01-\u0e2e]"),
}
_NOTO = {"emoji": "Noto Color Emoji", "Devanagari": "Noto Sans Devanagari", "Thai": "Noto Sans Thai"}
_PACKAGES: Mapping[str, Mapping[str, str]] = {
    "debian": {"emoji": "fonts-noto-color-emoji", "Devanagari": "fonts-noto-core", "Thai": "fonts-noto-core"},
    "fedora": {
        "emoji": "google-noto-color-emoji-fonts", "Devanagari": "google-noto-sans-devanagari-fonts",
        "Thai": "google-noto-sans-thai-fonts",
    },
    "suse": {
        "emoji": "google-noto-coloremoji-fonts", "Devanagari": "google-noto-sans-devanagari-fonts",
        "Thai": "google-noto-sans-thai-fonts",
    },
    "arch": {"emoji": "noto-fonts-emoji", "Devanagari": "noto-fonts", "Thai": "noto-fonts"},
    "alpine": {"emoji": "font-noto-emoji", "Devanagari": "font-noto-devanagari", "Thai": "font-noto-thai"},
}  # fmt: skip
MOST = 40
"""Different characters of one script that are looked up."""


def missing_scripts(text: str, font: QFont, known: Collection[str] = ()) -> tuple[str, ...]:
    """The scripts of which this text has characters that nothing draws; those that are ``known`` are left out."""
    metrics, found = QFontMetrics(font), []
    for script, characters in SCRIPTS.items():
        if script not in known and characters.search(text):
            different = sorted(set(characters.findall(text)))[:MOST]
            if not all(metrics.inFontUcs4(ord(one)) for one in different):
                found.append(script)
    return tuple(found)


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
    """What the system says of itself, or None where it says nothing."""
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return None
