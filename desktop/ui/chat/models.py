"""The view-models of the Chats page, as one bundle that ``app`` wires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.chat.attaching import AttachingViewModel
from desktop.presenter.chat.chat import ChatViewModel
from desktop.presenter.chat.context import ContextViewModel
from desktop.presenter.chat.offers import OffersViewModel
from desktop.presenter.chat.thread_variables import ThreadVariables
from desktop.presenter.chat.threads import ThreadsViewModel
from desktop.presenter.chat.tool_modes import ToolModesViewModel
from desktop.presenter.run_panel.panel import RunTreeViewModel
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.presenter.shell.window import ShellViewModel
from desktop.presenter.trace.panel import TraceViewModel


@dataclass(frozen=True, slots=True)
class ChatModels:
    """``agents`` is (name, title) of every agent that can be chosen."""

    chat: ChatViewModel
    threads: ThreadsViewModel
    approvals: ApprovalsViewModel
    shell: ShellViewModel
    setup: ModelSetupViewModel
    offers: OffersViewModel
    attaching: AttachingViewModel
    agents: Sequence[tuple[str, str]]
    trace: TraceViewModel
    modes: ToolModesViewModel
    context: ContextViewModel
    run_tree: RunTreeViewModel
    variables: ThreadVariables
