"""What other programs may use of Assent."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class OtherApps:
    """What other programs may call over MCP."""

    offered: tuple[str, ...] = setting(
        (),
        "Offered skills and agents",
        "texts",
        "Names of the skills and agents that other programs may call over MCP. Each call passes the same gates as any.",
        "Other apps",
    )
