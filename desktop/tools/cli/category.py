"""What a declared tool's category is raised to before any value is known (R-TOOL-4).

A person declares the category of a program with its fixed arguments. A parameter that becomes a program's code, or
chooses the program, makes the tool a shell by another name: such calls are admin, whatever was declared. This reads
declarations only; the values of a call are read by ``tool`` with the reader of shell commands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from desktop.tools.cli.definitions import CliDefinition
from desktop.tools.cli.template import Template

RIGHTS = frozenset(("sudo", "sudoedit", "doas", "su", "pkexec", "runuser", "gosu", "su-exec", "run0", "runas"))
SHELLS = frozenset(
    ("sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash", "yash", "tcsh", "csh", "cmd", "eval", "source")
)
INTERPRETERS = SHELLS | frozenset(
    (
        "python",
        "pypy",
        "perl",
        "ruby",
        "node",
        "nodejs",
        "deno",
        "bun",
        "php",
        "lua",
        "luajit",
        "tclsh",
        "rscript",
        "julia",
        "osascript",
        "pwsh",
        "powershell",
        "awk",
        "gawk",
        "mawk",
        "nawk",
        "sed",
        "jshell",
        "irb",
        "ipython",
        "expect",
        "guile",
        "racket",
        "ocaml",
        "gdb",
        "lldb",
    )
)
LAUNCHERS = frozenset(
    (
        "env",
        "nice",
        "nohup",
        "setsid",
        "time",
        "timeout",
        "gtimeout",
        "xargs",
        "parallel",
        "watch",
        "stdbuf",
        "ionice",
        "chrt",
        "taskset",
        "flock",
        "strace",
        "ltrace",
        "valgrind",
        "unbuffer",
        "script",
        "chroot",
        "nsenter",
        "unshare",
        "busybox",
        "toybox",
        "fakeroot",
        "caffeinate",
        "firejail",
        "bwrap",
        "proot",
        "systemd-run",
        "command",
        "exec",
        "npx",
        "bunx",
        "uvx",
        "pipx",
        "ssh",
    )
)
_CARRIED = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "python", "perl", "ruby", "node"))
"""Interpreters that are looked for anywhere among the fixed arguments: ``docker exec box sh -c …``."""
_PASSED_OVER = re.compile(r"-.*|[0-9.]+[smhd]?|[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_PROGRAM = re.compile(r"-[A-Za-z]*[ceEmf]|--(?:eval|command|execute)")
_VALUED = re.compile(r"-[A-Za-z]*[oOWXIMrFv]|--(?:require|import|loader|rcfile|init-file)")
_VERSION = re.compile(r"[0-9.]+$|\.exe$")


def always_admin(definition: CliDefinition) -> str:
    """Why every call of this tool is admin, or ""."""
    free = {parameter.name for parameter in definition.parameters if parameter.free}
    groups = [argument for _, group in definition.optional_args for argument in group]
    return _reason(definition.cmd, [*definition.args, *groups], free)


def program_name(text: str) -> str:
    """``python3.11`` and ``/usr/bin/python`` as ``python``."""
    name = re.split(r"[/\\]", text)[-1].casefold()
    return _VERSION.sub("", name.removesuffix(".exe")) or name


def _reason(program: str, arguments: Sequence[Template], free: set[str]) -> str:
    name = program_name(program)
    if name in RIGHTS:
        return f"{name} runs programs with other rights"
    if name in LAUNCHERS:
        return _launched(name, arguments, free)
    if name in INTERPRETERS:
        return _interpreted(name, arguments, free)
    return _carried(arguments, free, _CARRIED)


def _carried(arguments: Sequence[Template], free: set[str], names: frozenset[str]) -> str:
    """What interpreters among the fixed arguments are given."""
    for at, argument in enumerate(arguments):
        fixed = argument.fixed
        if fixed is not None and program_name(fixed) in names and (why := _reason(fixed, arguments[at + 1 :], free)):
            return why
    return ""


def _launched(launcher: str, arguments: Sequence[Template], free: set[str]) -> str:
    """What a wrapper starts; a fixed program in it is judged like one of its own."""
    started = False
    for argument in arguments:
        if free.intersection(argument.names) and (launcher == "ssh" or not started):
            where = "on another computer " if launcher == "ssh" else ""
            return f"{launcher} runs {where}what {_listed(argument, free)} says"
        started = started or not _PASSED_OVER.fullmatch(argument.fixed or "")
    return _carried(arguments, free, INTERPRETERS | LAUNCHERS | RIGHTS)


def _interpreted(name: str, arguments: Sequence[Template], free: set[str]) -> str:
    """A free text as a program, in one, as an option before one, or as the name of the file with one. What follows
    a fixed program or script are its arguments."""
    program_next = skip = False
    for argument in arguments:
        if free.intersection(argument.names):
            return f"{name} runs what {_listed(argument, free)} says"
        fixed = argument.fixed or ""
        if skip:
            skip = False
        elif program_next or not fixed.startswith("-"):
            return ""
        else:
            program_next, skip = bool(_PROGRAM.fullmatch(fixed)), bool(_VALUED.fullmatch(fixed))
    return ""


def _listed(argument: Template, free: set[str]) -> str:
    return "{{" + next(name for name in argument.names if name in free) + "}}"
