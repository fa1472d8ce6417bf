"""Commands that no dialog can allow. Defence in depth, not a boundary (R-BLK-9): what really holds a command is
the confinement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from desktop.domain.errors import SettingsError
from desktop.domain.safety import Blocked
from desktop.safety.shell.syntax.words import Word, base_name

PATTERN_WINDOW = 10_000  # characters of a command that extra patterns look at
_MAIN = frozenset(("main", "master"))
_ANY_FORCE = ("--force", "--force-with-lease", "--force-if-includes", "--mirror")

_TRASH = "Move it to a trash folder inside the workspace instead, for example: mkdir -p .trash && mv -n FILE .trash/"
_WORDS: dict[str, tuple[str, str]] = {
    "rm": ("deletes files for good", _TRASH),
    "sudo": ("runs commands with all rights", "Do it without more rights, or ask the person to do it."),
    "sudoedit": ("edits files with all rights", "Do it without more rights, or ask the person to do it."),
    "shutdown": ("turns this computer off", "Ask the person to do it."),
    "reboot": ("restarts this computer", "Ask the person to do it."),
    "halt": ("stops this computer", "Ask the person to do it."),
    "poweroff": ("turns this computer off", "Ask the person to do it."),
    "mkfs": ("erases a disk", "Ask the person to do it."),
    "dd": ("overwrites files and disks byte by byte", "Use cp for files, or head -c for parts of files."),
}
_DIGITS = re.compile(r"[=+]?[0-7]*777")
_CLAUSE = re.compile(r"([ugoa]*)((?:[-+=](?:[rwxXst]*|[ugo]))+)")
_STEP = re.compile(r"([-+=])([rwxXst]*|[ugo])(?=[-+=]|$)")


def blocked_by(words: Sequence[Word], *, relax_plain_rm: bool) -> Blocked | None:
    """The entry that refuses this command, words without wrappers (R-BLK-2, R-BLK-3)."""
    if not words or words[0].split:
        return None
    name = base_name(words[0].text).casefold().removesuffix(".exe")
    arguments = list(words[1:])
    if name.startswith("mkfs."):
        name = "mkfs"
    if name == "rm" and relax_plain_rm and not _recursive(arguments):
        return None
    if name in _WORDS:
        reason, alternative = _WORDS[name]
        return Blocked(base_name(words[0].text), reason, alternative)
    if name == "chmod" and _opens_to_all(arguments):
        return Blocked("chmod 777", "lets everybody change the file", "Use chmod 755 or 644, or u+x.")
    if name == "git" and pushes_over_main(arguments):
        return Blocked("git push --force", "overwrites the main branch for everybody", "Push to a branch of its own.")
    return None


def _recursive(arguments: Sequence[Word]) -> bool:
    """Whether rm could go through folders; what is not known counts as yes."""
    for word in arguments:
        text = word.text
        if word.split and not text.startswith(("/", "./", "~")):
            return True
        if text.startswith("--"):
            if "--recursive".startswith(text) and text != "--":
                return True
        elif text.startswith("-") and set(text) & set("rR"):
            return True
    return False


def _opens_to_all(arguments: Sequence[Word]) -> bool:
    """Whether chmod gives everybody every right, in digits or letters."""
    modes = [word.text for word in arguments if not word.text.startswith("-")]
    if not modes:
        return False
    if _DIGITS.fullmatch(modes[0]):
        return True
    given: dict[str, set[str]] = {who: set() for who in "ugo"}
    for part in modes[0].split(","):
        clause = _CLAUSE.fullmatch(part)
        if clause is None:
            return False
        whom = "ugo" if not clause[1] or "a" in clause[1] else clause[1]
        for sign, rights in _STEP.findall(clause[2]):
            _give(given, whom, sign, rights)
    return all(rights >= set("rwx") for rights in given.values())


def _give(given: dict[str, set[str]], whom: str, sign: str, rights: str) -> None:
    """One step of a symbolic mode; ``g=u`` copies what another has by then."""
    more = set(given[rights]) if rights in given else set(rights.replace("X", "x"))
    for who in whom:
        kept = set() if sign == "=" else given[who]
        given[who] = kept - more if sign == "-" else kept | more


def git_command(arguments: Sequence[Word]) -> tuple[str, list[Word]]:
    """git's subcommand and what follows it, its global options skipped."""
    at = 0
    valued = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env")
    while at < len(arguments) and arguments[at].text.startswith("-"):
        at += 2 if arguments[at].text in valued else 1
    return (arguments[at].text, list(arguments[at + 1 :])) if at < len(arguments) else ("", [])


def may_mean(text: str, *long: str) -> bool:
    """Whether a word is one of these long options, or one of them cut short."""
    given = text.partition("=")[0]
    return len(given) > 2 and given.startswith("--") and any(option.startswith(given) for option in long)


def forces_push(arguments: Sequence[Word]) -> bool:
    """Whether ``git push`` with these arguments may overwrite or delete what others have."""
    for word in arguments:
        text = word.text
        if text.startswith("--"):
            if may_mean(text, *_ANY_FORCE, "--delete", "--prune"):
                return True
        elif (text.startswith("-") and set(text) & set("fd")) or text.startswith(("+", ":")):
            return True
    return False


def pushes_over_main(arguments: Sequence[Word]) -> bool:
    """``git push --force`` whose target is main or master."""
    subcommand, rest = git_command(arguments)
    if subcommand != "push" or not forces_push(rest):
        return False
    targets = [word.text.lstrip("+").rpartition(":")[2].removeprefix("refs/heads/") for word in rest]
    return any(target.casefold() in _MAIN for target in targets)


def compile_patterns(patterns: Sequence[str]) -> list[re.Pattern[str]]:
    """Extra patterns of the settings (R-BLK-6). Raises SettingsError naming the first that is wrong."""
    compiled = []
    for pattern in patterns:
        try:
            compiled.append(re.compile(pattern, re.IGNORECASE))
        except (re.error, OverflowError, RecursionError) as error:
            raise SettingsError(
                f"The blocked pattern {pattern!r} is no valid regular expression: {error}.",
                next_step="Correct it in Settings, Approvals.",
            ) from error
    return compiled


def blocked_by_pattern(command: str, patterns: Sequence[re.Pattern[str]]) -> Blocked | None:
    """The first extra pattern that fits the command's first 10,000 characters."""
    window = command[:PATTERN_WINDOW]
    for pattern in patterns:
        if found := pattern.search(window):
            return Blocked(found[0][:80] or pattern.pattern[:80], "fits a pattern that the settings block")
    return None
