"""The pages joined to their view-models, commands to what they do, and requests to the person."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from desktop.app.desktop.font_notes import name_fonts
from desktop.app.desktop.links import LinkPlaces, Links
from desktop.app.desktop.text_zoom import TextZoom
from desktop.app.home.debate_drafts import DebateDrafts
from desktop.app.home.window_state import WindowState
from desktop.app.wiring.debate_pages import DebatePages
from desktop.app.wiring.help.ways import HelpWays
from desktop.app.wiring.lazy_request import LazyAsking, LazyRequest, warm_with_first_run
from desktop.app.wiring.services import Services
from desktop.app.wiring.settings_pages import SETTINGS_PAGES, SettingsModels
from desktop.app.wiring.view_models import ViewModels
from desktop.domain.loading.lazy import lazy_module, load
from desktop.presenter.approvals.call_words import waits_words
from desktop.presenter.mcp.questions import ServerQuestionsViewModel
from desktop.presenter.settings.confinement import ConfinementViewModel
from desktop.presenter.settings.pages import APPROVALS, MODELS, settings_rows
from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.chat.models import ChatModels
from desktop.ui.shell.main_window import FIRST_RUN, MainWindow, PageFactory
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.ui.approvals import page as approvals_page
    from desktop.ui.chat import page as chat_page
    from desktop.ui.chat.page import ChatPage, ChatParts
    from desktop.ui.debates import page as debates_page
    from desktop.ui.first_run import page as first_run_page
    from desktop.ui.first_run.page import FirstRunParts
    from desktop.ui.schedules import page as schedules_page
    from desktop.ui.settings import page as settings_page
    from desktop.ui.skills import page as skills_page
else:
    approvals_page = lazy_module("desktop.ui.approvals.page")
    chat_page = lazy_module("desktop.ui.chat.page")
    debates_page = lazy_module("desktop.ui.debates.page")
    first_run_page = lazy_module("desktop.ui.first_run.page")
    schedules_page = lazy_module("desktop.ui.schedules.page")
    settings_page = lazy_module("desktop.ui.settings.page")
    skills_page = lazy_module("desktop.ui.skills.page")

OPEN_THREAD = "chat.thread"
NEW_AGENT = "chat.new_agent"
THREADS_SHOWN = ("chats", "debates")
"""Pages that show themselves which of their threads wait for an answer."""
BESIDE = {"trace": "chat.trace", "agents": "chat.agents", "changes": "chat.changes"}
"""What stands beside the thread, and under which name that is remembered."""
ON_CHATS = {
    "new-chat": "new_chat",
    "search-threads": "search_threads",
    "choose-project": "choose_project",
    "choose-model": "pane.foot.choose_model",
    "tool-mode": "pane.foot.choose_tool_mode",
    "effort": "pane.foot.choose_effort",
    "trace": "toggle_trace",
    "changes": "toggle_changes",
    "undo": "undo",
}
"""Commands that are something which the Chats page or a part of it does."""
NOTIFY = "notifications.desktop"
_FIRST_MODULES: dict[str, ModuleType] = {
    FIRST_RUN: first_run_page,
    "chats": chat_page,
    "debates": debates_page,
    "skills": skills_page,
    "approvals": approvals_page,
    "schedules": schedules_page,
    "settings": settings_page,
}
"""By page the code of what a start may show."""


def code_of_first(window: MainWindow, shell: ShellViewModel) -> ModuleType:
    """The code of the page that the start shows."""
    return _FIRST_MODULES[window.key_of(shell.page, _FIRST_MODULES)]


class Pages(QObject):
    """Made once, after the services are open; goes with its window."""

    def __init__(
        self,
        window: MainWindow,
        shell: ShellViewModel,
        models: ViewModels,
        theme: Theme,
        window_state: WindowState,
        services: Services,
    ) -> None:
        super().__init__(window)
        self._window, self._shell, self._models = window, shell, models
        self._theme, self._window_state, self._services = theme, window_state, services
        self._chat: ChatPage | None = None
        self._chat_parts: ChatParts | None = None
        self._first_run_parts: FirstRunParts | None = None
        self._dialog: LazyRequest | None = None
        self._skills: skills_page.SkillsPage | None = None
        self._approvals: approvals_page.ApprovalsPage | None = None
        self._schedules: schedules_page.SchedulesPage | None = None
        self._confinement = ConfinementViewModel(parent=self)
        self._opened = False
        drafts = DebateDrafts(services.home / "data", services.redactor.mask_data)
        self._debates = DebatePages(window, shell, models, self._title_of, self.show_inbox, window_state, drafts)
        self.asking = LazyAsking(
            window, ServerQuestionsViewModel(services.mcp.questions, self, models.approvals.titles)
        )
        settings, help = partial(self._show, "settings", "show_settings"), partial(_help, shell)
        places = LinkPlaces(shell.go, settings, help, self._thread_ids, self._open_thread)
        self.links = Links(window, models.bridge, SETTINGS_PAGES, places)
        self.help = HelpWays(window, shell, models, window_state)
        self._commands()
        self._connect()

    @property
    def opened(self) -> bool:
        """Whether the pages stand."""
        return self._opened

    @property
    def chat(self) -> ChatPage:
        """The Chats page, built when first needed."""
        if self._chat is None:
            m, bundle = self._models, _chat_models(self._models, self._shell)
            made = self._chat = _chat_page(bundle, self._window_state, self._chat_parts)
            self._dialog = LazyRequest(made.pane, m, self._title_of, made.pane.foot, made.pane.conversation)
            self._dialog.open_inbox.connect(self.show_inbox)
            m.chat.opened.connect(self._dialog.show_for)
            self._dialog.show_for(m.chat.thread_id)
            self._chat.request_wanted.connect(self._dialog.reopen)
            self._chat.inbox_wanted.connect(self.show_inbox)
            beside = (name for name, key in BESIDE.items() if self._window_state.values.get(key) is True)
            self._chat.show_side(next(beside, ""))
            self._chat.side_changed.connect(self._remember_side)
            self._chat.activity_wanted.connect(self._show_activity)
            self._chat.debate_wanted.connect(self._debates.open)
            self._chat.thread_wanted.connect(self._open_thread)
            self._chat.job_wanted.connect(partial(self._show, "schedules", "open_job"))
            if self._opened:
                # The thread was opened while another page stood here: say it again to the page that now listens.
                m.chat.open_thread(m.chat.thread_id)
        return self._chat

    def _remember_side(self, shown: str) -> None:
        for name, key in BESIDE.items():
            self._window_state.put(key, shown == name)

    async def open(self) -> None:
        """Put the pages in, show what was open, read the list of threads."""
        m = self._models
        demo = str(self._services.home / "workspace" / "demo")
        pages: dict[str, PageFactory] = {
            FIRST_RUN: lambda: first_run_page.FirstRunPage(m.setup, m.starts, demo, parts=self._first_run_parts),
            "chats": lambda: self.chat,
            "debates": self._debates.page,
            "skills": self._skills_page,
            "approvals": self._approvals_page,
            "schedules": self._schedules_page,
            "settings": lambda: _settings_page(m, self._confinement, self._shell),
        }
        await self._build_first(pages)
        self._window.install(pages)
        m.chat.set_model(m.setup.default_model)
        m.threads.refresh()
        last = await self._last_thread()
        m.chat.open_thread(last)
        self._opened = True
        _keep_agent_of_new_chat(m, self._services, self._window_state, last)
        self.help.tell_news()
        close = self._shell.on_close
        if close is not None:
            self._shell.on_close = lambda: self._leave(close)

    async def load_chats(self) -> None:
        """The code of the Chats page, where the start showed another one."""
        await asyncio.to_thread(load, chat_page)

    async def find_confinement(self) -> None:
        """For the settings; it starts processes, so it comes after what a person waits for."""
        self._confinement.tell(await self._services.confinement_report())

    async def _build_first(self, pages: dict[str, PageFactory]) -> None:
        """The page that the start shows: loaded in a thread, made, and put into the window, each in a turn of its own,
        so that the window is not held up by all of it at once."""
        shown = self._window.key_of(self._shell.page, pages)
        await asyncio.to_thread(load, _FIRST_MODULES[shown])
        parts = self._parts_of(shown)
        for _ in parts.made_in_turns() if parts is not None else ():
            await asyncio.sleep(0)
        made = pages[shown]()
        await asyncio.sleep(0)
        for _ in self._window.prepare(made):
            await asyncio.sleep(0)
        pages[shown] = lambda: made

    def _parts_of(self, shown: str) -> ChatParts | FirstRunParts | None:
        """The page's parts, which it is made of then."""
        if shown == "chats":
            self._chat_parts = chat_page.ChatParts(self._models.threads)
            return self._chat_parts
        if shown == FIRST_RUN:
            self._first_run_parts = first_run_page.FirstRunParts(self._models.setup, self._models.starts)
            return self._first_run_parts
        return None

    def _skills_page(self) -> QWidget:
        made = self._skills = skills_page.SkillsPage(self._models.skills, self._models.setup)
        made.model_wanted.connect(self._open_models)
        made.approvals_wanted.connect(lambda: self._shell.go("approvals"))
        return made

    def _approvals_page(self) -> QWidget:
        m = self._models
        self._approvals = approvals_page.ApprovalsPage(m.approvals, m.rules, self._title_of)
        return self._approvals

    def _schedules_page(self) -> QWidget:
        m = self._models
        made = self._schedules = schedules_page.SchedulesPage(m.jobs, lambda: m.agents, m.setup)
        made.settings_wanted.connect(lambda: self._show_settings(APPROVALS))
        m.jobs.thread_wanted.connect(self._open_thread)
        return made

    def _leave(self, quit_now: Callable[[], None], asked: int = 0) -> None:
        """The person closes the window: a skill, a rule or a job that is not saved comes first."""
        could_lose: tuple[tuple[str, Any, bool], ...] = (
            ("skills", self._skills, self._skills is not None and self._models.skills.editor.dirty),
            ("approvals", self._approvals, self._approvals is not None and self._approvals.unsaved),
            ("schedules", self._schedules, self._schedules is not None and self._models.jobs.dirty),
        )
        for at, (name, made, unsaved) in enumerate(could_lose):
            if at >= asked and made is not None and unsaved:
                self._shell.go(name)
                made.leaving(partial(self._leave, quit_now, at + 1))
                return
        quit_now()

    def _title_of(self, thread_id: str) -> str:
        debate = self._models.debates.debates.rows.get(thread_id)
        if debate is not None:
            return debate.title
        return next((t.title for t in self._models.threads.threads if t.thread_id == thread_id), "") or "New chat"

    async def _last_thread(self) -> str:
        wanted = self._window_state.text(OPEN_THREAD, "")
        return wanted if wanted in await self._thread_ids() else ""

    async def _thread_ids(self) -> set[str]:
        return {thread.thread_id for thread in await self._services.chats.threads()}

    def keep(self) -> None:
        """Prepare for the end: keep the draft that is being typed, and begin nothing any more."""
        QGuiApplication.instance().applicationStateChanged.disconnect(self._state_changed)  # type: ignore[union-attr]
        if self._chat is not None:
            self._chat.pane.foot.keep_draft()

    # -- commands -----------------------------------------------------------------------------------------------------

    def _commands(self) -> None:
        shell, m = self._shell, self._models

        def on_chats(act: str) -> None:
            shell.go("chats")
            attrgetter(act)(self.chat)()

        shell.add_source(lambda: settings_rows(SETTINGS_PAGES, m.settings.schema()))
        for command, act in ON_CHATS.items():
            shell.handle(command, partial(_ignoring, partial(on_chats, act)))
        shell.handle("chat-with", lambda agent: _chat_with(agent, on_chats, m, shell))
        shell.handle("find", lambda _: self._find(on_chats))
        shell.handle("agents", lambda _: self._debates.toggle_agents(lambda: on_chats("toggle_agents")))
        shell.handle("new-job", lambda _: self._new_job())
        shell.handle("new-skill", lambda _: self._on_skills(lambda page: page.new()))
        shell.handle("project-offers", lambda at: self._on_skills(lambda page: page.add_repository(f"project:{at}")))
        shell.handle("new-agent", lambda _: self._new_on_page("Agents", m.agents_editor.create))
        shell.handle("new-tool", lambda _: self._new_on_page("CLI tools", m.cli.add))
        shell.handle("open-models", lambda _: self._open_models())
        shell.handle("settings", self._show_settings)
        shell.handle("rules", lambda _: self._show_rules(new=False))
        shell.handle("new-rule", lambda _: self._show_rules(new=True))
        shell.handle("thread", self._open_thread)
        shell.handle("model", m.chat.set_model)
        shell.handle("theme", lambda choice: m.settings.set("appearance.theme", choice))
        shell.handle("text", TextZoom(m.settings, self).press)

    def _new_job(self) -> None:
        self._shell.go("schedules")
        if self._schedules is not None:
            self._schedules.new_job()

    def _on_skills(self, act: Callable[[skills_page.SkillsPage], None]) -> None:
        self._shell.go("skills")
        if self._skills is not None:
            act(self._skills)

    def _new_on_page(self, page: str, make: Callable[[], None]) -> None:
        """On a page of the settings, which is made first."""
        self._show_settings(page)
        make()

    def _find(self, on_chats: Callable[[str], None]) -> None:
        """In the skills, rules or activity while they are shown, else in the open thread."""
        if self._shell.page in ("skills", "approvals", "debates"):
            self._window.page(self._shell.page).begin_find()  # type: ignore[attr-defined]  # its module is loaded late
        else:
            on_chats("begin_find")

    def _show_rules(self, *, new: bool) -> None:
        self._shell.go("approvals")
        self._window.page("approvals").show_rules(new=new)  # type: ignore[attr-defined]  # its module is loaded late

    def _show_activity(self, thread_id: str, tool: str) -> None:
        """The calls of a tool in a thread, in the activity log."""
        self._models.approvals.activity.choose(
            text="", decision="", category="", by="", days="", thread_id=thread_id, tool=tool
        )
        self._show("approvals", "show_tab", "activity")

    def _open_thread(self, thread_id: str) -> None:
        if self._debates.is_debate(thread_id):
            self._debates.open(thread_id)
            return
        self._shell.go("chats")
        self.chat.open(thread_id)

    def _open_call(self, thread_id: str, call_id: str) -> None:
        if self._debates.open_call(thread_id, call_id):
            return
        self._shell.go("chats")
        self.chat.open_call(thread_id, call_id)

    # -- what comes from the view-models ------------------------------------------------------------------------------

    def _connect(self) -> None:
        m = self._models
        m.chat.opened.connect(lambda thread_id: self._window_state.put(OPEN_THREAD, thread_id))
        m.setup.chosen.connect(self._model_chosen)
        m.setup.changed.connect(lambda: m.chat.meters_changed.emit(m.chat.meters))
        QGuiApplication.instance().applicationStateChanged.connect(self._state_changed)  # type: ignore[union-attr]
        m.approvals.refused.connect(self._window.show_toast)
        m.rules.rules.told.connect(self._window.show_toast)
        m.approvals.activity.thread_wanted.connect(self._open_call)
        m.settings.refused.connect(partial(_setting_refused, self._window, self._shell))
        pending = partial(_pending, self._window, self._shell, m)
        m.approvals.changed.connect(pending)
        self._shell.page_changed.connect(lambda page: _page_changed(page, self._window, self._shell, m))
        self._window.request_wanted.connect(self.show_inbox)
        warm_with_first_run(m.board, self._services.owner)
        m.settings.changed.connect(lambda key: pending() if key == NOTIFY else None)

    def _state_changed(self, state: Qt.ApplicationState) -> None:
        """Back from an editor, perhaps: take over what no notification told of, as on a network folder."""
        if state is Qt.ApplicationState.ApplicationActive:
            self._models.settings.look_at_file()
            for tools in (self._services.cli, self._services.mcp):
                self._services.owner.spawn(asyncio.to_thread(tools.reload_if_changed), "look at tools' files")

    def _model_chosen(self, ref: str) -> None:
        """The model of new chats; only the first page is left for the chats by it."""
        self._models.chat.set_model_of_new_chats(ref)
        if self._shell.first_run:
            self._shell.set_first_run(False)
            self._shell.go("chats")

    def show_inbox(self, request_id: str) -> None:
        """Show the whole list of requests, at this one."""
        self._show("approvals", "open_request", request_id)

    def _show(self, page_name: str, act: str, value: str) -> None:
        self._shell.go(page_name)
        show = getattr(self._window.page(page_name), act, None)
        if callable(show):
            show(value)

    def _open_models(self) -> None:
        self._show_settings(MODELS)

    def _show_settings(self, name: str) -> None:
        self._show("settings", "open_settings", name)


