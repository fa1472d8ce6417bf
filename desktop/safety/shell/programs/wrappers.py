"""Looks through what only starts another command: wrappers, ``sh -c``, ``eval``, ``find -exec`` (R-BLK-4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from itertools import pairwise

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.shell.programs.blocklist import may_mean
from desktop.safety.shell.programs.builtins import jobs_run
from desktop.safety.shell.programs.interpreters import SHELLS
from desktop.safety.shell.programs.known_options import Known, known
from desktop.safety.shell.programs.launchers import LOADER, after_option, launched
from desktop.safety.shell.programs.option_tables import Found
from desktop.safety.shell.programs.options import options_of
from desktop.safety.shell.programs.wrapper_tables import (
    LOADS,
    PRIVILEGED,
    PROCESSOR,
    RUNNERS,
    SHELL_ALONE,
    UNSURE_OPERANDS,
    WRAPPERS,
    Wrapper,
)
from desktop.safety.shell.syntax.getopt import SHORT_OPTIONS, ShortOptions, read_options
from desktop.safety.shell.syntax.words import Word, base_name, joined, literal

_MAPFILE = ShortOptions.of("t A b a c d e f g j k p s u v D E I", "d n O s u C c o F G P S W X")
_GROUPED_C = re.compile(r"-[a-bd-zA-Z]+c")
MAX_EXECUTED = 16
"""Commands that one runs for names that it finds, one in the other or one after the other."""
TOO_MANY = "it runs more commands in commands than are read"


@dataclass(slots=True)
class Unwrapped:
    """The commands inside a command."""

    layers: list[tuple[Word, ...]] = field(default_factory=list)
    """The commands found one inside the other, outermost first."""
    scripts: list[Word] = field(default_factory=list)
    """Texts that a shell will read."""
    executed: list[tuple[Word, ...]] = field(default_factory=list)
    """Commands that ``find -exec`` runs."""
    folders: list[Word] = field(default_factory=list)
    """Folders that it changes to."""
    reasons: list[str] = field(default_factory=list)
    """Why this is admin."""
    options: dict[int, Found] = field(default_factory=dict)
    """The effects of options, by layer."""
    reads_stdin_as_code: bool = False
    """Whether a shell reads its input as commands."""
    lookup_only: bool = False
    """Whether it only looks a name up."""
    unsure: set[int] = field(default_factory=set)
    """Layers of which it is not known with which word the command behind them begins."""

    @property
    def innermost(self) -> tuple[Word, ...]:
        """The command that does the work."""
        return self.layers[-1] if self.layers else ()

    def below(self) -> list[tuple[tuple[Word, ...], Unwrapped]]:
        """What it runs for names that it finds, each taken apart, and what that runs in turn; see ``too_many``."""
        found = [(argv, unwrap(argv)) for argv in self.executed[:MAX_EXECUTED]]
        at = 0
        while at < len(found) < MAX_EXECUTED:
            found += [(argv, unwrap(argv)) for argv in found[at][1].executed[: MAX_EXECUTED - len(found)]]
            at += 1
        return found

    @property
    def too_many(self) -> bool:
        """Whether there may be more than ``below`` tells."""
        return len(self.below()) == MAX_EXECUTED

    @property
    def executed_layers(self) -> list[tuple[Word, ...]]:
        """The layers of all that it runs for names that it finds."""
        return [layer for _, nested in self.below() for layer in nested.layers]

    def options_at(self, at: int) -> Found:
        """What the options of one of the layers do, its own only. Not to be changed."""
        found = self.options.get(at)
        if found is None:
            words = self.layers[at]
            if at + 1 < len(self.layers):
                words = words[: len(words) - len(self.layers[at + 1])]
            found = self.options[at] = options_of(base_name(words[0].text), words[1:]) if words else Found()
        return found


def unwrap(words: tuple[Word, ...]) -> Unwrapped:
    """Follow the wrappers to the end."""
    found = Unwrapped()
    while words and len(found.layers) < 16:
        found.layers.append(words)
        if words[0].split:
            break
        name = base_name(words[0].text).casefold()
        if name in PRIVILEGED:
            found.reasons.append(f"{name} runs it with other rights")
        _scripts(name, words[1:], found)
        name = LOADS if LOADER.fullmatch(name) else name
        if found.lookup_only:
            break
        if name in WRAPPERS:
            words = _behind(name, words[1:], found)
        else:
            words = _run_by_runner(name, words[1:], found)
    _fed_shell(found)
    _fed_wrapper(found)
    _alone(found)
    return found


def _behind(name: str, words: tuple[Word, ...], found: Unwrapped) -> tuple[Word, ...]:
    """What comes after a wrapper's own options, operands and assignments."""
    spec, table, layer = WRAPPERS[name], known(name), len(found.layers) - 1
    if name in UNSURE_OPERANDS:
        found.unsure.add(layer)
    if _starts_none(name, words, found):
        return ()
    at, operands = 0, spec.operands
    while at < len(words):
        text = words[at].text
        if text == "--" or (text == "-" and name == "env"):  # the same as -i
            at += 1
        elif text.startswith("-") and len(text) > 1:
            if text in ("-C", "--chdir") and at + 1 < len(words):
                found.folders.append(words[at + 1])
            at += 2 if text in spec.valued or (table is not None and table.short_options.waits(text)) else 1
            if not _listed(text, spec, table):
                found.unsure.add(layer)
        elif spec.assigns and re.match(r"[A-Za-z_]\w*=", text):
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return words[at:]


