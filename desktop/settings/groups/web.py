"""What agents search the web with."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Settings of the web."""

    search: tuple[Connection, ...] = setting(
        (),
        "Search services",
        "connections",
        "What agents search the web with, without the keys: those are in the system's keyring. The first is in use.",
        "Web search",
    )
