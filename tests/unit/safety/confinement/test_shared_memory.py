"""Shared memory under confinement: a command's own under bubblewrap, none under Landlock, and the result says why. So
it is with processes that Python wants to start by way of a socket, as 3.14 does by itself."""

from __future__ import annotations

import os
import shlex
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.tools import ToolCallContext, ToolResult
from desktop.safety.confinement.environment import AllowlistEnvironment
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from desktop.tools.builtin.process_result import FORK_SERVER_IS_CLOSED, SHARED_MEMORY_IS_CLOSED
from desktop.tools.builtin.shell import Bash
from tests.unit.safety.world import World

SHARING = {
    "lock": "import multiprocessing; multiprocessing.Lock(); print('works')",
    "array": "import multiprocessing; multiprocessing.Array('i', 3); print('works')",
    "pool": "import multiprocessing\nmultiprocessing.set_start_method('fork')\n"
    "with multiprocessing.Pool(2) as p: print('works', p.map(abs, [-1]))",
    "block": "from multiprocessing import shared_memory as s\nm = s.SharedMemory(create=True, size=9)\nm.unlink()\n"
    "print('works')",
}
NOT_SHARING = {
    "threads": "from concurrent.futures import ThreadPoolExecutor as P\n"
    "with P(2) as p: print('works', *p.map(abs, [-1]))",
    "pipes": "import multiprocessing as m\nm.set_start_method('fork')\na, b = m.Pipe()\n"
    "p = m.Process(target=b.send, args=('works',))\np.start()\nprint(a.recv())\np.join()",
}
STARTING = (
    "import multiprocessing as m\nif __name__ == '__main__':\n  m.set_start_method({how!r})\n"
    "  p = m.Process(target=print, args=('works',))\n  p.start()\n  p.join()\n  raise SystemExit(p.exitcode)"
)


@pytest.fixture(params=["bubblewrap", "landlock"])
def confinement(request: pytest.FixtureRequest, world: World) -> Iterator[SystemConfinement]:
    made = SystemConfinement(world.policy, lambda: world.settings, kinds=(request.param,))
    try:
        if made.probe().kind != request.param:
            pytest.skip(f"{request.param} does not work here")
        yield made
    finally:
        made.close()


@pytest.fixture
def theirs() -> Iterator[Path]:
    """What another program shares."""
    path = Path("/dev/shm", f"assent-test-{uuid.uuid4().hex}")
    if not path.parent.is_dir():
        pytest.skip("no shared memory here")
    path.write_text("THEIRS")
    yield path
    path.unlink()


async def told(confinement: SystemConfinement, world: World, code: str) -> ToolResult:
    """What a model is told of a command that runs this."""
    bash = Bash(
        world.reader,
        world.policy,
        confinement,
        AllowlistEnvironment(lambda: world.settings),
        GroupRunner(),
        lambda: world.settings,
    )
    (world.workspace / "x.py").write_text(code)
    args = {"command": f"{shlex.quote(os.path.realpath(sys.executable))} x.py"}
    return await bash.execute(args, ToolCallContext(RunMeta("run", CancellationToken()), "call"))


@pytest.mark.spec("R-FS-3")
@pytest.mark.parametrize("code", SHARING.values(), ids=SHARING)
async def test_processes_of_one_command_share_memory_or_are_told_why_not(
    confinement: SystemConfinement, world: World, code: str
) -> None:
    result = await told(confinement, world, code)
    if confinement.probe().kind == "bubblewrap":
        assert result.text.startswith("works")
    else:
        assert result.is_error
        assert SHARED_MEMORY_IS_CLOSED in result.text.partition("[Exit code")[0]


@pytest.mark.parametrize("code", NOT_SHARING.values(), ids=NOT_SHARING)
async def test_what_the_hint_names_instead_works(confinement: SystemConfinement, world: World, code: str) -> None:
    assert (await told(confinement, world, code)).text.startswith("works")


async def test_python_cannot_start_processes_through_a_socket_and_is_told_how_it_can(
    confinement: SystemConfinement, world: World
) -> None:
    result = await told(confinement, world, STARTING.format(how="forkserver"))
    assert result.is_error
    assert FORK_SERVER_IS_CLOSED in result.text.partition("[Exit code")[0]
    for how in ("fork", "spawn"):
        assert f"'{how}'" in FORK_SERVER_IS_CLOSED
        assert (await told(confinement, world, STARTING.format(how=how))).text.startswith("works"), how


@pytest.mark.spec("R-FS-3")
async def test_no_command_reads_or_changes_what_other_programs_share(
    confinement: SystemConfinement, world: World, theirs: Path
) -> None:
    assert "THEIRS" not in (await told(confinement, world, f"print(open({str(theirs)!r}).read())")).text
    await told(confinement, world, f"open({str(theirs)!r}, 'w').write('OURS')")
    assert theirs.read_text() == "THEIRS"


async def test_a_failure_that_has_another_reason_is_not_explained_by_it(
    confinement: SystemConfinement, world: World
) -> None:
    for code in ("open('/etc/passwd', 'a')", "print('Permission denied'); raise SystemExit(3)", "raise SystemExit(4)"):
        result = await told(confinement, world, code)
        assert result.is_error
        assert "Shared memory" not in result.text
        assert "Unix sockets" not in result.text