def _keep_agent_of_new_chat(m: ViewModels, services: Services, state: WindowState, last: str) -> None:
    """A new chat that was not sent keeps the agent that was chosen for it, where that one is still here."""
    chat, chosen = m.chat, state.text(NEW_AGENT, "")

    async def work() -> None:
        if chosen and not last:
            await services.others.agents.opened()
            if any(name == chosen for name, _ in m.agents) and not chat.thread_id:
                chat.set_agent(chosen)
        chat.meters_changed.connect(lambda _: state.put(NEW_AGENT, "" if chat.thread_id else chat.meters.agent))

    services.owner.spawn(work(), "the agent of a chat that was not sent")


def _page_changed(page: str, window: MainWindow, shell: ShellViewModel, m: ViewModels) -> None:
    _say_what_waits(window, shell, m)
    if page == "approvals" and m.approvals.pending_count:
        window.page(page).show_tab("waiting")  # type: ignore[attr-defined]  # its module is loaded late


def _setting_refused(window: MainWindow, shell: ShellViewModel, _key: str, why: str) -> None:
    """The settings pages say it beside the setting; a shortcut or the palette has no such place."""
    if shell.page != "settings":
        window.show_toast(why)


def _pending(window: MainWindow, shell: ShellViewModel, m: ViewModels) -> None:
    """How many requests wait has changed, or whether the desktop may be told of it."""
    window.set_pending(m.approvals.pending_count, notify=bool(m.settings.get(NOTIFY)))
    _say_what_waits(window, shell, m)