def _starts_none(name: str, words: tuple[Word, ...], found: Unwrapped) -> bool:
    """``command -v NAME`` only looks; ``jobs`` without ``-x`` only lists."""
    found.lookup_only = name == "command" and _only_looks(words)
    return found.lookup_only or (name == "jobs" and not jobs_run(words))


def _only_looks(words: tuple[Word, ...]) -> bool:
    """Whether ``command -v NAME`` only looks a name up: its own options stand before the name."""
    for word in words:
        if not re.fullmatch(r"-[pvV]+", word.text):
            return False
        if set(word.text) & set("vV"):
            return True
    return False


def _listed(text: str, spec: Wrapper, table: Known | None) -> bool:
    """Whether it is known of a wrapper's option whether it takes the next word."""
    if text in spec.valued:
        return True
    if table is None:
        return False
    if text.startswith("--"):
        return "=" in text or table.has(text)
    return all(has for _, _, has in table.short_options.split(text))


def _run_by_runner(name: str, words: tuple[Word, ...], found: Unwrapped) -> tuple[Word, ...]:
    """The command in ``uv run ls``: the words behind the sub-command, if it is the one that starts others."""
    at = next((at for at, word in enumerate(words) if not word.text.startswith("-")), len(words))
    if at >= len(words) or words[at].text != RUNNERS.get(name):
        return ()
    behind = words[at + 1 :]
    first = next((at for at, word in enumerate(behind) if not word.text.startswith("-")), len(behind))
    if name in UNSURE_OPERANDS or any(word.text != "--" for word in (*words[:at], *behind[:first])):
        found.unsure.add(len(found.layers) - 1)
    return behind[first:]


def _scripts(name: str, words: tuple[Word, ...], found: Unwrapped) -> None:
    """Texts among the arguments that are commands themselves."""
    more = launched(name, words)
    found.scripts += more.scripts
    found.executed += more.executed
    found.reasons += more.reasons
    if name in SHELLS:
        _shell(words, found)
    elif name in _TEXTS:
        _TEXTS[name](words, found)


def _eval(words: tuple[Word, ...], found: Unwrapped) -> None:
    found.scripts.append(joined(_after_dashes(words)))


