"""Names like one that does not exist, for "did you mean" (R-RES-20)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from desktop.domain.text.suggestions import likeness
from desktop.skills.catalogue.snapshot import NAMES, VISIBILITIES
from desktop.skills.names import MAX_NAME
from desktop.skills.resolution.globals import Globals, search_path
from desktop.skills.resolution.programmatic import all_programmatic

SHORTLIST = 40
MIN_LIKENESS = 0.55


def suggest_names(ref: str, globals: Globals, count: int = 3) -> list[str]:
    """Up to ``count`` visible names, the nearest first. Works on what is known already; 10,000 names take 30 ms."""
    wanted = ref.rpartition("#")[2].rpartition("/")[2].lower().replace("_", "-")[:MAX_NAME]
    pairs = _pairs(wanted)
    if not pairs:
        return []
    scored = ((_likeness(pairs, name), name) for name in dict.fromkeys(_visible(globals)) if name != ref)
    best = sorted((item for item in scored if item[0] > 0), key=lambda item: (-item[0], item[1]))[:SHORTLIST]
    exact = [(likeness(wanted, name), name) for _, name in best]
    exact.sort(key=lambda item: (-item[0], item[1]))
    return [name for ratio, name in exact[:count] if ratio >= MIN_LIKENESS]


def _visible(globals: Globals) -> Iterator[str]:
    """Names that anybody may be told."""
    for definition in all_programmatic(globals):
        if definition.visibility != "hidden":
            yield definition.name
    path = search_path(globals)
    for root in path.roots:
        snapshot = globals.index.peek(root.path, path.ignore)
        if snapshot is not None:
            yield from _shown(snapshot.columns[NAMES], snapshot.columns[VISIBILITIES])


def _shown(names: Iterable[str], visibilities: Iterable[str]) -> Iterator[str]:
    return (name for name, visibility in zip(names, visibilities, strict=True) if name and visibility != "hidden")


def _pairs(text: str) -> frozenset[str]:
    text = f" {text} "
    return frozenset(text[at : at + 2] for at in range(len(text) - 1))


def _likeness(pairs: frozenset[str], name: str) -> float:
    """Share of the letter pairs that both have (Dice)."""
    other = _pairs(name)
    return 2 * len(pairs & other) / (len(pairs) + len(other))
