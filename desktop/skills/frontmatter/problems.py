"""Problems while reading: where they are is worked out only when there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from desktop.domain.skills import Severity, SkillProblem

Keys = tuple[str | int, ...]
"""A place inside a value: ``("metadata", "params", "properties")``."""

Locate = Callable[[Keys], tuple[int, int]]
"""Line and column, from 1, of the value at a place; of the nearest enclosing one where it is missing."""


class FormatError(ValueError):
    """A file or a part of it cannot be read. ``line`` and ``column`` count from 1 in the file."""

    def __init__(self, message: str, line: int, column: int = 1, code: str = "frontmatter.yaml") -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.code = code


@dataclass(slots=True)
class Report:
    """Collects the problems of one file."""

    path: str
    found: list[SkillProblem] = field(default_factory=list)

    def add(self, code: str, message: str, where: tuple[int, int] = (1, 1), severity: Severity = "error") -> None:
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
