"""The process that is killed right after an agent has posted to the inbox of another one, and the one that goes on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from desktop.domain.messages import ToolResultBlock
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.chats.inboxes import Inboxes
from tests.unit.services.kit import World, agent, world
from tests.unit.services.turns.test_chat_topics import register
from tests.unit.services.turns.test_own_provider import said
from tests.unit.services.turns.test_persistent import PERSISTENT, idle, roots

OWNER = "whoever pulls the plug"


async def live(folder: Path, first_on: str) -> list[str]:
    """Two chats, one of which posts to the other; the first life is killed when the message is on the disk, the second
    goes on with both, first with the one that ``first_on`` says, and tells what the other one heard."""
    first = not (folder / "assent.db").exists()
    answers = [says("I wait."), calls("poster", {})] if first else [says(f"Answer {number}.") for number in range(8)]
    found = roots(folder / "mine", PERSISTENT, "poster event-emit")
    options: dict[str, Any] = {"roots": found, "agents": agent(prompt="keeper"), "supervised": True}
    async with world(folder, ScriptedModel(answers), **options) as w:
        chats = [await w.thread(), await w.thread()] if first else json.loads((folder / "chats").read_text())
        (folder / "chats").write_text(json.dumps(chats))
        keeper, poster = chats
        register(w, "poster", post_to(keeper))
        Inboxes(w.service, w.runtime)
        for number, chat in enumerate((keeper, poster) if first or first_on == "keeper" else (poster, keeper), 1):
            if not first:
                await w.service.continue_answer(chat)
            else:
                await w.service.send(chat, "go")
            await idle(w, number)
            if first and chat == keeper:
                kill_at_the_post(w, keeper)
        # The poster waits now, and what it posted would have waked the keeper by then.
        await w.skills.topics.post(f"inbox.{keeper}", "THE END")
        await idle(w, 3)
        heard = [line for line in said(await w.service.path(keeper)) if "From this chat's inbox" in line]
        for chat in chats:
            await w.service.stop(chat)
            await w.settled(chat)
        path = await w.service.path(poster)
        assert not [b for one in path for b in one.blocks if isinstance(b, ToolResultBlock) and b.is_error]
        return [line.rpartition("\n")[2] for line in heard]


def post_to(keeper: str) -> Any:
    """A skill that posts to it."""

    async def poster(ctx: Any, _args: Any) -> Any:
        return await ctx.manager.invoke("event-emit", {"topic": f"inbox.{keeper}", "data": "PAY 10"})

    return poster


def kill_at_the_post(w: World, keeper: str) -> None:
    """Whoever listens after the agent hears of a message when the agent has kept it."""

    async def keep(_data: Any, _key: str) -> None:
        return None

    w.skills.topics.subscribe(f"inbox.{keeper}", OWNER, heard=lambda: os.kill(os.getpid(), signal.SIGKILL), keep=keep)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(live(Path(sys.argv[1]), sys.argv[2]))))
