"""``{ignore: pattern}`` entries of a search path: what scans pass over, at every depth (R-RES-7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from desktop.skills.patterns.globs import Glob, compile_glob
from desktop.skills.patterns.syntax import PatternError

_MAGIC = frozenset("*?[{\\")


def ignoring(patterns: Iterable[str]) -> Callable[[str, str], bool]:
    """A test of (path below the folder, its last part). A pattern without ``/`` is about any part of the path, one
    with ``/`` about the whole path below the folder. One that cannot be read as a glob is a plain name."""
    plain: set[str] = set()
    globs: list[tuple[Glob, bool]] = []
    for pattern in patterns:
        text = pattern.strip("/")
        glob = _compiled(text)
        if glob is None:
            plain.add(text)
        else:
            globs.append((glob, "/" in text))

    def ignored(rel: str, name: str) -> bool:
        if name in plain or rel in plain:
            return True
        return any(glob.matches(rel if whole else name) for glob, whole in globs)

    return ignored


def _compiled(text: str) -> Glob | None:
    if not _MAGIC & set(text):
        return None
    try:
        return compile_glob(text)
    except PatternError:
        return None
