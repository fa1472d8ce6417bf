"""The folder that a thread works in: open to its own calls, and to nobody else's."""

import os
from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.safety import Access
from desktop.safety.boundary.paths import is_within
from desktop.safety.boundary.policy import BoundaryPolicy, only_granted
from desktop.safety.boundary.project import closed_because, too_wide
from desktop.safety.confinement.profile import profile_for
from tests.unit.safety.world import World

pytestmark = pytest.mark.spec("R-PRJ-2")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setenv("HOME", str(made.person))
    return made


@pytest.fixture
def project(world: World) -> Path:
    folder = world.person / "work" / "tides"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    return folder


def test_a_project_is_open_to_the_calls_of_its_threads_alone(world: World, project: Path) -> None:
    policy, path = world.policy, str(project / "a.txt")
    here, other = policy.within(WorkPlace(str(project))), policy.within(WorkPlace(str(project.parent / "other")))
    for access in Access:
        assert here.explain(path, access).allowed
        assert not policy.explain(path, access).allowed
        assert not other.explain(path, access).allowed


def test_relative_paths_begin_in_the_project_and_the_workspace_stays_open(world: World, project: Path) -> None:
    here = world.policy.within(WorkPlace(str(project)))
    assert here.explain("a.txt", Access.READ).resolved == str(project / "a.txt")
    assert here.explain(str(world.workspace / "note.txt"), Access.WRITE).allowed
    assert not here.explain(str(world.home / "odd.txt"), Access.WRITE).allowed


def test_what_is_denied_stays_denied_in_a_project_however_the_entry_is_written(world: World, project: Path) -> None:
    (project / "keys").mkdir()
    world.change(denied=(str(project / "keys"), "private"))
    (world.workspace / "private").mkdir()
    here = world.policy.within(WorkPlace(str(project)))
    assert here.explain("keys/id", Access.READ).rule == f"denied {project / 'keys'}"
    # an entry without a root means a place in the workspace, also for a thread that works elsewhere
    assert not here.explain(str(world.workspace / "private" / "x"), Access.READ).allowed
    assert here.explain("private/x", Access.READ).allowed


def test_a_project_inside_a_denied_folder_opens_nothing(world: World, project: Path) -> None:
    world.change(denied=(str(project.parent),))
    assert not world.policy.within(WorkPlace(str(project))).explain("a.txt", Access.READ).allowed


def test_assents_own_files_are_not_written_from_a_project_that_holds_them(world: World) -> None:
    for folder in (world.home, world.home / "agents", world.home / "odd"):
        folder.mkdir(exist_ok=True)
        here = world.policy.within(WorkPlace(str(folder)))
        assert not here.explain(str(folder / "x.agent.yaml"), Access.WRITE).allowed
        assert "belongs to Assent itself" in here.explain("x", Access.READ).sentence
        profile = profile_for(here, lambda: world.settings)
        assert not any(is_within(str(folder), place) for place in profile.writable), "no command writes there either"
    inside = world.policy.within(WorkPlace(str(world.home)))
    assert not inside.explain("data/assent.db", Access.READ).allowed
    assert inside.explain(str(world.workspace / "x"), Access.WRITE).allowed


def test_a_project_that_is_gone_opens_nothing_and_is_not_made_again(world: World, project: Path) -> None:
    here, files = WorkPlace(str(project)), world.files()
    os.rename(project, project.parent / "moved")
    verdict = world.policy.within(here).explain("new.txt", Access.WRITE)
    assert not verdict.allowed
    assert f"the project folder {project} is gone" in verdict.sentence
    for path in ("new.txt", str(project / "new.txt")):
        with pytest.raises(BoundaryViolation):
            files.within(here).write_atomic(path, b"x")
    assert not project.exists()


def test_a_project_that_became_a_link_opens_neither_itself_nor_where_it_leads(world: World, project: Path) -> None:
    here = world.policy.within(WorkPlace(str(project)))
    os.rename(project, project.parent / "moved")
    for target in (world.outside, Path("/"), world.person):
        project.symlink_to(target)
        verdict = here.explain("secret.txt", Access.READ)
        assert not verdict.allowed
        assert "is a link to" in verdict.sentence
        assert not here.explain(str(project / "secret.txt"), Access.READ).allowed
        assert not here.explain(str(world.outside / "secret.txt"), Access.READ).allowed
        project.unlink()
    project.write_text("a file by now")
    assert "is not a folder" in here.explain("a.txt", Access.READ).sentence