def _after_dashes(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Without the ``--`` at which the own options of a built-in end."""
    return words[1:] if words and words[0].text == "--" else words


def _watch(words: tuple[Word, ...], found: Unwrapped) -> None:
    found.scripts.append(joined(_behind("watch", words, found)))


def _parallel(words: tuple[Word, ...], found: Unwrapped) -> None:
    found.scripts.append(joined(_behind("parallel", words, found)))


def _trap(words: tuple[Word, ...], found: Unwrapped) -> None:
    if words and words[0].text not in ("-", "", "-p", "-l"):
        found.scripts.append(words[1] if words[0].text == "--" and len(words) > 1 else words[0])


def _find(words: tuple[Word, ...], found: Unwrapped) -> None:
    found.executed += _find_exec(words)


def _fd(words: tuple[Word, ...], found: Unwrapped) -> None:
    """``fd -x command`` up to ``;`` or the end, also where x stands among other letters."""
    for at, word in enumerate(words):
        text = word.text
        short_options = [] if text.startswith("--") or text[:1] != "-" else list(SHORT_OPTIONS["fd"].split(text))
        glued = [value for letter, value, _ in short_options if letter in "xX"]
        long = re.match(r"--exec?(?:-[a-z]*)?(?:$|=)", text)
        if not glued and long is None:
            continue
        argv = words[at + 1 :]
        end = next((number for number, item in enumerate(argv) if item.text == ";"), len(argv))
        found.executed += [argv[:end]] if argv[:end] else []
        if any(glued) or "=" in text:
            found.reasons.append("it runs a command for what it finds")
        break


def _fed_shell(found: Unwrapped) -> None:
    """Judge ``xargs sh -c``: the input becomes a part of the text that the shell runs."""
    names = [base_name(layer[0].text) for layer in found.layers]
    if names and names[-1] in SHELLS and {"xargs", "parallel"} & set(names[:-1]):
        found.reasons.append("it runs text that is only known when it runs")


def _alone(found: Unwrapped) -> None:
    """``setarch -R`` and nothing behind it: a shell, which runs what it is fed with."""
    name = base_name(found.layers[-1][0].text).casefold() if found.layers and found.layers[-1] else ""
    if name in SHELL_ALONE and not found.scripts and not _names_more(found.layers[-1]):
        found.reads_stdin_as_code = True
        found.reasons.append(f"{name} starts a shell where no command is given")


def _names_more(words: tuple[Word, ...]) -> bool:
    """``setarch --list`` starts nothing, and ``setarch -R ls`` names a program where its operand may be left out."""
    if base_name(words[0].text) == "setarch":
        operands = [word.text for word in words[1:] if not word.text.startswith("-")]
        if any(PROCESSOR.fullmatch(text) is None for text in operands):
            return True
    return len(words) == 2 and words[1].text in ("--help", "--version", "-V", "-h", "--list")


def _fed_wrapper(found: Unwrapped) -> None:
    """Judge ``xargs env``: the input says which program runs."""
    names = [base_name(layer[0].text) for layer in found.layers]
    feeding = {"xargs", "parallel"} & set(names[:-1])
    if feeding and (names[-1] in WRAPPERS or names[-1] in RUNNERS) and not found.lookup_only:
        found.reasons.append("which program it runs shows only when it runs")


def _alias(words: tuple[Word, ...], found: Unwrapped) -> None:
    named = [literal(word.text.partition("=")[2]) for word in words if "=" in word.text]
    found.scripts += named
    found.reasons += ["it gives a command another name"] if named else []


def _after_c(words: tuple[Word, ...], found: Unwrapped) -> None:
    """Take the command behind ``-c``, also where it stands among other letters: ``script -qc COMMAND``."""
    found.scripts += after_option(words, ("-c", "--command"))
    for word, following in pairwise(words):
        if _GROUPED_C.fullmatch(word.text):
            found.scripts.append(following)


def _env(words: tuple[Word, ...], found: Unwrapped) -> None:
    """``-S TEXT``, also behind other letters (``-vS``), glued to its text, and the long option cut short."""
    for word, following in pairwise((*words, literal(""))):
        text = word.text
        if may_mean(text, "--split-string"):
            found.scripts.append(literal(text.partition("=")[2]) if "=" in text else following)
        elif short_options := re.match(r"-[i0v]*S(.*)", text, re.DOTALL):
            found.scripts.append(literal(short_options[1]) if short_options[1] else following)


def _callback(words: tuple[Word, ...], found: Unwrapped) -> None:
    options = read_options(words, _MAPFILE, {}).options
    found.scripts += [literal(value) for name, value in options if name == "-C" and value]


def _source(words: tuple[Word, ...], found: Unwrapped) -> None:
    words = _after_dashes(words)
    if words and words[0].text.startswith(("/dev/stdin", "/dev/fd/", "/proc/self/fd/")):
        found.reads_stdin_as_code = True
    elif words and words[0].text.startswith(("<(", "$")):
        found.reasons.append("it runs text that another command writes")


def _coproc(words: tuple[Word, ...], found: Unwrapped) -> None:
    """Read ``coproc [NAME] command``: the grammar does not know it, so both readings are taken."""
    for part in (words, words[1:]):
        found.scripts.append(joined(tuple(word for word in part if word.text not in ("{", "}", ";"))))


def _shell(words: tuple[Word, ...], found: Unwrapped) -> None:
    """``sh -c text``, ``sh file``, or ``sh`` that reads its input."""
    has_command, at = False, 0
    while at < len(words):
        text = words[at].text
        if text in ("-", "--"):
            at += 1
            break
        if not text.startswith(("-", "+")):
            break
        if not text.startswith("--") and "c" in text and text[0] == "-":
            has_command = True
        takes_value = text in ("--rcfile", "--init-file") or (not text.startswith("--") and text[-1] in "oO")
        at += 2 if takes_value else 1
    rest = words[at:]
    if has_command:
        found.scripts += [rest[0]] if rest else []
    elif not rest or rest[0].text in ("/dev/stdin", "-", "/dev/fd/0", "/proc/self/fd/0"):
        found.reads_stdin_as_code = True
    elif rest[0].text.startswith(("<(", "/dev/fd/")):
        found.reasons.append("it runs text that another command writes")
    if any(w.text in ("-s", "-is", "-si") for w in words):
        found.reads_stdin_as_code = True


def _find_exec(words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    found: list[tuple[Word, ...]] = []
    at = 0
    while at < len(words):
        if words[at].text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = at + 1
            while end < len(words) and words[end].text not in (";", "+"):
                end += 1
            found.append(words[at + 1 : end])
            at = end
        at += 1
    return [argv for argv in found if argv]


_TEXTS: dict[str, Callable[[tuple[Word, ...], Unwrapped], None]] = {
    "eval": _eval,
    "watch": _watch,
    "parallel": _parallel,
    "trap": _trap,
    "find": _find,
    "fd": _fd,
    "fdfind": _fd,
    "alias": _alias,
    "su": _after_c,
    "sg": _after_c,
    "capsh": _after_c,
    "runuser": _after_c,
    "flock": _after_c,
    "script": _after_c,
    "env": _env,
    "coproc": _coproc,
    "mapfile": _callback,
    "readarray": _callback,
    "complete": _callback,
    "compgen": _callback,
    "source": _source,
    ".": _source,
}
