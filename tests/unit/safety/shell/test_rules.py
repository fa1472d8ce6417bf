"""Tricks against a rule that allows, as data: what is asked about although a rule fits it, and what passes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.safety.shell.programs.builtins import WITHOUT_OPTIONS
from desktop.safety.shell.programs.wrappers import TOO_MANY
from tests.unit.safety.shell.command_patterns import Patterns
from tests.unit.safety.shell.test_reader import unescaped
from tests.unit.safety.world import World

DATA = Path(__file__).resolve().parents[3] / "data"


def families() -> dict[str, list[tuple[str, str, str]]]:
    """Family -> (answer, rules, command)."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for name in ("shell_rule_tricks.tsv", "shell_later_tricks.tsv"):
        for line in (DATA / name).read_text().splitlines():
            if line.startswith("# -- "):
                family = found.setdefault(line[5:], [])
            elif line and not line.startswith("#"):
                expected, rules, command = line.split("\t", 2)
                family.append((expected, rules, unescaped(command)))
    return found


EVERY_KIND = {"rule", "list", "job"}


def answers_to(world: World, rules: str, command: str) -> set[str]:
    return Patterns(world, rules.split(";;")).covering(world.reader.read_now(command), command)


@pytest.fixture
def furnished(world: World) -> World:
    for folder in ("r/.git/hooks", "evil", "sub", "evilrepo/.git", "conf/autostart", "ci/hooks", ".git"):
        (world.workspace / folder).mkdir(parents=True)
    for name in ("f", "hook", "x"):
        (world.workspace / name).write_text("x\n")
    (world.workspace / "hooks.link").symlink_to("r/.git/hooks")
    for name in ("evilrepo/.git/config", "conf/autostart/x.desktop"):
        (world.workspace / name).write_text("x\n")
    (world.workspace / ".git" / "config").write_text("[core]\n\thooksPath = ci/hooks\n")
    return world


@pytest.mark.spec("R-PRM-11", "R-BLK-4", "R-BLK-8", "R-PAT-8", "R-CRON-3")
@pytest.mark.parametrize("family", families())
def test_no_rule_list_or_job_covers_a_trick_and_all_cover_what_is_meant(furnished: World, family: str) -> None:
    tried = families()[family]
    wrong = [
        (rules, command, sorted(found))
        for expected, rules, command in tried
        if (found := answers_to(furnished, rules, command)) != (EVERY_KIND if expected == "passes" else set())
    ]
    assert wrong == []
    assert len({(rules, command) for _, rules, command in tried}) == len(tried)


@pytest.mark.spec("R-PRM-11", "R-BLK-8")
def test_an_option_that_no_table_has_is_covered_for_no_command_of_bash_itself(world: World) -> None:
    listed = subprocess.run(["/bin/bash", "-c", "compgen -b"], capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split() if name not in WITHOUT_OPTIONS]
    assert len(names) > 50
    covered = [name for name in names if answers_to(world, f"{name} *", f"{name} -Q x")]
    reading = [name for name in names if world.reader.read_now(f"{name} -Q x").reads_only]
    assert (covered, reading) == ([], [])


@pytest.mark.spec("R-PRM-11")
def test_there_are_hundreds_of_tricks_and_seventy_plain_commands() -> None:
    answers = [expected for family in families().values() for expected, _, _ in family]
    assert answers.count("asks") >= 440
    assert answers.count("passes") >= 70


