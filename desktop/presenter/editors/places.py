"""The folder that an editor has open, as the one that its thread works in (R-PRJ-1, R-ACP-3).

An editor names any folder, so its word opens none: the person has chosen that very folder before, or is asked, once a
session, before anything is said in it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.files.projects import ProjectLook
from desktop.presenter.common.shown import shown_line
from desktop.presenter.editors.desk import EditorDesk, EditorLink
from desktop.presenter.editors.fences import fenced
from desktop.presenter.editors.session import EditorSession

NO, ONCE, ALWAYS = "deny", "allow_once", "allow_always"
OPTIONS = (
    {"option": NO, "name": "Not in this folder", "kind": "reject_once"},
    {"option": ONCE, "name": "Work in it, in this thread", "kind": "allow_once"},
    {"option": ALWAYS, "name": "Work in it from now on", "kind": "allow_always"},
)
MEANS = (
    "Commands then start in it, and short paths mean files in it. Agents may read it; what they would write or run "
    "asks you as ever. What you denied stays closed."
)
CALL = "folder"
"""What the question is called where the editor knows calls by their names."""
logger = logging.getLogger(__name__)


class EditorPlaces:
    """Of one editor. ``say`` tells it what happens in a session."""

    def __init__(
        self, desk: EditorDesk, guest: EditorLink, say: Callable[[EditorSession, dict[str, Any]], None], name: str
    ) -> None:
        self._desk, self._guest, self._say, self._name = desk, guest, say, name

    async def settle(self, session: EditorSession) -> None:
        """Find out whether the thread may work in the editor's folder, without asking."""
        if session.record.project:  # chosen already, here or in the window, and seen there
            self._place(session, session.record.project)
            return
        folder = await self._desk.projects.judged(session.folder.path)
        if folder.path == self._desk.workspace():
            session.placed = True
        elif not folder.closed and await self._desk.projects.chosen_before(folder.path):
            self._place(session, folder.path)

    async def ask(self, session: EditorSession) -> None:
        """Ask the person, once a session, where that is not settled."""
        if session.placed:
            return
        session.placed = True
        look = await self._desk.projects.look(session.folder.path)
        if look.row.folder.closed:
            return
        answer = await self._answer(session, look)
        if answer not in (ONCE, ALWAYS):
            return
        try:
            real = await self._agreed(look, always=answer == ALWAYS)
        except KnownError as error:  # it has gone while it was asked about, say
            logger.info("a folder that an editor has open cannot be used: %s", error.code)
            return
        if real == look.row.folder.path:  # and no other by now
            self._desk.note(self._name, f"works in {shown_line(real)}")
            self._place(session, real)

    async def _agreed(self, look: ProjectLook, *, always: bool) -> str:
        projects, folder = self._desk.projects, look.row.folder
        real = (await projects.usable(folder.given)).path
        if always and real == folder.path:
            return await projects.choose("", real)  # by where it is, as it was shown: a link may lead elsewhere later
        await projects.instructions.met(real)
        return real

    def _place(self, session: EditorSession, real: str) -> None:
        before = session.folder
        session.placed, session.folder = True, replace(before, project=real, outside="")
        session.told = session.told and not before.outside

    async def _answer(self, session: EditorSession, look: ProjectLook) -> str:
        """The option that was pressed, or "". A prompt that is stopped ends the question."""
        path, said = look.row.folder.path, [MEANS]
        if look.row.folder.is_link:
            said.append(f"{session.folder.path} is a link to {path}, which is the folder that is used.")
        said += [f"{one.title}: {one.note}" for one in look.brought]
        text = fenced(self._desk.mask("\n".join(shown_line(line) for line in said)))
        call = {
            "kind": "call",
            "call": CALL,
            "title": f"Work in the folder {shown_line(path)}?",
            "tool_kind": "other",
            "status": "pending",
            "locations": [path],
            "content": [{"type": "text", "text": text}],
        }
        digest = hashlib.sha256(repr((session.record.thread_id, path, said)).encode("utf-8", "replace")).hexdigest()
        question = {"thread": session.record.thread_id, "call": call, "digest": digest, "options": list(OPTIONS)}
        self._say(session, call)
        found: list[Any] = []

        async def ask() -> None:
            try:
                found.append(await self._guest.call("ask", question))
            except KnownError as error:
                logger.info("a question about a folder could not be brought to an editor: %s", error.code)

        session.question = self._desk.spawn(ask(), "editor: ask about its folder")
        await asyncio.wait([session.question])
        session.question = None
        answer = found[0].get("option") if found and isinstance(found[0], Mapping) else ""
        done = answer in (ONCE, ALWAYS)
        self._say(session, {"kind": "call-update", "call": CALL, "status": "completed" if done else "failed"})
        return str(answer)
