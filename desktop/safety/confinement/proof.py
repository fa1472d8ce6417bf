"""Whether what is said to confine does: tried on this machine before anything relies on it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from desktop.domain.safety import ProcessSpec
from desktop.files.temporary import TemporaryFolder
from desktop.safety.confinement.profile import SandboxProfile

_PROBE_TIMEOUT_S = 10.0


def refuses_outside(
    wrap: Callable[[ProcessSpec, SandboxProfile], ProcessSpec], *, hidden_inside: bool = True, network: bool = False
) -> bool:
    """Prove that a kind of confinement works: a command inside may write in its folder, and can neither write beside it
    nor read what is hidden."""
    with TemporaryFolder("probe") as made:
        top = Path(made.path)
        inside, outside, hidden = (
            top / "inside",
            top / "outside",
            top / ("inside/hidden" if hidden_inside else "hidden"),
        )
        for folder in (inside, outside, hidden):
            folder.mkdir()
        (hidden / "file").write_text("secret")
        script = 'echo x > in.txt; echo x > "$1/out.txt"; cat "$2/file"; exit 0'
        spec = ProcessSpec(
            ("/bin/sh", "-c", script, "sh", str(outside), str(hidden)), str(inside), {"PATH": os.defpath}
        )
        try:
            wrapped = wrap(spec, SandboxProfile((str(inside),), (), (), (str(hidden),), network))
            done = subprocess.run(
                wrapped.argv,
                cwd=wrapped.cwd,
                env=dict(wrapped.env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PROBE_TIMEOUT_S,
                pass_fds=wrapped.inherited,
            )
        except (OSError, subprocess.SubprocessError):
            return False
        held = not (outside / "out.txt").exists() and b"secret" not in done.stdout
        return done.returncode == 0 and held and (inside / "in.txt").exists()
