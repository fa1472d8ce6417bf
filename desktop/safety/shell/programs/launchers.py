"""Programs that are no wrappers and yet run a command that stands in their arguments: terminals, debuggers, git,
archivers. Each function takes the words after the program's name (R-BLK-4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field
from itertools import pairwise

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.safety.confinement.environment_names import COMMAND_NAMES
from desktop.safety.shell.programs.blocklist import git_command
from desktop.safety.shell.programs.git import git_words, settings_in
from desktop.safety.shell.syntax.words import Word, base_name, joined, literal

LOADER = re.compile(r"ld(-linux|-musl|64|32)?[\w.+-]*\.so(\.\d+)*")
"""The system's program loader by its name: what follows it is a program to run."""
_HARMLESS_GIT = re.compile(
    r"GIT_(AUTHOR_|COMMITTER_)(NAME|EMAIL|DATE)|GIT_(TERMINAL_PROMPT|OPTIONAL_LOCKS|MERGE_AUTOEDIT)"
)
_SHELL_IN = re.compile(r"\s*(?:platform\s+)?(?:shell\b|!)\s*(.*)", re.DOTALL)
_OPENED = re.compile(r"--(?:exec|upload-pack|receive-pack|extcmd|open-files-in-pager)=(.*)", re.DOTALL)
_TRANSPORT = re.compile(r"(?:ext|fd)::", re.IGNORECASE)
_GIVES = "it gives git a command of its own to run"
_LASTS = "what it starts goes on after this call, beyond its time limit"


