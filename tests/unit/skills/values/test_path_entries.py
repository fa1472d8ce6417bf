"""Entries of the search path (S-RES-1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.errors import ConfigurationError
from desktop.skills.values.path_entries import (
    DirEntry,
    IgnoreEntry,
    PathEntry,
    extract_ignore,
    filter_paths,
    iter_paths,
    map_paths,
    parse_path_entry,
    path_entry_dir,
    paths_key,
)

PATHS: list[PathEntry] = [
    "/project",
    {"ignore": "dist"},
    {"external": "/library"},
    {"internal": "/own"},
    IgnoreEntry("*.tmp"),
    DirEntry("/x"),
]


def records(entries: Iterable[Any]) -> tuple[DirEntry | IgnoreEntry, ...]:
    return tuple(map(parse_path_entry, entries))


def test_the_four_forms_become_records() -> None:
    assert records(PATHS) == (
        DirEntry("/project"),
        IgnoreEntry("dist"),
        DirEntry("/library", external=True),
        DirEntry("/own", internal=True),
        IgnoreEntry("*.tmp"),
        DirEntry("/x"),
    )


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (5, "a folder"),
        ({}, "one key"),
        ({"external": "/a", "ignore": "b"}, "one key"),
        ({"extern": "/a"}, "external, internal or ignore"),
        ({"external": 5}, "a folder"),
        ("", "a folder"),
        ({"ignore": " "}, "a pattern"),
        ("a\0b", "zero"),
        (None, "a folder"),
    ],
)
def test_a_wrong_entry_says_what_it_has_to_be(entry: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=f"This path entry.*{said}"):
        parse_path_entry(entry)


def test_an_entry_has_a_folder_unless_it_ignores() -> None:
    assert [path_entry_dir(entry) for entry in PATHS if entry not in (PATHS[1], PATHS[4])] == [
        "/project",
        "/library",
        "/own",
        "/x",
    ]
    for entry in (PATHS[1], PATHS[4]):
        with pytest.raises(ConfigurationError, match="names no folder"):
            path_entry_dir(entry)


def test_folders_and_ignores_are_read_apart() -> None:
    assert [(entry.dir, entry.external) for entry in iter_paths(PATHS)] == [
        ("/project", False),
        ("/library", True),
        ("/own", False),
        ("/x", False),
    ]
    assert extract_ignore(PATHS) == ["dist", "*.tmp"]


def test_mapping_replaces_folders_and_keeps_ignores_in_place() -> None:
    def change(folder: str, external: bool, entry: PathEntry) -> list[PathEntry]:
        if external:
            return []
        return [entry, {"external": folder + "/more"}] if folder == "/project" else [entry]

    assert map_paths(PATHS, change) == ["/project", {"external": "/project/more"}, *PATHS[1:2], *PATHS[3:]]
    assert filter_paths(PATHS, lambda folder, external: external) == [PATHS[1], PATHS[2], PATHS[4]]
    assert filter_paths(PATHS, lambda folder, external: True) == PATHS


@pytest.mark.spec("R-RES-14")
def test_a_key_is_the_same_for_the_same_path_however_it_is_written() -> None:
    assert paths_key(PATHS) == paths_key(records(PATHS))
    assert {paths_key(PATHS): 1}[paths_key(list(PATHS))] == 1


folder = st.text("ab/\\,:'\"() \n", min_size=1, max_size=4).filter(str.strip)
entry = st.one_of(
    folder, st.builds(lambda kind, text: {kind: text}, st.sampled_from(["external", "internal", "ignore"]), folder)
)


@pytest.mark.spec("R-RES-14")
@given(st.lists(entry, max_size=4), st.lists(entry, max_size=4))
def test_different_paths_never_share_a_key(one: list[Any], other: list[Any]) -> None:
    assert (paths_key(one) == paths_key(other)) is (records(one) == records(other))
