"""The Debates page joined to its view-models, its requests to the person, its commands to what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from desktop.app.desktop.font_notes import name_fonts
from desktop.app.home.debate_drafts import DebateDrafts
from desktop.app.home.window_state import WindowState
from desktop.app.wiring.lazy_request import LazyRequest
from desktop.app.wiring.view_models import ViewModels
from desktop.domain.loading.lazy import lazy_module
from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from desktop.ui.chat import project_dialog
    from desktop.ui.debates import page as debates_page
else:
    project_dialog = lazy_module("desktop.ui.chat.project_dialog")
    debates_page = lazy_module("desktop.ui.debates.page")

OPEN_DEBATE = "debates.thread"
AGENTS_BESIDE = "debates.agents"


class DebatePages:
    """``thread_title`` names a thread that is no debate; ``show_inbox`` opens the list of requests."""

    def __init__(
        self,
        window: MainWindow,
        shell: ShellViewModel,
        models: ViewModels,
        thread_title: Callable[[str], str],
        show_inbox: Callable[[str], None],
        window_state: WindowState,
        drafts: DebateDrafts,
    ) -> None:
        self._window, self._shell, self._models, self._window_state = window, shell, models, window_state
        self._thread_title, self._show_inbox, self._drafts = thread_title, show_inbox, drafts
        shell.handle("stop", lambda _: self._stop())
        shell.handle("export", self._export)
        shell.handle("new-debate", lambda _: self._act("new_debate"))
        shell.handle("debate-agent", lambda name: self._act("begin_with", name))
        models.agents_editor.debate_wanted.connect(lambda name: self._act("begin_with", name))
        shell.handle("debate", lambda thread_id: self._act("open", thread_id))
        shell.handle("debate-act", lambda name: self._act("act", name))

    def _choose_folder(self, page: QWidget) -> None:
        """Let the person choose the folder that both sides work in, or none."""
        projects = self._models.debate_folder
        dialog = project_dialog.ProjectDialog(page.window(), projects)
        dialog.chosen.connect(projects.use)
        dialog.look_wanted.connect(lambda path: self._shell.run_command(f"project-offers:{path}"))
        dialog.open()

    def page(self) -> QWidget:
        """The Debates page, built when it is first shown."""
        m = self._models
        made = debates_page.DebatesPage(m.debates)
        dialog = LazyRequest(made.running, m, self.title, made.running.footer, made.running.conversation)
        dialog.open_inbox.connect(self._show_inbox)
        made.opened.connect(dialog.show_for)
        made.setup.folder_wanted.connect(lambda: self._choose_folder(made))
        m.debate_folder.said.connect(made.toast.say)
        self._keep_draft()
        made.restore(self._window_state.text(OPEN_DEBATE, ""))
        made.opened.connect(lambda thread_id: self._window_state.put(OPEN_DEBATE, thread_id))
        made.request_wanted.connect(dialog.reopen)
        made.command_wanted.connect(self._shell.run_command)
        made.inbox_wanted.connect(self._show_inbox)
        made.thread_wanted.connect(lambda thread_id: self._shell.run_command(f"thread:{thread_id}"))
        debates = m.debates.debates
        name_fonts((debates.open, debates.beside), made.toast.say, self._window_state, made)
        made.show_agents(self._window_state.values.get(AGENTS_BESIDE) is True)
        made.agents_shown.connect(lambda shown: self._window_state.put(AGENTS_BESIDE, shown))
        return made

    def toggle_agents(self, elsewhere: Callable[[], None]) -> None:
        """Show or hide the agents of the open debate, if its page is the one that is shown; else call ``elsewhere``."""
        if self._shell.page == "debates":
            self._act("toggle_agents")
        else:
            elsewhere()

    def _keep_draft(self) -> None:
        """Bring back what was set up and not started, and keep it from now on."""
        setup = self._models.debates.setup
        draft = self._drafts.read()
        if draft is not None:
            setup.take(draft)
        setup.settled.connect(self._drafts.keep)
        setup.created.connect(lambda _: self._drafts.drop())

    def title(self, thread_id: str) -> str:
        """The title of a debate or of any other thread."""
        row = self._models.debates.debates.rows.get(thread_id)
        return row.title if row is not None else self._thread_title(thread_id)

    def open_call(self, thread_id: str, call_id: str) -> bool:
        """Show the card of a call, if the thread is a debate."""
        if thread_id not in self._models.debates.debates.rows:
            return False
        self._act("open_call", thread_id, call_id)
        return True

    def is_debate(self, thread_id: str) -> bool:
        """Whether a thread is a debate that is in the list."""
        return thread_id in self._models.debates.debates.rows

    def open(self, thread_id: str, message_id: str = "") -> None:
        """Show a debate, at a message."""
        self._act("open", thread_id, message_id)

    def _act(self, name: str, *arguments: str) -> None:
        self._shell.go("debates")
        getattr(self._window.page("debates"), name)(*arguments)

    def _stop(self) -> None:
        """Stop what is open on the page that is shown: the debate, or the chat."""
        (self._models.debates.debates.stop if self._shell.page == "debates" else self._models.chat.stop)()

    def _export(self, form: str) -> None:
        if self._shell.page == "debates":
            self._act("export", form)
        else:
            self._models.chat.export(form)
