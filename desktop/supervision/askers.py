"""Whose questions a program outside answers: those of the threads that it works in, as an editor does."""

from __future__ import annotations

from collections.abc import Callable

from desktop.domain.permission import Asker, PermissionRequest


class Askers:
    """Threads whose questions go elsewhere than to the window. The gate asks ``of`` for each request."""

    def __init__(self) -> None:
        self._claims: dict[str, Asker] = {}

    def claim(self, thread_id: str, asker: Asker) -> Callable[[], None]:
        """From now on ``asker`` is asked about the runs of this thread, and about agents that work for them. Returns
        how to give that up: then the window is asked again."""
        self._claims[thread_id] = asker

        def release() -> None:
            if self._claims.get(thread_id) is asker:
                del self._claims[thread_id]

        return release

    def of(self, request: PermissionRequest) -> Asker | None:
        """Who answers this request instead of the window, or None."""
        return self._claims.get(request.seen_in)
