"""The splitter: CommonMark's block structure, and the same blocks however a text arrives."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.ui.transcript.markdown.blocks import Block, MarkdownSplitter, split_markdown
from desktop.ui.transcript.markdown.model import CODE_LINE_CUT, PARAGRAPH_CUT, PARAGRAPH_LOOKAHEAD

LINES = [
    "",
    "",
    " ",
    "plain text",
    "more *words* here",
    "- item",
    "* star",
    "1. one",
    "2) two",
    "  - nested",
    "    indented",
    "\ttab",
    "> quote",
    "> > deep",
    ">",
    "```",
    "```py",
    "~~~",
    "   ```",
    "  text",
    "===",
    "---",
    "***",
    "# head",
    "## two ##",
    "| a | b |",
    "|---|--:|",
    "| 1 | 2 |",
    "a|b",
    "$$",
    "$$ x^2 $$",
    "\\[",
    "\\]",
    "[ref]: http://x.y 'title'",
    "[ref]:",
    "<div>",
    "- [ ] task",
    "- [x] done",
    "-",
    "1.",
    "<http://y>",
    "\\",
    "two  ",
    "word " * 90,
    "x" * 700,
    "漢字" * 300,
    "é👩‍👩‍👧 שלום",
    "| " + "c" * 1100 + " |",
    "word " * 500,
]
TEXTS = st.lists(st.sampled_from(LINES), max_size=24).map("\n".join)


def in_pieces(text: str, sizes: list[int]) -> tuple[list[Block], dict[str, str]]:
    splitter, blocks, at = MarkdownSplitter(), [], 0
    while at < len(text):
        size = sizes[at % len(sizes)]
        blocks += splitter.feed(text[at : at + size])
        splitter.tail()
        at += size
    return blocks + splitter.finish(), splitter.references


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, st.lists(st.integers(1, 40), min_size=1, max_size=7), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_chunking_gives_the_blocks_of_the_whole(text: str, sizes: list[int], newline: str) -> None:
    text = text.replace("\n", newline)
    assert in_pieces(text, sizes) == split_markdown(text)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_closed_blocks_and_tail_are_what_the_whole_text_gives(text: str) -> None:
    splitter = MarkdownSplitter()
    closed = splitter.feed(text + "\n")
    assert closed + splitter.tail() == split_markdown(text + "\n")[0]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab \n\t-*>#`~|=$[]()\\1.:_!<"), max_size=200))
def test_no_text_loses_its_letters(text: str) -> None:
    blocks, references = split_markdown(text)
    shown = "".join(block.text + block.info + "".join(m for _, m in block.markers) for block in blocks)
    shown += "".join(references.values())
    for letter in "ab":
        assert shown.count(letter) >= text.count(letter) - text.count("]:")


def kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in split_markdown(text)[0]]


def test_fences_inside_lists_and_quotes_keep_exactly_their_code() -> None:
    text = "1. first\n\n   ```py\n   def f():\n   \treturn 1\n   ```\n   after\n2. second\n\n> ~~~\n> quoted\n> ~~~\n"
    blocks, _ = split_markdown(text)
    assert [b.text for b in blocks] == ["first", "def f():\n\treturn 1", "after", "second", "quoted"]
    assert blocks[1].info == "py"
    assert blocks[1].path == blocks[0].path
    assert blocks[3].markers == ((0, "2."),)
    assert blocks[4].path[0][0] == "quote"


def test_setext_headings_rules_and_lists_are_told_apart() -> None:
    assert kinds("Title\n===\nSub\n---\n\n---\n- a\n- - -\n* * *") == [
        ("heading", "Title"),
        ("heading", "Sub"),
        ("rule", ""),
        ("paragraph", "a"),
        ("rule", ""),
        ("rule", ""),
    ]


def test_lazy_lines_continue_a_quoted_paragraph_but_a_fence_does_not() -> None:
    assert kinds("> one\ntwo\n\nthree") == [("paragraph", "one\ntwo"), ("paragraph", "three")]
    assert kinds("> ```\nnot code") == [("code", ""), ("paragraph", "not code")]


def test_only_a_list_that_starts_at_one_interrupts_a_paragraph() -> None:
    assert kinds("In\n1986. a year")[0] == ("paragraph", "In\n1986. a year")
    assert len(kinds("In\n1. item")) == 2


def test_tabs_count_from_the_start_of_the_line() -> None:
    blocks, _ = split_markdown("1.\tfoo\n\t-\tbar\n\n\t\tmore\n2.\tbaz\n\n\tlast")
    assert [(b.text, len(b.path), b.markers) for b in blocks] == [
        ("foo", 1, ((0, "1."),)),
        ("bar", 2, ((1, "•"),)),
        ("more", 2, ()),
        ("baz", 1, ((0, "2."),)),
        ("last", 1, ()),
    ]
    assert kinds("> \tfoo") == [("paragraph", "foo")]
    assert kinds(">\t\tfoo") == [("code", "  foo")]
    assert kinds("> ```\n> \tkept") == [("code", "\tkept")]
    assert kinds(">  ```\n> \tcut in two") == [("code", " cut in two")]
    assert [len(block.path) for block in split_markdown(" -\tfoo\n\n\tbar")[0]] == [1, 1]


def test_list_numbers_count_on_from_the_first() -> None:
    blocks, _ = split_markdown("3. a\n3. b\n\n   more\n9. c\n\n1) new")
    assert [m for b in blocks for _, m in b.markers] == ["3.", "4.", "5.", "1)"]


def test_link_definitions_are_collected_and_not_shown() -> None:
    blocks, references = split_markdown('See [A b].\n\n[a  B]: <http://x.y> "t"\n[c]: /z\ntext\n[c]: /later')
    assert [b.text for b in blocks] == ["See [A b].", "text\n[c]: /later"]
    assert references == {"a b": '[a  B]: <http://x.y> "t"', "c": "[c]: /z"}


def test_a_table_needs_delimiters_and_ends_at_a_blank_line_or_another_block() -> None:
    assert kinds("a|b\n-|-\n1|2\n# h") == [("table", "a|b\n-|-\n1|2"), ("heading", "h")]
    assert kinds("a|b|c\n-|-\n")[0][0] == "paragraph"


def test_display_formulas_close_or_become_text() -> None:
    assert kinds("so\n$$\nx^2\n$$\nthen \\$5") == [("paragraph", "so"), ("math", "x^2"), ("paragraph", "then \\$5")]
    assert kinds("$$ a $$") == [("math", "a")]
    assert kinds("\\[ a\n+ b \\]") == [("math", "a\n+ b")]
    assert kinds("$$\nnever\n\nclosed")[0] == ("paragraph", "$$\nnever")


def test_a_long_paragraph_is_cut_between_words_and_emphasis_is_carried_over() -> None:
    text = "**" + "word " * 900 + "end**"
    blocks, _ = split_markdown(text)
    assert len(blocks) > 2
    assert all(len(b.text) <= PARAGRAPH_CUT + PARAGRAPH_LOOKAHEAD + 4 for b in blocks)
    assert all(b.text.startswith("**") and b.text.endswith("**") for b in blocks)
    assert [b.part for b in blocks] == list(range(len(blocks)))
    assert "".join(b.glue + b.text.strip("*") for b in blocks) == text.strip("*")


@pytest.mark.parametrize("line", ["x" * 20_000, "\n".join(f"line {i} " + "y" * 30 for i in range(700))])
def test_long_code_is_cut_and_its_parts_give_it_back_exactly(line: str) -> None:
    blocks, _ = split_markdown("```\n" + line + "\n```")
    assert "".join(b.glue + b.text for b in blocks) == line
    assert all(len(part) <= CODE_LINE_CUT for b in blocks for part in b.text.split("\n"))


def test_a_half_line_that_could_be_anything_is_not_shown_yet() -> None:
    splitter = MarkdownSplitter()
    splitter.feed("Heading?\n-")
    assert [b.kind for b in splitter.tail()] == ["paragraph"]
    splitter.feed("- no, text")
    assert [b.text for b in splitter.tail()] == ["Heading?\n-- no, text"]
    fenced = MarkdownSplitter()
    fenced.feed("```py\nx = 1\n``")
    assert fenced.tail()[0].text == "x = 1"


def test_hostile_nesting_takes_no_longer_than_its_length() -> None:
    started = time.thread_time()
    for text in (">" * 20_000, "- " * 10_000, "[" * 20_000, "*" * 20_000, "|" * 20_000, "[a]: " * 4000, "`" * 9999):
        split_markdown(text + "\nx\n" * 50)
    assert time.thread_time() - started < 15
