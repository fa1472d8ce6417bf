"""The tools of a thread that works in a project: where they start, and what they reach."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BoundaryViolation, KnownError, ToolFailure
from desktop.domain.files.work_place import NOWHERE, WorkPlace
from desktop.domain.safety import Access
from tests.unit.tools.conftest import Bench

pytestmark = pytest.mark.spec("R-PRJ-2")


@pytest.fixture
def project(bench: Bench) -> Path:
    folder = bench.world.person / "work" / "tides"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("of the project\n")
    return folder


async def test_files_are_read_listed_and_written_in_the_project_and_only_there(bench: Bench, project: Path) -> None:
    assert "of the project" in (await bench.run_in(project, bench.read, path="a.txt")).text
    assert "a.txt" in (await bench.run_in(project, bench.list)).text
    await bench.run_in(project, bench.write, path="b/c.txt", content="new")
    assert (project / "b" / "c.txt").read_text() == "new"
    for path in ("a.txt", str(project / "a.txt")):
        with pytest.raises(KnownError):
            await bench.run(bench.read, path=path)
    with pytest.raises(BoundaryViolation):
        await bench.run(bench.write, path=str(project / "x.txt"), content="x")
    assert not (project / "x.txt").exists()


async def test_a_command_starts_in_the_project_and_writes_there(bench: Bench, project: Path) -> None:
    check = await bench.bash.precheck({"command": "cat a.txt > b.txt"}, WorkPlace(str(project)))
    assert check.preview["cwd"] == str(project)
    assert check.category is Category.WRITE
    result = await bench.run_in(project, bench.bash, command="pwd; cat a.txt | tee b.txt; echo x > ../out.txt")
    assert str(project) in result.text
    assert (project / "b.txt").read_text() == "of the project\n"
    if bench.confinement.probe().kind != "none":
        assert not (project.parent / "out.txt").exists()


async def test_a_command_of_another_thread_cannot_write_in_the_project(bench: Bench, project: Path) -> None:
    command = f"echo x > {project}/x.txt"
    assert (await bench.bash.precheck({"command": command}, NOWHERE)).category is Category.ADMIN
    inside = await bench.bash.precheck({"command": command}, WorkPlace(str(project)))
    assert inside.category is Category.WRITE
    if bench.confinement.probe().kind == "none":
        pytest.skip("nothing confines commands here")
    await bench.run(bench.bash, command=f"{command}; true")
    assert not (project / "x.txt").exists()


async def test_commands_only_read_where_the_thread_may_read(bench: Bench, project: Path) -> None:
    at = WorkPlace(str(project))
    assert (await bench.bash.precheck({"command": "cat a.txt"}, at)).preview["reads_only"]
    outside = {"command": f"cat {bench.world.outside}/secret.txt"}
    assert not (await bench.bash.precheck(outside, at)).preview["reads_only"]
    assert not (await bench.bash.precheck({"command": f"cat {project}/a.txt"}, NOWHERE)).preview["reads_only"]


async def test_nothing_runs_and_nothing_is_written_once_the_project_is_gone(bench: Bench, project: Path) -> None:
    project.rename(project.parent / "moved")
    for tool, args in (
        (bench.bash, {"command": "pwd"}),
        (bench.write, {"path": "x", "content": "x"}),
        (bench.list, {}),
    ):
        with pytest.raises(ToolFailure, match="is gone"):
            await bench.run_in(project, tool, **args)  # type: ignore[arg-type]
    assert not project.exists()


async def test_a_project_that_turned_into_a_link_while_a_person_was_asked_runs_nothing(
    bench: Bench, project: Path
) -> None:
    at = WorkPlace(str(project))
    before = await bench.bash.precheck({"command": "touch made"}, at)
    assert before.denied is None
    project.rename(project.parent / "moved")
    project.symlink_to(bench.world.outside)
    assert (await bench.bash.precheck({"command": "touch made"}, at)).denied is not None
    assert not (bench.world.outside / "made").exists()


def test_the_profile_of_a_process_holds_its_own_project_alone(bench: Bench, project: Path) -> None:
    policy = bench.world.policy
    other = project.parent / "other"
    other.mkdir()
    assert str(project) in policy.within(WorkPlace(str(project))).roots()
    assert str(project) not in policy.within(WorkPlace(str(other))).roots()
    assert policy.within(NOWHERE) is policy
    assert not policy.explain(str(project), Access.LIST).allowed


@pytest.fixture
def disk(project: Path) -> Iterator[Callable[..., None]]:
    """Mounts a small disk on the project."""
    mounted: list[str] = []

    def mount(*options: str) -> None:
        argv = ["mount", "-t", "tmpfs", "-o", ",".join(("size=1m", *options)), "tmpfs", str(project)]
        made = subprocess.run(argv, capture_output=True, text=True)
        if made.returncode != 0:
            pytest.skip(f"nothing can be mounted here: {made.stderr.strip()}")
        mounted.append(str(project))

    yield mount
    for place in mounted:
        subprocess.run(["umount", "-l", place], check=True)


async def test_on_a_full_disk_a_call_fails_in_words_and_the_file_stays_as_it_was(
    bench: Bench, project: Path, disk: Callable[..., None]
) -> None:
    disk()
    await bench.run_in(project, bench.write, path="a.txt", content="before")
    with pytest.raises(ToolFailure, match=r"No space left|disk is full"):
        await bench.run_in(project, bench.write, path="a.txt", content="x" * 3_000_000)
    assert (project / "a.txt").read_text() == "before"
    assert [entry.name for entry in project.iterdir()] == ["a.txt"]
    full = await bench.run_in(project, bench.bash, command="head -c 3000000 /dev/zero > big; cat a.txt")
    assert "No space left" in full.text
    assert "before" in full.text


async def test_on_a_disk_that_is_read_only_nothing_is_asked_for_nothing(
    bench: Bench, project: Path, disk: Callable[..., None]
) -> None:
    disk("ro")
    assert (await bench.run_in(project, bench.list)).text == "[The folder is empty.]"
    check = await bench.write.precheck({"path": "a.txt", "content": "x"}, WorkPlace(str(project)))
    assert isinstance(check.denied, ToolFailure)
    assert "does not permit" in str(check.denied)
    result = await bench.run_in(project, bench.bash, command="touch x; ls")
    assert "Read-only" in result.text
