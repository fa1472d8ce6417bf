"""A command line that starts an MCP server, taken apart: variables in front, the program, its arguments. No Qt.

It is read as a person means it and never given to a shell: what only a shell could do is refused with the reason.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import field
from pathlib import PureWindowsPath

from desktop.domain.loading.lazy_dataclass import dataclass

MAX_LINE = 4_000
"""Characters; a longer one would take too long to take apart while a person types."""
_PROMPT = re.compile(r"^\s*(?:\$|>|%)\s+")
_JOINED = re.compile(r"[\\`^][ \t]*\n\s*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_WINDOWS = re.compile(r"(?:^|[\s\"'])[A-Za-z]:\\|\\\\")
_OPERATORS = ("&&", "||", "|", ";", "&", ">", ">>", "<", "2>", "2>&1", "<<")
_OF_APPS = frozenset(
    {
        "claude",
        "codex",
        "amp",
        "gemini",
        "droid",
        "grok",
        "qwen",
        "copilot",
        "code",
        "cursor",
        "kiro-cli",
        "opencode",
        "auggie",
        "vibe",
    }
)
_WITH_VALUE = frozenset(
    {
        "-s",
        "--scope",
        "-t",
        "--transport",
        "-e",
        "--env",
        "-H",
        "--header",
        "--name",
        "--url",
        "--bearer-token-env-var",
        "--type",
        "--env-file",
    }
)


class NotOneCommand(ValueError):
    """What was pasted is no command that starts one program; the text says why, for a person."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What a line says."""

    command: str = ""
    """The program."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[str, str] = field(default_factory=dict)
    """Its variables."""
    name: str = ""
    """A name for the server, or ""."""
    url: str = ""
    """The address of a server that is no program."""
    headers: dict[str, str] = field(default_factory=dict)
    """What is sent with each request to it."""
    data: str = ""
    """A block of JSON that the line carries instead."""


def read_line(text: str) -> CommandLine:
    """Parse one command line. Raises NotOneCommand."""
    if len(text) > MAX_LINE:
        raise NotOneCommand("This is too long for a command line.")
    joined = _JOINED.sub(" ", _PROMPT.sub("", text.strip()))
    if "\n" in joined:
        raise NotOneCommand("These are several lines. Paste only the one that starts the server.")
    words = _words(joined)
    _refuse_shell(words, joined)
    env: dict[str, str] = {}
    while words and (words[0] == "env" or _ASSIGNMENT.fullmatch(words[0])):
        word = words.pop(0)
        if found := _ASSIGNMENT.fullmatch(word):
            env[found[1]] = found[2]
    if not words:
        raise NotOneCommand("There are only variables here: the program is missing.")
    if words[0] in _OF_APPS and ("mcp" in words[1:3] or "--add-mcp" in words):
        return _of_app(words, env)
    command, args = argument_list(words[0], words[1:])
    return CommandLine(command, args, env)


def argument_list(command: str, args: list[str]) -> tuple[str, tuple[str, ...]]:
    """Without the ``cmd /c`` that only Windows needs in front."""
    if PureWindowsPath(command).name.lower() in ("cmd", "cmd.exe") and args and args[0].lower() in ("/c", "/k"):
        rest = _words(args[1]) if len(args) == 2 and " " in args[1] else args[1:]
        if rest:
            return rest[0], tuple(rest[1:])
    return command, tuple(args)


def _words(text: str) -> list[str]:
    """The words of a command line as a shell splits it; in paths of Windows a backslash is a backslash."""
    try:
        if _WINDOWS.search(text):
            return [_bare(word) for word in shlex.split(text, posix=False)]
        words = shlex.split(text)
        return words[: words.index("#")] if "#" in words else words
    except ValueError:
        raise NotOneCommand("A quotation mark is not closed in this line.") from None


def _bare(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word


def _refuse_shell(words: list[str], text: str) -> None:
    found = next((word for word in words if word in _OPERATORS or re.fullmatch(r"\S*[^\\;];", word)), "")
    if found or "$(" in text or re.search(r"`[^`]+`", text):
        raise NotOneCommand(
            "This line needs a shell, for |, &&, > or $( ). A server is one program: put the line into a script, and "
            "name that as the program."
        )


def _of_app(words: list[str], env: dict[str, str]) -> CommandLine:
    """``claude mcp add [options] name -- program …`` and what other apps made of it."""
    rest = words[words.index("--add-mcp") + 1 :] if "--add-mcp" in words else words[words.index("mcp") + 1 :]
    if rest and rest[0] in ("add", "add-json"):
        rest = rest[1:]
    options, plain = _options(rest)
    data = next((word for word in plain if word.lstrip().startswith("{")), "")
    if data:
        return CommandLine(name=plain[0] if plain[0] != data else "", data=data)
    given = filter(None, map(_ASSIGNMENT.fullmatch, options.get("env", [])))
    env = env | {found[1]: found[2] for found in given}
    split = (re.split(r"[:=]", one, maxsplit=1) for one in options.get("header", []))
    headers = {one[0].strip(): one[1].strip() for one in split if len(one) == 2}
    name = next(iter(options.get("name", [])), "")
    if not name and plain:
        name, plain = plain[0], plain[1:]
    url = next(iter(options.get("url", [])), plain[0] if plain and plain[0].startswith(("http://", "https://")) else "")
    if url:
        return CommandLine(name=name, url=url, headers=headers)
    if not plain:
        raise NotOneCommand("This line for another app names no program. Paste the server's own line.")
    if len(plain) == 1 and " " in plain[0]:
        plain = _words(plain[0])
    command, args = argument_list(plain[0], plain[1:])
    return CommandLine(command, args, env, name)


_LONG = {"-e": "env", "--env": "env", "-H": "header", "--header": "header", "--name": "name", "--url": "url"}


def _options(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """(options of the app's command by name, the rest). After ``--``, or once the program is there, all is the
    program's."""
    options: dict[str, list[str]] = {}
    plain: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        name, equals, value = word.partition("=")
        if word == "--":
            return options, [*plain, *words[at + 1 :]]
        if len(plain) >= 2 and not plain[1].startswith(("http://", "https://")):
            return options, [*plain, *words[at:]]
        if name in _WITH_VALUE:
            given = value if equals else words[at + 1] if at + 1 < len(words) else ""
            options.setdefault(_LONG.get(name, name), []).append(given)
            at += 1 if equals else 2
            continue
        if not word.startswith("-"):
            plain.append(word)
        at += 1
    return options, plain
