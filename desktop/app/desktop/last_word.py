"""A refusal to start where neither a terminal nor a window of ours can say it: Assent was started from a menu, and Qt
cannot open a window. Blocks; nobody waits for anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy import lazy_module
from desktop.systems import current, message_box

if TYPE_CHECKING:
    from desktop.app.desktop import last_word_bus
else:
    last_word_bus = lazy_module("desktop.app.desktop.last_word_bus")


def notify(error: KnownError) -> bool:
    """Show it: on Linux as a notification of the desktop, on Windows in a box of the system; False where that cannot be
    done, as on macOS."""
    if current.LINUX:
        return last_word_bus.notify(error)
    return message_box.show("Assent cannot start", f"{error} {error.next_step}".strip())
