"""The process that is killed right after it has said that a message to an agent was taken."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.chats.inboxes import Inboxes
from tests.unit.services.kit import World, agent, world
from tests.unit.services.turns.test_persistent import HEAD, PERSISTENT, idle, roots

WATCHER = "watcher"


def address_of(w: World) -> str:
    """Of the agent that began to wait last."""
    return [event.context_id for event in w.events if getattr(event, "waiting", None) and hasattr(event, "inbox")][-1]


async def live(folder: Path, whose: str, answers: list[str], posts: list[str]) -> list[Any]:
    """Post these, one after the other, and die before the last one is heard; without any, tell what a model was asked.
    ``whose`` inbox: that of the chat's agent, or that of the skill which it calls."""
    chat = whose == "chat"
    script = [says(text) for text in answers]
    first = not (folder / "assent.db").exists()
    if first and not chat:
        script.insert(0, calls(WATCHER, {}))
    model = ScriptedModel(script)
    found = roots(
        folder / "mine", PERSISTENT if chat else "{}", WATCHER, watcher=HEAD.format(WATCHER, "look", PERSISTENT)
    )
    async with world(folder, model, roots=found, agents=agent(prompt="keeper"), supervised=True) as w:
        if first:
            thread = await w.thread()
            (folder / "thread").write_text(thread)
            await w.service.send(thread, "go")
        else:
            thread = (folder / "thread").read_text()
            await w.service.continue_answer(thread)
        await idle(w)
        inboxes = Inboxes(w.service, w.runtime)
        for number, text in enumerate(posts, 1):
            if chat:  # as another agent posts it
                await w.skills.topics.post(f"inbox.{thread}", text)
            else:
                await inboxes.post(address_of(w), text)
            if number == len(posts):
                os.kill(os.getpid(), signal.SIGKILL)
            await idle(w, number + 1)
        asked = [[message.text for message in request.messages] for request in model.requests]
        waiting = await w.store.queue.posted(inbox=thread, after=0)
        await w.service.stop(thread)
        await w.settled(thread)
        return [asked, waiting is None]


if __name__ == "__main__":
    print(
        json.dumps(asyncio.run(live(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4]))))
    )
