"""What an earlier process was writing when it was killed: the half of it is taken away after each start."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from desktop.files.private import remove_unfinished
from desktop.files.temporary import remove_left_behind
from desktop.services.definitions.book import AgentFolder
from desktop.skills.catalogue.roots import SearchRoot

STEP_S = 0.05
"""Seconds by which the time of a new file may lie behind the clock: systems give files the time of their last tick."""
OTHERS_S = 60.0
"""Seconds for which something is left alone outside of the home: an Assent with another home may be writing it."""


def sweep_of(home: Path, skills: Iterable[SearchRoot], agents: Iterable[AgentFolder]) -> Callable[[], None]:
    """What does that in the folders that the app writes to. It blocks; what is begun from now on it does not touch."""
    now = time.time() - STEP_S
    flat = [str(home), *(folder.path for folder in agents if folder.source != "library")]
    deep = [str(home / "data"), *(root.path for root in skills if root.source != "library")]

    def before(folder: str) -> float:
        return now if Path(folder).is_relative_to(home) else now - OTHERS_S

    def sweep() -> None:
        for folder in flat:
            remove_unfinished(folder, before(folder))
        for folder in deep:
            remove_unfinished(folder, before(folder), below=True)
        remove_left_behind()

    return sweep
