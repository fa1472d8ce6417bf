"""Which variables a command sets without an equals sign: ``read PATH``, ``printf -v PATH``, ``declare -n x=PATH``."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.safety.shell.syntax.getopt import ShortOptions, read_options
from desktop.safety.shell.syntax.words import Word, base_name

_READ = ShortOptions.of("r s e E", "a d i n N p t u")
_MAPFILE = ShortOptions.of("t", "d n O s u C c")
_PRINTF = ShortOptions.of("", "v")
_WAIT = ShortOptions.of("f n", "p")
_DECLARES = frozenset(("declare", "typeset", "local", "export", "readonly"))
SETTERS = frozenset(("printf", "read", "mapfile", "readarray", "wait", "getopts", "unset", *_DECLARES))


def set_by(words: Sequence[Word]) -> list[str]:
    """Names of variables that a command with these words sets, unsets or makes others stand for."""
    name = base_name(words[0].text) if words else ""
    if name not in SETTERS:
        return []
    arguments = words[1:]
    if name in _DECLARES:
        return _declared(arguments)
    if name in ("mapfile", "readarray"):
        return [word.text for word in read_options(arguments, _MAPFILE, {}).operands]
    if name == "printf":
        return _valued(arguments, _PRINTF, "-v")
    if name == "wait":
        return _valued(arguments, _WAIT, "-p")
    if name == "read":
        found = read_options(arguments, _READ, {})
        return [*_valued(arguments, _READ, "-a"), *(word.text for word in found.operands)]
    return [word.text for word in arguments if not word.text.startswith("-")]


def _valued(words: Sequence[Word], short_options: ShortOptions, option: str) -> list[str]:
    return [value for name, value in read_options(words, short_options, {}).options if name == option and value]


def _declared(words: Sequence[Word]) -> list[str]:
    """The variables that ``declare`` and its like set, also without a value; with ``-n`` the value is the name that is
    meant."""
    found = []
    refers = any(word.text.startswith("-") and "n" in word.text for word in words)
    for word in words:
        name, _, value = word.text.partition("=")
        found += [name.removesuffix("+"), value] if refers else [name.removesuffix("+")]
    return found
