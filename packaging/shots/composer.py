"""Sample data for the pictures of what servers give to a message: a stand-in for the servers. Never in the app."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from PySide6.QtWidgets import QWidget

from desktop.domain.messages import FileBlock, GivenBlock
from desktop.domain.servers.mcp import (
    McpArgument,
    McpCompletion,
    McpOffers,
    McpPart,
    McpPrompt,
    McpPromptText,
    McpRead,
    McpResource,
    McpSaid,
    McpTemplate,
)
from desktop.presenter.approvals.granted import GrantLine
from desktop.presenter.chat.from_servers import Fillable, FromServers
from desktop.presenter.chat.offers import best
from desktop.presenter.chat.state import Offer
from desktop.ui.chat.page import ChatPage

ARCHIVE, TICKETS = "tide-archive", "harbour-tickets"
HOSTS = {ARCHIVE: "tides.example", TICKETS: "tickets.harbour.example"}
_QUAY = McpArgument("quay", "Quay", required=True)
OFFERS = (
    McpOffers(
        ARCHIVE,
        True,
        True,
        resources=(
            McpResource(
                ARCHIVE, "tide://quay-3/2026-03", title="Quay 3, levels of March", media_type="text/csv", size=217_000
            ),
            McpResource(
                ARCHIVE,
                "tide://quay-3/well.png",
                title="Quay 3, drawing of the float well",
                media_type="image/png",
                size=90_000,
            ),
        ),
        templates=(McpTemplate(ARCHIVE, "tide://{quay}/{month}", title="Any quay and month"),),
        prompts=(McpPrompt(ARCHIVE, "week", "Compare a week with the years before"),),
    ),
    McpOffers(
        TICKETS,
        True,
        True,
        resources=(
            McpResource(
                TICKETS, "ticket://open?quay=3", title="Open tickets of quay 3", media_type="text/plain", size=4_000
            ),
            McpResource(TICKETS, "file:///etc/quay-keys", "quay-keys", problem="a file of this computer"),
        ),
        prompts=(
            McpPrompt(
                TICKETS,
                "weekly",
                "A note about a quay, for its office",
                "",
                (_QUAY, McpArgument("week", "Week", required=True), McpArgument("language", "Language")),
            ),
            McpPrompt(TICKETS, "weekly-all", "The same for all quays"),
        ),
    ),
)
SAID = McpPromptText(
    TICKETS,
    "weekly",
    "",
    (
        McpSaid(
            "user",
            McpPart(
                "text",
                "Write a short note for the office of Quay 3, north steps about week 12. "
                "Use only the tickets below, and name each by its number.",
            ),
        ),
        McpSaid("user", McpPart("resource", "#412 power cut\n#415 sensor swapped", uri="ticket://open?quay=3")),
    ),
)


class SampleReading:
    """Two servers that answer at once."""

    async def read_resource(self, server: str, uri: str) -> McpRead:
        """Nothing is read in a picture."""
        return McpRead(server, uri)

    async def get_prompt(self, _server: str, _name: str, _arguments: Mapping[str, str]) -> McpPromptText:
        """The same each time."""
        return SAID

    async def complete(self, _of: Fillable, _argument: str, _value: str, _context: Mapping[str, str]) -> McpCompletion:
        """Two quays."""
        return McpCompletion(("Quay 3, north steps", "Quay 3, fuel berth"))

    async def watch(self, server: str, uri: str) -> None:
        """Nothing changes."""

    async def unwatch(self, server: str, uri: str) -> None:
        """Nothing changes."""

    def on_resource(self, _listener: Callable[[str, str], None]) -> Callable[[], None]:
        """Nobody tells."""
        return lambda: None


class SampleServers:
    """What they offer, and how they are read."""

    offers = OFFERS
    reading = SampleReading()

    def on_change(self, _listener: Callable[[], None]) -> Callable[[], None]:
        """Nothing changes."""
        return lambda: None


def sample_servers(bridge: object) -> FromServers:
    """What they give."""
    return FromServers(SampleServers(), lambda server: HOSTS.get(server, ""), bridge, lambda _: "")  # type: ignore[arg-type]


FILES = (Offer("quay-3.md", "@docs/quay-3.md", "", "file"), Offer("quay-3", "@data/quay-3", "folder", "folder"))
SKILLS = (
    Offer("weekly-report", "/weekly-report", "Writes the weekly surge report", "skills"),
    Offer("weekly-digest-agent", "/weekly-digest-agent", "Sums up a week of tickets", "skills"),
)


def resources(page: ChatPage, text: str = "Compare these with @quay") -> QWidget:
    """What can be put in after @, with three chips."""
    page.show()
    foot, servers = page.pane.foot, page._models.servers
    for block in (
        FileBlock("data/gauge-07/2026-03.csv", "x" * 241_000),
        GivenBlock("Quay 3, notes", "x" * 4_800, server=ARCHIVE, uri="tide://quay-3/notes", at=time.time()),
        GivenBlock("Gauge 7, last hour", "", server=ARCHIVE, uri="tide://gauge-7/now"),
    ):
        foot.composer.add_attachment(block)
    foot.composer.mark_newer(ARCHIVE, "tide://gauge-7/now", "newer at 14:02")
    foot.composer.text.setPlainText(text)
    foot.composer.text.moveCursor(foot.composer.text.textCursor().MoveOperation.End)
    foot.offers.show_offers("@", "quay", best("@", "quay", [*FILES, *servers.resources()]))
    foot.offers.step(1)
    foot.offers.step(1)
    return page


def grants(page: ChatPage) -> QWidget:
    """A grant that holds, one that is about to end, and one that was used up."""
    bar = page.pane.foot.composer.granted
    bar.show_grants(
        (
            GrantLine("a", "write-file", "write", "docs/**", "17 of 20 left", "until 18:00", 0.85, False),
            GrantLine("b", "bash", "terminal", "pytest -q …", "1 of 10 left", "until 18:00", 0.1, True),
            GrantLine("c", "edit-file", "write", "src/a.py", "5 of 5 used", "ended at 14:24", 0.0, False, "all used"),
        )
    )
    bar.fold.click()
    return page


def inside(page: ChatPage) -> QWidget:
    """What is in the marked resource, beside the list."""
    resources(page)
    offers = page.pane.foot.offers
    offers.look()
    marked = offers.marked
    assert marked is not None
    lines = "\n".join(f"2026-03-0{at},04:10,{2 + at / 10:.1f}" for at in range(1, 10))
    read = McpRead(ARCHIVE, marked.detail, (McpPart("resource", f"day,time,level\n{lines}"),))
    page._models.servers.looked.emit(marked.item, read)
    return page


def prompts(page: ChatPage, *, filled: bool = True) -> QWidget:
    """What can be put in after /, with the form of one of them."""
    page.show()
    foot, servers = page.pane.foot, page._models.servers
    foot.composer.text.setPlainText("/weekly")
    foot.composer.text.moveCursor(foot.composer.text.textCursor().MoveOperation.End)
    foot.offers.show_offers("/", "weekly", best("/", "weekly", [*SKILLS, *servers.prompts()]))
    foot.offers.step(1)
    foot.offers.step(1)
    if filled:
        foot.offers.choose()
        form = foot.offers.form
        form.fields[0].field.setText("Qu")
        form.fields[0].propose("Qu", ("Quay 3, north steps", "Quay 3, fuel berth"))
        form.fields[1].field.setText("12")
        form._asked = form.values
        form._show_preview(form.values, SAID)
    return page
