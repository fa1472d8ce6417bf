"""``bash`` behind a skill's list of allowed tools, through the real gates: each command of a line is judged alone."""

from __future__ import annotations

import pytest

from desktop.domain.approval.permission import Decision
from desktop.pipeline.names import Caller
from desktop.skills.formats.other_tools import read_list
from desktop.skills.patterns.lists import AllowedList
from tests.unit.pipeline.kit import Bench as Pipeline
from tests.unit.pipeline.kit import Person
from tests.unit.tools.conftest import Bench


@pytest.mark.spec("R-PAT-4", "R-PAT-8", "R-INV-3")
@pytest.mark.parametrize(
    ("patterns", "command", "asked"),
    [
        ("bash(command=ls*)", "ls -la", True),
        ("bash(command=ls*) bash(command=pwd)", "ls; pwd", True),
        ("bash(command=ls*)", "ls; touch PWN", False),
        ("bash(command=ls*)", "ls\ntouch PWN", False),
        ("bash(command=ls*)", "ls $(touch PWN)", False),
        ("bash(command=ls*)", "ls | tee PWN", False),
        ("bash(command=ls*)", "ls > PWN", False),
        ("bash(command=ls*)", "ls=1 touch PWN", False),
        ("bash(command=ls*)", "ls && touch PWN", False),
        ("bash(command=ls*)", "ls `touch PWN`", False),
        ("bash bash(command=touch*,$deny)", "/usr/bin/touch PWN", False),
        ("bash bash(command=touch*,$deny)", "env touch PWN", False),
        ("bash bash(command=touch*,$deny)", "\\touch PWN", False),
        ("bash bash(command=touch*,$deny)", "sh -c 'touch PWN'", False),
        ("bash bash(command=touch*,$deny)", "ls", True),
        ("bash", "ls; touch PWN", True),
        ("#shell", "ls", True),
    ],
)
async def test_a_list_lets_through_to_a_person_only_what_it_covers_in_every_part(
    bench: Bench, patterns: str, command: str, asked: bool
) -> None:
    person = Person("deny")
    pipeline = Pipeline(bench.bash, person=person)  # type: ignore[arg-type]
    caller = Caller(allowed=AllowedList.of(patterns))
    outcome = await pipeline.call("bash", {"command": command}, caller=caller)
    assert outcome.result.code == ("denied.permission" if asked else "denied.allowed_tools")
    assert bool(person.asked) is asked


@pytest.mark.spec("R-INV-3")
@pytest.mark.parametrize("arguments", [{}, {"command": 3}, {"command": "ls\0"}, {"command": ""}, {"command": ["ls"]}])
async def test_what_is_no_command_is_covered_by_no_constraint(bench: Bench, arguments: dict[str, object]) -> None:
    pipeline = Pipeline(bench.bash, person=Person())  # type: ignore[arg-type]
    outcome = await pipeline.call("bash", arguments, caller=Caller(allowed=AllowedList.of("bash(command=*)")))
    assert outcome.result.code == "denied.allowed_tools"


@pytest.mark.spec("R-PRJ-4", "R-INV-3")
@pytest.mark.parametrize(
    ("command", "asked"),
    [("git status", True), ("git", True), ("gitx", False), ("jq .", False), ("git log; touch PWN", False)],
)
async def test_a_list_in_the_words_of_other_apps_binds_as_ours_does(bench: Bench, command: str, asked: bool) -> None:
    person = Person("deny")
    pipeline = Pipeline(bench.bash, person=person)  # type: ignore[arg-type]
    patterns = " ".join(read_list("Bash(git:*) Read", "/skills/pdf").patterns)
    outcome = await pipeline.call("bash", {"command": command}, caller=Caller(allowed=AllowedList.of(patterns)))
    assert outcome.result.code == ("denied.permission" if asked else "denied.allowed_tools")


@pytest.mark.spec("R-PRM-3", "R-PRM-5")
@pytest.mark.parametrize(("by", "made"), [("user", True), ("rule", True), ("setting", False)])
async def test_what_only_a_setting_let_pass_is_held_to_reading(bench: Bench, by: str, made: bool) -> None:
    person = Person(lambda _request: Decision("allow_once", "digest", by=by))  # type: ignore[arg-type]
    pipeline = Pipeline(bench.bash, person=person)  # type: ignore[arg-type]
    await pipeline.call("bash", {"command": "touch made"})
    assert (bench.world.workspace / "made").exists() is made
