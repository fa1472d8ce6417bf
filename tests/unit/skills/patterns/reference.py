"""A slow, plain reading of brace-free globs by backtracking, to compare the fast one with."""

from functools import cache


@cache
def fits(pattern: str, text: str) -> bool:
    """Pieces: letters, ``.``, ``*``, ``?``, ``/``, and ``**`` as a whole name."""
    return bool(text) and _folders(tuple(pattern.split("/")), tuple(text.split("/")))


def _folders(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    if not wanted:
        return not found
    if wanted[0] != "**":
        return bool(found) and _name(wanted[0], found[0]) and _folders(wanted[1:], found[1:])
    if len(wanted) == 1:
        return all(not name.startswith(".") for name in found)
    if _folders(wanted[1:], found):
        return True
    return bool(found) and not found[0].startswith(".") and _folders(wanted, found[1:])


def _name(pattern: str, name: str) -> bool:
    wild = set(pattern) & set("*?")
    if wild and (name in {"", ".", ".."} or (name[0] == "." and pattern[0] != ".")):
        return False
    return _letters(pattern, name)


@cache
def _letters(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return _letters(pattern[1:], name) or (bool(name) and _letters(pattern, name[1:]))
    return bool(name) and pattern[0] in {"?", name[0]} and _letters(pattern[1:], name[1:])