def test_a_folder_above_a_project_that_became_a_link_opens_nothing(world: World, project: Path) -> None:
    here = world.policy.within(WorkPlace(str(project)))
    (world.outside / "tides").mkdir()
    os.rename(project.parent, world.person / "moved")
    project.parent.symlink_to(world.outside)
    assert "by a link" in here.explain("x", Access.READ).sentence
    assert not here.explain(str(project / "x"), Access.WRITE).allowed


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("/", "holds the whole computer"),
        ("~", "is your home folder"),
        ("~/..", "holds your home folder"),
        ("/etc", "belongs to the system"),
        ("/usr/lib", "belongs to the system"),
        ("/proc", "belongs to the system"),
        ("relative", "is no folder's whole path"),
        ("/nowhere/at/all", "is gone"),
    ],
)
def test_a_folder_that_holds_too_much_is_no_project(world: World, folder: str, why: str) -> None:
    text = os.path.normpath(os.path.expanduser(folder)) if folder != "relative" else folder
    assert closed_because(text) == why
    for path in ("x", os.path.join(text, "x"), str(world.outside / "secret.txt")):
        assert not world.policy.within(WorkPlace(text)).explain(path, Access.READ).allowed


@pytest.mark.parametrize("made", ["/run/user/1000/doc/3f2a/tides", "/run/flatpak/doc/3f2a/tides"])
def test_a_stand_in_of_flatpak_is_no_project_and_it_is_said_what_to_do(made: str) -> None:
    """The folders are of root, and of a system with Flatpak: what is said of them hangs on their names alone."""
    assert too_wide(made).startswith("is a stand-in that Flatpak made")
    assert too_wide("/run/user/1000/document") == too_wide("/run/user/1000/doc") == "belongs to the system"


def test_a_name_with_characters_that_cannot_be_seen_is_no_project(world: World) -> None:
    odd = world.person / "a\u202eb"
    odd.mkdir()
    assert "cannot be seen" in closed_because(str(odd))
    assert closed_because("/tmp\0x") == "is no folder's whole path"


def test_hooks_that_git_runs_are_admin_in_a_project_and_beside_it(world: World, project: Path) -> None:
    for folder in (project, world.workspace):
        (folder / ".git").mkdir()
        (folder / ".git" / "config").write_text("[core]\nhooksPath = run\n")
    here = world.policy.within(WorkPlace(str(project)))
    for path in (project / "run" / "x", world.workspace / "run" / "x", project / ".envrc"):
        verdict = here.explain(str(path), Access.WRITE)
        assert verdict.allowed
        assert verdict.elevated, path


def test_a_job_in_a_project_may_use_it_whatever_is_open_for_the_session(world: World, project: Path) -> None:
    world.change(granted=(str(project.parent),))
    inside, beside = str(project / "a.txt"), str(project.parent / "b.txt")
    assert only_granted(world.settings, [inside], str(project)) == ""
    assert only_granted(world.settings, [beside], str(project)) == beside
    assert only_granted(world.settings, [inside]) == inside


def test_no_folder_of_the_apps_program_is_opened_to_commands_as_a_project(world: World, project: Path) -> None:
    program = project / "program"
    (program / "inner").mkdir(parents=True)
    policy = BoundaryPolicy(str(world.home), lambda: world.settings, installed=(str(program),))
    for folder in (program, program / "inner"):
        here = policy.within(WorkPlace(str(folder)))
        assert "belongs to Assent itself" in here.explain("x", Access.WRITE).sentence
        assert not any(is_within(str(folder), place) for place in profile_for(here, lambda: world.settings).writable)
    around = policy.within(WorkPlace(str(project)))
    assert around.explain("x", Access.WRITE).allowed
    assert not around.explain("program/inner/x", Access.WRITE).allowed
    assert str(program) in profile_for(around, lambda: world.settings).read_only
