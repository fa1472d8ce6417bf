"""Other programs: one that is missing or fails ends the build with what it said."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..words import Stop


def call(
    command: Sequence[str | Path], doing: str, step: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> str:
    """Its output. ``doing`` is what it was to do, ``step`` what a person does when it does not."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Stop(f"{Path(words[0]).name} could not be started, to {doing}: {error.strerror}.", step) from error
    if done.returncode != 0:
        raise Stop(f"{Path(words[0]).name} could not {doing}: {(done.stderr or done.stdout).strip()[-800:]}", step)
    return done.stdout
