"""The fields of the agent that is open, as its text was checked last: what stands in them, what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from desktop.domain.debates import SidePreview
from desktop.domain.definitions import AgentDefinition, SideName
from desktop.domain.skills import SkillProblem

if TYPE_CHECKING:
    from desktop.services.agents.editing import AgentCheck


class AgentFields:
    """The fields of one file. A field that was only just ``begun`` shows no problem before it is left."""

    def __init__(self) -> None:
        self._said: AgentCheck | None = None
        self.previews: Mapping[SideName, SidePreview] = {}
        self.begun: set[str] = set()

    def clear(self) -> None:
        """Forget everything about the last file."""
        self._said, self.previews = None, {}
        self.begun.clear()

    def take(self, said: AgentCheck, previews: Mapping[SideName, SidePreview]) -> None:
        """Take in the findings of a check of the text."""
        self._said, self.previews = said, previews

    def begin(self, path: str) -> None:
        """Note that a person began to write in a field."""
        self.begun.add(path)

    def leave(self, path: str) -> bool:
        """The person left it; False for one that was not begun."""
        if path not in self.begun:
            return False
        self.begun.discard(path)
        return True

    @property
    def definition(self) -> AgentDefinition | None:
        """The definition in the text; None while it has errors."""
        return self._said.definition if self._said is not None else None

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of the text; sides as mappings."""
        return self._said.said.data if self._said is not None else {}

    @property
    def heading(self) -> str:
        """What the agent is called, also while its text has mistakes; "" where the text does not say."""
        if self.definition is not None:
            return self.definition.shown
        title, name = (self.values.get(key) for key in ("title", "name"))
        return str(title or "").strip() or str(name or "").strip().replace("_", " ").capitalize()

    def shown(self, problems: Sequence[SkillProblem]) -> tuple[SkillProblem, ...]:
        """The problems of the checked text that are shown now, in its order."""
        said = self._said.said.problems if self._said is not None else ()
        paths = chain((one.path for one in said), repeat(""))
        return tuple(one for one, path in zip(problems, paths, strict=False) if path not in self.begun)

    @property
    def wrong(self) -> Mapping[str, str]:
        """What is wrong with fields, by their path."""
        said = self._said.said.problems if self._said is not None else ()
        return {one.path: one.text for one in said if not one.warning and one.path and one.path not in self.begun}

    @property
    def doubtful(self) -> Mapping[str, str]:
        """What is probably not meant in fields, by their path."""
        found = (one for preview in self.previews.values() for one in preview.problems if one.warning)
        return {problem.path: problem.text for problem in found}
