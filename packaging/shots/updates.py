"""Settings, Updates, with samples: for the pictures and the tests of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.updates.words import RightRow, UpdateView

OFFERED = UpdateView(
    can_look=True,
    is_on=True,
    status="Last looked at 14:02.",
    title="Assent 1.3",
    about="You have 1.2.4. 41 MB, from 20 November. Chats are kept, and one step back stays possible.",
    rows=(
        RightRow("admin", "Starts agents of other makers.", "Off until you switch each one on."),
        RightRow(
            "write",
            "Tool `read-document` keeps page pictures",
            "In its own cache folder. It reads only what you attach or allow.",
        ),
        RightRow("network", "Signs in to MCP servers.", "Opens your browser, listens on this computer for one answer."),
        RightRow(
            "network",
            "Knows the addresses of providers of models.",
            "Newly: api.harbour.example. Asked only when you connect one.",
        ),
        RightRow("", "`pickle` files are read.", ""),
    ),
    news=(
        "Pictures can be pasted into a chat, and are opened by a process that reaches nothing.",
        "A document that is still being read stays with the chat that you chose it for.",
        "Fourteen faults are mended.",
    ),
    actions=("skip", "later", "update"),
    back="1.2.3 is kept on this computer.",
    back_label="Go back to it",
    line="Assent 1.3 can be looked at",
)
WAITS = replace(
    OFFERED,
    waits="Waits for one run: “Why does the nightly job double rows?”",
    actions=("stop",),
    back_label="",
    status="Last looked at 14:02.",
)
FETCHES = replace(OFFERED, progress="Fetching: 17 MB of 41 MB", share=0.41, actions=("stop",), back_label="")
READY = UpdateView(
    can_look=True,
    is_on=True,
    status="Last looked at 14:02.",
    ready="Assent 1.3 is laid down and starts the next time that you open Assent.",
    actions=("restart",),
    back="1.2.3 is kept on this computer. It cannot read the chats as this version keeps them: it says so and can "
    "start without them. They stay, and are there again when you come back to 1.2.4.",
    back_label="Go back to it",
)
REFUSED = UpdateView(
    can_look=True,
    is_on=True,
    status="Last looked at 14:02.",
    problem="updates.harbour.example offers something older than it did before.",
    fell_back="Assent 1.3 did not start on this computer, so 1.2.4 was started again.",
)
PACKAGE = UpdateView(
    installed="This Assent is a package of your system. A newer one is installed over it.",
    command="sudo apt install ./assent_1.3_amd64.deb",
    status="This build of Assent names no place where new versions could be looked for, so nothing is looked for.",
)


VIEWS = {"": OFFERED, "waits": WAITS, "fetches": FETCHES, "ready": READY, "refused": REFUSED, "package": PACKAGE}


def update_pictures(settings: Callable[[Any, str], QWidget]) -> dict[str, Callable[[Any], QWidget]]:
    """Every view, wide; the first and the longest words also narrow and wide."""

    def shown(view: UpdateView) -> Callable[[Any], QWidget]:
        def picture(stage: Any) -> QWidget:
            made = settings(stage, "Updates")
            stage.updates.show_view(view)
            return made

        return picture

    names = {f"41-updates-{name}".rstrip("-"): view for name, view in VIEWS.items()}
    sizes = {f"41-updates{size}": OFFERED for size in ("-960", "-1440")} | {"41-updates-ready-960": READY}
    return {name: shown(view) for name, view in {**names, **sizes}.items()}


class SampleUpdates(QObject):
    """A view-model over one view; ``calls`` are what the person did."""

    changed = Signal()
    refused = Signal(str)

    def __init__(self, view: UpdateView = OFFERED) -> None:
        super().__init__()
        self.view = view
        self.calls: list[str] = []

    def show_view(self, view: UpdateView) -> None:
        """Another view."""
        self.view = view
        self.changed.emit()

    def refresh(self) -> None:
        """Nothing happens beside it."""

    def switch(self, on: bool) -> None:
        """Keep and tell."""
        self.calls.append(f"switch {on}")
        self.show_view(replace(self.view, is_on=on))

    def look(self) -> None:
        """Count."""
        self.calls.append("look")

    def update(self) -> None:
        """Count."""
        self.calls.append("update")

    def stop(self) -> None:
        """Count."""
        self.calls.append("stop")

    def later(self) -> None:
        """Count."""
        self.calls.append("later")

    def skip(self) -> None:
        """Count."""
        self.calls.append("skip")

    def take_up(self) -> None:
        """Count."""
        self.calls.append("take_up")

    def go_back(self) -> None:
        """Count."""
        self.calls.append("go_back")

    def restart(self) -> None:
        """Count."""
        self.calls.append("restart")
