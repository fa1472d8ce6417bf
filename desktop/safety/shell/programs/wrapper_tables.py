"""Programs that start the command behind their own arguments, and how those end (see ``wrappers``)."""

from __future__ import annotations

import re

from desktop.domain.loading.lazy_dataclass import dataclass

PRIVILEGED = frozenset(
    ("systemd-run", "doas", "su", "pkexec", "runuser", "gosu", "su-exec", "chroot", "nsenter", "unshare", "run0")
)
"""Wrappers that run a command with other rights."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How a wrapper's own arguments end: options that take a value, operands before the command, assignments."""

    valued: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False


def _wrapper(valued: str = "", operands: int = 0, *, assigns: bool = False) -> Wrapper:
    return Wrapper(frozenset(valued.split()), operands, assigns)


LOADS = "ld.so"
WRAPPERS: dict[str, Wrapper] = {
    "env": _wrapper("-u --unset -C --chdir -S --split-string", assigns=True),
    "nohup": _wrapper(),
    "setsid": _wrapper(),
    "builtin": _wrapper(),
    "command": _wrapper(),
    "exec": _wrapper("-a"),
    "time": _wrapper("-f -o --format --output", assigns=True),
    "nice": _wrapper("-n --adjustment"),
    **dict.fromkeys(("then", "do", "else", "!", "coproc"), _wrapper(assigns=True)),
    "busybox": _wrapper(),
    "toybox": _wrapper(),
    "unbuffer": _wrapper(),
    "fakeroot": _wrapper(),
    "catchsegv": _wrapper(),
    "tini": _wrapper(),
    "xargs": _wrapper("-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-lines --max-chars"),
    "timeout": _wrapper("-k -s --kill-after --signal", 1),
    "gtimeout": _wrapper("-k -s --kill-after --signal", 1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "ionice": _wrapper("-c -n --class --classdata"),
    "chrt": _wrapper("", 1),
    "taskset": _wrapper("", 1),
    "flock": _wrapper("-w -E --timeout --conflict-exit-code", 1),
    "strace": _wrapper("-o -e -s -u -E -a -P"),
    "ltrace": _wrapper("-o -e -s -u -a"),
    "valgrind": _wrapper(),
    "parallel": _wrapper("-j -n -N -I --jobs"),
    "entr": _wrapper(),
    "rlwrap": _wrapper(),
    "setarch": _wrapper("", 1),
    **dict.fromkeys("linux32 linux64 uname26 i386 i486 i586 i686 x86_64".split(), _wrapper()),
    "caffeinate": _wrapper("-t -w"),
    "dbus-run-session": _wrapper(),
    "xvfb-run": _wrapper("-n -s -f -e -p -w"),
    "systemd-run": _wrapper("-p -u --unit --property"),
    "watch": _wrapper("-n"),
    "prlimit": _wrapper("-p --pid -o --output"),
    "choom": _wrapper("-n -p --adjust --pid"),
    "systemd-inhibit": _wrapper(),
    "proot": _wrapper("-r -b -w"),
    "firejail": _wrapper(),
    "ssh-agent": _wrapper("-a -t"),
    "doas": _wrapper("-u -C"),
    "pkexec": _wrapper("--user"),
    "gosu": _wrapper("", 1),
    "su-exec": _wrapper("", 1),
    "chroot": _wrapper("", 1),
    "nsenter": _wrapper("-t"),
    "unshare": _wrapper(),
    "run0": _wrapper("-u --user"),
    "bwrap": _wrapper("--bind --ro-bind --dev --proc --tmpfs --chdir --setenv"),
    "winpty": _wrapper(),
    "chronic": _wrapper(),
    "screen": _wrapper("-S -c -e -h -p -s -t -T"),
    "dtach": _wrapper("-n -c -A -N -a"),
    **dict.fromkeys(
        (
            "faketime runcon envdir setlock numactl cgexec setpriv chpst softlimit eatmydata proxychains "
            "proxychains4 torsocks torify tsocks dumb-init sshpass cpulimit hyperfine npx bunx pnpx uvx jobs"
        ).split(),
        _wrapper(),
    ),
    "abduco": _wrapper("-n -c -A -a"),
    LOADS: _wrapper("--library-path --inhibit-rpath --audit --preload --argv0"),
}

RUNNERS = {
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "dotenv", "op", "doppler"), "run"),
    "mamba": "run",
    "bundle": "exec",
    "mise": "exec",
    "direnv": "exec",
    "asdf": "exec",
    "npm": "exec",
    "pnpm": "exec",
    "yarn": "exec",
    "rustup": "run",
    "perf": "stat",
}
"""Programs of which one sub-command starts the command behind it."""
UNSURE_OPERANDS = frozenset("setarch runcon faketime envdir setlock direnv rustup".split())
"""Wrappers whose own operands may be left out or be several."""
ONLY_STARTS = frozenset(
    "env nohup setsid builtin command exec time timeout gtimeout nice stdbuf ionice chrt taskset setarch linux32 "
    "linux64 then do else !".split()
)
"""Wrappers that do nothing but start the command behind them: what reads behind one only reads."""
SHELL_ALONE = frozenset(
    "setarch linux32 linux64 uname26 i386 i486 i586 i686 x86_64 unshare nsenter chroot su runuser newgrp sg script "
    "fakeroot firejail proot capsh run0 dbus-run-session nix-shell".split()
)
"""Programs that start a shell, most of them one that reads the system's profile, where nothing says what else."""
PROCESSOR = re.compile(r"(?:linux|uname|i\d86|x86|athlon|arm|aarch|ppc|s390|mips|sparc|alpha|ia64|parisc|riscv)\w*")
