"""What of a page is left out before it is drawn, and what stays as it was."""

from __future__ import annotations

import pytest

from desktop.workers.result_host.cleaning import Cleaner

pytestmark = pytest.mark.spec("R-DOC-2")

CASES = {
    "<p class=a>x &amp; y</p>": ('<p class="a">x &amp; y</p>', []),
    "<script>a()\nb()</script>x": ("x", [("script", "a() (and 1 more lines)")]),
    "<SCRIPT SRC='a.js'></SCRIPT >x": ("x", [("script", "a.js")]),
    "<script>x": ("", [("script", "x")]),
    "<!-- <script>x</script> -->y": ("y", []),
    '<img src="a.png" alt="b">': ('<img alt="b">', [("picture", "a.png")]),
    '<img src="data:image/png;base64,AA">': ('<img src="data:image/png;base64,AA">', []),
    "<img src=' DATA:x'>": ('<img src=" DATA:x">', []),
    '<a href="https://a.b" onclick="x()">c</a>': ('<a href="#">c</a>', [("script", "onclick: x()")]),
    '<a href="#c">c</a>': ('<a href="#c">c</a>', []),
    '<p style="background:url(a.png) red">x</p>': ('<p style="background:none red">x</p>', [("picture", "a.png")]),
    "<style>p{color:red;font-family:ui-monospace, monospace}</style>": (
        '<style>p{color:red;font-family:"JetBrains Mono", "JetBrains Mono"}</style>',
        [],
    ),
    "<noscript>Shown</noscript>": ("Shown", []),
    "<iframe src=a></iframe>x": ("x", [("page in the page", "a")]),
    "<meta http-equiv=Refresh content='0;url=b'>": ("", [("way to another page", "0;url=b")]),
    '<link rel="icon" href="a.ico">': ("", []),
    '<use href="#a"/>': ('<use href="#a" />', []),
    '<use href="b.svg#a"/>': ("<use />", [("drawing", "b.svg#a")]),
    "<base href=//a>": ("", []),
    "1 < 2 > 0": ("1 < 2 > 0", []),
}


def test_in_a_drawing_a_script_may_end_where_it_begins() -> None:
    cleaner = Cleaner()
    assert cleaner.drawing('<svg><script href="a"/><text>x</text></svg>') == "<svg><text>x</text></svg>"
    assert cleaner.left == [("script", "a")]


@pytest.mark.parametrize("page", CASES)
def test_scripts_and_what_would_be_fetched_go_and_the_rest_stays(page: str) -> None:
    cleaner = Cleaner()
    assert (cleaner.page(page), cleaner.left) == CASES[page]


def test_of_very_much_only_some_is_named_and_the_rest_is_counted() -> None:
    cleaner = Cleaner()
    cleaner.page("<img src=a>" * 1_000)
    assert (len(cleaner.left), cleaner.more) == (200, 800)
