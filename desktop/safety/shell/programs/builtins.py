"""What bash's own commands do beyond their names: which of their options are harmless, and which of their arguments
bash computes as a sum, in which a bare name stands for what that variable holds, be it ``a[$(rm x)]`` (R-PRM-11).

What is not known to be harmless is the graver case: no rule covers it, and it does not only read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import takewhile

from desktop.safety.shell.programs.option_tables import Found
from desktop.safety.shell.programs.variables import set_by
from desktop.safety.shell.syntax.words import Word, literal

WITHOUT_OPTIONS = frozenset("echo printf test [ [[ true false : expr let getopts for case select".split())
"""Commands to which a word with a dash is text, or which are read word by word below."""
KNOWN_BUILTINS = """
alias: p|||
unalias: a|||
exit,return,shift,break,continue,times,caller,builtin,bg,fg,logout,source,.: |||
suspend: f|||
compopt: |o||
cd: LPe@|||
pushd,popd: n|||
dirs: clpv|||
pwd: LP|||
type: afptP|||
help: dms|||
hash: dlrt|p||
enable: adnps|f||
jobs: lnprs|||
disown: ahr|||
wait: fn|p||
trap: lp|||
read: rs|adnNptu||
mapfile,readarray: t|cdnOsu||
declare,typeset,local: aAfFglprtux|||
readonly: aAfp|||
export: fnp|||
unset: fvn|||
umask: pS|||
ulimit: HSabcdefiklmnpqrstuvxPRT|||
set: abefmnuvxBCET|o||
shopt: opqsu|||
compgen: abcdefgjksuv|AGPSW||
"""
"""As in ``known_option_tables``. Left out: ``jobs -x`` and ``mapfile -C`` start what they are given, ``compgen -C -F``
too, ``declare -i -n -I`` make a variable compute or stand for another, ``set -k -H -t -p`` read commands otherwise."""
COMPUTED = frozenset(
    "RANDOM SRANDOM HISTCMD OPTIND OPTERR SECONDS LINENO BASHPID BASH_SUBSHELL EPOCHSECONDS EPOCHREALTIME "
    "BASH_MONOSECONDS EUID UID PPID".split()
)
"""Variables of bash's own: what they are set to is computed."""
_NAMED = frozenset("read mapfile readarray printf wait getopts unset declare typeset local export readonly".split())
_DECLARES = ("declare", "typeset", "local", "export", "readonly")
_MODES = frozenset(
    "allexport errexit errtrace functrace hashall monitor noclobber noexec noglob nounset onecmd physical pipefail "
    "verbose xtrace braceexpand interactive-comments notify".split()
)
_SWITCHES = frozenset(
    "nullglob globstar dotglob failglob nocaseglob nocasematch lastpipe inherit_errexit globasciiranges checkwinsize "
    "cmdhist histappend huponexit checkjobs login_shell".split()
)
_SUM = re.compile(r"(?:[A-Za-z_]\w*\s*=(?!=))?[\d\s+\-*/%()<>=!&|^~?:,]*")
"""A sum of numbers alone, perhaps given to a name."""
_NUMBER = re.compile(r"-?\d+")
_INDEX = re.compile(r"[A-Za-z_]\w*\[(-?\d*\]$)?")
_COMPUTES = "what a variable holds may be run when bash computes with it"
_MODE = "it may change how commands are read"


def computed_by(assigned: str) -> bool:
    """Whether ``NAME`` or ``NAME=value`` has bash compute something that is no number."""
    name, equals, value = assigned.partition("=")
    return name.removesuffix("+") in COMPUTED and not (equals and _NUMBER.fullmatch(value))


def jobs_run(words: Sequence[Word]) -> bool:
    """Whether ``jobs`` with these arguments starts a command: ``-x``, also among other letters."""
    own = takewhile(lambda word: word.text.startswith("-") and word.text != "--", words)
    return any("x" in word.text for word in own)


