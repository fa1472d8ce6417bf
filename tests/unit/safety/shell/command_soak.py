"""Random commands held against patterns of every kind; what would run unasked is really run by bash in a sandbox.

An effect is a file that a rule about reading programs does not cover, or a program that it does not name. The programs
that must not run have stand-ins in the sandbox that write their name into a log, also under their absolute paths.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from desktop.services.rules.tricks_shell import FAMILIES, PROGRAMS
from tests.unit.safety.shell.bash_oracle import NOISE
from tests.unit.safety.shell.command_patterns import Patterns
from tests.unit.safety.shell.test_reader import unescaped
from tests.unit.safety.world import World

FOUND = {"E": "a[$(touch PWN)]", "N": "7"}
"""What commands find in their environment: a text that would run, if bash computed with it, and a number."""
STAND_INS = ("touch", "id", "tee", "curl", "mv", "chmod", "ln", "mkdir", "perl", "python3")
LAUNCHERS = tuple(
    one.strip()
    for one in (
        "env {} @ env -i {} @ env -u X {} @ env -iu X {} @ env A=1 {} @ nice {} @ nice -n 1 {} @ timeout 3 {} @ "
        "timeout -s KILL 3 {} @ stdbuf -oL {} @ setsid {} @ nohup {} @ command {} @ exec {} @ exec -a x {} @ "
        "xargs {} @ xargs -I{{}} {} @ busybox {} @ setarch -R {} @ taskset -c 0 {} @ ionice -c 3 {} @ "
        "chrt -o 0 {} @ time {} @ flock lock {} @ strace -o out {} @ builtin {} @ prlimit {} @ choom -n 0 {} @ "
        "sh -c '{}' @ bash -c '{}' @ eval {} @ find . -exec {} \\; @ watch -n 9 {} @ /usr/bin/env {} @ "
        "env -S '{}' @ echo {} | xargs env @ coproc {} @ ! {} @ ({}) @ {{ {}; }} @ if {}; then :; fi @ "
        "trap '{}' EXIT @ script -qc '{}' out "
    ).split("@")
)
SAFE_FILES = ("f", "g", "sub/h", "two.txt", ".", "sub", "new", "./f", "'f'", "f g")
BAD = tuple(
    one.strip()
    for one in (
        "touch PWN @ ./evil @ id @ tee PWN @ > PWN @ touch f @ mv f PWN @ ln f PWN @ mkdir PWN @ /usr/bin/touch PWN "
    ).split("@")
)
READING = tuple(
    one.strip()
    for one in (
        "ls* @ ls * @ cat* @ cat * @ grep * @ find * @ find *;;grep * @ sort * @ sed * @ awk * @ diff * @ diff3 * "
        "@ sdiff * @ head * @ tail * @ wc * @ echo * @ A=* echo * @ env *;;ls * @ timeout *;;cat * @ "
        "xargs *;;cat * @ uniq * @ date * @ file * @ nl * @ ptx * @ tr * @ cut * @ strings * @ nm * @ od * @ "
        "xxd * @ du * @ stat * @ {ls,cat} * @ [l]s* @ ls{, *} @ cmp * @ comm * @ join * @ paste * @ column * @ "
        "shuf * @ tac * @ fold * @ md5sum * @ cksum * @ base64 * @ jq * @ man * @ less * @ hostname * @ dmesg * @ "
        "ss * @ pr * @ vdir * @ dir * @ more * @ mawk * @ nawk * @ iconv * @ hexdump * @ zcat * @ xzcat * @ bzcat * "
        "@ zgrep * @ egrep * @ top * @ tput * @ getent * @ which * @ whereis * @ readelf * @ objdump * @ size * "
        "@ sum * @ sha256sum * @ b2sum * @ base32 * @ expand * @ unexpand * @ numfmt * @ printenv * @ ps * @ pgrep * "
        "@ rev * @ realpath * @ readlink * @ seq * @ tsort * @ tty * @ uname * @ look * @ fmt * @ yq * @ locale * "
        "@ bc * @ expr * @ printf * @ basename * @ dirname * @ factor * @ test * @ sleep * @ yes * @ zless * "
        "@ true * "
    ).split("@")
)
DATA = Path(__file__).resolve().parents[3] / "data"
BUILT_IN = tuple(line for line in (DATA / "bash_rules.txt").read_text().splitlines() if not line.startswith("#"))
STATEMENTS = tuple(
    unescaped(line) for line in (DATA / "bash_statements.txt").read_text().splitlines() if not line.startswith("#")
)
WIDE = tuple(unescaped(line) for line in (DATA / "bash_wide.txt").read_text().splitlines() if not line.startswith("#"))
NAMING = tuple(one for one in WIDE if "%X" in one)
"""Those in which the command that must not happen stands as it is, so that a rule about it can find it."""
WRITING = (
    "git *",
    "git log*",
    "git{, *}",
    "tar *",
    "gzip *",
    "cp f *",
    "zip *",
    "make *",
    "patch *",
    "split *",
    "csplit *",
    "gunzip *",
    "ed *",
    "ex *",
)
DENYING = ("touch*", "{touch,touch *}", "id*", "./evil*", "*evil*")


@lru_cache(maxsize=200)
def options_of_help(program: str) -> tuple[str, ...]:
    """Every option that the program itself tells of."""
    words = program.split()
    try:
        run = subprocess.run(
            [*words, "--help" if len(words) == 1 else "-h"],
            capture_output=True,
            timeout=5,
            stdin=subprocess.DEVNULL,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return ("-x", "--unknown")
    found = re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", run.stdout + run.stderr)
    return tuple(dict.fromkeys([*found, "-o", "-i", "-w", "-G", "-D", "-C", "--output", "--unknown"]))


@dataclass
class Maker:
    """Makes commands that begin as a rule means them and are changed in several ways."""

    chance: random.Random

    def command(self, rule: str, *, wide: bool = True) -> str:
        """One for a rule."""
        text = self._plain(rule)
        if wide and self.chance.random() < 0.25:
            text = self._wide(text)
        for _ in range(self.chance.choice((0, 1, 1, 1, 2, 3))):
            text = self._changed(text, rule)
        for _ in range(self.chance.choice((0, 0, 0, 0, 1, 2))):
            at = self.chance.randrange(len(text) + 1)
            text = text[:at] + self.chance.choice(NOISE) + text[at + self.chance.choice((0, 1)) :]
        return text

    def _wide(self, text: str) -> str:
        """One of the many ways to another command, around or behind a text that a rule covers."""
        program = text.split()[0] if text.split() else "ls"
        found = self.chance.choice(WIDE)
        return found.replace("%B", text).replace("%P", program).replace("%X", self.chance.choice(BAD))

    def of_bash(self) -> str:
        """Several statements of bash's own, one after the other."""
        made = [self.chance.choice(STATEMENTS) for _ in range(self.chance.choice((1, 2, 2, 3, 3, 4)))]
        text = made[0]
        for one in made[1:]:
            text += self.chance.choice(("; ", "; ", "; ", "\n", " && ", " || ", " | ", " ", " & ")) + one
        if self.chance.random() < 0.2:
            text = self._wide(text)
        wraps = (
            "{}",
            "{}",
            "{}",
            "{}",
            "eval '{}'",
            "bash -c '{}'",
            "{{ {}; }}",
            "({})",
            "if {}; then :; fi",
            "time {}",
            "while {}; do break; done",
            "! {}",
            'echo "$({})"',
            "command {}",
            "builtin {}",
            "X=Y {}",
        )
        return self.chance.choice(wraps).format(text)

    def _plain(self, rule: str) -> str:
        program = self._program(self.chance.choice(rule.split(";;")))
        words = [program]
        for _ in range(self.chance.choice((0, 1, 1, 2, 3))):
            words.append(self._option(program) if self.chance.random() < 0.6 else self.chance.choice(SAFE_FILES))
        if program.startswith("find") or self.chance.random() < 0.7:
            words.append(self.chance.choice(SAFE_FILES))
        return " ".join(words)

    def _program(self, rule: str) -> str:
        found = {"[l]s*": "ls", "{ls,cat} *": "cat", "ls{, *}": "ls", "git{, *}": "git", "A=* echo *": "A=1 echo"}
        name = found.get(rule) or rule.rstrip("*").rstrip().strip("*")
        if name == "git":
            return f"git {self.chance.choice('log status diff show branch tag config add commit stash remote'.split())}"
        if name in ("env", "timeout", "xargs"):
            return {"env": "env ls", "timeout": "timeout 3 cat", "xargs": "xargs cat"}[name]
        return name or "ls"

    def _option(self, program: str) -> str:
        first = program.split()
        name = " ".join(first[:2]) if first[0] == "git" else first[-1]
        option = self.chance.choice(options_of_help(name))
        if option.startswith("--") and len(option) > 5 and self.chance.random() < 0.15:
            option = option[: self.chance.randint(4, len(option))]
        value = self.chance.choice(("", "", "=PWN", " PWN", "=./evil", " ./evil", "=1", " 1", "PWN", "='|./evil'"))
        return option + value

    def _changed(self, text: str, rule: str) -> str:
        kind = self.chance.randrange(9)
        program = text.split()[0] if text.split() else "ls"
        bad = self.chance.choice(BAD)
        if kind == 0:
            _, template, _ = self.chance.choice(FAMILIES)
            made = template.format(b=text, p=program, k="f")
            return made.replace("touch conftest.py", bad).replace("conftest.py", "PWN")
        if kind == 1:
            return self.chance.choice(LAUNCHERS).format(self.chance.choice((text, bad)))
        if kind == 2:
            names = (f"{program}=1", f"{program}+=1", f"{program}x=1", "A=1", "A+=1", "IFS=x", "X='1 2'")
            head = self.chance.choice(names)
            return f"{head} {self.chance.choice((bad, text))}"
        if kind == 3:
            return text + self.chance.choice((";", "\n", " && ", " || ", " | ", " & ", "\r\n", " |& ")) + bad
        if kind == 4:
            outputs = (" > PWN", " >> f", " 2>PWN", " &>PWN", " <>PWN", " >|f", " > /dev/null", " 2>&1")
            yielded = (f" $({bad})", f" `{bad}`", f" <({bad})", f' "$({bad})"')
            return text + self.chance.choice((*yielded, *outputs))
        if kind == 5:
            known = PROGRAMS.get(program.rpartition("/")[2], ())
            return f"{text} {self.chance.choice(known)[0]}".replace("conftest.py", "PWN") if known else text
        if kind == 6:
            return f"{program}{self.chance.choice(('/../evil', 'x/evil', '/evil'))} f"
        if kind == 7:
            other = (f"/usr/bin/{program}", f"\\{program}", f"'{program}'", f"./{program}", f"$'{program}'")
            return text.replace(program, self.chance.choice(other), 1)
        return f"{text} {self._option(program)}"


