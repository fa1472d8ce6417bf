"""Tricks against a rule that allows, as data: what is asked about although a rule fits it, and what passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.conversation.rule_text import read_rule
from desktop.conversation.trust import TrustRules
from desktop.domain.tools import PreCheck
from desktop.safety.assent import answer, call_facts
from desktop.tools.shell import BASH
from tests.unit.safety.test_shell import unescaped
from tests.unit.safety.world import World

DATA = Path(__file__).resolve().parents[2] / "data"


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


def answer_to(world: World, rules: str, command: str) -> str:
    reading = world.reader.read_now(command)
    if reading.blocked is not None:
        return "asks"
    patterns = [read_rule(f"bash(command={rule})", "allow") for rule in rules.split(";;")]
    book = TrustRules(patterns=patterns, cwd=str(world.workspace), home=str(world.person))
    check = PreCheck(reading.category, constraint=command.strip(), parts=reading.parts)
    facts = call_facts(BASH, {"command": command}, check, reading.category, "t")
    return answer(reading.category, book.match(facts)).what


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


@pytest.mark.spec("R-PRM-11", "R-BLK-4", "R-BLK-8")
@pytest.mark.parametrize("family", families())
def test_a_rule_that_allows_covers_no_trick_and_what_is_meant_by_it(furnished: World, family: str) -> None:
    tried = families()[family]
    wrong = [(rules, command) for expected, rules, command in tried if answer_to(furnished, rules, command) != expected]
    assert wrong == []
    assert len({(rules, command) for _, rules, command in tried}) == len(tried)


@pytest.mark.spec("R-PRM-11")
def test_there_are_hundreds_of_tricks_and_seventy_plain_commands() -> None:
    answers = [expected for family in families().values() for expected, _, _ in family]
    assert answers.count("asks") >= 440
    assert answers.count("passes") >= 70
