"""Commands of which every part is known and only reads: what is said of them, and what a setting lets run unasked."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.errors import Denied
from desktop.domain.safety import SafetySettings
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.permission.decide import passes_by_setting
from tests.unit.safety.world import World
from tests.unit.tools.conftest import Bench, context

READS = (
    "ls -la && echo done",
    "ls",
    "ls -la sub",
    "cat note.txt | head -5 | wc -l",
    "grep -rn x . 2>/dev/null",
    "pwd",
    "git status",
    "git log --oneline -5",
    "git branch -a",
    "git branch --list 'x'",
    "git tag",
    "git config --list",
    "git config user.name",
    "git stash list",
    "git remote -v",
    "find . -name x -type f",
    "timeout 5 ls",
    "env ls",
    "if ls; then pwd; fi",
    "sort -u note.txt",
    "sed -n 1p note.txt",
    "diff3 a b c",
    "hostname",
    "hostname -f",
    "wc -l < note.txt",
    "find . -name x -exec cat note.txt +",
    "jobs -l",
    "let x=1",
    "test -f note.txt",
    "read -r x < note.txt",
    "printf %s -x",
    "declare -p",
    "unset x",
    "set -e; ls",
    "trap 'ls' EXIT",
    "command -v jobs",
)
NOT_ONLY = (
    "git branch --edit-description",
    "git branch x",
    "git branch -m x",
    "git tag x",
    "git remote add o x",
    "git stash",
    "git config user.name x",
    "git notes add",
    "git worktree add x",
    "hostname NAME",
    "hostname -F note.txt",
    "hostname -b x",
    "strace -o out ls",
    "strace -ofile ls",
    "strace ls",
    "strace --output=x ls",
    "flock new ls",
    "env time -o out ls",
    "xargs cat",
    "ls --unknown",
    "ls > out",
    "ls $X",
    "ls *.py",
    "ls $(touch x)",
    "A=1 ls",
    "./ls",
    "sub/ls",
    "/bin/ls ../..",
    "cat /etc/hostname",
    "cat ../../.ssh/id_rsa",
    "ls ..",
    "cd .. && ls",
    "cd; ls",
    "cat sub/../../../../outside/secret.txt",
    "curl https://a.example",
    "git fetch",
    "touch x",
    "ls; touch x",
    "sort -o x note.txt",
    "sort -T . note.txt",
    "tree -R .",
    "python3 x.py",
    "unknown-program",
    "ldd note.txt",
    "ls() { touch x; }; ls",
    "cat < ../../.ssh/id_rsa",
    "cat <<E\nx\nE",
    "echo x | sh",
    "grep -f /etc/passwd note.txt",
    "nm --plugin=./x note.txt",
    "git -C sub status",
    "git log --output=x",
    "git st",
    "awk 'BEGIN{system(\"id\")}'",
    "find . -delete",
    "find . -fprint x",
    "find . -exec touch x +",
    "date 01010000",
    "rg -z x .",
    "ps; kill 1",
    "grep --file=/etc/passwd x",
    "diff --from-file=/etc/passwd note.txt",
    "",
    "jobs -x touch x",
    "jobs -x ls",
    "builtin jobs -x touch x",
    "let X",
    "read X < note.txt; let X",
    "declare -i X",
    "test -v 'a[X]'",
    "printf -v 'a[X]' y",
    "read RANDOM < note.txt",
    "declare -n X=Y",
    "mapfile -C ls x < note.txt",
    "compgen -F f x",
    "set -k; ls",
    "shopt -s autocd",
    "declare -a x='([X]=1)'",
    "read ls < note.txt; ! ((ls))",
    "while read ls; do ! ((ls)); done < note.txt",
    "! ((ls))",
    "! (( ls || ls ))",
)


@pytest.mark.spec("R-BLK-8")
@pytest.mark.parametrize("command", READS)
def test_a_command_of_known_reading_parts_only_reads(world: World, command: str) -> None:
    reading = world.reader.read_now(command)
    assert reading.reads_only, reading
    assert reading.category.value == "write"


@pytest.mark.spec("R-BLK-8", "R-BLK-4")
@pytest.mark.parametrize("command", NOT_ONLY)
def test_whatever_else_a_part_does_or_reaches_the_command_does_not_only_read(world: World, command: str) -> None:
    assert not world.reader.read_now(command).reads_only


SETTINGS = SafetySettings("/w", auto_approve_reading_commands=True)
PREVIEW = {"kind": "command", "reads_only": True, "confined_by": "bubblewrap"}


@pytest.mark.spec("R-PRM-3")
@pytest.mark.parametrize(
    ("settings", "changed", "passes"),
    [
        (SETTINGS, {}, True),
        (SETTINGS, {"confined_by": "landlock"}, True),
        (replace(SETTINGS, auto_approve_reading_commands=False), {}, False),
        (replace(SETTINGS, auto_approve_reading_commands=False, auto_approve_workspace_writes=True), {}, False),
        (SETTINGS, {"reads_only": False}, False),
        (SETTINGS, {"confined_by": "none"}, False),
        (SETTINGS, {"confined_by": ""}, False),
        (SETTINGS, {"kind": "argv"}, False),
    ],
)
def test_only_a_confined_command_that_reads_passes_and_only_while_the_setting_is_on(
    settings: SafetySettings, changed: dict[str, object], passes: bool
) -> None:
    assert passes_by_setting(settings, (), {**PREVIEW, **changed}) is passes


@pytest.fixture
async def confined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    world = World(tmp_path)
    monkeypatch.setenv("HOME", str(world.person))
    confinement = SystemConfinement(world.policy, lambda: world.settings)
    if confinement.probe().kind == "none":
        pytest.skip("nothing confines commands here")
    world.change(shell_network=True)
    yield Bench(world, confinement)
    confinement.close()


@pytest.mark.spec("R-PRM-3", "R-FS-9")
async def test_a_command_that_nobody_was_asked_about_writes_nothing_although_it_would(confined: Bench) -> None:
    """``git status`` only reads and writes its index all the same, where it can."""
    workspace = confined.world.workspace
    for order in ("init -q", "add note.txt"):
        subprocess.run(["git", *order.split()], cwd=workspace, check=True)
    os.utime(workspace / "note.txt", (1, 1))
    index = workspace / ".git" / "index"
    before = index.read_bytes()
    unasked = await confined.bash.execute({"command": "git status --short"}, replace(context(), unasked=True))
    assert ("note.txt" in unasked.text, index.read_bytes() == before) == (True, True)
    await confined.bash.execute({"command": "git status --short"}, context())
    assert index.read_bytes() != before


@pytest.mark.spec("R-PRM-3")
async def test_a_command_that_nobody_was_asked_about_has_no_network_where_others_have_it(confined: Bench) -> None:
    asked = await confined.bash.execute({"command": "hostname -I"}, context())
    unasked = await confined.bash.execute({"command": "hostname -I"}, replace(context(), unasked=True))
    if not any(character.isdigit() for character in asked.text.partition("exit")[0]):
        pytest.skip("this computer has no address")
    assert asked.text.split()[0] not in unasked.text


@pytest.mark.spec("R-PRM-3", "R-PRM-5")
async def test_what_does_not_only_read_never_runs_unasked(confined: Bench) -> None:
    with pytest.raises(Denied, match="asked about"):
        await confined.bash.execute({"command": "touch made"}, replace(context(), unasked=True))
    assert not (confined.world.workspace / "made").exists()
