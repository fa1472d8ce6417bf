"""Assent's own program: readable to every confined process wherever it lies, and changed by none."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import Access, ProcessSpec
from desktop.safety.boundary.installation import installation, parts_of, without_inner
from desktop.safety.boundary.opening import BoundaryFiles
from desktop.safety.boundary.paths import is_within
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from tests.unit.safety.world import World


@pytest.fixture(params=["bubblewrap", "landlock"])
def confinement(request: pytest.FixtureRequest, world: World) -> Iterator[SystemConfinement]:
    """A program that lies beneath the temporary folder, where everything else is out of sight."""
    program = world.root / "program"
    program.mkdir()
    (program / "code.py").write_text("print('works')\n")
    policy = BoundaryPolicy(str(world.home), lambda: world.settings, (str(program),))
    with contextlib.closing(SystemConfinement(policy, lambda: world.settings, kinds=(request.param,))) as made:
        if made.probe().kind != request.param:
            pytest.skip(f"{request.param} does not work here")
        yield made


async def inside(
    confinement: SystemConfinement, world: World, command: str, narrow: tuple[str, ...] | None = None
) -> str:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(world.person), "P": str(world.root / "program")}
    spec = ProcessSpec(("bash", "--norc", "-c", command), str(world.workspace), env)
    return (await GroupRunner().run(confinement.wrap(spec, narrow=narrow), CancellationToken())).output


@pytest.mark.spec("R-FS-10")
async def test_the_program_is_read_and_never_written_beneath_the_temporary_folder(
    confinement: SystemConfinement, world: World
) -> None:
    for allowed in (world.workspace, world.root):
        world.change(allowed=(str(allowed),))
        assert "works" in await inside(confinement, world, 'cat "$P/code.py"')
        for attempt in ('echo x > "$P/code.py"', 'touch "$P/new"', 'mv "$P" "$P"2', 'rm -rf "$P"', 'ln -sf /x "$P/l"'):
            await inside(confinement, world, attempt)
    assert [path.name for path in (world.root / "program").iterdir()] == ["code.py"]
    assert (world.root / "program/code.py").read_text() == "print('works')\n"


async def test_a_narrow_process_sees_of_it_what_it_was_given(confinement: SystemConfinement, world: World) -> None:
    program = str(world.root / "program")
    assert "works" in await inside(confinement, world, 'cat "$P/code.py"', narrow=(program,))
    assert "works" not in await inside(confinement, world, 'cat "$P/code.py"', narrow=())


async def test_denied_wins_over_the_program(confinement: SystemConfinement, world: World) -> None:
    world.change(denied=(str(world.root / "program"),))
    assert "works" not in await inside(confinement, world, 'cat "$P/code.py"')


@pytest.mark.spec("R-FS-10")
@pytest.mark.parametrize("path", installation())
def test_no_file_tool_writes_into_the_program(world: World, path: str) -> None:
    world.change(allowed=("/",))
    target = os.path.join(path, "planted.py") if os.path.isdir(path) else path
    verdict = world.policy.explain(target, Access.WRITE)
    assert not verdict.allowed
    assert "Assent's own program" in verdict.sentence
    assert world.policy.explain(target, Access.READ).allowed
    with pytest.raises(BoundaryViolation):
        BoundaryFiles(world.policy).write_atomic(target, b"x")
    assert not os.path.exists(os.path.join(path, "planted.py"))


def test_what_runs_now_is_part_of_it() -> None:
    for path in (__import__("desktop").__file__, sys.executable, os.__file__, pytest.__file__):
        assert any(is_within(os.path.realpath(str(path)), part) for part in installation()), path
    assert not any(is_within("/usr/bin/env", part) for part in installation())
    repository = Path(__file__).resolve().parents[4]
    assert not any(is_within(str(repository / "README.md"), part) for part in installation())


def _folder(root: Path, build: bool = True, launcher: bool = True) -> tuple[Path, Path]:
    """(code, prefix) of a self-contained folder."""
    prefix = root / "versions" / "0.1.0"
    code = prefix / "lib" / "site-packages"
    for part in ("desktop", "resources", "skills"):
        (code / part).mkdir(parents=True)
    if build:
        (code / "resources" / "build.json").touch()
    if launcher:
        (root / "assent").touch()
    (root / "versions" / "current").symlink_to("0.1.0")
    return code, prefix


@pytest.mark.spec("R-FS-10")
def test_of_the_self_contained_folder_all_versions_and_what_an_update_lays_down_are_part(tmp_path: Path) -> None:
    root = tmp_path / "assent"
    code, prefix = _folder(root)
    for started_by in (prefix, root / "versions" / "current"):
        assert parts_of(code, [str(started_by)], {}) == (str(root),)


@pytest.mark.spec("R-FS-10")
def test_of_a_wheel_outside_of_pythons_folder_all_that_it_loads_is_part(tmp_path: Path) -> None:
    code, python = tmp_path / "person" / "lib" / "site-packages", tmp_path / "python"
    for folder in (code / "desktop", code / "PySide6", python):
        folder.mkdir(parents=True)
    assert parts_of(code, [str(python)], {}) == without_inner((str(code), str(python)))


@pytest.mark.spec("R-FS-10")
@pytest.mark.parametrize("above", ["", ".."])
def test_unpacked_into_a_persons_home_it_does_not_take_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, above: str
) -> None:
    root = tmp_path / "people"
    code, prefix = _folder(root)
    home = root / "me" if above else root
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    assert set(parts_of(code, [str(prefix)], {})) == {str(root / "versions"), str(root / "assent")}


@pytest.mark.parametrize("lacks", ["build", "launcher"])
def test_a_folder_that_only_has_such_names_is_not_taken_whole(tmp_path: Path, lacks: str) -> None:
    code, prefix = _folder(tmp_path / "assent", build=lacks != "build", launcher=lacks != "launcher")
    assert parts_of(code, [str(prefix)], {}) == (str(prefix),)


@pytest.mark.spec("R-FS-10")
def test_of_a_package_its_place_is_part_and_of_an_appimage_its_file(tmp_path: Path) -> None:
    prefix, image = tmp_path / "mounted", tmp_path / "Assent.AppImage"
    code = prefix / "lib" / "site-packages"
    (code / "desktop").mkdir(parents=True)
    image.touch()
    (tmp_path / "link").symlink_to(image)
    assert parts_of(code, [str(prefix)], {}) == (str(prefix),)
    for named in (image, tmp_path / "link"):
        assert set(parts_of(code, [str(prefix)], {"APPIMAGE": str(named)})) == {str(prefix), str(image)}
    for named in ("Assent.AppImage", str(tmp_path), str(tmp_path / "gone"), ""):
        assert parts_of(code, [str(prefix)], {"APPIMAGE": named}) == (str(prefix),)


def test_what_lies_in_another_part_is_named_once() -> None:
    assert without_inner(["/a/b", "/a", "/ab", "/a/b/c"]) == ("/a", "/ab")
