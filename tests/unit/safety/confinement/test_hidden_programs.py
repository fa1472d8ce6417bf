"""A program that the sandbox hides is refused with the reason and what to do; every other one really runs there."""

import os
import tempfile
from pathlib import Path

import pytest

from desktop.domain.errors import ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from tests.unit.safety.world import World


async def runs(confinement: SystemConfinement, world: World, program: str, path: str) -> str:
    """What the program says."""
    spec = ProcessSpec((program,), str(world.workspace), {"PATH": path}, timeout_s=60)
    return (await GroupRunner().run(confinement.wrap(spec), CancellationToken())).output.strip()


async def refused(confinement: SystemConfinement, world: World, program: str, path: str) -> str:
    """Why it was not started."""
    with pytest.raises(ToolFailure) as failure:
        await runs(confinement, world, program, path)
    assert failure.value.code == "tool.hidden"
    assert "Settings, Filesystem boundaries" in failure.value.advice
    return failure.value.advice


@pytest.mark.spec("R-SK-14", "R-ACP-1")
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_a_program_runs_or_it_is_said_why_it_cannot(tmp_path: Path, kind: str) -> None:
    world = World(tmp_path / "world")
    confinement = SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))  # type: ignore[arg-type]
    if confinement.probe().kind != kind:
        pytest.skip(f"there is no {kind} here")
    world.change(denied=(str(world.ssh),))
    for place in (world.workspace, world.outside, world.ssh):
        (place / "tool").write_text("#!/bin/sh\necho it ran\n")
        (place / "tool").chmod(0o755)
    (world.workspace / "led").symlink_to(world.ssh / "tool")
    assert os.path.realpath(tmp_path).startswith(os.path.realpath(tempfile.gettempdir()) + os.sep)
    hidden = {
        world.outside: "and what runs confined has a folder of its own in the place of that",
        world.ssh: f"{world.ssh}/tool lies in a folder that no tool may read",
    }
    try:
        for program, path in ways(world.workspace):
            assert await runs(confinement, world, program, path) == "it ran"
        for place, why in hidden.items():
            for program, path in ways(place):
                assert why in await refused(confinement, world, program, path)
        assert "no tool may read" in await refused(confinement, world, str(world.workspace / "led"), os.defpath)
        world.change(allowed=(str(world.workspace), str(world.outside)))
        for program, path in ways(world.outside):
            assert await runs(confinement, world, program, path) == "it ran"
    finally:
        confinement.close()


def ways(place: Path) -> tuple[tuple[str, str], ...]:
    """The program by its path, and by its name along the PATH."""
    return (str(place / "tool"), os.defpath), ("tool", f"{place}{os.pathsep}{os.defpath}")
