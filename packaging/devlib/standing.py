"""Where a test run stands: which stages run, and how many of their tests are done."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .words import say

PROGRESS = "ASSENT_TEST_PROGRESS"
"""Names the file in which the tests of a stage keep how many of them are done, of how many: ``12 480``."""
TELL_S = 15.0
Tell = Callable[[str], None]


class Standing:
    """The stages that run, each with its file of progress, and how many are still to come. Used by several threads."""

    def __init__(self, stages: int) -> None:
        self._stages, self._ended = stages, 0
        self._running: dict[str, Path] = {}
        self._lock = threading.Lock()

    @contextmanager
    def during(self, name: str, progress: Path) -> Iterator[None]:
        """While a stage runs."""
        with self._lock:
            self._running[name] = progress
        try:
            yield
        finally:
            with self._lock:
                del self._running[name]
                self._ended += 1

    def line(self) -> str:
        """As a person reads it, for example ``2 of 11 stages done; now store 12 of 480, tools 0 of 664``."""
        with self._lock:
            running = dict(self._running)
        now = ", ".join(f"{name} {_told(progress)}" for name, progress in running.items())
        return f"{self._ended} of {self._stages} stages done" + (f"; now {now}" if now else "")

    @contextmanager
    def told(self, every_s: float = TELL_S, tell: Tell = say) -> Iterator[None]:
        """Says it every few seconds, until the block ends."""
        over = threading.Event()

        def run() -> None:
            while not over.wait(every_s):
                tell(self.line())

        teller = threading.Thread(target=run, name="where the tests stand", daemon=True)
        teller.start()
        try:
            yield
        finally:
            over.set()
            teller.join()


def _told(progress: Path) -> str:
    try:
        done, total = progress.read_text("utf-8").split()
    except (OSError, ValueError):
        return "begins"
    return f"{done} of {total}"
