"""What the app is made of: one row for each part of other makers, with its licence."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LicencedPart:
    """Something that others made and that is handed out with the app."""

    name: str
    version: str
    kind: str
    """What it is: Python package, Rust crate, library, font, runtime."""
    licence: str
    """What its authors offer, as an SPDX expression."""
    used: str
    """What is taken up of it, where there is a choice."""
    inside: tuple[str, ...]
    """The packages that it came in."""
    copyright: str
    source: str
    """Where its source is."""
    about: str
    texts: tuple[str, ...]
    """Names of the texts of its licence."""