@dataclass
class Sandbox:
    """A folder in which bubblewrap runs commands, each in a copy of ``seed``."""

    root: Path
    ran: int = 0
    seed: Path = field(init=False)

    def __post_init__(self) -> None:
        self.seed = self.root / "seed"
        (self.seed / "sub").mkdir(parents=True)
        texts = {
            "f": "b\na\nc\n",
            "g": "a\nb\n",
            "sub/h": "x\n",
            "two.txt": "1 2\n3 4\n",
            "two": "x\n",
            "x.txt": "a[$(touch PWN)]\n",
        }
        for name, text in texts.items():
            (self.seed / name).write_text(text)
        for name in ("evil", *(f"{one}{more}/evil" for one in ("ls", "cat", "git", "find") for more in ("x", ""))):
            path = self.seed / name
            path.parent.mkdir(exist_ok=True)
            called = "evil" if name == "evil" else "other-evil"
            path.write_text(f"#!/bin/bash\necho {called} $PWD >> /mnt/logs/log; echo ran > PWN_evil\n")
            path.chmod(0o755)
        for order in ("init -q", "add f", "-c user.name=a -c user.email=b commit -qm x"):
            subprocess.run(["git", *order.split()], cwd=self.seed, check=True)
        (self.root / "stand").mkdir()
        for name in STAND_INS:
            stand = self.root / "stand" / name
            stand.write_text(f"#!/bin/bash\necho {name} $PWD >> /mnt/logs/log; echo ran > PWN_{name}\n")
            stand.chmod(0o755)
        (self.root / "logs").mkdir()

    def effects(self, commands: list[str]) -> list[tuple[set[str], set[str]]]:
        """Of each command: the programs with stand-ins that ran, and the files that are not as they were."""
        self.ran += len(commands)
        (self.root / "work").mkdir(exist_ok=True)
        (self.root / "commands.json").write_text(json.dumps(commands))
        (self.root / "found.json").write_text(json.dumps(FOUND))
        python = Path(sys.executable).resolve()
        hidden = [
            part
            for name in STAND_INS
            for path in (Path("/usr/bin", name), Path("/bin", name))
            if path.exists() and path.resolve() != python and not path.is_symlink()
            for part in ("--ro-bind", str(self.root / "stand" / name), str(path))
        ]
        argv = [
            "bwrap",
            "--unshare-all",
            "--die-with-parent",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--tmpfs",
            "/tmp",
            "--bind",
            str(self.root),
            "/mnt",
            "--tmpfs",
            "/mnt/work",
            "--tmpfs",
            "/home",
            *hidden,
            str(python),
            "-I",
            "-c",
            _INSIDE,
        ]
        (self.root / "results.json").unlink(missing_ok=True)
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        results = json.loads((self.root / "results.json").read_text())
        return [(set(programs), set(files)) for programs, files in results]


