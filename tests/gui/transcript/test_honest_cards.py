"""What a card shows of a call, beside its own Allow once, is what the call is: nothing hidden, nothing reordered."""

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from desktop.domain.approval.judgement import Category, Judgement
from desktop.domain.approval.thread_modes import PastEdge
from desktop.domain.text.hidden_characters import has_hidden
from desktop.presenter.transcript.build import summarise
from desktop.presenter.transcript.items import NestedCall, ToolPart, TranscriptItem
from desktop.ui.approvals.inbox import summary
from desktop.ui.transcript import TranscriptView
from desktop.ui.transcript.accessible_text import spoken_text
from desktop.ui.transcript.pieces.base import Canvas
from desktop.ui.transcript.pieces.preview import PAST
from desktop.ui.transcript.pieces.tool_card import ToolCard
from desktop.ui.transcript.pieces.tool_drawing import BUTTONS, draw_chain, ledger_glyph
from tests.gui.transcript import scenes
from tests.gui.transcript.conftest import said, spin, until

HIDDEN = ("\u202e", "\u2066", "\u200b", "\u2028", "\x1b", "\x85", "\r", "\ufeff", "\U000e0041")
"""An override, an isolate, nothing at all, two line breaks that are none, an escape, a return, a mark, a tag."""


def asked(tool: str, arguments: dict[str, Any], preview: dict[str, Any]) -> ToolPart:
    """A call as the live answer makes its card."""
    category = Category.ADMIN if tool == "bash" else Category.WRITE
    request = replace(scenes.request("c1", tool, category), arguments=arguments, preview=preview)
    return ToolPart(
        "p", "c1", tool, summarise(arguments), category.value, "waiting", "{}", request=request, chain=("Ag\u202eent",)
    )


def shown(view: TranscriptView, part: ToolPart) -> tuple[ToolCard, str]:
    """The card, and everything it paints or says."""
    item = TranscriptItem("m", "a", "Agent", "12:00", (part,))
    view.set_items((item,))
    (card,) = (p for p, _, _ in view.page.messages[0].pieces() if isinstance(p, ToolCard))
    names = [widget.accessibleName() for widget in view.overlays.answers["c1"].buttons()]
    painted = [line.text for line in card._preview]
    return card, "\n".join([card.text, card.spoken(), spoken_text(item), *painted, *names])


@pytest.mark.spec("R-PRM-2", "R-PRM-15")
@pytest.mark.parametrize("mark", HIDDEN)
def test_a_card_escapes_names_contents_and_commands_as_the_dialog_does(view: TranscriptView, mark: str) -> None:
    path, content = f"a{mark}txt.exe", f"first {mark} line\nsecond"
    diff = {"kind": "diff", "path": path, "before": "", "after": content, "new": True}
    write = asked("write-file", {"path": path, "content": content}, diff)
    card, words = shown(view, write)
    assert write.request is not None
    assert summary(write.request) in card.text, "the inbox and the dialog say the same"
    assert not has_hidden(words)
    assert mark not in words
    past = replace(write.request, past_edge=(PastEdge("folder", f"/home/{mark}x"), PastEdge("network", "a.example")))
    card, words = shown(view, replace(write, request=past))
    assert [line.number for line in card._preview if line.sign in PAST] == ["outside the folder", "network"]
    assert "past the edge: network, a.example" in card.spoken()
    assert not has_hidden(words)
    command = f"ls{mark}\nrm -r data"
    bash = asked("bash", {"command": command}, {"kind": "command", "command": command})
    card, words = shown(view, bash)
    assert not has_hidden(words)
    assert mark not in words
    assert "\\nrm -r data" in card.text, "a second command is no word of the first"
    argv = asked(f"to{mark}ol", {"a": mark}, {"kind": "argv", "argv": ["prog", f"x{mark}y"]})
    assert mark not in shown(view, argv)[1]


@pytest.mark.spec("R-PRM-2")
def test_the_old_side_of_a_change_is_escaped_too(view: TranscriptView) -> None:
    diff = {"kind": "diff", "path": "a", "before": "x\u202ey\nsame", "after": "x\u2066y\nsame"}
    card, words = shown(view, asked("write-file", {"path": "a"}, diff))
    assert not has_hidden(words)
    assert [line.text for line in card._preview] == ["x\\u{202e}y", "x\\u{2066}y"]


@pytest.mark.spec("R-PRM-2")
def test_opened_arguments_are_escaped(view: TranscriptView) -> None:
    part = asked("write-file", {"path": "a"}, {})
    card, _ = shown(view, replace(part, arguments='{"path": "a\u202etxt"}', detail="no\u202ewhy"))
    view.page.messages[0].toggle("p")
    assert "a\\u{202e}txt" in card.text
    assert "no\\u{202e}why" in card.text


