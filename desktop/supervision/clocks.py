"""The time that a branch of a run has used; it stands while a person is waited for and nobody works (R-SUP-10)."""

from __future__ import annotations

from collections.abc import Callable


class BranchClock:
    """Seconds of one branch, on ``clock`` (monotonic).

    One dialog does not stop the clock of a tree in which others go on working, and ten dialogs at once count once:
    the clock stands exactly while somebody under it waits for a person and nobody under it works. Who only waits for
    a child does not work.
    """

    __slots__ = ("_busy", "_clock", "_parent", "_since", "_started", "_stood", "_waiting")

    def __init__(self, clock: Callable[[], float], parent: BranchClock | None = None) -> None:
        self._clock = clock
        self._parent = parent
        self._started = clock()
        self._busy = 0
        self._waiting = 0
        self._stood = 0.0
        self._since: float | None = None

    def work(self, change: int) -> None:
        """Count agents of this branch that begin (1) or cease (-1) to work."""
        self._change(change, 0)

    def wait(self, change: int) -> None:
        """Count agents of this branch that begin (1) or cease (-1) to wait for a person."""
        self._change(0, change)

    def _change(self, busy: int, waiting: int) -> None:
        at: BranchClock | None = self
        while at is not None:
            at._busy += busy
            at._waiting += waiting
            at._turn()
            at = at._parent

    def _turn(self) -> None:
        stands = self._waiting > 0 and self._busy <= 0
        if stands and self._since is None:
            self._since = self._clock()
        elif not stands and self._since is not None:
            self._stood += self._clock() - self._since
            self._since = None

    @property
    def stood(self) -> float:
        """Seconds for which it stood."""
        return self._stood + (self._clock() - self._since if self._since is not None else 0.0)

    @property
    def elapsed(self) -> float:
        """Seconds since the start, without those."""
        return self._clock() - self._started - self.stood
