"""bash itself as the judge of the reader: commands are made up, run with stand-ins for `rm` and `sudo`, and whenever a
stand-in really ran, the reader must have refused the command or called it admin."""

import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

DANGERS = [
    "rm x",
    "sudo id",
    "\\rm x",
    "'rm' x",
    '"rm" x',
    "r''m x",
    "r\\m x",
    "$'rm' x",
    "$'\\162m' x",
    "r\\\nm x",
    "rm\tx",
    "command rm x",
    "env rm x",
    'env -i PATH="$PATH" rm x',
    "nohup rm x",
    "exec rm x",
    "xargs rm </dev/null",
    "nice -n 1 rm x",
    "timeout 3 rm x",
    "A=1 rm x",
    "$R x",
    "${R} x",
    '"$R" x',
    "${Q:-rm} x",
    "$(echo rm) x",
    "r${Q}m x",
    "{rm,x}",
    "r{m,} x",
    ">/dev/null rm x",
    "rm</dev/null",
    "rm x 2>&1",
    "time rm x",
    "! rm x",
    "find . -maxdepth 0 -exec rm x \\;",
    "env - rm x",
    "env -vS 'rm x'",
    "env --split='rm x'",
    "eval -- rm x",
    "setsid -w rm x",
    "stdbuf -oL rm x",
    "busybox_not rm; rm x",
    "\"$(printf '\\162m')\" x",
    "${R:0:2} x",
    "$(type -P rm) x",
]
WRAPS = [
    "{}",
    "true; {}",
    "true && {}",
    "false || {}",
    "true | {}",
    "{} | cat",
    "{} & wait",
    "true\n{}",
    "( {} )",
    "{{ {}; }}",
    "echo $({})",
    "echo `{}`",
    'echo "$({})"',
    'echo "a `{}` b"',
    "cat <({})",
    "if true; then {}; fi",
    "if {}; then :; fi",
    "while {}; do break; done; {}",
    "for i in 1; do {}; done",
    "case a in a) {};; esac",
    "f() {{ {}; }}; f",
    "function g {{ {}; }}; g",
    "x=$({})",
    "a=(1 $({}))",
    "[[ -n $({}) ]]",
    '[ -n "$({})" ]',
    "(( 1 + $({}) + 0 )) 2>/dev/null",
    "cat <<E\n$({})\nE",
    "cat <<E\n`{}`\nE",
    'cat <<< "$({})"',
    "cat <<E && {}\nhello\nE",
    "cat <<'E' | sh\n{}\nE",
    "bash <<'E'\n{}\nE",
    "eval '{}'",
    'eval "{}"',
    "sh -c '{}'",
    'bash -c "{}"',
    "bash -lc '{}'",
    "trap '{}' EXIT",
    "echo '{}' | bash",
    "printf '%s\\n' '{}' | sh",
    "echo ${{Z:-$({})}}",
    "echo ${{Z:-`{}`}}",
    "export V=$({})",
    "echo $(({} ))",
    "# note \\\n{}",
    "echo 'it'\"'\"'s'; {}",
    'echo "a\\"b"; {}',
    "echo a\\;b; {}",
    "until {}; do break; done; {}",
    "coproc {}\nwait",
    "select s in 1; do {}; done <<< 1",
    "! {}",
    "time {}",
    "declare W=$({})",
    "local_() {{ {}; }}; local_",
    "{} >/dev/null 2>&1",
    "{} <<< hi",
    "echo {{a,b}} $({})",
    "echo a#b; {}",
    'echo "${{Z:-"$({})"}}"',
    "bash <({{ echo '{}'; }})",
    "for ((i=0;i<1;i++)); do {}; done",
    "case $({}) in *) ;; esac",
    "source /dev/stdin <<'E'\n{}\nE",
    'echo "$(echo "$({})")"',
    "cat <<-E\n\t$({})\n\tE",
    "mapfile -C '{} #' -c 1 <<< a",
    "echo $[ $({}) ]",
    "unset -v 'n[$({})]'",
    "printf -v 'n[$({})]' a",
    "test -v 'n[$({})]'",
    "n='m[$({})]'; echo $((n))",
    'read -r <<< "$({})"',
    "alias zz='{}'\nshopt -s expand_aliases\nzz",
    "shopt -s expand_aliases\nalias zz='{}'\nzz",
    "PS4='$({})'; set -x; true",
    "PROMPT='$({})'; echo \"${{PROMPT@P}}\"",
]
NOISE = [
    "\\",
    "'",
    '"',
    "$",
    "`",
    "\n",
    " ",
    "#",
    ";",
    "\\\n",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "&",
    "|",
    "\t",
    "$'",
    "\\'",
    "''",
    '""',
]


@dataclass(frozen=True)
class Oracle:
    """A folder with stand-ins on its PATH; `ran` says whether one of them was called."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> "Oracle":
        programs = folder / "bin"
        programs.mkdir()
        for name in ("rm", "sudo"):
            (programs / name).write_text(f"#!/bin/sh\necho ran > {folder}/ran\n")
            (programs / name).chmod(0o755)
        for name in (
            "sh",
            "bash",
            "cat",
            "env",
            "nohup",
            "nice",
            "timeout",
            "xargs",
            "find",
            "setsid",
            "stdbuf",
            "sleep",
        ):
            found = next((p for p in (Path("/bin", name), Path("/usr/bin", name)) if p.exists()), None)
            if found is not None:
                (programs / name).symlink_to(found)
        (folder / "work").mkdir()
        return cls(folder)

    def ran(self, command: str) -> bool:
        mark = self.folder / "ran"
        mark.unlink(missing_ok=True)
        environment = {"PATH": str(self.folder / "bin"), "R": "rm", "HOME": str(self.folder / "work")}
        process = subprocess.Popen(
            ["/bin/bash", "--noprofile", "--norc", "-c", command],
            cwd=self.folder / "work",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            pass
        finally:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
            process.wait()
        return mark.exists()


def made_up(chance: random.Random) -> str:
    """A command: a danger, wrapped up to three times, sometimes damaged."""
    command = chance.choice(DANGERS)
    for _ in range(chance.randint(0, 3)):
        command = chance.choice(WRAPS).format(*[command] * 2)
    for _ in range(chance.choice([0, 0, 0, 1, 1, 2, 4])):
        at = chance.randrange(len(command) + 1)
        command = command[:at] + chance.choice(NOISE) + command[at + chance.choice([0, 0, 1]) :]
    return command
