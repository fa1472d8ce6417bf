"""The three forms of a reference."""

from __future__ import annotations

import pytest

from desktop.skills.resolution.refs import FileTarget, classify, file_target, path_target, usable


@pytest.mark.spec("R-RES-1", "R-RES-3", "R-RES-4")
@pytest.mark.parametrize(
    ("ref", "form"),
    [
        ("file-read", "bare"),
        ("7zip", "bare"),
        ("a" * 64, "bare"),
        ("a" * 65, "path"),
        ("a--b", "path"),
        ("-a", "path"),
        ("a-", "path"),
        ("A", "path"),
        ("read_file", "path"),
        ("a/b", "path"),
        ("a\\b", "path"),
        ("./a", "path"),
        ("", "path"),
        ("a\n", "path"),
        ("é", "path"),
        ("file:///x#y", "uri"),
        ("mcp://server/tool", "uri"),
        ("inline://1", "uri"),
        ("https://x", "path"),
        ("FILE:///x", "path"),
    ],
)
def test_a_reference_is_a_uri_else_a_bare_name_else_a_path(ref: str, form: str) -> None:
    assert classify(ref) == form


@pytest.mark.spec("R-RES-2")
@pytest.mark.parametrize(
    ("uri", "target"),
    [
        ("file:///x/y.skill.md", FileTarget("/x/y.skill.md")),
        ("file:///x/y.skill.md#one", FileTarget("/x/y.skill.md", "one")),
        ("file://localhost/x", FileTarget("/x")),
        ("file:///a%20b/%23c", FileTarget("/a b/#c")),
        ("file:///a/../b", FileTarget("/b")),
        ("file://other/x", None),
        ("file://x", None),
        ("file:///a%00b", None),
    ],
)
def test_a_file_uri_becomes_an_absolute_path_and_a_fragment(uri: str, target: FileTarget | None) -> None:
    assert file_target(uri) == target


@pytest.mark.spec("R-RES-4")
@pytest.mark.parametrize(
    ("ref", "target"),
    [
        ("a/b.skill.md", FileTarget("/w/a/b.skill.md")),
        ("/x/b#one", FileTarget("/x/b", "one")),
        ("../b#one-two", FileTarget("/b", "one-two")),
        ("a#B_c", FileTarget("/w/a#B_c")),
        ("a_b#", FileTarget("/w/a_b#")),
        ("Foo", FileTarget("/w/Foo")),
    ],
)
def test_a_path_is_taken_against_the_working_folder_and_may_name_a_skill(ref: str, target: FileTarget) -> None:
    assert path_target(ref, "/w") == target


def test_what_no_path_may_hold_names_nothing() -> None:
    assert not usable("a\0b")
    assert not usable("")
    assert not usable("x" * 5000)
    assert usable("x" * 4096)
