"""A process whose calls write, commit and are undone, over and over, until it is killed: ``FOLDER``."""

import asyncio
import sys
from pathlib import Path

from desktop.domain.files.changes import ABSENT, FileChange
from desktop.safety.changes.states import state_of
from tests.unit.safety.changes.kit import KeptContents, file_state
from tests.unit.services.changes.kit import Calls, calls_in

FILES = 12


async def commit(calls: Calls, number: int) -> None:
    """A command that makes, changes and removes files together."""
    changes, contents = [], []
    for at in range(FILES):
        path = str(calls.root / f"{at}.txt")
        before = state_of(path)
        content = f"{number} {at}\n".encode() * 20
        after = ABSENT if (at + number) % 3 == 0 else file_state(content)
        assert before is not None
        changes.append(FileChange(path, before, after))
        contents.append(content)
    assert await calls.recorder.commit(changes, KeptContents(*contents), calls.context(tool="bash"), "make") == ()


async def work(folder: Path) -> None:
    async with calls_in(folder, fresh=not (folder / "person").exists()) as calls:
        print("ready", flush=True)
        number = len(await calls.store.changes.of_thread(thread_id="t"))
        while True:
            number += 1
            await calls.write("notes.md", f"{number}\n" * 30)
            await commit(calls, number)
            await calls.undo(await calls.last())


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1])))
