"""The window: the rail and one page at a time, each page built when it is first shown.

It is on screen before anything of that is there, with the frame of ``frame`` in it. What runs until then names nothing
of the ``Qt`` namespace (see ``desktop.app.lifecycle.start``) and imports no more than it paints with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Mapping
from typing import TYPE_CHECKING

from PySide6 import QtCore, QtWidgets
from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QMainWindow, QWidget

from desktop.domain.loading.lazy import lazy_module
from desktop.ui.shell import geometry
from desktop.ui.shell.first_paint import FirstPaint

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QKeyEvent

    from desktop.presenter.shell.window import ShellViewModel
    from desktop.ui.shell import asked, banner, notify, palette, place_memory, report, shortcuts, window_icon
    from desktop.ui.shell import rail as shell_rail
    from desktop.ui.shell import stand_in as shell_stand_in
    from desktop.ui.theme import Theme
    from desktop.ui.widgets import focus_keeper, focus_place, properties, reading_order, scaling
    from desktop.ui.widgets.controls import spoken_role
    from desktop.ui.widgets.dialogs import toast
    from desktop.ui.widgets.layout.containers import Notice
else:
    asked = lazy_module("desktop.ui.shell.asked")
    banner = lazy_module("desktop.ui.shell.banner")
    notify = lazy_module("desktop.ui.shell.notify")
    palette = lazy_module("desktop.ui.shell.palette")
    place_memory = lazy_module("desktop.ui.shell.place_memory")
    shell_rail = lazy_module("desktop.ui.shell.rail")
    shell_stand_in = lazy_module("desktop.ui.shell.stand_in")
    report = lazy_module("desktop.ui.shell.report")
    shortcuts = lazy_module("desktop.ui.shell.shortcuts")
    window_icon = lazy_module("desktop.ui.shell.window_icon")
    focus_keeper = lazy_module("desktop.ui.widgets.focus_keeper")
    focus_place = lazy_module("desktop.ui.widgets.focus_place")
    properties = lazy_module("desktop.ui.widgets.properties")
    scaling = lazy_module("desktop.ui.widgets.scaling")
    reading_order = lazy_module("desktop.ui.widgets.reading_order")
    spoken_role = lazy_module("desktop.ui.widgets.controls.spoken_role")
    toast = lazy_module("desktop.ui.widgets.dialogs.toast")

NEEDED_AT_ONCE = (
    properties,
    scaling,
    spoken_role,
    focus_keeper,
    focus_place,
    shortcuts,
    shell_stand_in,
    window_icon,
    place_memory,
    shell_rail,
)
"""What ``furnish`` and the turns after it load, unless it is there."""

STEP = 0.004
"""Seconds after which what is done in steps lets Qt go on."""

PageFactory = Callable[[], QWidget]

FIRST_RUN = "first_run"
"""Key of the factory whose page stands in for Chats until a model is chosen."""


def make_rail() -> shell_rail.Rail:
    """What its items are for a screen reader is known before there are any."""
    spoken_role.install()
    return shell_rail.Rail()


class MainWindow(QMainWindow):
    """The app's window: ``remembered`` is its place as last saved, ``frame`` what it shows until ``furnish``.

    ``page_shown(name, widget)`` follows each change of page. ``close_for_good`` closes; a plain close asks the shell.
    """

    first_painted = Signal()
    page_shown = Signal(str, object)
    request_wanted = Signal(str)
    help_wanted = Signal()

    _theme: Theme
    _shell: ShellViewModel

    def __init__(self, remembered: object, frame: QWidget | None = None) -> None:
        super().__init__()
        self._factories: dict[str, PageFactory] = {}
        self._pages: dict[str, QWidget] = {}
        self._furnished = self._painted = self._leaving = False
        self._typed = ""
        self._palette: palette.Palette | None = None
        self._toast: toast.Toast | None = None
        self._banner: Notice | None = None
        self._asked: asked.AskedNotice | None = None
        self._notifier: notify.Notifier | None = None
        self._keeper: focus_keeper.FocusKeeper | None = None
        self.setWindowTitle("Assent")
        if frame is not None:
            self.setCentralWidget(frame)
        geometry.restore(self, remembered)
        FirstPaint.of(self).painted.connect(self._first_paint)

    def furnish(
        self,
        theme: Theme,
        shell: ShellViewModel,
        factories: Mapping[str, PageFactory],
        rail: shell_rail.Rail | None = None,
    ) -> None:
        """Put rail and page in, in place of the frame. ``rail``: one that was made in a turn of its own.

        ``factories``: page name (and ``first_run``) to a function that builds its widget, called at most once each.
        """
        self._theme, self._shell, self._scale = theme, shell, theme.scale
        self._factories.update(factories)
        self._build(rail or make_rail())
        self._connect()
        self._furnished = True
        self.show_page(shell.page)
        if self._painted:
            QTimer.singleShot(0, self, self._after_first_paint)

    def _build(self, rail: shell_rail.Rail) -> None:
        central = properties.pane("bg")
        row = scaling.Row(central, spacing=0)
        self.rail = rail
        self.rail.chosen.connect(self._shell.visit)
        self._work = QWidget()
        self._column = scaling.Column(self._work, spacing=0)
        self.stack = QtWidgets.QStackedWidget()
        self._column.addWidget(self.stack, 1)
        row.addWidget(self.rail)
        row.addWidget(self._work, 1)
        self.setCentralWidget(central)

    def _connect(self) -> None:
        shell = self._shell
        shell.page_changed.connect(self.show_page)
        shell.page_again.connect(self.keys_to_page)
        shell.first_run_changed.connect(lambda: self.show_page(shell.page))
        shell.error.connect(self.show_error)
        shell.quitting.connect(self.show_quitting)
        shell.banner.connect(self.show_banner)
        self._theme.changed.connect(self._theme_changed)

    # -- pages ------------------------------------------------------------------------------------------------------

    def show_page(self, name: str) -> None:
        """Show a page, building it on its first time."""
        widget = self.page(self.key_of(name, self._factories))
        self.rail.set_page(name)
        self.stack.setCurrentWidget(widget)
        if self._painted:
            self._focus_page(widget)
            reading_order.put_in_order_if_read(widget)
        take = getattr(widget, "take_typed", None)
        if self._typed and callable(take):
            typed, self._typed = self._typed, ""
            take(typed.rstrip("\n"))
        self.page_shown.emit(name, widget)

    def say_starting(self, words: str) -> None:
        """What a person who waits for the page is waiting for."""
        for page in self._pages.values():
            if isinstance(page, shell_stand_in.StandIn):
                page.say(words)

    @property
    def _waits_for_page(self) -> bool:
        return not self._furnished or isinstance(self.stack.currentWidget(), shell_stand_in.StandIn)

    def key_of(self, name: str, pages: Container[str]) -> str:
        """Which of the pages shows under a name: while nothing is chosen yet, Chats is the first-run page."""
        return FIRST_RUN if name == "chats" and self._shell.first_run and FIRST_RUN in pages else name

    def install(self, factories: Mapping[str, PageFactory]) -> None:
        """Give pages that could not be built before the first paint; what stood in for them goes."""
        stand_ins = [self._pages.pop(key) for key in factories if key in self._pages]
        for stand_in in stand_ins:
            stand_in.clearFocus()  # else Qt, hiding it, hands the keys to what comes next, with a ring around that
        self._factories.update(factories)
        self.stack.setUpdatesEnabled(False)  # it is laid out now, and painted in a turn of its own
        QTimer.singleShot(0, self.stack, lambda: self.stack.setUpdatesEnabled(True))
        self.show_page(self._shell.page)
        for stand_in in stand_ins:
            self.stack.removeWidget(stand_in)
            stand_in.deleteLater()

    def prepare(self, page: QWidget) -> Iterator[None]:
        """Put in a page that is shown later, in steps of a few milliseconds: what the style sheet says of each of its
        widgets is worked out here, and not when it is shown."""
        self.stack.addWidget(page)
        page.resize(self.stack.size())
        yield
        until = time.monotonic() + STEP
        for widget in (page, *page.findChildren(QWidget)):
            widget.ensurePolished()
            if time.monotonic() > until:
                yield
                until = time.monotonic() + STEP
        yield
        layout = page.layout()
        if layout is not None:
            layout.activate()

    def page(self, key: str) -> QWidget:
        """The widget of a page, built now if need be."""
        widget = self._pages.get(key)
        if widget is None:
            factory = self._factories.get(key)
            widget = self._pages[key] = factory() if factory is not None else shell_stand_in.StandIn()
            if self.stack.indexOf(widget) < 0:
                self.stack.addWidget(widget)
        return widget

    def keys_to_page(self) -> None:
        """The page that shows gets the keys, unless it has them."""
        page, now = self.stack.currentWidget(), self.focusWidget()
        if page is not None and (now is None or not page.isAncestorOf(now)):
            self._focus_page(page)

    def _focus_page(self, widget: QWidget) -> None:
        """A page may say where keys go first: ``first_focus()`` returns a widget."""
        first = getattr(widget, "first_focus", None)
        target = first() if callable(first) else widget
        if isinstance(target, QWidget):
            focus_place.enter(target)

    # -- what comes over it -----------------------------------------------------------------------------------------

    def open_palette(self) -> None:
        """Open the command palette (Ctrl+K)."""
        if self._palette is None:
            self._palette = palette.Palette(self, self._shell)
        if self._palette.isVisible():
            self._palette.dismiss()
        else:
            self._palette.open()

    def show_toast(self, text: str, undo_token: str = "") -> None:
        """A sentence at the foot, above what a page has in use there; ``toast.undone`` carries the token."""
        self.toast.stand_above(getattr(self._pages.get(self._shell.page), "foot_in_use", None))
        self.toast.say(text, undo_token)

    @property
    def toast(self) -> toast.Toast:
        """The window's one toast."""
        if self._toast is None:
            self._toast = toast.Toast(self._work)
        return self._toast

    @property
    def keeper(self) -> focus_keeper.FocusKeeper:
        """Where keys go when what has them goes."""
        if self._keeper is None:
            self._keeper = focus_keeper.FocusKeeper(self)
        return self._keeper

    @property
    def notifier(self) -> notify.Notifier:
        """The notifier of the desktop, made at first use."""
        if self._notifier is None:
            self._notifier = notify.Notifier(self)
            self._notifier.clicked.connect(lambda: self._shell.go("approvals"))
        return self._notifier

    def show_error(self, title: str, sentence: str, detail: str) -> None:
        """A dialog with the report, if there is one, and Copy."""
        report.show_report(self, title, sentence, detail)

    def show_banner(self, kind: str, sentence: str) -> None:
        """A strip above the page: kind info, ask or failed; an empty sentence takes it away."""
        if self._banner is None:
            if not sentence:
                return
            self._banner = banner.make_banner(lambda: self.show_banner("", ""))
            self._column.insertWidget(0, self._banner)
        if sentence:
            self._banner.say(sentence, kind if kind in ("info", "ask", "failed") else "info")
        self._banner.setVisible(bool(sentence))

    def add_strip(self, strip: QWidget) -> None:
        """A strip above the page, which takes itself away."""
        self._column.insertWidget(0, strip)

    def show_asked(self, request_id: str, words: str) -> None:
        """A strip above the page: this request waits, and nothing else here shows it; "" takes the strip away."""
        if self._asked is None:
            if not request_id:
                return
            self._asked = asked.AskedNotice()
            self._asked.wanted.connect(self.request_wanted)
            self._column.insertWidget(0, self._asked)
        self._asked.show_request(request_id, words)

    def show_quitting(self, sentence: str) -> None:
        """Show what is still running while the app ends."""
        self.show_banner("info", sentence)

    def set_pending(self, number: int, *, notify: bool = False) -> None:
        """How many requests wait: the count on the rail, the window's title, and the desktop if it may be told."""
        self.rail.set_count("approvals", number)
        self.setWindowTitle(f"({number}) Assent" if number else "Assent")
        if self._notifier is not None or (notify and number):
            self.notifier.waiting(number, allowed=notify)

    # -- the window itself ------------------------------------------------------------------------------------------

    def close_for_good(self) -> None:
        """Close without asking the shell again."""
        self._leaving = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the geometry; unless the app has agreed to it, closing is only a request."""
        if self._furnished:
            self._shell.save_window(geometry.state_of(self))
        if not self._furnished or self._leaving or self._shell.on_close is None:
            event.accept()
        else:
            event.ignore()
            self._shell.window_closed()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes in reading order; what has the keys and goes leaves them to what is beside it."""
        return self._furnished and self.keeper.move(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape that nothing else wanted takes the toast away; what is typed before there is a page is kept for it."""
        if self._waits_for_page:
            self._keep_typed(event)
        elif event.key() == QtCore.Qt.Key.Key_Escape and self._toast is not None and self._toast.isVisible():
            self._toast.dismiss()
        else:
            super().keyPressEvent(event)

    def _keep_typed(self, event: QKeyEvent) -> None:
        key, modifier = QtCore.Qt.Key, QtCore.Qt.KeyboardModifier
        if event.key() == key.Key_Backspace:
            self._typed = self._typed[:-1]
        elif event.key() in (key.Key_Return, key.Key_Enter):
            self._typed += "\n"
        elif event.text().isprintable() and not event.modifiers() & (modifier.ControlModifier | modifier.MetaModifier):
            self._typed += event.text()

    def _first_paint(self) -> None:
        """What may wait for it comes after it, and after whoever else waits for it."""
        self._painted = True
        if self._furnished:
            QTimer.singleShot(0, self, self._after_first_paint)

    def _after_first_paint(self) -> None:
        """Keys go to the page, shortcuts work, the system's scheme counts."""
        self.first_painted.emit()
        assert self.keeper is not None
        shortcuts.bind(self, self._shell, self.open_palette)
        self._theme.settle()
        current = self.stack.currentWidget()
        if current is not None:
            self._focus_page(current)
        QTimer.singleShot(0, self, self._after_keys)

    def _after_keys(self) -> None:
        """In a turn of its own, for the window is waited for: its icon, and where it stands is remembered."""
        window_icon.WindowIcon(self)
        place_memory.PlaceMemory(self, self._shell.save_window)

    def _theme_changed(self) -> None:
        if self._theme.scale != self._scale:
            self._scale = self._theme.scale
            scaling.rescale(self)
        for widget in self.findChildren(QWidget):
            widget.updateGeometry()
        self.update()
