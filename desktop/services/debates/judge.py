"""The judge of a debate: the agent of the skill ``judge``, which has promised a structured value.

It reads a record in which the sides are only A and B, and runs through the pipeline like any agent, with nothing
allowed to it but thinking. What the sides say about the judge is part of the record.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from desktop.agents.skill.host import HOST, PERMISSIONS
from desktop.domain.debates import JudgeVerdict
from desktop.domain.errors import KnownError
from desktop.domain.ids import AgentId, new_id
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.supervision import Supervision
from desktop.domain.text.json_text import read_json
from desktop.pipeline.context import CallRequest, Invocation
from desktop.pipeline.names import Caller, ExactTools
from desktop.services.debates.record import record_of
from desktop.services.debates.state import Debate, verdict_from
from desktop.services.debates.turn import bounds
from desktop.services.turns.runtime import Runtime, host_of
from desktop.services.turns.spec import model_from

JUDGE = "judge"


async def judge(runtime: Runtime, debate: Debate, model: str, token: CancellationToken) -> JudgeVerdict:
    """Ask the judge for a verdict. Raises KnownError when there is no model or no valid verdict came, BudgetExhausted
    when the debate has used what it may."""
    ref, thread_id = model_from(model), debate.thread.thread_id
    if not debate.turns:
        raise KnownError("There is nothing to judge yet.", next_step="Let both sides speak.", code="debate.empty")
    run_id = new_id()
    node = Supervision.root(
        AgentId(JUDGE, thread_id),
        run_id=run_id,
        session_id=thread_id,
        execution_budget=runtime.budget,
        spawn_budget=runtime.spawn_budget,
    )
    meta = RunMeta(run_id, token, thread_id, node, project=debate.thread.project)
    budget = bounds(runtime, debate, None)  # what the sides have used counts: the debate's limits are those of all
    budget.check()
    inherited = {
        HOST: host_of(runtime, ref, budget),
        PERMISSIONS: runtime.skills.allowed(JUDGE),
        "rootContextId": meta.run_id,
    }
    path = await runtime.store.debates.since(message_id=debate.head, after="")
    record = record_of(path, debate.turns)
    block = ToolCallBlock(new_id(), JUDGE, {"topic": debate.setup.topic, "record": record})
    root = Invocation(meta, inherited=inherited, shared=runtime.skills.shared)
    with await _shown(runtime, meta):
        outcome = await runtime.pipeline.invoke(
            CallRequest(block, Caller("skill", (JUDGE,), ExactTools((JUDGE,))), root, lambda _event: None)
        )
    await runtime.store.threads.add_usage(thread_id=thread_id, usage=budget.total)
    if outcome.result.is_error:
        raise KnownError(
            f"The judge gave no verdict: {outcome.result.text}",
            next_step="Try again, or choose another model.",
            code=outcome.result.code or "debate.judge",
        )
    verdict = verdict_from(_value(outcome.result.structured, outcome.result.text))
    if verdict is None:
        raise KnownError("The judge gave no verdict.", next_step="Choose another model.", code="debate.judge")
    return replace(verdict, model=model, at=time.time(), after_turn=len(debate.turns))


async def _shown(runtime: Runtime, meta: RunMeta) -> AbstractContextManager[None]:
    """The judge shows with the agents of the debate's last run, which may be under way."""
    if runtime.live is None:
        return nullcontext()
    runs = await runtime.store.runs.of_thread(thread_id=meta.thread_id, limit=1)
    beside = runs[0].run_id if runs else ""
    return runtime.live.lend(meta, AgentId(JUDGE, meta.thread_id), beside=beside)


def _value(structured: Any, text: str) -> Mapping[str, Any] | None:
    if isinstance(structured, Mapping):
        return structured
    try:
        value = read_json(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None
