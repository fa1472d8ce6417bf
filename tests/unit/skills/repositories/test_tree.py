"""Which files of a commit are written, and what keeps one skill out without taking the others with it."""

from __future__ import annotations

import pytest

from desktop.skills.importing.limits import ImportRefused
from desktop.skills.repositories.tree import MAX_ENTRIES, MAX_OF_ONE, TreeEntry, entries_of, wanted_of

OID = "0" * 40


def entry(path: str, size: int = 10, mode: str = "100644") -> TreeEntry:
    return TreeEntry(path, mode, size, OID)


def test_the_list_of_git_is_read_with_any_name() -> None:
    oid = OID.encode()
    lines = (
        b"100644 blob %s      12\ta b\tc.md" % oid,
        b"160000 commit %s  -\tsub" % oid,
        b"100755 blob %s 3\t\xff" % oid,
    )
    found = list(entries_of(b"\0".join((*lines, b""))))
    assert [(one.path, one.mode, one.size) for one in found] == [
        ("a b\tc.md", "100644", 12),
        ("sub", "160000", -1),
        ("\udcff", "100755", 3),
    ]


def test_a_repository_with_too_many_files_is_refused() -> None:
    with pytest.raises(ImportRefused, match="more than"):
        list(entries_of(b"x\0" * (MAX_ENTRIES + 2)))


def test_only_what_belongs_to_something_is_wanted() -> None:
    found = wanted_of(
        [
            entry("README.md"),
            entry("film.mp4", 900_000_000),
            entry("tide/SKILL.md"),
            entry("tide/scripts/fit.py", mode="100755"),
            entry("tide/node_modules/x/SKILL.md"),
            entry("one.skill.md"),
            entry("agents/log.md"),
            entry("tide/agents/inner.md"),
            entry(".mcp.json"),
            entry("docs/agents.md"),
        ]
    )
    assert {one.path for one in found.files} == {
        "tide/SKILL.md",
        "tide/scripts/fit.py",
        "tide/agents/inner.md",
        "one.skill.md",
        "agents/log.md",
        ".mcp.json",
    }
    assert not found.wrong


@pytest.mark.parametrize(
    ("hostile", "why"),
    [
        ([entry("bad/../x")], "outside"),
        ([entry("bad/a\u202eb.md")], "no plain name"),
        ([entry("bad/a\x07b")], "no plain name"),
        ([entry("bad/nul.txt")], "not every system"),
        ([entry("bad/A.md"), entry("bad/a.md")], "two files"),
        ([entry("bad/" + "d/" * 40 + "x")], "deeper"),
        ([entry("bad/big.bin", 100_000_000)], "larger"),
        ([entry(f"bad/{n}", 15_000_000) for n in range(5)], "larger"),
        ([entry(f"bad/{n}") for n in range(MAX_OF_ONE + 1)], "files"),
    ],
)
def test_what_is_hostile_in_one_skill_keeps_that_one_out_alone(hostile: list[TreeEntry], why: str) -> None:
    found = wanted_of([entry("bad/SKILL.md"), *hostile, entry("good/SKILL.md"), entry("good/a.md")])
    assert why in found.wrong["bad/SKILL.md"]
    assert list(found.wrong) == ["bad/SKILL.md"]
    assert {one.path for one in found.files} == {"bad/SKILL.md", "good/SKILL.md", "good/a.md"}


def test_a_skill_file_of_100_mb_is_not_written_at_all() -> None:
    found = wanted_of([entry("huge/SKILL.md", 100_000_000), entry("good/SKILL.md")])
    assert "100 MB" in found.wrong["huge/SKILL.md"]
    assert [one.path for one in found.files] == ["good/SKILL.md"]


def test_links_and_other_repositories_are_counted_and_never_wanted() -> None:
    found = wanted_of([entry("a/SKILL.md"), entry("a/etc", 11, "120000"), entry("sub", -1, "160000")])
    assert [one.path for one in found.files] == ["a/SKILL.md"]
    assert (found.links["a/SKILL.md"], found.modules) == (1, 1)
