"""Which files and code blocks are results, and what their versions are."""

from __future__ import annotations

import pytest

from desktop.domain.files.changes import ABSENT, ChangedFile, ChangeOrigin, FileChange, FileState, KeptChange
from desktop.domain.files.results import FENCE_FROM, fences_in, kind_of, results_of

pytestmark = pytest.mark.spec("R-DOC-2")


def change(path: str, before: str, after: str, *, undoes: str = "", call: str = "c", kept: bool = True) -> KeptChange:
    """A call that left a file with this content, by its digest; "": it is not there."""
    states = [FileState("file", 0o644, 10, digest) if digest else ABSENT for digest in (before, after)]
    file = ChangedFile(FileChange(path, states[0], states[1]))
    origin = ChangeOrigin("t", (), "r", "", call)
    return KeptChange("i", 5.0, (file,), origin, (undoes,) if undoes else (), kept=kept)


def test_each_call_that_left_other_bytes_is_a_version() -> None:
    records = [
        change("/p/a.html", "old", "one", call="c1"),
        change("/p/a.html", "one", "one", call="c2"),
        change("/p/a.html", "one", "two", call="c3", kept=False),
        change("/p/a.html", "two", "one", undoes="x", call="c4"),
        change("/p/a.html", "one", "", call="c5"),
        change("/p/a.html", "", "three", call="c6"),
    ]
    (found,) = results_of(records)
    assert (found.key, found.name, found.kind, found.beginning) == ("/p/a.html", "a.html", "page", "old")
    assert [(one.number, one.digest, one.gone) for one in found.versions] == [
        (1, "one", False),
        (2, "two", True),
        (3, "three", False),
    ]
    assert "c3" in found.versions[1].calls


def test_what_has_no_way_to_be_shown_is_no_result() -> None:
    assert results_of([change("/p/a.bin", "", "one"), change("/p/noending", "", "one")]) == []
    link = ChangedFile(FileChange("/p/a.html", ABSENT, FileState("link", target="/etc/passwd")))
    assert results_of([KeptChange("i", 5.0, (link,), ChangeOrigin())]) == []
    kinds = {"a.HTML": "page", "b.svg": "drawing", "c.tsv": "table", "d.jsonl": "tree", "e.md": "markdown"}
    assert {name: kind_of(name) for name in kinds} == kinds
    assert (kind_of("f.py"), kind_of("g.exe"), kind_of("h")) == ("code", None, None)


LONG = "x" * FENCE_FROM


def block(info: str, text: str = LONG, mark: str = "```") -> str:
    return f"Here:\n\n{mark}{info}\n{text}\n{mark}\n\nDone."


@pytest.mark.parametrize(
    ("markdown", "name"),
    [
        (block("html"), "page.html"),
        (block("html", f"<title>The  surge\nof March</title>{LONG}"), "The surge of March.html"),
        (block('html title="surge.html"'), "surge.html"),
        (block("html surge.html"), "surge.html"),
        (block("html file=../../etc/surge.html"), "surge.html"),
        (block("html C:\\temp\\surge.html"), "surge.html"),
        (block("svg", mark="~~~"), "drawing.svg"),
        (block("xml", f"<svg>{LONG}"), "drawing.svg"),
        (block("csv", mark="`````"), "table.csv"),
        (block("json levels.geojson"), "levels.geojson"),
    ],
)
def test_a_large_block_is_called_by_its_mark_or_its_title(markdown: str, name: str) -> None:
    assert [fence.name for fence in fences_in(markdown)] == [name]


@pytest.mark.parametrize(
    "markdown",
    [
        block("python"),
        block("html", "short"),
        block("xml"),
        f"```html\n{LONG}",
        f"Text about ```html {LONG}```",
        f"````\n```html\n{LONG}\n````",
    ],
)
def test_what_is_small_open_or_something_else_is_none(markdown: str) -> None:
    assert fences_in(markdown) == []


def test_a_block_is_what_stands_between_its_marks() -> None:
    text = f"<p>\n``\n```x\n{LONG}"
    (found,) = fences_in(f"a\n```html\n{text}\n```\nb\n")
    assert (found.text, found.kind) == (text, "page")
