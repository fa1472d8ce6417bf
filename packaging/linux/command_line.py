"""What can be written behind `assent`, read from the app's own argument parsers: a command or an option that they do
not know cannot stand in the manual or in a completion, and none of theirs can be left out."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from desktop.app import main as app
from desktop.app.commands import opening


@dataclass(frozen=True)
class Option:
    """One option, or (without ``names``) one argument that stands at its place."""

    names: tuple[str, ...]
    value: str
    """What stands behind it, in capitals; "" for a switch."""
    about: str
    repeats: bool = False
    optional: bool = False

    @property
    def long(self) -> str:
        """The name to be completed."""
        return self.names[-1]


@dataclass(frozen=True)
class Command:
    """``word`` is "" for what is written right behind `assent`."""

    word: str
    about: str
    arguments: tuple[Option, ...]
    options: tuple[Option, ...]


def commands() -> tuple[Command, ...]:
    """The app itself first, then each of its commands by name."""
    found = [_command("", app.parser())]
    words = {**app.COMMANDS, app.OPEN: opening}
    found += [_command(word, module.parser()) for word, module in sorted(words.items())]
    return tuple(found)


def _command(word: str, parser: argparse.ArgumentParser) -> Command:
    entries = list(_entries(parser))
    return Command(
        word,
        parser.description or "",
        tuple(entry for entry in entries if not entry.names),
        tuple(entry for entry in entries if entry.names),
    )


def _entries(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:  # argparse offers no other way to ask a parser what it takes
        if action.help == argparse.SUPPRESS:
            continue
        names = tuple(action.option_strings)
        value = "" if action.nargs == 0 else str(action.metavar or action.dest).upper()
        about = (action.help or "") % {"default": action.default, "prog": parser.prog}
        repeats = isinstance(action, argparse._AppendAction)
        yield Option(names, value, about, repeats, optional=action.nargs == "?")
