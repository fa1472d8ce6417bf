"""What is known of a program's options: all that do no more than its name says. What is not among them may do anything.

The tables only widen: of a program that has one, an option that is not in it has to stand in the rule (R-PRM-11) and
makes a read no pure read; of a program without a table nobody knows the options.
"""

from __future__ import annotations

import re
from functools import lru_cache

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.programs.builtins import KNOWN_BUILTINS
from desktop.safety.shell.programs.known_git_options import KNOWN_GIT
from desktop.safety.shell.programs.known_option_tables import KNOWN_OPTIONS
from desktop.safety.shell.syntax.getopt import SHORT_OPTIONS, ShortOptions

_NO_SHORT_OPTIONS = ShortOptions.of("")
_COMMON = frozenset(("--help", "--version"))
_NUMBER = re.compile(r"-\d+")


@dataclass(frozen=True, slots=True)
class Known:
    """The options of one program: single letters, and the names of others with their dashes. ``negated``: each may also
    begin with ``--no-``."""

    short_options: ShortOptions
    names: frozenset[str]
    negated: bool = False

    def has(self, option: str) -> bool:
        """Whether it knows an option by its whole name; a number is known to be one."""
        if option in self.names or option in _COMMON or _NUMBER.fullmatch(option):
            return True
        return self.negated and option.startswith("--no-") and f"--{option[5:]}" in self.names


def known(name: str) -> Known | None:
    """The table of a program (``ls``) or of one of git's sub-commands (``git log``), if there is one."""
    return _tables().get(name)


@lru_cache(maxsize=1)
def _tables() -> dict[str, Known]:
    plain = [*_entries(KNOWN_OPTIONS), *_entries(KNOWN_BUILTINS)]
    found = {name: _known(name, short_options, words, negated=False) for name, short_options, words in plain}
    git = {name: (short_options, words) for name, short_options, words in _entries(KNOWN_GIT)}
    common = git.pop("@log")[1]
    for name, (short_options, words) in git.items():
        all_words = [*words, *(common if "@log" in words else ())]
        found[f"git {name}".rstrip()] = _known(f"git {name}".rstrip(), short_options, all_words, negated=True)
    missing = {
        name: Known(short_options, frozenset()) for name, short_options in SHORT_OPTIONS.items() if name not in found
    }
    return found | missing


def _known(name: str, short_options: ShortOptions, words: list[str], *, negated: bool) -> Known:
    names = frozenset(word if word.startswith("-") else f"--{word}" for word in words)
    return Known(SHORT_OPTIONS.get(name, short_options), names, negated)


def _entries(text: str) -> list[tuple[str, ShortOptions, list[str]]]:
    found = []
    for entry in re.split(r"\n(?=\S)", text.strip()):
        names, _, rest = entry.partition(":")
        flags, valued, optional, words = rest.split("|", 3)
        short_options = ShortOptions.of(flags, valued, optional)
        found += [(name, short_options, words.split()) for name in names.split(",")]
    return found
