"""Shells and interpreters, and which of a command's words are files that it runs."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.safety.shell.syntax.words import Word, base_name

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash", "yash", "tcsh", "csh"))
RUNS_A_FILE = SHELLS | frozenset(
    "python python2 python3 pypy pypy3 perl ruby node nodejs deno bun php "
    "lua luajit tclsh Rscript julia osascript pwsh powershell java make source .".split()
)


def run_by(words: tuple[Word, ...]) -> list[Word]:
    """The files that a command runs: itself where it is named by its path, and the scripts that it is given."""
    if not words:
        return []
    found = [words[0]] if "/" in words[0].text else []
    if base_name(words[0].text) in RUNS_A_FILE:
        found += [word for word in words[1:] if not word.text.startswith("-")][:4]
    return found


def script_of(words: Sequence[Word]) -> Word | None:
    """What an interpreter runs, where it stands right behind its name; None where an option comes first."""
    if len(words) < 2 or base_name(words[0].text) not in RUNS_A_FILE - {"make"}:
        return None
    return None if words[1].text.startswith("-") else words[1]
