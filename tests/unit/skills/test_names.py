"""Names and tags of skills."""

from __future__ import annotations

import pytest

from desktop.skills.names import is_bare_name, normal_tags


@pytest.mark.spec("R-RES-3", "R-SK-2")
@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("file-read", True),
        ("a", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("a--b", False),
        ("-a", False),
        ("a-", False),
        ("A", False),
        ("a_b", False),
        ("a/b", False),
        ("", False),
        ("a\n", False),
        ("7zip", True),
        ("é", False),
    ],
)
def test_bare_names(name: str, good: bool) -> None:
    assert is_bare_name(name) is good


@pytest.mark.spec("R-VIS-3")
def test_tags_are_lowered_hyphened_trimmed_and_kept_once() -> None:
    assert normal_tags(["Big Data", "big--data", " !x! ", "", "???", "B"]) == ("big-data", "x", "b")
