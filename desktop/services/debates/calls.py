"""A debate as a tool: an agent of two sides works for the agent that called it (R-AAT-2, R-AAT-3, R-AAT-4)."""

from __future__ import annotations

import time
from collections.abc import Callable

from desktop.domain.errors import ConfigurationError
from desktop.domain.ids import new_id
from desktop.domain.messages import TextBlock
from desktop.domain.threads import MessageRecord
from desktop.services.chats.answer import AgentAnswer
from desktop.services.debates.checks import DebateChecks
from desktop.services.debates.run import DebateRun
from desktop.services.debates.setup import setup_of, to_plain
from desktop.services.debates.state import Debate, load
from desktop.services.delegation.calls import CalledAgent
from desktop.services.turns.endings import Ending
from desktop.services.turns.runtime import Runtime


class CalledDebates:
    """Debates that agents call. Implements ``delegation.calls.TwoSides``: the child's thread becomes a debate, a side
    with the model that its prompt's skill names, else the caller's. The answer is the last finished turn's outcome and
    why it ended."""

    def __init__(self, runtime: Callable[[], Runtime]) -> None:
        self._runtime = runtime

    async def __call__(self, child: CalledAgent) -> AgentAnswer:
        """Raises ConfigurationError before any model is asked when a piece is missing (R-DEF-11)."""
        runtime, thread_id = self._runtime(), child.thread_id
        checks = DebateChecks(runtime)
        asked = setup_of(child.definition, runtime.mask(child.message), "")
        setup = await checks.modelled(asked, child.model)
        wrong = [p for p in await checks.problems(setup) if not p.warning]
        if wrong:
            told = "; ".join(f"{problem.path}: {problem.text}" for problem in wrong)
            raise ConfigurationError(f"{child.definition.shown} cannot run: {told}.", next_step="Correct the agent.")
        if child.begun is None:
            topic = MessageRecord(new_id(), thread_id, None, "user", (TextBlock(setup.topic),), time.time())
            await runtime.store.debates.adopt(setup=to_plain(setup), topic=topic)
        above = child.called_by
        debate = await load(runtime.store, thread_id)
        if child.begun is not None and debate.status == "ended":
            return AgentAnswer(_ending(debate), debate.turns[-1].outcome if debate.turns else "")
        run = DebateRun(runtime, debate, unattended=above.meta.unattended, called_by=above)
        try:
            await run.go()
        finally:
            run.tell_end()
        turns = run.debate.turns
        return AgentAnswer(run.ending, turns[-1].outcome if turns else "")


def _ending(debate: Debate) -> Ending:
    """The ending of a debate that was over when the process died, before its caller had heard."""
    return Ending(debate.end_reason or "response", debate.end_detail)  # type: ignore[arg-type]  # it was one
