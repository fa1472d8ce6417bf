"""What is set up of a debate and not started yet, kept for the next start in ``data/debate-draft.json``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from desktop.app.home.window_state import WindowState
from desktop.domain.debates import DebateSetup, SideSetup
from desktop.services.debates.setup import from_plain, to_plain

FILE, KEY = "debate-draft.json", "setup"
MAXIMUM = 80_000
"""Characters of a set-up that are kept: below what is read back."""
_TEXTS = ("prompt", "label", "model", "prompt_text", "stop_tool", "stop_property", "end_session_tool")


class DebateDrafts:
    """``mask`` takes known secrets out of JSON values. The file is opened with the page, not at the start."""

    def __init__(self, folder: Path, mask: Callable[[Any], Any]) -> None:
        self._path, self._mask = folder / FILE, mask
        self._kept: WindowState | None = None

    def _file(self) -> WindowState:
        self._kept = self._kept or WindowState(self._path)
        return self._kept

    def read(self) -> DebateSetup | None:
        """The set-up that was kept, or None if what is there cannot be one."""
        return draft_of(self._file().values.get(KEY))

    def keep(self, setup: DebateSetup) -> None:
        """Keep the set-up as it is now; one that is too long is not kept."""
        plain = self._mask(json.loads(json.dumps(to_plain(setup))))
        self._file().put(KEY, plain if len(json.dumps(plain)) <= MAXIMUM else None)

    def drop(self) -> None:
        """Forget the draft, because the debate was started."""
        self._file().put(KEY, None)


def draft_of(plain: object) -> DebateSetup | None:
    """A set-up as it was kept; None for nothing and for what is none."""
    if not isinstance(plain, Mapping):
        return None
    setup = from_plain(plain)
    numbers = (setup.max_turns, setup.max_cost, setup.max_tokens)
    texts = (setup.title, setup.template, setup.agent)
    fits = all(map(_number, numbers)) and all(isinstance(text, str) for text in texts)
    return setup if fits and _side_fits(setup.a) and _side_fits(setup.b) else None


def _side_fits(side: SideSetup) -> bool:
    texts = all(isinstance(getattr(side, name), str) for name in _TEXTS)
    return texts and isinstance(side.stop_on_response, bool) and _number(side.max_rounds)


def _number(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
