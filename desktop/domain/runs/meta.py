"""What travels with every call of a run: its ids, its token, its budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from desktop.domain.files.work_place import WorkPlace
from desktop.domain.ids import AgentId, short_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.supervision import Supervision

if TYPE_CHECKING:
    from desktop.domain.jobs import Unattended
    from desktop.domain.runs.uncertain_calls import UncertainCalls


@dataclass(frozen=True, slots=True)
class RunMeta:
    """What is known about a run wherever a call goes; passed explicitly, never global (R-CAN-7)."""

    run_id: str
    """The run."""
    cancellation: CancellationToken
    """Its token."""
    thread_id: str = ""
    """The thread that the agent writes in."""
    supervision: Supervision | None = None
    """The agent's node; None: nobody supervises."""
    deadline: float | None = None
    """When it has to be over, by the monotonic clock."""
    trace_id: str = field(default_factory=short_id)
    """Names this span in traces and logs."""
    tenant_id: str | None = None
    """Reserved for hosts with several persons."""
    unattended: Unattended | None = None
    """The permission of a run in which nobody can be asked; None: a person is there (R-CRON-1)."""
    above: tuple[str, ...] = ()
    """The threads of the agents that this one works for, the person's own first; empty where nobody called."""
    node: str = ""
    """The place in the run tree of the agent whose calls these are; "" for the one whose thread it is."""
    call: str = ""
    """The name, in the run's log, of the call that all this happens inside of (runs/call_keys.py); "" outside."""
    uncertain: UncertainCalls | None = None
    """Calls that are not made unasked."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of the agent's thread (D-6)."""
    project: str = ""
    """The folder that the person's thread works in, for everyone who works for it; "": the app's own workspace."""

    @property
    def work_place(self) -> WorkPlace:
        """Where calls are made from here."""
        return WorkPlace(self.project, self.environment, self.thread_id)

    def span(self, call: str = "") -> RunMeta:
        """The metadata of a child span: same run, child token, new trace id (R-CAN-8); ``call``, if given, is the call
        it runs in."""
        return replace(self, cancellation=self.cancellation.child(), trace_id=short_id(), call=call or self.call)

    def place(self) -> Supervision:
        """Where whoever makes the calls stands in the tree of the run."""
        agent_id = AgentId("run", self.thread_id)
        return self.supervision or Supervision.root(agent_id, run_id=self.run_id, session_id=self.thread_id)

    def called(self, thread_id: str, cancellation: CancellationToken, supervision: Supervision) -> RunMeta:
        """The metadata of an agent that is called from here and works in ``thread_id``: the same run, permission and
        project; rules that bind the caller's thread bind it, too."""
        above = (*self.above, self.thread_id) if self.thread_id else self.above
        return replace(
            self,
            thread_id=thread_id,
            cancellation=cancellation,
            supervision=supervision,
            above=above,
            node="",
            call="",
            environment={},
        )