_INSIDE = r'''
import json, os, re, shutil, signal, subprocess
from concurrent.futures import ThreadPoolExecutor
os.chdir("/mnt")
PATHS = "/usr/local/bin:/usr/bin:/bin"
def look(folder):
    found = {}
    for base, folders, names in os.walk(folder):
        if ".git" in folders: folders.remove(".git")
        for name in [*folders, *names]:
            path = os.path.join(base, name)
            s = os.lstat(path)
            content = open(path, "rb").read(100000) if os.path.isfile(path) and not os.path.islink(path) else b""
            found[os.path.relpath(path, folder)] = (s.st_mode, s.st_size if not os.path.isdir(path) else 0, content)
    return found
def git(folder):
    return open(os.path.join(folder, ".git", "config"), "rb").read()
seed = look("seed")
def run(given):
    number, command = given
    place = f"work/{number}"
    shutil.copytree("seed", place, symlinks=True)
    env = {"PATH": PATHS, "HOME": "/home", "PWD": os.path.abspath(place), "LANG": "C", "GIT_CONFIG_NOSYSTEM": "1",
           **json.load(open("found.json"))}
    argv = ["/bin/bash", "--noprofile", "--norc", "-c", command.encode("utf-8", "surrogateescape")]
    try:
        process = subprocess.Popen(argv, cwd=place, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
    except ValueError:
        return []
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass
    process.wait()
    try:
        after = look(place)
        files = [name for name in set(seed) | set(after) if seed.get(name) != after.get(name)]
        return files + ([".git/config"] if git("seed") != git(place) else [])
    except OSError:
        return ["?"]
commands = json.load(open("commands.json"))
def end_what_is_left():
    """What an earlier command left in the background would be taken for the next one's."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
def logged():
    return [line.strip().partition(" ") for line in open("logs/log", errors="replace")]
open("logs/log", "w").close()
with ThreadPoolExecutor(12) as pool:
    files = list(pool.map(run, enumerate(commands)))
programs = [[] for _ in commands]
placed = [(name, re.search(r"/work/(\d+)", place)) for name, _, place in logged()]
for name, found in placed:
    if found:
        programs[int(found[1])].append(name)
if not all(found for _, found in placed):  # something ran in another folder: whose it was shows one by one
    for number, command in enumerate(commands):
        end_what_is_left()
        open("logs/log", "w").close()
        run((len(commands) + number, command))
        programs[number] += [name for name, _, _ in logged()]
json.dump(list(zip(programs, files)), open("results.json", "w"))
'''


