"""What is a link `assent:…`, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.text.links import LONGEST, UNKNOWN, WindowLink, harmless, read_link, slug


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("assent:", WindowLink("", "")),
        ("assent://", WindowLink("", "")),
        ("assent:chats", WindowLink("chats", "")),
        ("ASSENT://Skills/", WindowLink("skills", "")),
        ("assent:settings/models-and-keys", WindowLink("settings", "models-and-keys")),
        ("assent:chat/0123456789abcdef0123456789abcdef", WindowLink("chat", "0123456789abcdef0123456789abcdef")),
    ],
)
def test_a_link_names_a_kind_of_place_and_one_of_its_kind(text: str, link: WindowLink) -> None:
    assert read_link(text) == link
    assert harmless(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "assent",
        "http://chats",
        "javascript:assent:chats",
        " assent:chats",
        "assent:chats\n",
        "assent:chats\nassent:skills",
        "assent:chats\x00",
        "assent:chats?message=rm",
        "assent:chats#send",
        "assent:chat/1/send",
        "assent:chat/../settings",
        "assent:settings/%2e%2e",
        "assent:settings/Models and keys",
        "assent:///etc/passwd",
        "assent://user:password@host/chats",
        "assent:chats;touch x",
        "assent:$(touch x)",
        "assent:`touch x`",
        "assent:--home=/tmp/x",
        "--home=/tmp/x",
        "-h",
        "assent:сhats",  # a Cyrillic letter
        "assent:chat/\u202e321",
        "assent:chat/١٢",
        "assent:ſettings",  # folds to an s
        "assent:" + "a" * 21,
        "assent:chat/" + "a" * 81,
        "assent:" + "/" * LONGEST,
    ],
)
def test_everything_else_is_none_and_goes_no_further(text: str) -> None:
    assert read_link(text) is None
    assert harmless(text) == UNKNOWN


def test_no_link_is_no_link_to_nowhere() -> None:
    assert harmless("") == ""


@given(st.text(max_size=300))
def test_no_text_is_read_as_more_than_plain_names(text: str) -> None:
    link = read_link(text) or read_link(f"assent:{text}")
    assert link is None or (link.kind + link.name.replace("-", "")).isalnum() or link == WindowLink("", "")
    assert link is None or (link.kind + link.name).isascii()


def test_names_of_pages_stand_in_links_without_spaces_and_capitals() -> None:
    assert slug("Models and keys") == "models-and-keys"
    assert slug("Tools from tools.yaml") == "tools-from-tools-yaml"
