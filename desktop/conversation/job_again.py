"""What binds another answer to a job's message, or the rest of one: the same as the job's own run (R-CRON-1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from desktop.conversation.job_policy import JobTerms, terms_of
from desktop.domain.jobs import JobPolicy
from desktop.domain.supervision import ExecutionBudget
from desktop.domain.threads import MessageRecord
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
        a person asked. Of a job that is gone for good only what reads is left."""
        store, thread_id = self.store, question.thread_id
        if question.parent_id is not None or (await store.threads.get(thread_id=thread_id)).label != LABEL:
            return None
        if (await store.messages.siblings(message_id=question.message_id))[0] != question.message_id:
            return None  # a person said it differently
        job = await store.jobs.of_thread(thread_id=thread_id)
        policy, name = (job.policy, job.name) if job is not None else (JobPolicy(), "")
        terms = terms_of(policy, self.above(), self.admin_allowed, self.where, name)
        return replace(terms, unattended=terms.unattended.gone_on_with(), attended=True)
