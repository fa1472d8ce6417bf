"""Lines with a match against a reference, line by line."""

import os
import re
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.workers.file_search import limits
from desktop.workers.file_search.host import NameSearch, Stopped, TextSearch
from desktop.workers.file_search.lines import BadExpression, LineCollector, compiled, readable, shown_line
from desktop.workers.file_search.walking import FoundEntry, OpenFolder, opened_file

TEXTS = st.lists(st.sampled_from(["a", "b", "é", "\n", "\n", "\r\n", " ", "x"]), max_size=60).map("".join)
PATTERNS = ["a", "a.b", "^a", "b$", "a*", "é+", r"\s", "[^a]", "x|^$", "(a|b)+x", r"\bx\b", "a\nb"]


def expected(text: str, pattern: str, around: int) -> list[tuple[int, str, bool]]:
    """Number, text and whether it has a match, for each line that is shown. Words are of ASCII, as in RE2."""
    lines = text.split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    has = [re.search(pattern, line, re.ASCII) is not None for line in lines]
    near = [any(has[max(0, at - around) : at + around + 1]) for at in range(len(lines))]
    return [(at + 1, line.removesuffix("\r"), has[at]) for at, line in enumerate(lines) if near[at]]


@pytest.mark.spec("R-EDT-2")
@given(TEXTS, st.sampled_from(PATTERNS), st.integers(0, 3))
def test_the_lines_are_those_that_a_reference_finds(text: str, pattern: str, around: int) -> None:
    collector = LineCollector(around)
    collector.collect(compiled(pattern, literal=False, case=True), text.encode(), 1000)
    assert [(line.number, line.text, line.found) for line in collector.lines] == expected(text, pattern, around)


@given(st.lists(TEXTS.map(lambda text: text + "\n"), max_size=4), st.sampled_from(PATTERNS))
def test_blocks_of_a_large_file_are_numbered_on(blocks: list[str], pattern: str) -> None:
    collector = LineCollector(0)
    for block in blocks:
        collector.collect(compiled(pattern, literal=False, case=True), block.encode(), 1000)
    whole = expected("".join(blocks), pattern, 0)
    assert [(line.number, line.text, line.found) for line in collector.lines] == whole


def test_case_and_plain_text() -> None:
    data = b"Alpha\na.c\nabc\n"
    assert compiled("ALPHA", literal=False, case=False).search(data) is not None
    assert compiled("ALPHA", literal=False, case=True).search(data) is None
    assert compiled("a.c", literal=True, case=True).search(b"abc") is None
    assert compiled("a.c", literal=True, case=True).search(data) is not None


@pytest.mark.parametrize(
    "pattern", ["(?<=a)b", r"(a)\1", "[", "(", "a{1000}{1000}", "*", "a" * 9 + "{9999}", r"\p{Nope}"]
)
def test_an_expression_that_cannot_be_used_says_why(pattern: str) -> None:
    with pytest.raises(BadExpression) as caught:
        compiled(pattern, literal=False, case=True)
    assert str(caught.value)


@pytest.mark.spec("R-EDT-2")
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*)*x", "(a*)*(a*)*b", "a{0,500}a{500}b", "(x+x+)+y"])
def test_an_expression_made_to_explode_is_linear(pattern: str) -> None:
    """A backtracking engine takes longer than the universe lasts for any of these."""
    data = b"a" * 200_000 + b"!\n" + b"x" * 200_000
    began = time.monotonic()
    compiled(pattern, literal=False, case=True).search(data)
    assert time.monotonic() - began < 60


def test_a_long_line_is_cut_around_what_was_found() -> None:
    data = b"a" * 5_000 + "é".encode() * 10 + b"needle" + b"b" * 5_000
    match = compiled("needle", literal=True, case=True).search(data)
    text = shown_line(data, 0, len(data), *match.span())
    assert "needle" in text
    assert text.startswith("…")
    assert text.endswith("…")
    assert len(text) <= limits.LINE + 2


def test_what_is_text() -> None:
    assert readable("\ufeffzwölf".encode()) == "zwölf".encode()
    assert readable("zwölf".encode("utf-16")) == "zwölf".encode()
    assert readable(b"a\0b") is None
    assert readable("a".encode("utf-32")) is None
    assert readable(b"\xff\xfe\xff") is not None  # broken, and no crash


def run(root: Path, kind: type[TextSearch] | type[NameSearch] = TextSearch, **changes: Any) -> tuple[list[Any], Any]:
    found: list[Mapping[str, Any]] = []
    ground = {"root": str(root), "top": str(root), "closed": [], "closed_objects": [], **changes.pop("ground", {})}
    params = {"ground": ground, "globs": [], "skip": 0, "limit": 100, "pattern": "x", "literal": False, "case": True}
    params |= {"around": 0, "names_only": False, **changes}
    said = kind(params, found.append, threading.Event()).run()
    return found, said


