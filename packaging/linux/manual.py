"""The manual page assent(1)."""

import datetime
from collections.abc import Iterator

from linux.command_line import Command, Option

TEXT = r"""
.SH ENVIRONMENT
.TP
.B AGENT_HOME
The home folder, where no
.B \-\-home
is given.
.TP
.BR DISPLAY ", " WAYLAND_DISPLAY
The screen on which the window opens.
.SH FILES
.TP
.I ~/.agent
The home folder: settings in
.IR config.yaml ,
chats in
.IR data ,
your skills and agents, and the folder
.I workspace
in which agents work at first. Keys are not in it: they are in the keyring of the system.
.SH EXIT STATUS
.TP
.B 0
It was done.
.TP
.B 1
It failed, or
.B audit-check
found damage.
.TP
.B 2
It did not begin; the reason and what to do about it are on standard error.
.TP
.B 130
A person stopped it.
.SH SECURITY
Nothing that an agent wants to write or run becomes real without a yes of the person, a rule of theirs or a setting.
A link that begins with
.B assent:
only shows a place in the window. It never sends, allows, changes or runs anything.
"""


def manual(commands: tuple[Command, ...], version: str, date: datetime.date) -> str:
    """The page, in man(7)."""
    own, *others = commands
    lines = [
        f'.TH ASSENT 1 "{date.isoformat()}" "Assent {version}" "User Commands"',
        ".SH NAME",
        r"assent \- work with AI agents, with every effect approved",
        ".SH SYNOPSIS",
        *_synopsis(own),
        *(line for command in others for line in (".br", *_synopsis(command))),
        ".SH DESCRIPTION",
        "Without a command,",
        ".B assent",
        "opens its window, or brings the window that is open to the front.",
        ".SH OPTIONS",
        *_entries(own.options),
        ".SH COMMANDS",
    ]
    for command in others:
        lines += [f".SS assent {_text(command.word)}", _text(command.about)]
        lines += _entries((*command.arguments, *command.options))
    return "\n".join(lines) + TEXT


def _synopsis(command: Command) -> Iterator[str]:
    yield f".B assent {_text(command.word)}".rstrip()
    if command.options:
        yield r".RI [ options ]"
    for argument in command.arguments:
        yield f".RI [ {_text(argument.value)} ]" if argument.optional else f".I {_text(argument.value)}"


def _entries(options: tuple[Option, ...]) -> Iterator[str]:
    for option in options:
        yield ".TP"
        if not option.names:
            yield f".I {_text(option.value)}"
        else:
            names = ", ".join(rf"\fB{_text(name)}\fR" for name in option.names)
            yield names + (rf" \fI{_text(option.value)}\fR" if option.value else "")
        yield _text(option.about[:1].upper() + option.about[1:]).removesuffix(".") + "."


def _text(text: str) -> str:
    """A text in which nothing is a request or an escape, on a line of its own."""
    flat = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{flat}" if flat[:1] in (".", "'") else flat
