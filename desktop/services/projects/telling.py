"""Telling a model what the folders say that it works in, round by round: those on the way to what it has touched."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from desktop.domain.messages import ChatMessage, ToolResultBlock
from desktop.domain.runs.middleware import CallNext, ChatContext
from desktop.services.projects.instructions import ProjectInstructions, words_of

PATHS = ("path", "file", "folder")
"""Arguments of calls that name a file or folder."""
MAX_FOLDERS = 40


class FolderTexts:
    """Chat-level middleware; it keeps nothing, so that a run that is gone on with is told the same."""

    def __init__(self, instructions: ProjectInstructions) -> None:
        self._instructions = instructions

    async def process(self, context: ChatContext, call_next: CallNext) -> None:
        """Add the texts of folders below the project; those of the project itself are in the system text already."""
        request, project = context.request, context.meta.project
        if request is not None and project:
            folders = worked_in(project, request.messages)
            texts = await self._instructions.told(project, folders, root=False) if folders else []
            if texts:
                context.request = replace(request, system=f"{request.system}{words_of(texts)}")
        await call_next()


def worked_in(project: str, messages: Sequence[ChatMessage]) -> list[str]:
    """The folders of a project that calls which went well have named, the latest last."""
    failed = {
        block.call_id
        for message in messages
        for block in message.blocks
        if isinstance(block, ToolResultBlock) and block.is_error
    }
    found: dict[str, None] = {}
    for message in messages:
        for call in message.tool_calls:
            given = call.arguments or {}
            for text in (given.get(name) for name in PATHS) if call.call_id not in failed else ():
                if isinstance(text, str) and 0 < len(text) < 4096 and "\0" not in text:
                    path = os.path.normpath(os.path.join(project, os.path.expanduser(text)))
                    if path.startswith(project.rstrip(os.sep) + os.sep):
                        found.pop(path, None)
                        found[path] = None
    folders = dict.fromkeys(folder for path in found for folder in (os.path.dirname(path), path))
    return list(folders)[-MAX_FOLDERS:]