def may_hold_options(words: Sequence[Word]) -> list[str]:
    """Arguments that may become options which name a variable, or hold text that is expanded: ``printf "$X" 1``."""
    name, arguments = words[0].text, words[1:]
    if name == "printf":
        arguments = [word for word in arguments if word.text != "--"][:1]
    elif name not in ("wait", "jobs", "compgen", "complete"):
        return []
    return [word.text for word in arguments if word.text[:1] in ("$", "`") or (word.dynamic and name != "printf")]


def maps_of(words: Sequence[Word]) -> list[str]:
    """Arrays whose indexes are texts and not computed: ``declare -A X``."""
    if words[0].text not in _DECLARES or "A" not in _letters(words):
        return []
    return [word.text.partition("=")[0] for word in words[1:] if not word.text.startswith("-")]


def integers_of(words: Sequence[Word]) -> list[str]:
    """Variables that compute, or stand for, whatever they are given from now on: ``declare -i X``."""
    if words[0].text not in _DECLARES or not _letters(words) & set("in"):
        return []
    return [word.text.partition("=")[0].removesuffix("+") for word in words[1:] if not word.text.startswith("-")]


def _letters(words: Sequence[Word]) -> set[str]:
    return {letter for word in words if word.text.startswith("-") for letter in word.text}


def _let(words: Sequence[Word], found: Found) -> None:
    if not all(word.text == "--" or _SUM.fullmatch(word.text) for word in words):
        found.hidden = _COMPUTES


def _has_computed_index(text: str) -> bool:
    """``name[x]``, where x is no number."""
    index = _INDEX.match(text)
    return index is not None and not index[1]


def _names(name: str) -> Callable[[Sequence[Word], Found], None]:
    def read(words: Sequence[Word], found: Found) -> None:
        if any(_has_computed_index(named) for named in set_by((literal(name), *words))):
            found.hidden = _COMPUTES
        elif name in _DECLARES:
            _declared(name, words, found)

    return read


def _declared(name: str, words: Sequence[Word], found: Found) -> None:
    """``-i`` computes whatever the name is ever given, ``-n`` makes it another; a list in quotes has indexes, too."""
    lists = any("[" in word.text.partition("=")[2] and "(" in word.text for word in words)
    if lists or _letters(words) & set("iI" if name == "export" else "iIn"):
        found.hidden = _COMPUTES


def _test(words: Sequence[Word], found: Found) -> None:
    if any(_has_computed_index(word.text) for word in words):
        found.hidden = _COMPUTES


def _compgen(words: Sequence[Word], found: Found) -> None:
    """The words of ``-W`` are expanded."""
    if any(set(word.text) & set("$`") for word in words):
        found.hidden = _COMPUTES


def _modes(known: frozenset[str]) -> Callable[[Sequence[Word], Found], None]:
    """``set -o NAME`` and ``shopt -s NAME``: a name that is not known may have the rest read in another way."""

    def read(words: Sequence[Word], found: Found) -> None:
        switching = False
        for word in words:
            if word.text == "--":
                return
            if word.text.startswith(("-", "+")):
                switching = switching or bool(set(word.text) & set("osu"))
                if word.text.find("o", 0, -1) > 0 and known is _MODES:
                    found.hidden = _MODE
            elif switching and word.text not in known:
                found.hidden = _MODE

    return read


def _fc(words: Sequence[Word], found: Found) -> None:
    """Note that ``fc`` runs earlier commands again, unless it only lists them."""
    short_options = {letter for word in words if word.text.startswith("-") for letter in word.text[1:]}
    if "l" not in short_options or short_options - set("lnr0123456789"):
        found.because = ["fc runs again what was run before"]


BUILTINS: dict[str, Callable[[Sequence[Word], Found], None]] = {
    **{name: _names(name) for name in _NAMED},
    "let": _let,
    "test": _test,
    "[": _test,
    "compgen": _compgen,
    "set": _modes(_MODES),
    "shopt": _modes(_SWITCHES),
    "fc": _fc,
}
