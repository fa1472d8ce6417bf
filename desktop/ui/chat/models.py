"""The view-models of the Chats page, as one bundle that ``app`` wires."""

from __future__ import annotations

from collections.abc import Sequence

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.changes.panel import ChangesViewModel
from desktop.presenter.chat.agent_choices import EffortViewModel, ToolModesViewModel
from desktop.presenter.chat.attaching import AttachingViewModel
from desktop.presenter.chat.context import ContextViewModel
from desktop.presenter.chat.edge import EdgeViewModel
from desktop.presenter.chat.from_servers import FromServers
from desktop.presenter.chat.offers import OffersViewModel
from desktop.presenter.chat.other_agent import OtherAgentViewModel
from desktop.presenter.chat.page import ChatViewModel
from desktop.presenter.chat.thread_variables import ThreadVariables
from desktop.presenter.chat.threads import ThreadsViewModel
from desktop.presenter.documents.viewer import DocumentViewModel
from desktop.presenter.fences.shown import FencesViewModel
from desktop.presenter.projects.page import ProjectsViewModel
from desktop.presenter.results.models import ResultModels
from desktop.presenter.run_panel.panel import RunTreeViewModel
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.presenter.shell.window import ShellViewModel
from desktop.presenter.trace.panel import TraceViewModel


@dataclass(frozen=True, slots=True)
class ChatModels:
    """The view-models of the Chats page."""

    chat: ChatViewModel
    """The open chat."""
    threads: ThreadsViewModel
    """The list of threads."""
    approvals: ApprovalsViewModel
    """The requests that wait."""
    shell: ShellViewModel
    """The window."""
    setup: ModelSetupViewModel
    """Models, connections and keys."""
    offers: OffersViewModel
    """What the composer's pickers offer."""
    servers: FromServers
    """What MCP servers give to a message."""
    attaching: AttachingViewModel
    """Reads what is attached to a message."""
    agents: Sequence[tuple[str, str]]
    """(name, title) of every agent that can be chosen."""
    trace: TraceViewModel
    """The trace panel."""
    modes: ToolModesViewModel
    """How each agent calls its tools."""
    effort: EffortViewModel
    """How much the model of each agent thinks."""
    context: ContextViewModel
    """The context of the open thread."""
    run_tree: RunTreeViewModel
    """The Run panel."""
    document: DocumentViewModel
    """The document beside the open chat."""
    results: ResultModels
    """The results of the open chat."""
    changes: ChangesViewModel
    """What was changed in the thread."""
    variables: ThreadVariables
    """The variables of a thread."""
    edge: EdgeViewModel
    """In which mode the open chat works."""
    projects: ProjectsViewModel
    """The folder that the open chat works in."""
    other: OtherAgentViewModel
    """What is shown of an agent of another maker."""
    fences: FencesViewModel | None = None
    """The colours of code; without it code keeps those that it has while it is written."""