DENIES = (
    ("touch*", "touch x"),
    ("touch*", "/usr/bin/touch x"),
    ("touch*", "env touch x"),
    ("touch*", "\\touch x"),
    ("touch*", "'touch' x"),
    ("touch*", "ls; touch x"),
    ("touch*", "ls\ntouch x"),
    ("touch*", "echo $(touch x)"),
    ("touch*", "echo `touch x`"),
    ("touch*", "ls | touch x"),
    ("touch*", "A=1 touch x"),
    ("touch*", "TOUCH x"),
    ("touch*", "command touch x"),
    ("touch*", "busybox touch x"),
    ("touch*", "nice -n 5 touch x"),
    ("touch*", "xargs touch"),
    ("touch*", "sh -c 'touch x'"),
    ("touch*", "eval touch x"),
    ("touch*", "find . -exec touch x \\;"),
    ("touch*", "touch > x"),
    ("touch*", "../../bin/touch x"),
    ("touch*", "env -iu X touch y"),
    ("touch*", "env --unknown v touch y"),
    ("touch*", "setarch -R touch x"),
    ("touch*", "setarch x86_64 touch x"),
    ("touch*", "unbuffer -p touch x"),
    ("touch*", "uv run touch x"),
    ("touch*", "npx touch x"),
    ("touch*", "npx --yes touch x"),
    ("touch*", "poetry run touch x"),
    ("touch*", "bundle exec touch x"),
    ("touch*", "direnv exec . touch x"),
    ("touch*", "faketime 2020 touch x"),
    ("touch*", "strace -f -e trace=file touch x"),
    ("touch*", "numactl -C 0 touch x"),
    ("touch*", "perf stat touch x"),
    ("touch*", "sg users -c 'touch x'"),
    ("touch*", "stdbuf -oL touch x"),
    ("touch*", "exec -a x touch y"),
    ("touch*", "command touch -v x"),
    ("touch*", "nice touch x"),
    ("touch*", "time touch x"),
    ("touch*", "flock lock touch x"),
    ("./evil*", "sub/../evil f"),
    ("./evil*", "setarch -R ./evil"),
    ("git push*", "git send-pack o HEAD"),
    ("git push*", "git -C . send-pack o"),
    ("git push*", "git http-push o"),
    ("git push*", "git subtree push -P x o b"),
    ("git push*", "git svn dcommit"),
    ("git push*", "git p4 submit"),
    ("git push*", "/usr/lib/git-core/git-push o"),
    ("git push*", "git-send-pack o"),
    ("git push*", "git lfs push o"),
    ("git push*", "git -c alias.p=push p"),
    ("git push*", "git -calias.p='push -q' p"),
    ("git push*", "git remote-https o"),
    ("git push*", "git submodule foreach git push"),
    ("git push*", "git bisect run git push"),
    ("git push*", "git rebase --exec 'git push' HEAD"),
    ("git push*", "git config alias.p push"),
    ("touch*", "find . -exec nice touch x \\;"),
    ("touch*", "find . -exec choom -n 0 touch {} \\;"),
    ("touch*", "find . -exec find . -exec touch x \\;"),
    ("touch*", "fd -x env -i timeout 3 touch x"),
    ("touch*", "find . -exec find . -exec strace -o out touch {} \\;"),
    ("touch*", "find . " + "-exec find . " * 12 + "-exec touch x \\;"),
    ("touch*", "sh -c -- 'touch x'"),
    ("touch*", "bash -c - 'touch x'"),
    ("touch*", "git grep --open-files-in-pager='touch x' y"),
    ("touch*", "git fetch --upload-pack='touch x' ."),
    ("touch *", "touch x > y"),
    ("touch *", "timeout 5 touch x"),
    ("touch x", "env touch x"),
)


@pytest.mark.spec("R-PRM-12", "R-PAT-7")
@pytest.mark.parametrize(("rule", "command"), DENIES)
def test_what_is_denied_is_denied_by_rules_and_by_lists_however_it_is_started(
    furnished: World, rule: str, command: str
) -> None:
    assert Patterns(furnished, [rule]).denying(furnished.reader.read_now(command), command) == {"rule", "list"}


def test_commands_in_commands_without_end_are_asked_about_as_admin(world: World) -> None:
    reading = world.reader.read_now("find . " + "-exec find . " * 3_000 + "-exec touch x \\;")
    assert reading.category is Category.ADMIN
    assert any(part.hidden == TOO_MANY for part in reading.parts)
