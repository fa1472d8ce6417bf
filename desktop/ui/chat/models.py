"""The view-models of the Chats page, as one bundle that ``app`` wires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from desktop.presenter.approvals import ApprovalsViewModel
from desktop.presenter.attaching import AttachingViewModel
from desktop.presenter.chat import ChatViewModel
from desktop.presenter.context import ContextViewModel
from desktop.presenter.model_setup import ModelSetupViewModel
from desktop.presenter.offers import OffersViewModel
from desktop.presenter.run_tree import RunTreeViewModel
from desktop.presenter.shell import ShellViewModel
from desktop.presenter.thread_variables import ThreadVariables
from desktop.presenter.threads import ThreadsViewModel
from desktop.presenter.tool_modes import ToolModesViewModel
from desktop.presenter.trace import TraceViewModel


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
