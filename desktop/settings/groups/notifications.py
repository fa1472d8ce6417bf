"""How Assent calls a person who looks elsewhere."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class Notifications:
    """Settings of notifications: how Assent calls a person who looks elsewhere."""

    desktop: bool = setting(
        True,
        "Desktop notifications",
        "flag",
        "Say that a request waits while the window is in the background; never what it is about.",
        "Approvals",
    )
