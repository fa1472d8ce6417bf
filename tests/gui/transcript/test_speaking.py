"""What a screen reader gets: a list of messages with names, texts and buttons, and each finished reply once."""

import gc

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAccessible, QAccessibleActionInterface

from desktop.presenter.transcript.items import TextPart, TranscriptItem
from desktop.ui.theme import Theme
from desktop.ui.transcript import TranscriptView
from tests.gui.transcript import scenes
from tests.gui.transcript.conftest import said, thread

pytestmark = pytest.mark.spec("R-UI-1")
Role = QAccessible.Role
NAME = QAccessible.Text.Name


def test_the_transcript_is_a_list_of_messages_with_their_texts(view: TranscriptView) -> None:
    view.set_items((said(1, "a question", side="human"), said(2, "an *answer*")))
    found = QAccessible.queryAccessibleInterface(view)
    assert found.role() == Role.List
    assert found.text(NAME) == "Conversation"
    assert found.childCount() == 2
    first = found.child(0)
    assert first.role() == Role.ListItem
    assert first.text(NAME) == "You, 12:00"
    assert first.parent() is found
    assert found.indexOfChild(first) == 0
    text = found.child(1).child(0)
    assert text.role() == Role.Paragraph
    assert text.text(NAME) == "an answer"
    assert not first.state().offscreen
    assert first.rect().width() == view.column()[1]


WRITTEN = """\
# The *whole* story

It is **bold**, `code`, a [link](https://e.org), ![a tide](t.png) and $x^2$.

> - first
> - [x] second

1. one

| gauge | high |
|---|--:|
| **Husum** | 4.1 |

```py
x = "*"
```

---

<b>not bold</b> and 2 * 3 * 4
"""
HEARD = """\
The whole story
It is bold, code, a link, a tide and x^2.
• first
done: second
1. one
gauge, high
Husum, 4.1
Code, py:
x = "*"
<b>not bold</b> and 2 * 3 * 4"""


def test_what_is_heard_is_the_text_and_not_its_marks(view: TranscriptView) -> None:
    view.set_items((said(1, WRITTEN),))
    message = QAccessible.queryAccessibleInterface(view).child(0)
    assert message.child(0).text(NAME) == HEARD
    assert message.text(QAccessible.Text.Value) == HEARD
    view.change_item(said(1, "now *this*"))
    assert message.child(0).text(NAME) == "now this"


def test_a_very_long_message_is_heard_from_its_beginning(view: TranscriptView) -> None:
    view.set_items((said(1, "**word** and more. " * 100_000),))
    heard = QAccessible.queryAccessibleInterface(view).child(0).child(0).text(NAME)
    assert heard.startswith("word and more. word")
    assert 10_000 < len(heard) <= 20_000


def test_everything_that_can_be_pressed_is_a_button_or_a_link(view: TranscriptView) -> None:
    links: list[str] = []
    view.link_activated.connect(links.append)
    text = TextPart("t", "a [link](https://e.org)\n\n```py\nx\n```")
    view.set_items((TranscriptItem("m", "a", "Agent", "1", (text, scenes.short())),))
    item = QAccessible.queryAccessibleInterface(view).child(0)
    children = [item.child(n) for n in range(item.childCount())]
    assert [(child.role(), child.text(NAME)) for child in children[1:]] == [
        (Role.Link, "link"),
        (Role.Button, "Copy py"),
        (Role.Button, "Close write-file"),
        (Role.Button, "Open the request of write-file"),
        (Role.Button, "Deny write-file"),
        (Role.Button, "Allow write-file once"),
    ]
    action = children[1].actionInterface()
    assert action.actionNames() == [QAccessibleActionInterface.pressAction()]
    action.doAction(action.actionNames()[0])
    assert links == ["https://e.org"]
    assert children[1].textInterface() is None
    assert children[2].rect().width() > 20


def test_ten_thousand_messages_cost_nothing_until_they_are_walked(view: TranscriptView) -> None:
    view.set_items(thread(10_000))
    found = QAccessible.queryAccessibleInterface(view)
    assert found.childCount() == 10_000
    for number in range(0, 10_000, 7):
        assert found.child(number).text(NAME)
    assert found.child(0).state().offscreen
    assert len(view.page.laid_out()) < 60
    view.set_items(thread(5))
    gc.collect()
    assert found.childCount() == 5
    assert found.child(4).text(NAME) == "You, 12:00"
    center = view.viewport().mapToGlobal(QPoint(400, 300))
    assert found.childAt(center.x(), center.y()).role() == Role.ListItem


def test_a_finished_reply_is_announced_once(view: TranscriptView) -> None:
    announced: list[str] = []
    view.announced.connect(announced.append)
    view.set_items((said(1, "question", side="human"),))
    view.add_item(said(2, "", live=True))
    view.append_text("m2", "m2:0", "the whole answer")
    view.stream.flush()
    assert announced == []
    QAccessible.setActive(True)
    try:
        view.change_item(said(2, "the whole answer"))
        view.change_item(said(2, "the whole answer"))
    finally:
        QAccessible.setActive(False)
    assert announced == ["Agent answered: the whole answer"]


def test_views_come_and_go_with_their_interfaces(view: TranscriptView, theme: Theme) -> None:
    for _ in range(5):
        other = TranscriptView(theme)
        other.set_items(thread(20))
        other.show()
        found = QAccessible.queryAccessibleInterface(other)
        assert all(found.child(n).child(0).text(NAME) for n in range(20))
        assert found.childCount() >= 20
        other.close()
        other.deleteLater()
        del other, found
        gc.collect()
