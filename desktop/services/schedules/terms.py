"""What binds another answer to a job's message, or the rest of one: the same as the job's own run (R-CRON-1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from desktop.domain.errors import NotFound
from desktop.domain.jobs import JobPolicy
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.call_keys import outermost
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.threads import MessageRecord
from desktop.services.turns.unattended import JobTerms, terms_of
from desktop.skills.patterns.paths import Where
from desktop.store import Store

LABEL = "job"
"""The label of a job's threads (R-CRON-6)."""


@dataclass(frozen=True, slots=True)
class TermsAgain:
    """``above`` is the app's own budget; the rest as in ``jobs.JobSurroundings``."""

    store: Store
    above: Callable[[], ExecutionBudget]
    admin_allowed: Callable[[], bool]
    where: Where

    async def of(self, question: MessageRecord) -> JobTerms | None:
        """The policy, as it is now, of the job that asked this, with a person there who goes on with it; None for what
        a person asked. It binds the agents that work for the job, too. Of a job that is gone for good only what reads
        is left."""
        store = self.store
        first = await self._first(question)
        thread = await store.threads.get(thread_id=first.thread_id) if first is not None else None
        if first is None or thread is None or thread.label != LABEL:
            return None
        job = await store.jobs.of_thread(thread_id=first.thread_id)
        policy, name = (job.policy, job.name) if job is not None else (JobPolicy(), "")
        where = Where(thread.project, self.where.home) if thread.project else self.where
        terms = terms_of(policy, self.above(), self.admin_allowed, where, name)
        return replace(terms, unattended=terms.unattended.for_continuing(), attended=True)

    async def _first(self, question: MessageRecord) -> MessageRecord | None:
        """What began all this, in the thread of an agent that nobody called. None: a person said something since, or
        that thread is gone."""
        store, at = self.store, question
        while at.parent_id is None:
            if (await store.messages.siblings(message_id=at.message_id))[0] != at.message_id:
                return None  # a person said it differently
            call = await store.called.of_thread(thread_id=at.thread_id)
            if not call:
                return at
            try:
                path = await store.messages.path_to(message_id=outermost(call).partition(":")[0])
            except NotFound:
                return None
            at = next((message for message in reversed(path) if message.role == "user"), path[0])
        return None
