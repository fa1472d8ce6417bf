"""How many processes a command can have at once, held by the kernel for an ordinary user (root is not bound by it)."""

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec, SafetySettings
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.linux.bubblewrap import MAX_PROCESSES
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from tests.harness.timeouts import WAIT_S

BOMB = """
my $made = 0;
while (defined(my $child = fork)) {
    if (!$child) { sleep 600; exit }
    last if ++$made > 3 * @MAXIMUM@;
}
print "made $made\\n";
"""


@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() == 0, reason="the kernel lets root have as many as it likes")
@pytest.mark.skipif(not all(map(shutil.which, ("bwrap", "perl"))), reason="needs bwrap and perl")
async def test_a_fork_bomb_ends_at_the_limit_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    settings = SafetySettings(str(tmp_path / "work"), allowed=(str(tmp_path / "work"),))
    policy = BoundaryPolicy(str(tmp_path / "app"), lambda: settings)
    with closing(SystemConfinement(policy, lambda: settings, kinds=("bubblewrap",))) as confinement:
        if confinement.probe().kind != "bubblewrap":
            pytest.skip("bubblewrap does not work here")
        argv = ("perl", "-e", BOMB.replace("@MAXIMUM@", str(MAX_PROCESSES)))
        spec = ProcessSpec(argv, str(tmp_path / "work"), {"PATH": "/usr/bin:/bin"}, timeout_s=WAIT_S)
        outcome = await GroupRunner().run(confinement.wrap(spec), CancellationToken())
    words = outcome.output.split()
    assert words[:1] == ["made"], outcome.output
    assert MAX_PROCESSES - 50 < int(words[1]) < MAX_PROCESSES
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if BOMB[:40].encode() in _read(path)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