def test_an_opened_card_tells_the_calls_that_its_skill_made(view: TranscriptView) -> None:
    nested = (NestedCall("read-file", "done", 40, "a\n: denied"), NestedCall("wri\u202ete", "denied"))
    part = ToolPart("p", "c1", "tidy", "notes", "agent", "done", "{}", "tidied", nested=nested)
    view.set_items((TranscriptItem("m", "a", "Agent", "12:00", (part,)),))
    view.page.messages[0].toggle("p")
    text = next(p for p, _, _ in view.page.messages[0].pieces()).text
    assert "read-file: done 0.04 s · a\\n: denied\nwri\\u{202e}te: denied" in text


def test_a_call_that_did_not_get_as_far_as_a_category_has_no_eye_in_the_margin() -> None:
    assert ledger_glyph("")[0] == ""
    names = ["read", "write", "admin", "agent"]
    assert [ledger_glyph(name)[0] for name in names] == names


def shell(command: str) -> ToolPart:
    judged = (Judgement("curl x", "network", "", ("evil.example",)), Judgement("rm x", "deletes", ";", ("/etc/x",)))
    request = replace(
        scenes.request("c1", "bash", Category.WRITE),
        arguments={"command": command},
        judgements=judged,
        preview={"kind": "command", "command": command, "cwd": "/work/here"},
    )
    return ToolPart("p", "c1", "bash", command, "write", "waiting", "{}", request=request, chain=("Agent",))


@pytest.mark.spec("R-PRM-2")
def test_a_card_folds_blank_lines_and_says_what_the_command_comes_to(view: TranscriptView) -> None:
    card, _ = shown(view, shell("ls" + "\n" * 21 + "rm -rf ~/work"))
    assert [(line.sign, line.text) for line in card._preview] == [
        ("summary", "2 commands: deletes, network. Reaches evil.example; touches outside the workspace: /etc/x"),
        ("", "ls"),
        ("fold", "20 blank lines not shown"),
        ("", "rm -rf ~/work"),
    ]
    assert view.overlays.answers["c1"].allow is not None


@pytest.mark.spec("R-PRM-2", "R-PRM-14")
@pytest.mark.parametrize("command", ["echo\n" * 30 + "rm x", "echo " + "a" * 400 + "; rm x", "echo " + "a" * 200])
def test_what_a_card_does_not_show_to_its_end_cannot_be_allowed_there(view: TranscriptView, command: str) -> None:
    card, _ = shown(view, shell(command))
    assert not card.whole
    bar = view.overlays.answers["c1"]
    assert [button.accessibleName() for button in bar.buttons()] == ["Open the request of bash", "Deny bash"]


@pytest.mark.spec("R-PRM-2", "R-PRM-14")
def test_a_card_whose_beginning_is_above_the_window_cannot_be_allowed(view: TranscriptView) -> None:
    item = TranscriptItem("m", "a", "Agent", "12:00", (shell("\n".join(f"echo {n}" for n in range(8))),))
    view.set_items((item,))
    (piece,) = (found for found, _, _ in view.page.messages[0].pieces() if isinstance(found, ToolCard))
    view.set_items((item, *(said(n, "words\n\n" * 9) for n in range(20, 30))))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    assert "c1" not in view.overlays.answers
    top = view.page.top(0) + 30
    view.verticalScrollBar().setValue(round(top + piece.height - 60))
    spin(500)
    allow = view.overlays.answers["c1"].allow
    assert allow is not None
    assert allow.deaf
    view.verticalScrollBar().setValue(0)
    until(lambda: "c1" in view.overlays.answers and not view.overlays.answers["c1"].allow.deaf)
    allow = view.overlays.answers["c1"].allow
    assert allow is not None
    assert not allow.deaf


def test_who_asked_never_stands_below_the_buttons_of_a_narrow_card(view: TranscriptView) -> None:
    look = view.look
    card = QRectF(0, 0, look.px(400), look.px(41))
    chain = ("an_agent_of_another_maker_with_a_name", "acp-asks")
    image = QImage(card.size().toSize(), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    draw_chain(
        Canvas(painter, look, card, 1.0), ToolPart("p", "c", "acp-asks", "", "write", "waiting", chain=chain), card
    )
    painter.end()
    white, places = QColor(Qt.GlobalColor.white), range(image.height())
    drawn = [x for x in range(image.width()) if any(image.pixelColor(x, y) != white for y in places)]
    assert drawn, "something of it is there"
    assert max(drawn) <= card.right() - look.px(BUTTONS)
