"""Edits against a reference that does the same by hand, on texts of any line ends."""

import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from desktop.tools.builtin.edits.encoded import decoded
from desktop.tools.builtin.edits.nearest import nearest_words
from desktop.tools.builtin.edits.places import CannotEdit, TextEdit, apply, find_places
from desktop.tools.builtin.edits.versions import MAX_FILES, FileVersion, ReadVersions, changed_words

PIECES = ["a", "b", "ab", "é", "😀", " ", "\t", "\n", "\r\n"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
WITH_CR = st.lists(st.sampled_from([*PIECES, "\r"]), min_size=1, max_size=40).map("".join)
MARKS = {"utf-8": b"", "utf-8-sig": b"", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


def reference(plain: str, edits: list[TextEdit]) -> str | None:
    """What is left where every old text is taken out of a list of characters, one edit after the other; None where
    that is not clear."""
    taken: dict[int, tuple[int, str]] = {}
    for edit in edits:
        if not edit.old or edit.old == edit.new:
            return None
        places = [found.start() for found in re.finditer(f"(?={re.escape(edit.old)})", plain)]
        if edit.all:
            places = [found.start() for found in re.finditer(re.escape(edit.old), plain)]
        if not places or (len(places) > 1 and not edit.all):
            return None
        for place in places:
            if any(place < start + size and start < place + len(edit.old) for start, (size, _) in taken.items()):
                return None
            taken[place] = (len(edit.old), edit.new)
    for start in sorted(taken, reverse=True):
        size, new = taken[start]
        plain = plain[:start] + new + plain[start + size :]
    return plain


@st.composite
def cases(draw: st.DrawFn) -> tuple[bytes, list[TextEdit]]:
    """A file, and edits most of which are about stretches that it has."""
    raw = draw(TEXTS)
    encoding = draw(st.sampled_from(sorted(MARKS)))
    plain = raw.replace("\r\n", "\n")
    changes = []
    for _ in range(draw(st.integers(1, 4))):
        if plain and draw(st.integers(0, 9)):
            start = draw(st.integers(0, len(plain) - 1))
            old = plain[start : draw(st.integers(start + 1, min(len(plain), start + 6)))]
        else:
            old = draw(TEXTS)
        changes.append({"old": old, "new": draw(TEXTS), "all": draw(st.booleans())})
    return MARKS[encoding] + raw.encode(encoding), [TextEdit.of(change) for change in changes]


@pytest.mark.spec("R-EDT-1")
@given(cases())
def test_edits_do_what_a_reference_does_or_nothing(case: tuple[bytes, list[TextEdit]]) -> None:
    data, edits = case
    assume(b"\x00" not in data or data[:2] in (b"\xff\xfe", b"\xfe\xff"))
    file = decoded(data)
    wanted = reference(file.plain, edits)
    try:
        places = find_places(file.plain, edits)
    except CannotEdit:
        assert wanted is None
        return
    after = apply(file, edits, places)
    assert wanted is not None
    assert after.replace("\r\n", "\n") == wanted
    assert decoded(file.bytes_of(after)).raw == after


@given(WITH_CR)
def test_what_is_not_touched_stays_byte_for_byte(raw: str) -> None:
    file = decoded(f"{raw}<x>{raw}".encode())
    edits = [TextEdit("<x>", "<y>")]
    assert apply(file, edits, find_places(file.plain, edits)) == f"{raw}<y>{raw}"


@given(TEXTS, TEXTS.filter(bool))
def test_something_is_said_of_any_text_that_is_not_there(text: str, old: str) -> None:
    said = nearest_words(text.replace("\r\n", "\n"), old.replace("\r\n", "\n"))
    assert said.startswith(("Nearest is", "Nothing in the file", "It is there without"))


@given(TEXTS, TEXTS)
def test_what_changed_is_short_whatever_changed(before: str, after: str) -> None:
    assert len(changed_words(before * 50, after * 50).splitlines()) <= 41


def test_only_so_many_versions_are_kept_the_newest_of_all() -> None:
    versions = ReadVersions()
    for number in range(MAX_FILES + 5):
        versions.note("t", f"/f{number}", FileVersion.of(b"x"))
    assert versions.known("t", "/f4") is None
    assert versions.known("t", "/f5") is not None


def test_of_a_large_file_the_nearest_place_is_looked_for_around_a_line_that_both_have() -> None:
    text = "".join(f"line {number} of a large file\n" for number in range(40_000))
    old = "line 30000 of a large file\n  line 30001 of a large file"
    said = nearest_words(text, old)
    assert said.startswith("Nearest is lines 30001 to 30002; line 30002 differs in its indentation")


def test_a_version_that_is_read_again_was_known_since_then() -> None:
    versions, first = ReadVersions(), FileVersion.of(b"x")
    versions.note("t", "/f", first)
    versions.note("t", "/f", replace(FileVersion.of(b"x"), at=first.at + 5))
    assert versions.known("t", "/f") == first
    versions.note("t", "/f", FileVersion.of(b"y"))
    assert versions.known("t", "/f") != first
