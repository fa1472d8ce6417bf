"""What a program calls its own is open to it, and opens nothing that is denied or Assent's, under each kind of
confinement that this machine has."""

import os
from pathlib import Path

import pytest

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from tests.unit.safety.world import World

SCRIPT = 'for path in "$@"; do { echo x > "$path/made"; } 2>/dev/null && echo "$path"; done; exit 0'


@pytest.mark.spec("R-ACP-1", "C-33")
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_a_place_of_its_own_is_written_and_none_around_or_inside_what_is_closed(
    tmp_path: Path, kind: str
) -> None:
    world = World(tmp_path / "world")
    confinement = SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))  # type: ignore[arg-type]
    if confinement.probe().kind != kind:
        pytest.skip(f"there is no {kind} here")
    world.change(denied=(str(world.ssh),))
    own, elsewhere = world.person / ".other", world.person / "elsewhere"
    for folder in (own, elsewhere):
        folder.mkdir()
    wanted = [str(own), str(world.person), str(world.home), str(world.home / "data"), str(world.ssh)]
    places = [*wanted, str(elsewhere), str(world.workspace)]
    spec = ProcessSpec(
        ("/bin/sh", "-c", SCRIPT, "sh", *places), str(world.workspace), {"PATH": os.defpath}, timeout_s=60
    )
    try:
        wrapped = confinement.wrap(spec, writes=False, own=tuple(wanted))
        outcome = await GroupRunner().run(wrapped, CancellationToken())
    finally:
        confinement.close()
    assert outcome.output.split() == [str(own)]
    assert [place for place in places if os.path.exists(os.path.join(place, "made"))] == [str(own)]
