"""A shell command taken apart for rules: each command's words as one text, and why some can be covered by no rule.

A rule that allows must see everything that will run, so whatever may become another word than it looks, or is not among
the words at all, is *hidden*: expansions, patterns, text that is fed in, files that a redirection writes. Fails closed:
what is not known to be plain is hidden (R-PRM-11, R-BLK-5).
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from desktop.domain.approval.judgement import CommandPart
from desktop.safety.shell.network.hosts import Hosts, hosts_assigned
from desktop.safety.shell.paths import harmless_target
from desktop.safety.shell.programs.blocklist import git_command
from desktop.safety.shell.programs.git import also_called, git_words
from desktop.safety.shell.programs.option_tables import Found
from desktop.safety.shell.programs.options import NET_FILES, TAKES_ORDERS
from desktop.safety.shell.programs.wrappers import TOO_MANY, Unwrapped
from desktop.safety.shell.syntax.commands import Parsed, Redirect, SimpleCommand
from desktop.safety.shell.syntax.words import Word, base_name

_PLAIN_WORD = re.compile(r"[\w@%+=:,./^~\-]+")
_PLAIN_WORDS = re.compile(r"[\w@%+=:,./^\-]+(?: [\w@%+=:,./^\-]+)*+")
_PLAIN = frozenset(
    "program command command_name word number string string_content raw_string ansi_c_string concatenation list "
    "pipeline redirected_statement file_redirect file_descriptor comment variable_assignment variable_name subshell "
    "compound_statement negated_command if_statement elif_clause else_clause while_statement for_statement do_group "
    "case_statement case_item declaration_command unset_command".split()
)
_MAX_ENDINGS = 12
_ADDS_WORDS = frozenset(("xargs", "parallel", "watch", "entr", "find", "fd"))
_REASONS = {
    "command_substitution": "what a substitution yields shows only when it runs",
    "process_substitution": "what a substitution yields shows only when it runs",
    "function_definition": "it gives a command name another meaning",
    "heredoc_redirect": "a text that is fed in is not among the words",
    "herestring_redirect": "a text that is fed in is not among the words",
    "test_command": "a test is not among the words",
    "extglob_pattern": "which files a pattern finds shows only when it runs",
}
_EXPANDS = "what an expansion yields shows only when it runs"


HostsOf = Callable[[tuple[Word, ...]], Hosts]
"""Says with which computers a command of these words talks."""


def parts_of(command: SimpleCommand, unwrapped: Unwrapped, hosts_of: HostsOf) -> Iterator[CommandPart]:
    """A command and those that it only wraps, each as a part of its own."""
    before = [_shown(word) for word in command.assignments]
    hidden = _hidden_words(command.assignments) or _hidden_redirects(command.redirects)
    behind = [
        text
        for item in command.redirects
        if not item.writes and not item.feeds_text
        for text in ("<", _shown(item.target))
    ]
    led = [host for word in command.assignments for host in hosts_assigned(word)]
    yield from _layered(unwrapped, hosts_of, hidden, (before, behind, command.text), led)
    for argv, nested in unwrapped.below():
        filled = any("{}" in word.text for word in argv)
        why = hidden or ("it is given names that only running shows" if filled else "")
        yield from _layered(nested, hosts_of, why)
    if unwrapped.too_many:
        yield CommandPart("", hidden=TOO_MANY)


def _layered(
    unwrapped: Unwrapped,
    hosts_of: HostsOf,
    hidden: str,
    around: tuple[list[str], list[str], str] = ([], [], ""),
    led: Sequence[str] = (),
) -> Iterator[CommandPart]:
    """The layers of one command. ``around``: what stands before and behind the outermost, and the text that they were
    read from; ``led``: hosts that the assignments in front name."""
    adds = False
    for at, words in enumerate(unwrapped.layers or [()]):
        why = hidden or _hidden_words(words) or ("it is given words that only running shows" if adds else "")
        unsure = at in unwrapped.unsure
        why = why or ("with which of its words a command begins is not known" if unsure else "")
        found = unwrapped.options_at(at) if words else Found()
        before, behind, text = around if at == 0 else ([], [], "")
        part = _part(words, hosts_of(words), before, behind, why, text, found)
        part = replace(part, hosts=tuple(dict.fromkeys((*part.hosts, *led)))) if at == 0 and led else part
        yield replace(part, spellings=(*part.spellings, *_endings(words))) if unsure else part
        adds = adds or (bool(words) and base_name(words[0].text) in _ADDS_WORDS)


def _endings(words: Sequence[Word]) -> Iterator[str]:
    """For rules that deny: what a wrapper may start, when its options do not say with which word that begins."""
    for at in range(1, min(len(words), _MAX_ENDINGS)):
        shown = [_shown(word) for word in words[at:]]
        yield from (" ".join(shown), *_other_names(words[at:], shown))


def strange_part(parsed: Parsed) -> CommandPart | None:
    """What no rule can cover about a whole text: anything in it that is not known to be plain."""
    strange = sorted(parsed.kinds - _PLAIN)
    if parsed.problems:
        return CommandPart("", hidden="not all of it can be read")
    if not strange:
        return None
    return CommandPart("", hidden=next((_REASONS[kind] for kind in strange if kind in _REASONS), _EXPANDS))


def _part(
    words: Sequence[Word], led: Hosts, before: list[str], behind: list[str], hidden: str, source: str, found: Found
) -> CommandPart:
    shown = _all_shown(words)
    text = " ".join([*before, *shown, *behind])
    spellings = {" ".join(source.split()), " ".join([word.known for word in words]), *_other_names(words, shown)}
    said, hidden = found.said, hidden or found.hidden
    if behind and words and base_name(words[0].text) in TAKES_ORDERS:
        said = [*said, "<"]
    hosts, astray = (*led.names, *led.leads), tuple(led.astray)
    return CommandPart(text, tuple(sorted(spellings - {text, ""})), hidden, tuple(said), tuple(before), hosts, astray)


def _other_names(words: Sequence[Word], shown: list[str]) -> Iterator[str]:
    """The same command by other names: without the program's folder and by its plain path, in small letters as some
    disks take it, of git without the options before its subcommand, and by the sub-commands that do the same."""
    if not words:
        return
    name = base_name(words[0].text)
    rest, small = shown[1:], name.casefold()
    yield " ".join([name, *rest])
    if "/" in words[0].text:
        path = posixpath.normpath(words[0].text)
        yield from (" ".join([one, *rest]) for one in (path, f"./{path}"))
    if small != name:
        yield " ".join([small, *rest])
    program, arguments = git_words(small, words[1:])
    if program == "git":
        subcommand, after = git_command(arguments)
        for one in (subcommand, *also_called(arguments)):
            yield " ".join(["git", one, *shown[len(words) - len(after) :]])


def _all_shown(words: Sequence[Word]) -> list[str]:
    """Each word as ``_shown`` has it; together where there is nothing to quote, for there may be hundreds."""
    texts = [word.text for word in words]
    line = " ".join(texts)
    if line.count(" ") == len(texts) - 1 and _PLAIN_WORDS.fullmatch(line):
        return texts
    return [_shown(word) for word in words]


def _shown(word: Word) -> str:
    """A word as it would have to be written, quoted only where it must be."""
    if _PLAIN_WORD.fullmatch(word.text):
        quoted_home = word.text.startswith("~") and word.known == word.text
        if not quoted_home:
            return word.text
    name, equals, value = word.text.partition("=")
    if equals and re.fullmatch(r"[\w\-]+", name):
        return f"{name}={shlex.quote(value)}"
    return shlex.quote(word.text)


def _hidden_words(words: Sequence[Word]) -> str:
    glob = False
    for word in words:
        if word.dynamic or word.unread:
            return _EXPANDS
        glob = glob or word.glob
    return "which files a pattern finds shows only when it runs" if glob else ""


def _hidden_redirects(redirects: Sequence[Redirect]) -> str:
    for item in redirects:
        if item.feeds_text:
            return "a text that is fed in is not among the words"
        if item.target.split or item.target.unread:
            return _EXPANDS
        if item.writes and not harmless_target(item.target.known):
            return "a file that a redirection writes is not among the words"
        if item.target.known.startswith(NET_FILES):
            return "it talks to another computer"
    return ""
