"""Whether new versions of Assent are looked for."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class UpdateSettings:
    """Settings of updates."""

    look: bool = setting(
        False, "Look for new versions", "flag", "Once a day. Sends nothing but the question.", "Updates"
    )
