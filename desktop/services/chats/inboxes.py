"""How a person reaches a persistent agent by its address: ``assent send``, and the button in its chat.

The address of a chat's agent is the chat's id. The agent of a skill that works in a chat has one of its own, which its
events name (``context_id``).
"""

from __future__ import annotations

from typing import Any

from desktop.agents.skill.persistence import inbox_of, post_id_of
from desktop.domain.errors import KnownError, NotFound
from desktop.domain.threads import ThreadRecord
from desktop.services.chats.service import ConversationService
from desktop.services.skills.side_prompt import prompt_skill
from desktop.services.turns.prompt_settings import model_settings
from desktop.services.turns.runtime import Runtime

LEAST = 4
"""Characters of an address that are enough, where only one agent at work begins like that."""
LONGEST = 200_000
"""Characters of a message that comes by its address."""


class Inboxes:
    """All inboxes of the process."""

    def __init__(self, service: ConversationService, runtime: Runtime) -> None:
        self._service = service
        self._runtime = runtime
        runtime.skills.topics.recall = self._was_posted

    async def post(self, address: str, text: str) -> None:
        """Say this to the agent: into its chat, where it is the agent of one, which begins to work if it does not.
        Raises NotFound where no persistent agent has that address, KnownError for a message that cannot be taken."""
        if not text.strip() or len(text) > LONGEST:
            raise KnownError(f"A message has 1 to {LONGEST:,} characters.", code="inbox.message")
        topics, found = self._runtime.skills.topics, self._at_work(address)
        thread = await self._thread(found or address)
        if thread is not None and (found or await self._is_persistent(thread)):
            await self._service.send(thread.thread_id, text)
        elif found:
            await topics.post(inbox_of(found), text)
        elif thread is not None:
            raise NotFound(
                f"The agent of that chat is not persistent, so it has no inbox: {thread.title or 'New chat'}.",
                next_step="Write to it in the app, or set model: {persistent: true} in its prompt.",
            )
        else:
            raise NotFound(
                f"No persistent agent has the address {address[:64]!r}.",
                next_step="Its chat shows the address while the agent waits.",
            )

    async def _was_posted(self, topic: str, data: Any, key: str) -> bool:
        """Whether the call ``key`` has posted this to the agent of a chat before: it hears it once it goes on."""
        post_id = post_id_of(key, topic.removeprefix(inbox_of("")), data)
        return await self._runtime.store.queue.was_posted(post_id=post_id)

    def _at_work(self, address: str) -> str:
        """The whole address of the one agent at work that begins like that; "" for none or several."""
        prefix = inbox_of("")
        heard = [topic.removeprefix(prefix) for topic in self._runtime.skills.topics.heard(prefix)]
        if address in heard:
            return address
        alike = [one for one in heard if len(address) >= LEAST and one.startswith(address)]
        return alike[0] if len(alike) == 1 else ""

    async def _thread(self, address: str) -> ThreadRecord | None:
        try:
            return await self._service.thread(address)
        except NotFound:
            return None

    async def _is_persistent(self, thread: ThreadRecord) -> bool:
        runtime = self._runtime
        try:
            agent = runtime.agents.get(thread.agent)
            skill = await prompt_skill(runtime.skills, agent, agent.side_a)
            metadata = await runtime.skills.effective(skill) if skill is not None else {}
        except KnownError:  # its next run will say what is wrong with it
            return False
        return model_settings(metadata).get("persistent") is True
