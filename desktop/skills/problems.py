"""Problems of one skill file, collected while it is read."""

from __future__ import annotations

from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import Severity, SkillProblem
from desktop.domain.text.places import FormatError, Place


@dataclass(slots=True)
class Report:
    """Collects the problems of one file."""

    path: str
    found: list[SkillProblem] = field(default_factory=list)

    def add(self, code: str, message: str, where: Place = (1, 1), severity: Severity = "error") -> None:
        self.found.append(SkillProblem(self.path, message, *where, severity, code))

    def failed(self, error: FormatError) -> None:
        """Take over what a reader could not read."""
        self.add(error.code, str(error), (error.line, error.column))

    @property
    def broken(self) -> bool:
        """Whether anything here keeps a skill from running."""
        return any(problem.severity == "error" for problem in self.found)


def shown(value: object, limit: int = 60) -> str:
    """A value in a message: its repr on one line, cut."""
    text = repr(value) if not isinstance(value, (dict, list)) else type(value).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"
