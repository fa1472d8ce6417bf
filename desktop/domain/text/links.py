"""Links that begin with ``assent:``, which other programs may give the desktop to open: a page on the web, a document,
a chat program. Any of them can be hostile, so a link is a place in the window and nothing else: it has no part in which
a text, an address, a path or an order could stand, and what it leads to is looked up among what there is."""

from __future__ import annotations

import re

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.loading.lazy_pattern import lazy_pattern

LONGEST = 200
"""Characters of a link."""
UNKNOWN = "assent:unknown"
"""Handed on in the place of one that is none of ours, so that none of its text goes any further."""

_FORM = lazy_pattern(r"assent:(?://)?([a-z]{0,20})(?:/([a-z0-9-]{1,80}))?/?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class WindowLink:
    """``kind`` says what ``name`` is one of; both in small letters, either may be empty."""

    kind: str
    name: str


def read_link(text: str) -> WindowLink | None:
    """What a link leads to; None for a text that is no such link."""
    found = _FORM.fullmatch(text) if len(text) <= LONGEST else None
    return WindowLink(found.group(1).lower(), (found.group(2) or "").lower()) if found else None


def harmless(text: str) -> str:
    """The link, or ``UNKNOWN`` where it is none; "" stays empty: there is nothing to open."""
    return text if not text or read_link(text) else UNKNOWN


def slug(name: str) -> str:
    """How a name stands in a link: ``Models and keys`` is ``models-and-keys``."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))
