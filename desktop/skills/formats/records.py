"""What reading a skill file yields."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef, SkillProblem


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A skill file as it was read: its skills in file order and everything that is wrong with it.

    ``stamp`` is ``size:mtime_ns:inode`` from before the bytes were read, "" when the file could not be opened.
    ``problems`` holds the problems of the definitions too. A skill without a usable name is a problem only (R-SK-2);
    one with any other error is listed with ``state="broken"``.
    """

    path: str
    stamp: str
    definitions: tuple[SkillDef, ...] = ()
    problems: tuple[SkillProblem, ...] = ()
