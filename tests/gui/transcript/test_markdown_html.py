"""What models write beside Markdown: a few tags that only say how to draw, comments, footnotes. Nothing acts."""

import pytest

from desktop.ui.transcript.markdown.blocks import MarkdownSplitter, split_markdown
from desktop.ui.transcript.markdown.inline import InlineParser

LINE = "\u2028"


def drawn(source: str) -> str:
    """Blocks with their markers, as they are read."""
    parser = InlineParser()
    blocks, references = split_markdown(source)
    return "\n".join(
        " ".join([*(marker for _, marker in block.markers), parser.parse(block.text, references)[0]])
        for block in blocks
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("one<br>two<br/>\nthree", f"one{LINE}two{LINE}three"),
        ("press <kbd>Ctrl</kbd>+<kbd>C</kbd>", "press Ctrl+C"),
        ("a<!-- not for you --> b", "a b"),
        ("<!--\nover\n\nlines\n-->\nshown", "shown"),
        ("fish &amp; chips &#x41; &copy;", "fish & chips A ©"),
        ("as said[^1] and[^note]", "as said¹ and[note]"),
        ("text\n\n[^1]: the *note*\n    goes on\n[^b]: next", "text\n¹ the note goes on\n[b] next"),
        ("<details>\n<summary>More</summary>\n\nbody\n\n</details>", "▾ More\nbody"),
        ("<details>\n<summary>More</summary>\nbody\n</details>", f"▾ More{LINE}body"),
    ],
)
def test_a_few_tags_and_marks_are_drawn_as_what_they_mean(source, shown):
    assert drawn(source).replace(" \n", "\n").strip() == shown


@pytest.mark.spec("R-UI-9")
@pytest.mark.parametrize(
    "source",
    ["<script>alert(1)</script>", '<img src="https://a.b/c.png" onerror="x()">', "<iframe src=x>", "<kbd", "<!-- open"],
)
def test_every_other_tag_stays_text_and_has_no_address(source):
    text, runs = InlineParser().parse(source)
    assert text == source
    assert [run for run in runs if run.href] == []


def test_code_and_escaped_signs_stay_as_they_are():
    for source, shown in (("`<br> <!-- x --> [^1]`", "<br> <!-- x --> [^1]"), ("\\<br> \\[^1]", "<br> [^1]")):
        assert InlineParser().parse(source)[0] == shown
    blocks, _ = split_markdown("```\n<!--\n[^1]: x\n```\nafter")
    assert [(block.kind, block.text) for block in blocks] == [("code", "<!--\n[^1]: x"), ("paragraph", "after")]


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("\\[foo] is text", ["paragraph"]),
        ("\\[foo]: bar\nmore", ["paragraph"]),
        ("\\[ ] a task that is none", ["paragraph"]),
        ("\\[x^2 and it never ends", ["paragraph"]),
        ("\\[\nx^2\n\\]", ["math"]),
        ("\\[ a[1] + b \\]", ["math"]),
        ("\\[a[1]\n+ b\\]", ["math"]),
    ],
)
def test_an_escaped_bracket_is_a_formula_only_where_it_is_one(source, kinds):
    assert [block.kind for block in split_markdown(source)[0]] == kinds


@pytest.mark.parametrize("source", ["<!-- never ends\n\nand hides nothing", "<!--" + "x\n" * 20_000 + "-->\nend"])
def test_a_comment_that_does_not_end_or_is_too_long_hides_nothing(source):
    assert "end" in drawn(source)


@pytest.mark.parametrize(
    "source",
    [
        "[^1]: a\n[^2]: b\n\n    c\n\nd",
        "<!--\na\n\nb -->\nc",
        "\\[foo] x\n\\[\ny\n\\]",
        "<details>\n\na\n\n</details>\n<br>",
    ],
)
def test_in_whatever_pieces_it_comes_it_is_the_same(source):
    whole, _ = split_markdown(source)
    splitter = MarkdownSplitter()
    single = [block for letter in source for block in splitter.feed(letter)] + splitter.finish()
    assert single == whole


def test_hostile_nesting_of_comments_ends():
    for part in ("<!-- -->", "<!--", "<br>", "[^", "<kbd>", "<summary>", "<!-- --> \n", "</details>\n<!--"):
        assert drawn(part * 4000 + "x")
