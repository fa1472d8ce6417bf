"""Which events of X11 count as input that a program sent: by their first byte, as the protocol numbers them."""

import pytest

from desktop.app.lifecycle.sent_events import is_sent_input

KEY, BUTTON, MOVE, FOCUS, CLIENT_MESSAGE, CONFIGURE = (2, 3), (4, 5), (6,), (9, 10), 33, 22


@pytest.mark.spec("R-PRM-14")
def test_input_is_refused_when_it_was_sent_and_heard_when_it_came_from_the_server() -> None:
    for kind in (*KEY, *BUTTON, *MOVE, *FOCUS):
        assert is_sent_input(kind | 0x80)
        assert not is_sent_input(kind)


def test_what_window_managers_send_is_heard() -> None:
    assert not is_sent_input(CLIENT_MESSAGE | 0x80)
    assert not is_sent_input(CONFIGURE | 0x80)
