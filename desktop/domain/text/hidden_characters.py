"""Characters that draw nothing, or like a blank without being one: controls, all spaces but the ordinary, fillers.

Text that reorders, hides or overwrites itself on screen would make a person agree to something other than what they
read (R-PRM-2, R-PRM-15). Views show such characters as escapes; names and titles have none.
"""

from __future__ import annotations

import unicodedata

from desktop.domain.loading.lazy_pattern import lazy_pattern

HIDDEN = lazy_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\U00013430-\U0001343f\U00016fe4"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Line feeds and tabs are not among them."""
_NOT_SHOWN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d\ufe0f"
"""Part of how some languages and pictures are written; they order nothing and hide nothing long."""


def has_hidden(text: str) -> bool:
    """Whether anything in a text cannot be seen, line ends of Windows left out."""
    return HIDDEN.search(text.replace("\r\n", "\n")) is not None


def has_half_letters(text: str) -> bool:
    """Whether a text has half of a letter (a lone surrogate), as JSON can have it: no file and no process takes it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def without_hidden(text: str) -> str:
    """The text as a name or title may have it: blanks of other kinds are blanks, the rest is gone."""
    return HIDDEN.sub(lambda found: " " if found.group().isspace() else "", text)


def odd_text(value: str) -> str:
    """What a text holds that a person could not see, or "": control characters, what turns the direction of writing."""
    for character in value:
        if character not in "\n\t" + _JOINERS and unicodedata.category(character) in _NOT_SHOWN:
            return f"a character that cannot be seen (U+{ord(character):04X})"
    return ""
