"""What the app is made of: one row for each part of other makers, with its licence."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LicencedPart:
    """Something that others made and that is handed out with the app."""

    name: str
    """As its authors write it."""
    version: str
    """Empty where it is not known."""
    kind: str
    """What it is: Python package, Rust crate, library, font, runtime."""
    licence: str
    """What its authors offer, as an SPDX expression."""
    used: str
    """What is taken up of it, where there is a choice."""
    inside: tuple[str, ...]
    """The packages that it came in."""
    copyright: str
    """Whose it is, a line each."""
    source: str
    """Where its source is."""
    about: str
    """A line of what it is for, or where in its package it lies."""
    texts: tuple[str, ...]
    """Names of the texts of its licence."""
