"""From the first paint to a working app: settings, services, view-models, pages; and what each part does at the end."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from desktop.app.desktop.lazy_notifications import LazyNotes
from desktop.app.home.folder import Home
from desktop.app.home.window_state import WindowState
from desktop.app.lifecycle.composition import App, Hooks, not_yet
from desktop.domain.errors import HomeNotWritable, KnownError, StoreError
from desktop.domain.loading.lazy import lazy_module, load
from desktop.domain.models import ModelRef
from desktop.presenter.approvals.activity_words import BROKEN
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.shell.window import ShellViewModel
from desktop.systems import current
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.theme import Theme, icons

if TYPE_CHECKING:
    from desktop import settings as settings_room
    from desktop.app.desktop import reduced_motion
    from desktop.app.door.host import Rooms
    from desktop.app.guests import rooms as guest_rooms
    from desktop.app.home.crash import CrashReport
    from desktop.app.lifecycle import again, closing, database_recovery, exchanged, update_line
    from desktop.app.wiring import pages as page_wiring
    from desktop.app.wiring import runtime, view_models
    from desktop.app.wiring.pages import Pages
    from desktop.app.wiring.services import Services
    from desktop.app.wiring.view_models import ViewModels
    from desktop.domain.approval.audit_chain import ChainReport
    from desktop.settings import Settings, SettingsService
    from desktop.ui.shell import banner
    from desktop.ui.shell import exchanged as exchanged_ui
else:
    settings_room = lazy_module("desktop.settings")
    reduced_motion = lazy_module("desktop.app.desktop.reduced_motion")
    again = lazy_module("desktop.app.lifecycle.again")
    closing = lazy_module("desktop.app.lifecycle.closing")
    database_recovery = lazy_module("desktop.app.lifecycle.database_recovery")
    exchanged = lazy_module("desktop.app.lifecycle.exchanged")
    update_line = lazy_module("desktop.app.lifecycle.update_line")
    guest_rooms = lazy_module("desktop.app.guests.rooms")
    page_wiring = lazy_module("desktop.app.wiring.pages")
    runtime = lazy_module("desktop.app.wiring.runtime")
    view_models = lazy_module("desktop.app.wiring.view_models")
    banner = lazy_module("desktop.ui.shell.banner")
    exchanged_ui = lazy_module("desktop.ui.shell.exchanged")

SCRIPT = "ASSENT_SCRIPT"
"""Environment variable of tests: a script file for the scripted model."""

logger = logging.getLogger(__name__)


class Startup(QObject):
    """The start of the app. ``start`` is awaited once; what it made is ended by the other methods, in the order of
    ``App``."""

    def __init__(
        self,
        home: Home,
        window: MainWindow,
        bridge: Bridge,
        hooks: Hooks,
        theme: Theme,
        shell: ShellViewModel,
        window_state: WindowState,
    ) -> None:
        super().__init__(window)
        self._home, self._window, self._bridge, self._hooks = home, window, bridge, hooks
        self._theme, self._shell, self._window_state = theme, shell, window_state
        self._settings: SettingsService | None = None
        self._services: Services | None = None
        self._models: ViewModels | None = None
        self._pages: Pages | None = None
        self._problems_told = False
        self._link = ""
        shell.on_close = hooks.quit
        bridge.failed.connect(self._failed)
        hooks.crashes.reported.connect(self._crashed)
        hooks.crashes.known.connect(self._failed)

    def app(self) -> App:
        """The steps of the app's life, from its start to its end."""
        return App(
            start=self.start,
            join_world=self.join_world,
            post=self.post,
            rooms=self.rooms,
            follow=self.follow,
            quitting=self.quitting,
            cancel_runs=self.cancel_runs,
            end_children=self.end_children,
            flush=self.flush,
        )

    # -- the start --------------------------------------------------------------------------------------------------

    async def post(self, to: str, text: str) -> None:
        """What ``assent send`` says to a persistent agent. Raises KnownError."""
        if self._services is None:
            await not_yet(to, text)
        else:
            await self._services.inboxes.post(to, text)

    def rooms(self) -> Rooms | None:
        """What there is for programs that come in by the door, once the pages stand."""
        return guest_rooms.rooms(self._services) if self._services is not None and self._pages is not None else None

    def follow(self, link: str) -> bool:
        """Show where a link leads, or keep it until the pages stand: False."""
        stands = self._pages is not None and self._pages.opened
        self._link = "" if stands else link
        if self._pages is not None and stands:
            self._pages.links.follow(link)
        return stands

    async def start(self) -> None:
        """Everything, step by step; each step leaves the loop free."""
        await self._load(settings_room)
        self._settings = settings = settings_room.SettingsService(self._home.path)
        await settings.load()
        settings.subscribe(self._settings_changed)
        self._dress(settings.current)
        self._tell_problems(settings)
        self._shell.set_first_run(not settings.current.models.default)
        await self._load(runtime)
        self._window.say_starting("Opening your chats and skills")
        ahead = self._bridge.spawn(self._load_pages(), name="load the pages")
        services = await self._open(settings)
        if services is None:
            return
        self._services = services
        if self._shell.first_run and await services.store.threads.list_all():
            self._shell.set_first_run(False)  # with an agent that has a model of its own: chats are never hidden
        self._hooks.crashes.redact = services.redactor.redact_text
        await ahead
        self._models = view_models.make_view_models(
            services, self._bridge, self._shell, self._hooks.door, self._restart
        )
        self._pages = page_wiring.Pages(
            self._window, self._shell, self._models, self._theme, self._window_state, services
        )
        unfinished = closing.Closing(
            self._window, self._shell, lambda: len({*services.chats.running(), *services.debates.running()})
        )
        self._models.board.state_changed.connect(unfinished.runs_changed)
        await self._pages.open()
        if self._link:
            self.follow(self._link)

    async def join_world(self) -> None:
        """Processes, servers, jobs, the desktop, the keyring: what the pages stand without. Nothing where the start did
        not come to its end."""
        services, pages, models = self._services, self._pages, self._models
        if services is None or pages is None or models is None:
            return
        await self._join_desktop()
        for module in (exchanged, banner, exchanged_ui, again):  # what tells of an exchange, and starts what is there
            await self._load(module)  # then, cannot be read any more when it has come
        await asyncio.to_thread(icons.read_all)
        exchange = exchanged.Exchange(self._hooks.crashes.own_files, self)
        exchange.happened.connect(self._exchanged)
        services.child.start()
        services.owner.spawn(services.models.catalogue.prewarm(), "model host: what requests need")
        services.mcp.begin()
        services.owner.spawn(services.local_servers.begin(), "model servers: those that start with the app")
        services.owner.spawn(services.jobs.keep(), "jobs: keep to the clock")
        await self._load(update_line)
        update_line.tell_of_updates(models, self._shell, self._window)
        services.owner.spawn(models.update_service.keep(), "updates: look once a day")
        models.setup.look()
        models.starts.look()
        self._bridge.spawn(pages.find_confinement(), name="find out what confines commands")
        self._bridge.spawn(services.tool_secrets.learn(), name="learn tools' secrets")
        models.approvals.activity.checked.connect(self._log_checked)
        models.approvals.activity.check()
        await pages.load_chats()

    def _exchanged(self, error: KnownError) -> None:
        self._window.add_strip(exchanged_ui.exchanged_strip(error, self._restart))

    def _restart(self) -> None:
        """The person wants another version now; what is not saved is asked about as at any end."""
        self._hooks.start_again()
        self._shell.close_requested()

    async def _load_pages(self) -> None:
        """Load the code of pages while files and the database are waited for."""
        for module in (view_models, page_wiring, closing):
            await self._load(module)
        await self._load(page_wiring.code_of_first(self._window, self._shell))

    def _log_checked(self, report: ChainReport) -> None:
        """The activity log is followed at each start; what is wrong with it is told wherever the person is."""
        if report.damaged:
            self._shell.banner.emit("failed", BROKEN)

    async def _join_desktop(self) -> None:
        """Less motion where the desktop asks for it, and its notifications; only Linux has a bus to ask."""
        if current.LINUX:
            self._window.notifier.speak_through(LazyNotes(self._bridge, self))
            await self._load(reduced_motion)
            motion = reduced_motion.SystemReducedMotion(self._bridge, self)
            motion.changed.connect(self._theme.set_system_less_motion)
            motion.start()

    async def _load(self, module: ModuleType) -> None:
        """Import in a thread: a room's first import takes tens of milliseconds."""
        await self._bridge.in_thread(load, module)

    async def _open(self, settings: SettingsService) -> Services | None:
        """The services, or None when the database cannot be used and the person chose to quit."""
        script = os.environ.get(SCRIPT, "")
        while True:
            try:
                services = await runtime.build_services(
                    self._home.path,
                    settings,
                    self._bridge,
                    windows=self._window_of,
                    priced=self._priced,
                    script=Path(script) if script else None,
                    own_files=self._hooks.crashes.own_files,
                )
            except (StoreError, HomeNotWritable) as error:
                logger.error("the database cannot be used: %s", error.code)
                await self._load(database_recovery)
                if not await database_recovery.ask(self._window, self._home, error):
                    self._hooks.quit()
                    return None
            else:
                return services

    def _window_of(self, ref: ModelRef) -> int | None:
        window: int | None = self._models.setup.describe(str(ref))[1] if self._models is not None else None
        return window

    def _priced(self, ref: ModelRef) -> bool:
        return self._models is None or bool(self._models.setup.priced(str(ref)))

    # -- settings and failures ----------------------------------------------------------------------------------------

    def _settings_changed(self, settings: Settings, _keys: frozenset[str]) -> None:
        self._dress(settings)
        if self._settings is not None:
            self._tell_problems(self._settings)

    def _tell_problems(self, settings: SettingsService) -> None:
        """Name the first mistake of config.yaml over the page; the settings pages show all of them."""
        errors = [problem for problem in settings.problems if problem.severity == "error"]
        if errors:
            more = f" ({len(errors) - 1} more in Settings.)" if len(errors) > 1 else ""
            self._shell.banner.emit("ask", f"{errors[0]}{more} The last good values stay in force.")
        elif self._problems_told:
            self._shell.banner.emit("", "")
        self._problems_told = bool(errors)

    def _dress(self, settings: Settings) -> None:
        look = settings.appearance
        if look.theme != self._theme.choice:
            self._theme.set_choice(look.theme)
        if abs(look.text_scale - self._theme.scale) > 0.001:
            self._theme.set_scale(look.text_scale)
        self._theme.set_motion({"on": "less", "off": "full"}.get(look.reduce_motion, "system"))
        self._window_state.put("theme", look.theme)
        self._window_state.put("scale", look.text_scale)

    def _failed(self, error: Exception) -> None:
        """A task of the window failed: in words, with the next step, and a report where it is our fault."""
        if isinstance(error, KnownError):
            self._shell.banner.emit("failed", error.advice)

    def _crashed(self, report: CrashReport) -> None:
        """Show that something failed that is our fault, with a report that the person can copy."""
        self._shell.error.emit(
            "Something in Assent went wrong",
            "What you wrote and what agents answered is kept. You can go on; if it happens again, restart Assent.",
            report.text,
        )

    # -- the end ------------------------------------------------------------------------------------------------------

    def quitting(self) -> None:
        """Say what still runs."""
        running = len(self._models.board.running_threads) if self._models is not None else 0
        if running:
            runs = "A run is" if running == 1 else f"{running} runs are"
            self._shell.quitting.emit(f"{runs} still going: stopping, and there again at the next start.")
        if self._pages is not None:
            self._pages.keep()

    async def cancel_runs(self) -> None:
        """Runs end as interrupted, so that the next start can offer to go on."""
        if self._services is not None:
            await self._services.debates.close()
            await self._services.chats.close()

    async def end_children(self) -> None:
        """End the model host and the other child processes."""
        if self._services is not None:
            await self._services.stop_children()

    async def flush(self) -> None:
        """What is typed and not sent, the database and the keyring."""
        if self._services is None:
            return
        try:
            if self._models is not None:
                await self._models.chat.drafts.flush()
        except KnownError as error:
            logger.warning("the last draft could not be stored: %s", error.code)
        await self._services.close()
