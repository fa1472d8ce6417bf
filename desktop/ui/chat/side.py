"""What stands beside the open thread or debate: its trace, its agents, its changes, a document or a result, one at a
time; each is built when first wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.loading.lazy import lazy_module, load
from desktop.presenter.changes.panel import ChangesViewModel
from desktop.presenter.documents.viewer import DocumentViewModel
from desktop.presenter.fences.shown import FencesViewModel
from desktop.presenter.results.viewer import ResultViewModel
from desktop.presenter.run_panel.panel import RunTreeViewModel
from desktop.presenter.trace.panel import TraceViewModel
from desktop.ui.theme import theme
from desktop.ui.transcript.pieces.pooled import Pool

if TYPE_CHECKING:
    from desktop.ui.changes import panel as changes_panel
    from desktop.ui.changes.panel import ChangesPanel
    from desktop.ui.documents import panel as document_panel
    from desktop.ui.documents.panel import DocumentPanel
    from desktop.ui.results import panel as result_panel
    from desktop.ui.results.panel import ResultPanel
    from desktop.ui.run_panel import panel as run_panel
    from desktop.ui.run_panel.panel import RunPanel
    from desktop.ui.trace import panel as trace_panel
    from desktop.ui.trace.panel import TracePanel

    _Panel = TracePanel | RunPanel | ChangesPanel | DocumentPanel | ResultPanel
else:
    changes_panel = lazy_module("desktop.ui.changes.panel")
    document_panel = lazy_module("desktop.ui.documents.panel")
    result_panel = lazy_module("desktop.ui.results.panel")
    run_panel = lazy_module("desktop.ui.run_panel.panel")
    trace_panel = lazy_module("desktop.ui.trace.panel")

BESIDE = 1040
"""Below this width of the window (at 100 %) it lies over the thread."""
WIDTH, ALONE = 400, 384
"""Where there are tabs, and where there are none."""
TRACE, AGENTS, CHANGES, DOCUMENT, RESULT = "trace", "agents", "changes", "document", "result"
_MODULES = {
    TRACE: trace_panel,
    AGENTS: run_panel,
    CHANGES: changes_panel,
    DOCUMENT: document_panel,
    RESULT: result_panel,
}
WIDE, MOST = 560, 0.55
"""The changes, a document and a result, where that is no more than so much of the page."""


class SidePanels(QObject):
    """``changed`` (the name of one, or "") after the person opened or closed one. ``give_back``: who has the
    keys when one is closed. ``trace`` and ``changes`` None: there are only the agents. ``beside``: see ``BESIDE``."""

    changed = Signal(str)
    said = Signal(str)
    card_wanted = Signal(str)
    activity_wanted = Signal(str)
    save_wanted = Signal(str, object)
    link_wanted = Signal(str)
    request_wanted = Signal(object)
    thread_wanted = Signal(str)

    def __init__(
        self,
        page: QWidget,
        trace: TraceViewModel | None,
        agents: RunTreeViewModel,
        give_back: Callable[[], QWidget],
        beside: int = BESIDE,
        changes: ChangesViewModel | None = None,
    ) -> None:
        super().__init__(page)
        self._page, self._give_back, self._beside = page, give_back, beside
        self._pool = Pool(self)
        self._trace_model, self._agents_model, self._changes_model = trace, agents, changes
        self.document_model: DocumentViewModel | None = None
        self.trace: TracePanel | None = None
        self.agents: RunPanel | None = None
        self.changes: ChangesPanel | None = None
        self.document: DocumentPanel | None = None
        self.result_model: ResultViewModel | None = None
        self.fences: FencesViewModel | None = None
        self.result: ResultPanel | None = None

    @property
    def _panels(self) -> dict[str, _Panel | None]:
        return {
            TRACE: self.trace,
            AGENTS: self.agents,
            CHANGES: self.changes,
            DOCUMENT: self.document,
            RESULT: self.result,
        }

    @property
    def shown(self) -> str:
        """The name of the panel that is shown, or ""."""
        return next((name for name, panel in self._panels.items() if panel is not None and not panel.isHidden()), "")

    @property
    def panel(self) -> _Panel | None:
        """The panel that is open beside the thread, or None."""
        return self._panels.get(self.shown)

    @property
    def is_over(self) -> bool:
        """Whether it lies over the thread, for want of room."""
        return self._page.window().width() < theme().px(self._beside)

    @property
    def has_keys(self) -> bool:
        """Whether the keyboard focus is in it."""
        focus, panel = self._page.window().focusWidget(), self.panel
        return focus is not None and panel is not None and panel.isVisible() and panel.isAncestorOf(focus)

    def show(self, name: str, *, keys: bool = False) -> bool:
        """One of them, or "" for none; whether that is something else than before."""
        before, had_keys = self.panel, self.has_keys
        if name == self.shown:
            return False
        panel = self._built(name)
        if panel is not None:
            panel.show()
            panel.raise_()
        if before is not None:
            before.hide()
        if panel is not None and (keys or had_keys):
            panel.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)
        elif keys:
            self._give_back().setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit(name)
        return True

    def bring(self, name: str, wanted: Callable[[], bool]) -> None:
        """Show one that may have to be loaded and built first: each of that takes a turn of the loop, so that none is
        long. ``wanted``: whether it is still to be shown by then."""

        def built(_: object) -> None:
            if wanted():
                self._built(name)
                QTimer.singleShot(0, self, shown)

        def shown() -> None:
            if wanted():
                self.show(name)

        if self._panels.get(name) is not None:
            self.show(name)
        else:
            self._pool.run(lambda: load(_MODULES[name]), built)

    def begin_find(self) -> bool:
        """Find in what has the keys; False: they are elsewhere, or nothing can be found there."""
        panel = {TRACE: self.trace, DOCUMENT: self.document}.get(self.shown) if self.has_keys else None
        if panel is not None:
            panel.begin_find()
        return panel is not None

    def toggle(self, name: str) -> None:
        """Show it, with the keys in it; or nothing, if it shows."""
        self.show("" if self.shown == name else name, keys=True)

    def place(self, foot: QWidget) -> int:
        """Put the one that shows at the right of the page; over the thread it ends above ``foot``, never over Send and
        Stop. How much room it wants beside the thread."""
        panel, page = self.panel, self._page
        if panel is None:
            return 0
        side, over = min(self._wanted(), page.width()), self.is_over
        free = foot.mapTo(page, QPoint()).y() if over and foot.isVisibleTo(page) else page.height()
        panel.setGeometry(page.width() - side, 0, side, free)
        panel.raise_()
        return 0 if over else side

    # -- inside -------------------------------------------------------------------------------------------------------

    def _wanted(self) -> int:
        """How wide the one that shows is."""
        usual = theme().px(ALONE if self._trace_model is None else WIDTH)
        if self.shown not in (CHANGES, DOCUMENT, RESULT):
            return usual
        return max(usual, min(theme().px(WIDE), int(self._page.width() * MOST)))

    def _built(self, name: str) -> _Panel | None:
        if name == TRACE and self.trace is None and self._trace_model is not None:
            self.trace = self._make_trace(self._trace_model)
        elif name == AGENTS and self.agents is None:
            self.agents = self._make_agents()
        elif name == CHANGES and self.changes is None and self._changes_model is not None:
            self.changes = self._make_changes(self._changes_model)
        elif name == DOCUMENT and self.document is None and self.document_model is not None:
            self.document = self._make_document(self.document_model)
        elif name == RESULT and self.result is None and self.result_model is not None:
            self.result = self._make_result(self.result_model)
        return self._panels.get(name)

    def _make_trace(self, model: TraceViewModel) -> TracePanel:
        made = trace_panel.TracePanel(model, self._page)
        made.hide()
        self._join(made)
        made.card_wanted.connect(self.card_wanted)
        made.activity_wanted.connect(self.activity_wanted)
        return made

    def _make_agents(self) -> RunPanel:
        made = run_panel.RunPanel(self._agents_model, self._page, alone=self._trace_model is None)
        made.hide()
        self._join(made)
        made.request_wanted.connect(self._request_wanted)
        made.thread_wanted.connect(self._thread_wanted)
        return made

    def _make_changes(self, model: ChangesViewModel) -> ChangesPanel:
        made = changes_panel.ChangesPanel(model, self._page)
        made.hide()
        self._join(made)
        return made

    def _make_document(self, model: DocumentViewModel) -> DocumentPanel:
        made = document_panel.DocumentPanel(model, self._page)
        made.hide()
        self._join(made)
        made.save.connect(self.save_wanted)
        return made

    def _make_result(self, model: ResultViewModel) -> ResultPanel:
        made = result_panel.ResultPanel(model, self._page, self.fences)
        made.hide()
        self._join(made)
        made.save.connect(self.save_wanted)
        made.link.connect(self.link_wanted)
        return made

    def _join(self, panel: _Panel) -> None:
        panel.closed.connect(lambda: self.show("", keys=True))
        panel.said.connect(self.said)
        tabs = panel.head.tabs
        if tabs is None:
            return
        own = tabs.value

        def turn(name: str) -> None:
            tabs.set_value(own)
            self.show(name)

        tabs.chosen.connect(turn)

    def _request_wanted(self, request: PermissionRequest) -> None:
        """What lies over the thread would lie over the request, too."""
        if self.is_over:
            self.show("")
        self.request_wanted.emit(request)

    def _thread_wanted(self, thread_id: str) -> None:
        if self.is_over:
            self.show("")
        self.thread_wanted.emit(thread_id)