def _say_what_waits(window: MainWindow, shell: ShellViewModel, m: ViewModels) -> None:
    """On a page that does not show the oldest request, that it waits, and who asks."""
    page = "" if shell.first_run else shell.page
    unseen = (one for one in m.approvals.requests if page not in THREADS_SHOWN or not one.seen_in)
    request = next(unseen, None) if page != "approvals" else None
    words = waits_words(request, m.approvals.titles) if request is not None else ""
    window.show_asked(request.request_id if request is not None else "", words)


def _help(shell: ShellViewModel, page: str) -> None:
    shell.run_command(f"help:{page}")


def _ignoring(act: Callable[[], None], _argument: str) -> None:
    act()


def _settings_page(m: ViewModels, confinement: ConfinementViewModel, shell: ShellViewModel) -> QWidget:
    models = SettingsModels(m, confinement)
    made = settings_page.SettingsPage(m.settings, SETTINGS_PAGES, models)
    made.approvals_wanted.connect(lambda: shell.go("approvals"))
    made.chat_wanted.connect(lambda agent: shell.run_command(f"chat-with:{agent}"))
    made.command_wanted.connect(shell.run_command)
    return made


def _chat_with(agent: str, on_chats: Callable[[str], None], models: ViewModels, shell: ShellViewModel) -> None:
    """A new chat with the agent of this name, which has a model of its own: nobody has to choose one first."""
    shell.set_first_run(False)
    on_chats("new_chat")
    models.chat.set_agent(agent)


def _chat_models(m: ViewModels, shell: ShellViewModel) -> ChatModels:
    return ChatModels(
        chat=m.chat,
        threads=m.threads,
        approvals=m.approvals,
        shell=shell,
        setup=m.setup,
        offers=m.offers,
        servers=m.servers,
        attaching=m.attaching,
        document=m.document,
        fences=m.fences,
        results=m.results,
        agents=m.agents,
        trace=m.trace,
        modes=m.modes,
        effort=m.effort,
        context=m.context,
        run_tree=m.run_tree,
        changes=m.changes,
        variables=m.variables,
        projects=m.projects,
        edge=m.edge,
        other=m.other,
    )


def _chat_page(models: ChatModels, window_state: WindowState, parts: ChatParts | None) -> ChatPage:
    """The page, which says once what no font here draws."""
    made = chat_page.ChatPage(models, parts=parts)
    name_fonts((models.chat,), made.toast.say, window_state, made)
    return made