@pytest.mark.spec("R-EDT-2")
def test_a_search_that_was_cut_goes_on_where_it_stopped(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text("".join(f"x{number}\n-\n" for number in range(7)))
    whole = [(one["path"], line[0]) for one in run(tmp_path)[0] for line in one["lines"]]
    assert len(whole) == 21
    parts: list[tuple[str, int]] = []
    more = True
    while more:
        found, said = run(tmp_path, skip=len(parts), limit=4)
        parts += [(one["path"], line[0]) for one in found for line in one["lines"]]
        more = said["more"]
    assert parts == whole


def test_lines_around_go_with_their_own_match_when_a_search_goes_on(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1\nx\n3\n4\n5\n6\nx\n8\n")
    assert [line[0] for line in run(tmp_path, around=1, limit=1)[0][0]["lines"]] == [1, 2, 3]
    assert [line[0] for line in run(tmp_path, around=1, skip=1)[0][0]["lines"]] == [6, 7, 8]


def test_names_alone_come_with_how_many_lines_each_has(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\nx\n-\n")
    (tmp_path / "b").write_text("-\n")
    assert run(tmp_path, names_only=True)[0][0]["count"] == 2


@pytest.mark.spec("R-EDT-2")
def test_a_file_of_a_million_lines_is_searched_block_by_block(tmp_path: Path) -> None:
    line = b"a line of some length, so that there is more than one block of it in the file\n"
    (tmp_path / "long.txt").write_bytes(line * 1_000_000 + b"needle\n" + line * 10)
    found, said = run(tmp_path, pattern="^needle$")
    assert [line[0] for one in found for line in one["lines"]] == [1_000_001]
    assert said["more"] is False


def test_odd_things_in_a_tree_hold_nothing_up(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "proc").symlink_to("/proc")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "new\nline").write_text("x")
    (tmp_path / "sub" / b"half\xff".decode("utf-8", "surrogateescape")).write_text("x")
    found, said = run(tmp_path)
    assert [one["path"].encode("latin-1") for one in found] == [b"new\nline", b"sub/half\xff"]
    assert (said["files"], said["unread"]) == (2, 0)
    assert [one["path"] for one in run(tmp_path, NameSearch, globs=["*"], folders=True)[0]] == ["sub"]


@pytest.mark.spec("R-EDT-2")
def test_what_is_closed_is_neither_read_nor_named(tmp_path: Path) -> None:
    for name in ("open", "shut", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("x")
    (tmp_path / "key").write_text("x")
    (tmp_path / "second").write_text("x")
    other, second = (tmp_path / "other").stat(), (tmp_path / "second").stat()
    ground = {"closed": [str(tmp_path / "shut"), str(tmp_path / "key")]}
    ground |= {"closed_objects": [[one.st_dev, one.st_ino] for one in (other, second)]}
    assert [one["path"] for one in run(tmp_path, ground=ground)[0]] == ["open/f"]
    assert [one["path"] for one in run(tmp_path, NameSearch, globs=["*"], ground=ground)[0]] == ["open/f"]


@pytest.mark.spec("R-EDT-2", "R-FS-9")
def test_what_became_a_link_after_it_was_listed_is_not_followed(tmp_path: Path) -> None:
    """The moment between seeing a name and opening it."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "f").write_text("x")
    (tmp_path / "f").symlink_to(tmp_path / "secret" / "f")
    (tmp_path / "folder").symlink_to(tmp_path / "secret")
    folder = OpenFolder(str(tmp_path))
    with pytest.raises(OSError, match="symbolic links"):
        opened_file(FoundEntry("f", "f", folder, False, 0))
    with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
        OpenFolder(str(tmp_path / "folder"), "folder", folder.handle)
    os.mkfifo(tmp_path / "pipe")
    assert opened_file(FoundEntry("pipe", "pipe", folder, False, 0)) is None
    folder.close()


def test_a_tree_deeper_than_a_process_has_descriptors_is_gone_through_as_far_as_it_may(tmp_path: Path) -> None:
    here = tmp_path
    for _ in range(limits.DEPTH + 5):
        here /= "d"
    here.mkdir(parents=True)
    (here / "f").write_text("x")
    found, said = run(tmp_path)
    assert (found, said["too_deep"]) == ([], 1)


def test_a_search_that_nobody_waits_for_stops(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    over = threading.Event()
    over.set()
    ground = {"root": str(tmp_path), "top": str(tmp_path), "closed": [], "closed_objects": []}
    with pytest.raises(Stopped):
        NameSearch({"ground": ground, "globs": ["*"], "skip": 0, "limit": 5}, lambda _: None, over).run()
