"""Text from outside that bash may run while it computes: ``read X < f; let X`` (R-BLK-5).

In a sum a bare name stands for what its variable holds, which is computed in turn, be it ``a[$(rm x)]``. Of numbers
nothing comes; of what a file, a program or a file's name gave, anything may. So whatever reaches a sum has to be a
number for certain: digits, a length, the result of a sum, a substitution that counts, or a variable to which this
command gives such values alone. A variable that it finds in its environment has to be a number there, too, whatever
the command sets it to later: ``n=$((n+1))`` computes what was there. Anything else is text that becomes a command, as
with ``eval "$X"``: admin, whichever rule names the tool.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.programs.builtins import integers_of, maps_of, may_hold_options
from desktop.safety.shell.programs.variables import set_by
from desktop.safety.shell.syntax.arithmetic import Sum
from desktop.safety.shell.syntax.commands import Parsed, SimpleCommand
from desktop.safety.shell.syntax.words import Word

BECAUSE = "bash computes with text that only running shows, and may run what stands in it"
_FILLED = re.compile(
    r"_|REPLY|MAPFILE|OPTARG|COPROC\w*|BASH_?(?!PID$|SUBSHELL$)\w*|COMP_\w*|COMPREPLY|READLINE_\w*|DIRSTACK|FUNCNAME|"
    r"PWD|OLDPWD|HOSTNAME|IFS"
)
"""Variables that bash fills with what it is given."""
_NUMBERS = frozenset(
    "RANDOM SRANDOM SECONDS LINENO HISTCMD OPTIND UID EUID PPID BASHPID BASH_SUBSHELL EPOCHSECONDS".split()
)
"""Variables that bash keeps as numbers; what else they are set to is admin anyway."""
_READING = frozenset(("read", "mapfile", "readarray", "getopts"))
_DECLARES = frozenset(("declare", "typeset", "local", "export", "readonly"))
_BEFORE = frozenset(("command", "builtin", "time", "!", "jobs", "coproc"))
_QUIET = r"""(?:[^()`$;&\n|#"'\\]|"[^"`$()\\]*"|'[^'`$()\\]*')+"""
"""A command of a pipeline, of which nothing can be more than it looks."""
_COUNTS = re.compile(
    rf"\$\((?:{_QUIET}\|)*\s*(?:"
    r"wc(?:[ \t]+-[lwcmL]+)+(?:[ \t]*<[ \t]*[\w./-]+)?|nproc|seq(?:[ \t]+-?\d+)+|id[ \t]+-[ug]|"
    r"date(?:[ \t]+-u)?[ \t]+[\"']?\+(?:%[sYmdHMSNjuw])+[\"']?|"
    r"stat[ \t]+-c[ \t]*[\"']?%[sXYZugh][\"']?[ \t]+[\w./-]+"
    r")\s*\)"
)
"""Substitutions that yield numbers and nothing else."""
_LENGTH = re.compile(r"\$\{#(?:\w+(?:\[[\w@*$]*\])?|[@*])?\}|\$[#?$!]|\$\{[#?$!]\}")
_NAME = re.compile(r"(?<![0-9A-Za-z_])(?<!\d#)[A-Za-z_]\w*")
_REFERENCE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:\[[\w@*$+ -]*\])?(?::?-\d*)?\})")
_SET = re.compile(r"([A-Za-z_]\w*)(?:\[.*?\])?\+?=(.*)", re.DOTALL)
_SET_BY_SUM = re.compile(
    r"(?<!\w)([A-Za-z_]\w*)[ \t]?(?:\[[^\]]{0,99}\][ \t]?)?(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))|"
    r"(?:\+\+|--)[ \t]?([A-Za-z_]\w*)"
)
_N = "\0"
"""Stands for a number. It is no part of a name, so that a name that is put together does not pass for another."""
_IN_SUM = r"[^()$`'\"\\]"
_SUM = re.compile(rf"\$\(\((?:{_IN_SUM}|\((?:{_IN_SUM}|\({_IN_SUM}*\))*\))*\)\)|\$\[[^\]\[$`'\"\\]*\]")
_OF_NUMBERS = re.compile(r"[\0\d\s+\-/%.,:(){}]*")
_OF_SUMS = re.compile(r"[\0\w\s+\-*/%<>=!&|^~?:,;()\[\]#]*", re.ASCII)
_OF_WORDS = re.compile(r"(?!-)(?:[\0\w%\\./:,+@()]|(?<=[\w\0])-|\s(?!-))*", re.ASCII)
_FORMAT = re.compile(r"(?:%0?\d*d|%\(%s\)T|\s)+")
_PLAIN_NUMBER = re.compile(r"-?[0-9]{0,18}")
_WITH_INDEX = re.compile(r"[A-Za-z_]\w*\[(.*)\]", re.DOTALL)


