"""Addresses as they are written into messages, records and the window."""

import pytest

from desktop.domain.models import Connection
from desktop.domain.processes import ChildRefused
from desktop.domain.web.addresses import without_user
from desktop.models import providers
from desktop.models.failures import model_error


@pytest.mark.spec("R-SEC-1")
@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("http://ida:secret@127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("http://ida@host/a@b?c=d@e", "http://host/a@b?c=d@e"),
        ("https://a:b@c:d@host", "https://host"),
        ("http://ida:secret@host?x=http://u:p@other", "http://host?x=http://u:p@other"),
        ("ida:secret@host", "host"),
        ("http://host/v1", "http://host/v1"),
        ("http://host\\@other", "http://host\\@other"),
        ("", ""),
    ],
)
def test_an_address_is_said_without_its_user(written: str, shown: str) -> None:
    assert without_user(written) == shown


@pytest.mark.spec("R-SEC-1")
def test_neither_a_failure_nor_the_maker_of_thinking_names_the_user_of_an_address() -> None:
    lab = Connection("lab", "llamacpp", "Lab", "http://ida:secret@127.0.0.1:9/v1")
    told = model_error(ChildRefused("model.unreachable", "", {}), lab, "m")
    assert "127.0.0.1:9/v1" in str(told)
    assert "secret" not in f"{told} {told.next_step} {providers.maker(lab, 'm')}"
