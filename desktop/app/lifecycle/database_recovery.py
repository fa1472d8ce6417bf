"""What a person can do when the database cannot be used: copy it, start with an empty one, try again, or quit.

The file is never overwritten: a copy goes beside it, and an empty start only moves it aside.
"""

from __future__ import annotations

import asyncio

from desktop.app.home.folder import Home
from desktop.domain.errors import KnownError, StoreCorrupt, StoreTooNew
from desktop.store import database
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer


async def ask(window: MainWindow, home: Home, error: KnownError) -> bool:
    """Ask until there is a decision; True to try to open again, False to quit."""
    said = error.advice
    while True:
        choice = await _choose(window, said, movable=isinstance(error, StoreCorrupt | StoreTooNew))
        if choice in ("quit", "again"):
            return choice == "again"
        work = database.recovery_copy if choice == "copy" else database.start_fresh
        try:
            place = await asyncio.to_thread(work, home.database)
        except KnownError as failure:
            said = failure.advice
            continue
        if choice == "fresh":
            return True
        said = f"A copy is in {place}. The file itself was not changed. {error}"


async def _choose(window: MainWindow, text: str, *, movable: bool) -> str:
    """Ask what to do about a database that cannot be used. ``movable``: the file itself is the reason, so it can be
    copied, and set aside for an empty one."""
    answers = [DialogAnswer("quit", "Quit", key="Esc"), DialogAnswer("again", "Try again")]
    if movable:
        answers += [
            DialogAnswer("copy", "Copy the file"),
            DialogAnswer("fresh", "Set it aside and start empty", kind="danger"),
        ]
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    dialog = Dialog(window, "Your chats cannot be opened", text, answers, width=560)
    dialog.answered.connect(answer.set_result)
    dialog.open()
    return await answer
