"""What an import would make of each skill in it: under which name, and why under another one. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import size_words
from desktop.services.skills.imports import Candidate, Fits
from desktop.skills.names import numbered

Choice = Literal["both", "replace", "skip"]
"""What to do with those whose name is taken."""
LARGE = 10_000_000
"""Bytes from which on a row says how large its skill is."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One that is ticked. ``name`` is what it would be called, "" where it is left out; ``words`` why, or ""."""

    name: str
    words: str = ""
    replaces: bool = False


def planned(candidates: Mapping[int, Candidate], fits: Mapping[int, Fits], choice: Choice) -> dict[int, Planned]:
    """The plan for the ticked skills, in order: each sees the names that those before it took."""
    found: dict[int, Planned] = {}
    used: set[str] = set()
    for at, candidate in sorted(candidates.items()):
        one = _planned(candidate.name, fits.get(at), choice, used)
        used.add(one.name)
        found[at] = one
    return found


def _planned(name: str, fits: Fits | None, choice: Choice, used: set[str]) -> Planned:
    if fits is None:
        return Planned(name)
    if name in used:
        free = _free(name, fits, used)
        return Planned(free, f"will be {free}: there are two called {name} here")
    if not fits.taken:
        return Planned(name)
    if choice == "skip":
        return Planned("", f"left out: you have {name} already")
    if choice == "replace" and fits.replaced:
        return Planned(name, f"replaces your {name}", replaces=True)
    kept = "cannot be replaced" if choice == "replace" else "stays"
    return Planned(fits.free, f"will be {fits.free}: the {name} that you have {kept}")


def _free(name: str, fits: Fits, used: set[str]) -> str:
    """The name that the skill gets once those before it are there."""
    tries: Iterable[str] = (fits.free, *(numbered(name, number) for number in range(2, 1000)))
    return next((one for one in tries if one not in used and (one != name or not fits.taken)), fits.free)


def row_words(candidate: Candidate, plan: Planned | None) -> tuple[str, str]:
    """(what stands beside its name in the list, how: "" | ask | failed)."""
    if candidate.definition is None:
        why = next((problem.message for problem in candidate.problems), "it holds no skill")
        return f"cannot be imported: {why[:1].lower()}{why[1:]}", "failed"
    if plan is not None and plan.words:
        return plan.words, "ask"
    about = candidate.definition.description
    if candidate.definition.state == "broken":
        return f"has a mistake. {about}", "failed"
    return (f"{size_words(candidate.size)}. {about}" if candidate.size >= LARGE else about), ""
