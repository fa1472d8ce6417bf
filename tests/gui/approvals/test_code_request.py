"""A request that model-written code made says so, and which line it was, in words that cannot hide anything."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QWidget

from desktop.ui.approvals.inbox import InboxModel
from desktop.ui.approvals.request.head import RequestHead


def words(head: RequestHead) -> str:
    return "\n".join(w.text() for w in head.findChildren(QWidget) if callable(getattr(w, "text", None)))


@pytest.mark.spec("R-PRM-2", "R-PRM-15", "R-COD-6")
def test_the_request_shows_the_line_of_the_code_that_asks(theme, qtbot, write) -> None:
    head = RequestHead(replace(write, place='line 3: await ctx.manager.invoke("a\u202eb")'), "A thread")
    qtbot.addWidget(head)
    assert "From code" in words(head)
    assert 'line 3: await ctx.manager.invoke("a\\u{202e}b")' in words(head)
    plain = RequestHead(write, "A thread")
    qtbot.addWidget(plain)
    assert "From code" not in words(plain)


@pytest.mark.spec("R-PRM-2", "R-COD-6")
def test_the_inbox_says_that_code_asks(theme, write) -> None:
    model = InboxModel(lambda _: "A thread", {})
    assert "code line 3, A thread" in model.origin(replace(write, place="line 3: x"))
    assert "code" not in model.origin(write)
