"""What comes from outside to an agent beside the results of its calls: known before the agent reads it (R-WEB-3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage
from desktop.domain.text.outside import OutsideText
from desktop.pipeline.context import Invocation
from desktop.pipeline.pipeline import Pipeline
from desktop.services.threads.outside import is_by_person, read_in_messages

Steering = Callable[[], Awaitable[Sequence[ChatMessage]]]


@dataclass(slots=True)
class Heeding:
    """Of one turn. ``before``: the texts that were read since the person's last message, before the turn began;
    ``alone`` says whether no other agent is at work in the run, so that what the person says now ends the marks."""

    before: Sequence[OutsideText] = ()
    alone: Callable[[], bool] = lambda: False
    _pipeline: Pipeline | None = field(default=None, init=False)
    _at: Invocation | None = field(default=None, init=False)

    def begin(self, pipeline: Pipeline, at: Invocation) -> None:
        """The turn's calls are made at this place of the tree."""
        self._pipeline, self._at = pipeline, at
        pipeline.heard(at, self.before)

    def reads(self, messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        """These come before the agent now."""
        if self._pipeline is None or self._at is None:
            return messages
        spoken = [at for at, one in enumerate(messages) if is_by_person(one)]
        ends = bool(spoken) and self.alone()
        if ends:
            self._pipeline.person_spoke(self._at)
        self._pipeline.heard(self._at, read_in_messages(messages[spoken[-1] :] if ends else messages))
        return messages

    def of(self, steering: Steering | None) -> Steering | None:
        """What a person and others say meanwhile, heeded."""
        if steering is None:
            return None

        async def heard() -> Sequence[ChatMessage]:
            return self.reads(await steering())

        return heard