def furnish(world: World, sandbox: Sandbox) -> None:
    """The workspace that is read has the files of the folder in which commands run, and the same variables."""
    shutil.copytree(sandbox.seed, world.workspace, dirs_exist_ok=True)
    world.let_find(FOUND)


@dataclass
class Tally:
    """What came of it. ``wrong``: commands that passed and had an effect that their rule does not cover."""

    tried: int = 0
    passed: Counter[str] = field(default_factory=Counter)
    run: int = 0
    wrong: list[tuple[str, str, list[str], list[str]]] = field(default_factory=list)


def soak(world: World, sandbox: Sandbox, seed: int, count: int, batch: int = 250) -> Tally:
    """Try so many commands; those that some pattern lets run unasked are run, together."""
    chance = random.Random(seed)
    maker, tally, reader = Maker(chance), Tally(), world.reader
    kept = {rule: Patterns(world, rule.split(";;")) for rule in (*READING, *BUILT_IN, *WRITING, *DENYING)}
    waiting: list[tuple[str, str]] = []
    for _ in range(count):
        rule = chance.choices((READING, BUILT_IN, WRITING, DENYING), (4, 4, 1, 1))[0]
        chosen = chance.choice(rule)
        denies = rule is DENYING
        of_bash = rule is BUILT_IN or (denies and chance.random() < 0.3)
        meant = chance.choice(READING) if denies else chosen
        command = maker.of_bash() if of_bash else maker.command(meant, wide=not denies)
        if denies and chance.random() < 0.3:
            command = chance.choice(NAMING).replace("%B", "ls f").replace("%P", "ls")
            command = command.replace("%X", chance.choice(("touch PWN", "id", "./evil")))
        elif denies and chance.random() < 0.7:
            command = chance.choice(LAUNCHERS).format(chance.choice(("touch PWN", "id", "./evil")))
            command = maker._changed(command, "ls *") if chance.random() < 0.3 else command
        tally.tried += 1
        reading = reader.read_now(command)
        if reading.blocked is not None or reading.category.value == "admin":
            continue
        found = kept[chosen].passing_beside(reading, command) if denies else kept[chosen].covering(reading, command)
        for kind in found:
            tally.passed[f"{'deny' if denies else 'allow'} {kind}"] += 1
        if found:
            waiting.append((chosen, command))
        if len(waiting) >= batch:
            _run(sandbox, waiting, tally)
            waiting = []
    _run(sandbox, waiting, tally)
    return tally


def _run(sandbox: Sandbox, waiting: list[tuple[str, str]], tally: Tally) -> None:
    if not waiting:
        return
    tally.run += len(waiting)
    for (rule, command), (programs, files) in zip(waiting, sandbox.effects([c for _, c in waiting]), strict=True):
        if rule in DENYING:
            name = {"touch*": "touch", "{touch,touch *}": "touch", "id*": "id"}.get(rule, "evil")
            programs, files = programs & ({name, "other-evil"} if rule == "*evil*" else {name}), set()
        elif rule in WRITING:
            files = files & {".git/config", "PWN_evil"}
        if programs or files:
            tally.wrong.append((rule, command, sorted(programs), sorted(files)))