@dataclass(slots=True)
class Sums:
    """The computed texts of a whole command, nested texts included, while it is read."""

    sums: list[Sum] = field(default_factory=list)
    """The texts."""
    names: list[str] = field(default_factory=list)
    """What may be a variable's name in them."""
    passing: list[tuple[str, str]] = field(default_factory=list)
    """What loops and ``${X:=Y}`` set."""
    values: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """What each variable is given."""
    assigned: set[str] = field(default_factory=set)
    """Variables that are given something for certain."""
    outside: set[str] = field(default_factory=set)
    """Variables that hold what only running shows."""
    integers: set[str] = field(default_factory=set)
    """Variables that compute what they are given."""
    maps: set[str] = field(default_factory=set)
    """Arrays whose indexes are texts."""
    renamed: bool = False
    """Programs may be others than their names say."""

    @classmethod
    def met(cls, environment: Mapping[str, str]) -> Sums:
        """The computed texts of a command that is started with these variables."""
        found = cls()
        for name, value in environment.items():
            if _PLAIN_NUMBER.fullmatch(value):
                found._give(name, value)
            else:
                found.outside.add(name)
        return found

    def take(self, parsed: Parsed) -> None:
        """Add the computed texts of one more parsed text."""
        self.sums += parsed.computed.sums
        self.names += parsed.computed.names
        self.renamed = self.renamed or bool(parsed.functions)
        for name, value in parsed.computed.given:
            self.passing.append((name, value))
            self._give(name, value.replace('"', ""))
        for command in parsed.commands:
            self._take(command)

    def _give(self, name: str, value: str) -> None:
        self.values[name].append(value)
        self.assigned.add(name)

    def _take(self, command: SimpleCommand) -> None:
        for word in command.assignments:
            if (found := _SET.fullmatch(word.text)) is not None:
                self._give(found[1], found[2])
        words = command.words
        for at, word in enumerate(words):
            self._builtin(words[at:])
            if word.text not in _BEFORE and not word.text.startswith("-"):
                break

    def _builtin(self, words: Sequence[Word]) -> None:
        """One of bash's own commands; of others only what looks like an assignment counts."""
        name, arguments = words[0].text, words[1:]
        if name == "let":
            self.sums += [Sum(word.text) for word in arguments]
            return
        for word in arguments:
            if "=" in word.text and (found := _SET.fullmatch(word.text)) is not None:
                self.values[found[1]].append(found[2])
                self.assigned |= {found[1]} if name in _DECLARES else set()
        self.renamed = self.renamed or name == "alias"
        self._named(name, words)
        self.names += may_hold_options(words)
        self.integers |= set(integers_of(words))
        self.maps |= set(maps_of(words))

    def _named(self, name: str, words: Sequence[Word]) -> None:
        """Variables that it sets. One whose name only running shows may be any."""
        for named in set_by(words):
            base, indexed, index = named.partition("[")
            if name == "unset":
                self.names.append(named)
            elif set(base) & set("$`*?"):
                self.sums.append(Sum(base))
            elif indexed:
                self.sums.append(Sum(index.removesuffix("]"), base))
            if name in _READING:
                self.outside.add(base)
            elif name == "printf":
                formats = [word.text for word in words[1:] if "%" in word.text]
                self._give(base, "0" if formats and _FORMAT.fullmatch(formats[0]) else "$@")

    @property
    def set_in_passing(self) -> set[str]:
        """``NAME=value`` of what no assignment sets: a sum, a loop, ``${X:=Y}``."""
        return {f"{name}=0" for name in self._set_by_sums()} | {f"{name}={value}" for name, value in self.passing}

    def _set_by_sums(self) -> list[str]:
        bare = [re.sub(r"[\"']|\\\n", "", one.text) for one in self.sums]
        return [name or after for text in bare for name, after in _SET_BY_SUM.findall(text)]

    def work_out(self) -> bool:
        """Once the whole command was taken: follow what its sums assign, and say whether something that is no number
        for certain reaches what is computed. It uses up what was noted, so it is asked once."""
        for name in self._set_by_sums():
            self._give(name, "0")
        computed = [Sum(value) for name in self.integers for value in self.values.pop(name, ())]
        numbers, words = self._holding(self._of_numbers), self._holding(self._of_words)
        if self.integers & self.outside:
            return True
        if not all(self._is_harmless(one, numbers) for one in (*self.sums, *computed)):
            return True
        return not all(self._names_only(name, numbers, words) for name in self.names)

    def _holding(self, read: Callable[[str], set[str] | None]) -> set[str]:
        """The variables that hold only values of one kind. ``read`` gives the variables on which a value depends, None
        if it is of another kind in any case."""
        users: dict[str, set[str]] = defaultdict(set)
        lost = {name for name in self.values if name not in self.assigned - self.outside or _FILLED.fullmatch(name)}
        for name, values in self.values.items():
            for value in values:
                needs = read(value)
                lost |= {name} if needs is None else set()
                for needed in needs or ():
                    users[needed].add(name)
        kept = (set(self.values) | self.integers | _NUMBERS) - self.outside
        lost |= set(users) - kept
        waiting = list(lost)
        while waiting:
            more = users[waiting.pop()] - lost
            lost |= more
            waiting += more
        return kept - lost

    def _of_numbers(self, value: str) -> set[str] | None:
        plain, needs = self._plain(value)
        return needs if _OF_NUMBERS.fullmatch(plain) else None

    def _of_words(self, value: str) -> set[str] | None:
        """Text that no index, no option and no pattern can be in."""
        plain, needs = self._plain(value)
        return needs if _OF_WORDS.fullmatch(plain) and not self._splits_otherwise else None

    @property
    def _splits_otherwise(self) -> bool:
        return any(self.values.get("IFS", ()))

    def _is_harmless(self, one: Sum, numbers: set[str]) -> bool:
        """Whether bash computes it of numbers alone."""
        text = one.text.strip()
        if one.array and text in ("@", "*"):
            return True
        bare = re.sub(r"[\"']|\\\n", "", text).replace("$((", "((").replace("$[", "[")
        names = set(_NAME.findall(bare))
        if one.array in self.maps and re.fullmatch(r"[\w.-]+", bare) and not names & {*self.values, *self.outside}:
            return True  # the key of a map, and no variable
        plain, needs = self._plain(bare)
        if not _OF_SUMS.fullmatch(plain) or re.search(rf"(?<![0-9A-Za-z_])[A-Za-z_]\w*{_N}", plain):
            return False
        return (needs | set(_NAME.findall(plain))) <= numbers

    def _names_only(self, text: str, numbers: set[str], words: set[str]) -> bool:
        """Whether what is taken for a name, or stands where an option may, is a plain word for certain."""
        bare = re.sub(r"[\"']", "", text)
        if (indexed := _WITH_INDEX.fullmatch(bare)) is not None:
            return self._is_harmless(Sum(indexed[1], bare.partition("[")[0]), numbers)
        plain, needs = self._plain(bare)
        return _OF_WORDS.fullmatch(plain) is not None and needs <= (words | numbers)

    def _plain(self, text: str) -> tuple[str, set[str]]:
        """The text with a mark for each number and each variable, and these variables."""
        if _N in text or "\\\n" in text:
            return "`", set()
        plain = _LENGTH.sub(_N, text)
        if not self.renamed:
            plain = _COUNTS.sub(_N, plain)
        needs: set[str] = set()

        def noted(found: re.Match[str]) -> str:
            needs.add(found[1] or found[2])
            return _N

        plain, before = _REFERENCE.sub(noted, plain), ""
        while before != plain:  # what a sum is computed of is looked at by itself: its result is a number
            before, plain = plain, _SUM.sub(_N, plain)
        return plain, needs