@dataclass(slots=True)
class LaunchedCommands:
    """The commands that a launcher starts. ``scripts``: texts that a shell, or something like one, will read;
    ``reasons``: why the call is admin."""

    scripts: list[Word] = field(default_factory=list)
    executed: list[tuple[Word, ...]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


def changes_git(name: str) -> bool:
    """Whether a variable of git's makes it run or use something else."""
    return name.startswith("GIT_") and _HARMLESS_GIT.fullmatch(name) is None


def after_option(words: Sequence[Word], names: tuple[str, ...]) -> list[Word]:
    """The values of options, as ``-c x`` or ``--command=x``."""
    found = [after for word, after in pairwise(words) if word.text in names]
    return found + [
        literal(w.text.partition("=")[2]) for w in words if w.text.startswith(tuple(f"{n}=" for n in names))
    ]


def _screen(words: Sequence[Word]) -> LaunchedCommands:
    texts = [word.text for word in words]
    typed = list(words[texts.index("-X") + 1 :]) if "-X" in texts else []
    return LaunchedCommands(typed, reasons=[_LASTS])


def _tmux(words: Sequence[Word]) -> LaunchedCommands:
    """Every operand may be a command: to run in a window, or typed into one."""
    plain = [word for word in words if not word.text.startswith("-") and word.text != "Enter"]
    return LaunchedCommands([*plain[1:], joined(plain[1:])] if plain[1:] else [], reasons=[_LASTS])


def _debugger(words: Sequence[Word]) -> LaunchedCommands:
    orders = after_option(words, ("-ex", "-iex", "--eval-command", "-eval-command", "--init-eval-command", "-o", "-O"))
    orders += after_option(words, ("--one-line", "--one-line-before-file"))
    shells = [literal(found[1]) for word in orders if (found := _SHELL_IN.match(word.text))]
    texts = [word.text for word in words]
    behind = [joined(words[texts.index(mark) + 1 :]) for mark in ("--args", "-args", "--") if mark in texts]
    return LaunchedCommands([*shells, *behind], reasons=["a debugger can run and change other programs"])


def _git(words: Sequence[Word]) -> LaunchedCommands:
    found = LaunchedCommands()
    texts = [word.text for word in words]
    for before, word in zip(["", *texts], words, strict=False):
        if before in ("-x", "--exec", "--upload-pack", "--receive-pack", "--extcmd"):
            found.scripts.append(word)
        if opened := _OPENED.match(word.text):
            found.scripts.append(literal(opened[1]))
            found.reasons.append(_GIVES)
        if ("::" in word.text and _TRANSPORT.match(word.text)) or before == "--exec-path":
            found.reasons.append(_GIVES)
    if "foreach" in texts:
        each = words[texts.index("foreach") + 1 :]
        found.scripts += [joined(each[at:]) for at, word in enumerate(each) if not word.text.startswith("-")][:1]
    if "bisect" in texts and "run" in texts:
        behind = tuple(words[texts.index("run") + 1 :])
        found.executed += [behind] if behind else []
    settings = settings_in(words)
    programs = after_option(git_command(words)[1], ("-u",)) if git_command(words)[0] == "clone" else []
    found.scripts += [*settings.scripts, *programs]
    found.reasons += [*settings.reasons, *([_GIVES] if programs else [])]
    return found


def _options(*names: str) -> Callable[[Sequence[Word]], LaunchedCommands]:
    def read(words: Sequence[Word]) -> LaunchedCommands:
        return LaunchedCommands([word for word in after_option(words, names) if not _is_ssh(word)])

    return read


def _is_ssh(word: Word) -> bool:
    """``rsync -e "ssh -p 22"`` says no more than rsync to another computer does."""
    return re.fullmatch(r"(\S*/)?ssh(\s+-p\s*\d+|\s+-[46CqT]+|\s+-i\s+\S+)*", word.text) is not None


def _tar(words: Sequence[Word]) -> LaunchedCommands:
    options = ("-I", "-F", "--use-compress-program", "--to-command", "--rmt-command", "--rsh-command")
    more = after_option(words, (*options, "--info-script", "--new-volume-script"))
    at_checkpoint = (re.search(r"exec=(.*)", word.text, re.S) for word in words)
    return LaunchedCommands([*more, *(literal(found[1]) for found in at_checkpoint if found)])


def _terminal(words: Sequence[Word]) -> LaunchedCommands:
    texts = [word.text for word in words]
    at = next((texts.index(mark) + 1 for mark in ("-e", "-x", "--") if mark in texts), len(words))
    behind = words[at:]
    scripts = [joined(behind)] if behind else []
    return LaunchedCommands(scripts + after_option(words, ("--command",)), reasons=[_LASTS])


LAUNCHERS: dict[str, Callable[[Sequence[Word]], LaunchedCommands]] = {
    "screen": _screen,
    "git": _git,
    "tar": _tar,
    "rsync": _options("-e", "--rsh"),
    **dict.fromkeys(("tmux", "byobu", "zellij"), _tmux),
    **dict.fromkeys(("gdb", "lldb", "rr"), _debugger),
    "sort": _options("--compress-program"),
    "split": _options("--filter"),
    "man": _options("-P", "--pager", "-H"),
    "zip": _options("-TT", "--unzip-command"),
    "wget": _options("--use-askpass"),
    **dict.fromkeys(
        ("xterm", "konsole", "gnome-terminal", "alacritty", "kitty", "foot", "urxvt", "x-terminal-emulator"), _terminal
    ),
}


def launched(name: str, words: Sequence[Word]) -> LaunchedCommands:
    """What a program's arguments give it to run."""
    if LOADER.fullmatch(name):
        return LaunchedCommands(reasons=["the system's loader runs any file as a program"])
    name, words = git_words(name, words)
    read = LAUNCHERS.get(name)
    return read(words) if read is not None else LaunchedCommands()


def command_in(assignment: Word) -> Word | None:
    """The command that ``NAME=value`` gives another program to run, if it does."""
    name, _, value = assignment.text.partition("=")
    if base_name(name) != name or name.removesuffix("+") not in COMMAND_NAMES or not value:
        return None
    return Word(value.lstrip("|"), value.lstrip("|"), assignment.dynamic, assignment.glob, start=assignment.start)
