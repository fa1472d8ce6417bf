"""Settings, Updates: what it says, what can be done, and the few words elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shots.updates import FETCHES, OFFERED, PACKAGE, READY, REFUSED, WAITS, SampleUpdates

from desktop.domain.installation import Installation
from desktop.domain.updates.rights import Manifest, Right, RightChange, differences
from desktop.presenter.updates.words import RightRow, UpdateFacts, UpdateView, day_words, rows_of, size_words, view_of
from desktop.services.updates.memory import OfferedVersion
from desktop.services.updates.state import UpdateState
from desktop.ui.settings.updates.page import UpdatesPage
from desktop.ui.settings.updates.rights import NOTHING, PAGE, RightLine
from desktop.ui.theme import Theme
from tests.gui.shell.test_window import spin
from tests.harness.timeouts import WAIT_MS

pytestmark = pytest.mark.spec("R-UPD-3")
RUN = "Why does the nightly job double rows?"


def shown(qtbot: QtBot, view: UpdateView) -> tuple[UpdatesPage, SampleUpdates, list[str]]:
    said: list[str] = []
    model = SampleUpdates(view)
    page = UpdatesPage(model, said.append)  # type: ignore[arg-type]  # a sample of it
    qtbot.addWidget(page)
    page.resize(760, 900)
    page.show()
    spin()
    return page, model, said


def lines(page: UpdatesPage) -> list[RightLine]:
    """In their order."""
    found = [line for line in page.findChildren(RightLine) if line.isVisible()]
    return sorted(found, key=lambda line: line.y())


def made(qtbot: QtBot, page: UpdatesPage, count: int) -> list[RightLine]:
    """They come one by one."""
    qtbot.waitUntil(lambda: len({line.y() for line in lines(page)}) == len(lines(page)) == count, timeout=WAIT_MS)
    return lines(page)


def words(page: UpdatesPage) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel) if label.isVisible())


def test_what_it_may_newly_do_stands_in_lines_with_their_category(qtbot: QtBot, theme: Theme) -> None:
    page, _, _ = shown(qtbot, OFFERED)
    lines = made(qtbot, page, len(OFFERED.rows))
    assert [line.row for line in lines] == list(OFFERED.rows)
    assert lines[1].accessibleName() == (
        "write: Tool read-document keeps page pictures In its own cache folder. It reads only what you attach or allow."
    )
    assert lines[-1].accessibleName() == "no longer: pickle files are read."
    assert "Assent 1.3" in words(page)
    assert page.offer.signed.accessibleName() == "signature checked"


def test_the_buttons_do_what_they_say(qtbot: QtBot, theme: Theme) -> None:
    page, model, _ = shown(qtbot, OFFERED)
    for name in ("skip", "later", "update"):
        page.offer.buttons[name].click()
    page.back.click()
    page.look.click()
    QTest.keyClick(page.switch, Qt.Key.Key_Space)
    assert model.calls == ["skip", "later", "update", "go_back", "look", "switch False"]
    assert page.offer.buttons["skip"].label == "Skip 1.3"


def test_only_what_can_be_done_now_is_offered(qtbot: QtBot, theme: Theme) -> None:
    page, model, _ = shown(qtbot, WAITS)
    visible = [name for name, button in page.offer.buttons.items() if button.isVisible()]
    assert visible == ["stop"]
    assert not page.look.isVisible()
    assert page.offer.waits.words == f"Waits for one run: “{RUN}”"
    page.offer.buttons["stop"].click()
    model.show_view(FETCHES)
    assert (page.offer.far_words.text(), page.offer.meter.value()) == ("Fetching: 17 MB of 41 MB", 410)
    model.show_view(READY)
    assert (page.offer.isVisible(), page.ready.isVisible()) == (False, True)
    page.restart.click()
    assert model.calls == ["stop", "restart"]
    assert page.look.isVisible()
    model.show_view(replace(READY, back_label="Switch to it"))
    assert page.back.label == "Switch to it"


def test_what_went_wrong_is_said(qtbot: QtBot, theme: Theme) -> None:
    page, _, _ = shown(qtbot, REFUSED)
    assert page.problem.words == REFUSED.problem
    assert page.fell_back.words == REFUSED.fell_back


def test_a_package_says_the_command_and_has_no_switch(qtbot: QtBot, theme: Theme) -> None:
    page, _, said = shown(qtbot, PACKAGE)
    assert not page.switch.isVisible()
    page.installed.copy.click()
    assert QGuiApplication.clipboard().text() == "sudo apt install ./assent_1.3_amd64.deb"
    assert said == ["The command is copied"]


def test_a_switch_that_was_not_kept_goes_back_and_says_why(qtbot: QtBot, theme: Theme) -> None:
    page, model, _ = shown(qtbot, OFFERED)
    page.switch.setChecked(False)
    model.refused.emit("The disk is full.")
    assert (page.switch.isChecked(), page.refusal.words) == (True, "The disk is full.")


def test_what_a_server_says_is_never_markup_and_never_hidden(qtbot: QtBot, theme: Theme) -> None:
    evil = RightRow("admin", "<b>Nothing</b>\u202e new", "<img src=x>\n" + "long " * 60)
    page, _, _ = shown(qtbot, replace(OFFERED, rows=(evil,), news=("<a href=x>y</a>\u200b",)))
    (line,) = made(qtbot, page, 1)
    texts = [label.text() for label in line.findChildren(QLabel)]
    assert any("<b>Nothing</b>" in text for text in texts)
    assert not any("\u202e" in text or "\n" in text for text in texts)


def test_all_that_is_new_can_be_read(qtbot: QtBot, theme: Theme) -> None:
    page, _, _ = shown(qtbot, OFFERED)
    assert "Fourteen faults are mended." not in words(page)
    page.offer.all_news.click()
    spin()
    assert "Fourteen faults are mended." in words(page)
    page.offer.all_news.click()
    spin()
    assert "Fourteen faults are mended." not in words(page)


def test_a_version_that_may_do_nothing_more_says_so(qtbot: QtBot, theme: Theme) -> None:
    page, _, _ = shown(qtbot, replace(OFFERED, rows=()))
    qtbot.waitUntil(lambda: NOTHING in words(page), timeout=WAIT_MS)


MANY = tuple(
    RightRow("admin", f"Right {number}.", "Of a version that brings thousands. " * 9) for number in range(2000)
)


def test_of_thousands_of_rights_a_page_is_made_and_all_can_be_turned_to(qtbot: QtBot, theme: Theme) -> None:
    page, _, _ = shown(qtbot, replace(OFFERED, rows=MANY))
    assert [line.row for line in made(qtbot, page, PAGE)] == list(MANY[:PAGE])
    assert "What it may newly do (2,000)" in words(page)
    pager = page.offer.rights.pager
    assert (pager.where.text(), pager.before.isEnabled()) == ("1 to 25 of 2,000", False)
    pager.next.click()
    qtbot.waitUntil(lambda: [line.row for line in lines(page)] == list(MANY[PAGE : 2 * PAGE]), timeout=WAIT_MS)
    for _ in range(78):
        pager.next.click()
    qtbot.waitUntil(lambda: [line.row for line in lines(page)] == list(MANY[-PAGE:]), timeout=WAIT_MS)
    assert not pager.next.isEnabled()


def test_what_is_new_of_another_version_begins_on_the_first_page(qtbot: QtBot, theme: Theme) -> None:
    page, model, _ = shown(qtbot, replace(OFFERED, rows=MANY))
    page.offer.rights.pager.next.click()
    model.show_view(OFFERED)
    assert [line.row for line in made(qtbot, page, len(OFFERED.rows))] == list(OFFERED.rows)
    assert not page.offer.rights.pager.next.isVisible()


def test_progress_makes_no_line_anew(qtbot: QtBot, theme: Theme) -> None:
    page, model, _ = shown(qtbot, OFFERED)
    before = made(qtbot, page, len(OFFERED.rows))
    model.show_view(FETCHES)
    spin()
    assert lines(page) == before


# -- the words ---------------------------------------------------------------------------------------------------------

HERE = Manifest("1.2.4", {"a": Right("a", "read", "Reads")})


def offer(*rights: Right, version: str = "1.3") -> OfferedVersion:
    return OfferedVersion(
        version, "2026-11-20", 41_300_000, Manifest(version, {one.id: one for one in rights}), (), "d", {}
    )


def around(**how: Any) -> UpdateFacts:
    usual: dict[str, Any] = {
        "version": "1.2.4",
        "can_look": True,
        "can_install": True,
        "is_on": True,
        "installation": Installation("folder", "1.2.4", "/opt/assent"),
        "title_of": lambda _thread: RUN,
        "running": (),
    }
    return UpdateFacts(**{**usual, **how})


def view(state: UpdateState, **how: Any) -> UpdateView:
    return view_of(state, around(**how), rows_of(state.differences))


def rows(*found: RightChange) -> tuple[RightRow, ...]:
    return view(UpdateState(offer=offer(), differences=found)).rows


def test_each_kind_of_difference_is_a_sentence() -> None:
    hosts = Right("knows:x", "network", "Knows addresses.", "Asked when connected.", ("a.example", "b.example"))
    assert rows(RightChange("new", hosts, hosts.facts)) == (
        RightRow("network", "Knows addresses.", "Asked when connected. a.example, b.example."),
    )
    assert rows(RightChange("more", hosts, ("b.example",))) == (
        RightRow("network", "Knows addresses.", "Newly: b.example. Asked when connected."),
    )
    assert rows(RightChange("less", hosts, (), ("b.example",))) == (
        RightRow("", "Knows addresses.", "No longer b.example."),
    )
    assert rows(RightChange("gone", hosts)) == (RightRow("", "Knows addresses.", ""),)


def test_what_is_said_in_other_words_stands_beside_the_words_of_before() -> None:
    """A right whose words alone changed may mean something else now."""
    before = Right("tool:x", "write", "Writes files", "Asks each time.", ("a",))
    after = replace(before, detail="Asks once.")
    assert rows(RightChange("other", after, before=before)) == (
        RightRow("write", "Writes files", "Said in other words. Asks once. Until now it said: “Asks each time.”"),
    )
    other = replace(before, title="Writes and removes files", detail="")
    (row,) = rows(RightChange("more", other, ("b",), before=before))
    assert row.detail == "Newly: b. Until now it said: “Writes files. Asks each time.”"
    (row,) = rows(RightChange("less", after, (), ("a",), before))
    assert (row.category, row.detail) == ("", "No longer a. Asks once. Until now it said: “Asks each time.”")
    (row,) = rows(RightChange("other", before, before=replace(before, detail="")))
    assert row.detail == "Said in other words. Asks each time. Until now nothing more was said of it."


def test_a_hundred_new_hosts_are_all_named_and_a_hundred_lost_ones_are_counted() -> None:
    facts = tuple(f"h{number}.example" for number in range(100))
    right = Right("knows:x", "network", "Knows.")
    (row,) = rows(RightChange("more", right, facts))
    assert row.detail == f"Newly: {', '.join(facts)}."
    (row,) = rows(RightChange("less", right, (), facts))
    assert row.detail.endswith("h11.example and 88 more.")


def test_a_new_skill_says_what_it_may_call_and_a_new_switch_how_it_is_at_first() -> None:
    skill = Right("skill:x", "admin", "Skill `x`", "Tidies up.", ("bash", "read"))
    switch = Right("setting:tools.x", "write", "Setting “X”", "Opens it.", ("on at first",))
    assert [row.detail for row in rows(RightChange("new", skill), RightChange("new", switch))] == [
        "Tidies up. May call: bash, read.",
        "Opens it. Is on at first.",
    ]


def test_the_card_says_what_one_has_and_what_comes() -> None:
    there = offer(Right("a", "read", "Reads"), Right("b", "admin", "Starts programs."))
    found = view(UpdateState(offer=there, differences=differences(HERE, there.manifest)))
    assert (found.title, found.rows) == ("Assent 1.3", (RightRow("admin", "Starts programs.", ""),))
    assert found.about.startswith("You have 1.2.4. 41 MB, from 20 November")
    assert found.actions == ("skip", "later", "update")
    assert found.line == "Assent 1.3 can be looked at"


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (UpdateState(), ""),
        (UpdateState(offer=offer(), skipped=True), ""),
        (UpdateState(offer=offer(), later=True), ""),
        (UpdateState(offer=offer(), phase="fetching"), ""),
        (UpdateState(offer=offer(), starts="1.3"), "Assent 1.3 starts the next time"),
        (UpdateState(fell_back="1.3"), "Assent 1.3 did not start"),
    ],
)
def test_the_quiet_line_says_only_what_waits(state: UpdateState, line: str) -> None:
    assert view(state).line == line


def test_runs_that_are_waited_for_are_named() -> None:
    waiting = UpdateState(offer=offer(), phase="waiting", waits_for=("t1",))
    assert view(waiting).waits == f"Waits for one run: “{RUN}”"
    assert view(replace(waiting, waits_for=("t1", "t2", "t3"))).waits == f"Waits for 3 runs: “{RUN}” and 2 more"
    assert RUN in view(UpdateState(starts="1.3"), running=("t1",)).ready


def test_going_back_says_what_the_older_version_cannot_read() -> None:
    older = view(UpdateState(previous="1.2.3"))
    assert (older.back, older.back_label) == ("1.2.3 is kept on this computer.", "Go back to it")
    assert view(UpdateState(previous="1.3")).back_label == "Switch to it"
    unread = view(UpdateState(previous="1.2.3", previous_reads=False)).back
    assert "cannot read the chats" in unread
    assert unread.endswith("there again when you come back to 1.2.4.")


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("deb", "sudo apt install ./assent_1.3_amd64.deb"),
        ("rpm", "sudo dnf install ./assent-1.3-1.x86_64.rpm"),
        ("flatpak", "flatpak update"),
        ("checkout", "git -C /opt/assent pull"),
        ("wheel", ""),
        ("appimage", ""),
        ("unknown", ""),
    ],
)
def test_what_something_else_installs_says_with_what(kind: Any, command: str) -> None:
    """Never a command that would fetch a package by its name alone from an index: that name may be a stranger's."""
    found = view(UpdateState(offer=offer()), can_install=False, installation=Installation(kind, "1.2.4", "/opt/assent"))
    assert found.command == command
    assert bool(found.installed) == (kind != "unknown")
    assert found.actions == ("skip", "later")


def test_sizes_and_days() -> None:
    assert (size_words(41_300_000), size_words(5), size_words(1_234_000_000)) == ("41 MB", "1 MB", "1,234 MB")
    assert (day_words("1999-01-05"), day_words("x<b>")) == ("5 January 1999", "x<b>")
