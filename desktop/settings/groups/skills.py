"""Where skills are looked for."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.settings.spec import setting


@dataclass(frozen=True, slots=True)
class Skills:
    """Where skills are looked for beside your own folder and the library."""

    projects: tuple[str, ...] = setting(
        (),
        "Project folders",
        "paths",
        "Folders you work in; the skills in their .agent, .agents and .claude folders are listed.",
        "Skills",
    )
    trusted_projects: tuple[str, ...] = setting(
        (),
        "Trusted project folders",
        "paths",
        "Project folders whose skills agents may use and that may run. Trust only what you would run yourself.",
        "Skills",
    )
