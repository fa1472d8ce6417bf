"""Telling a model what the folders say that it works in, round by round: those on the way to what it has touched."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from desktop.domain.messages import ChatMessage, TextBlock, ToolResultBlock
from desktop.domain.runs.middleware import CallNext, ChatContext
from desktop.services.projects.instructions import ProjectInstructions, words_of
from desktop.services.projects.reading import on_the_way

PATHS = ("path", "file", "folder")
"""Arguments of calls that name a file or folder."""
MAX_FOLDERS = 40
MAX_MADE = 64


class FolderTexts:
    """Chat-level middleware. What it tells follows from the messages, so that a run that is gone on with is told the
    same; a text stands behind the call that first named its folder, and stays there: what a request begins with is the
    same in the next round (R-MOD-3)."""

    def __init__(self, instructions: ProjectInstructions) -> None:
        self._instructions = instructions
        self._made: dict[str, ChatMessage] = {}

    async def process(self, context: ChatContext, call_next: CallNext) -> None:
        """Add the texts of folders below the project; those of the project itself are in the system text already."""
        request, project = context.request, context.meta.project
        if request is not None and project:
            folders = worked_in(project, request.messages)
            texts = await self._instructions.told(project, folders, root=False) if folders else []
            if texts:
                context.request = replace(request, messages=tuple(self._with(project, request.messages, texts)))
        await call_next()

    def _with(
        self, project: str, messages: Sequence[ChatMessage], texts: Sequence[tuple[str, str]]
    ) -> Iterator[ChatMessage]:
        """The messages with each text behind the results of the calls that first named its folder."""
        left = dict(texts)
        waiting: list[tuple[str, str]] = []
        for at, message in enumerate(messages):
            yield message
            if message.tool_calls:
                names = on_the_way(project, worked_in(project, messages[at : _end_of(messages, at)]))
                waiting += [(name, left.pop(name)) for name in names if name in left]
            if waiting and (at + 1 == len(messages) or messages[at + 1].role != "tool"):
                yield self._message(words_of(waiting))
                waiting = []

    def _message(self, words: str) -> ChatMessage:
        """The same object for the same words: only what is new goes to the model host."""
        if len(self._made) > MAX_MADE:
            self._made.clear()
        return self._made.setdefault(words, ChatMessage("user", (TextBlock(words.strip()),)))


def _end_of(messages: Sequence[ChatMessage], at: int) -> int:
    """Where the results of a message's calls end."""
    end = at + 1
    while end < len(messages) and messages[end].role == "tool":
        end += 1
    return end


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
