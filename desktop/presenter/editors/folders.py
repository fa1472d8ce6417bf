"""The folder that an editor has open: told to the agent, and judged by the boundary, which no editor widens by
itself."""

from __future__ import annotations

import asyncio
import os

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import FileBlock
from desktop.domain.safety import Access, PathPolicy
from desktop.domain.text.hidden_characters import has_hidden

NAME = "The editor’s folder"
LONGEST = 4_096


@dataclass(frozen=True, slots=True)
class EditorFolder:
    """``outside``: why the boundary does not let agents into it, or ""; ``project``: where it really is, once the
    thread works in it."""

    path: str
    outside: str = ""
    project: str = ""

    @property
    def warning(self) -> str:
        """What a person has to know, or ""."""
        if not self.outside:
            return ""
        return (
            f"The folder {self.path} is outside what agents may use, so they cannot read or change anything in it: "
            f"{self.outside} To let them in, choose it in Assent as the folder of this chat, or add it under Settings, "
            "Filesystem boundaries."
        )

    def told(self, workspace: str) -> FileBlock:
        """What the agent is told with the first message."""
        if self.project:
            words = "You work in it: commands run there, and relative paths begin there."
        elif self.outside:
            words = f"It is outside the folders that you may use: {self.outside}"
        elif self.path == workspace:
            words = "It is the workspace: commands run there, and relative paths begin there."
        else:
            words = f"Work there: give absolute paths, and begin commands with cd; relative paths begin in {workspace}."
        return FileBlock(NAME, f"The person works in an editor that has the folder {self.path} open. {words}")


async def folder_of(path: object, policy: PathPolicy) -> EditorFolder:
    """The folder as the boundary sees it. Raises ConfigurationError for what is no path of a folder."""
    if not isinstance(path, str) or not path.startswith("/") or len(path) > LONGEST or has_hidden(path) or "\n" in path:
        raise ConfigurationError("The editor has to name its folder by an absolute path.")
    return await asyncio.to_thread(_judged, path, policy)


def _judged(path: str, policy: PathPolicy) -> EditorFolder:
    path = os.path.normpath(path)
    verdict = policy.explain(path, Access.LIST)
    if not verdict.allowed:
        return EditorFolder(path, verdict.sentence)
    return EditorFolder(path) if os.path.isdir(path) else EditorFolder(path, f"There is no folder {path}.")
