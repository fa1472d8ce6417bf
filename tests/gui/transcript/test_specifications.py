"""Markdown as it is drawn in the end, by the examples of CommonMark and of GitHub's dialect."""

import json
from pathlib import Path

import pytest

from desktop.ui.transcript.markdown.blocks import MarkdownSplitter, split_markdown
from desktop.ui.transcript.markdown.inline import InlineParser
from tests.gui.transcript.normal_form import form_of_blocks, form_of_html

DATA = Path(__file__).resolve().parents[2] / "data" / "markdown"
COUNTS = {"commonmark-0.31.2": 652, "gfm-0.29": 24}
LISTED = json.loads((DATA / "differences.json").read_text("utf-8"))


def examples(name):
    return json.loads((DATA / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", COUNTS)
def test_every_example_is_drawn_as_it_says_but_for_the_listed_ones(name):
    drawn = {example["example"]: form_of_blocks(example["markdown"]) for example in examples(name)}
    expected = {example["example"]: form_of_html(example["html"]) for example in examples(name)}
    assert len(drawn) == COUNTS[name]
    differing = {str(number): form for number, form in drawn.items() if form != expected[number]}
    listed = {number: form for number, (_, form) in LISTED[name].items()}
    assert json.loads(json.dumps(differing)) == listed


def test_every_listed_difference_has_a_reason_and_every_reason_is_used():
    used = {reason for name in COUNTS for reason, _ in LISTED[name].values()}
    assert used == set(LISTED["reasons"])


@pytest.mark.parametrize("name", COUNTS)
def test_an_example_that_comes_letter_by_letter_ends_as_the_whole(name):
    for example in examples(name):
        splitter, blocks = MarkdownSplitter(), []
        for letter in example["markdown"]:
            blocks += splitter.feed(letter)
        assert (blocks + splitter.finish(), splitter.references) == split_markdown(example["markdown"])


@pytest.mark.parametrize(
    ("source", "address", "behind"),
    [
        ("see https://a.b/c.", "https://a.b/c", "."),
        ("see https://a.b/c.html, then", "https://a.b/c.html", ", then"),
        ("(https://a.b/c_(d))", "https://a.b/c_(d)", ")"),
        ("(see https://a.b/c).", "https://a.b/c", ")."),
        ("**https://a.b/c**:", "https://a.b/c", ":"),
        ("访问 https://a.b/c。", "https://a.b/c", "。"),
        ("https://a.b/x_y_z", "https://a.b/x_y_z", ""),
        ("<https://a.b/c.>", "https://a.b/c.", ""),
        ("see:[https://a.b/c](https://a.b/c)!", "https://a.b/c", "!"),
    ],
)
def test_an_address_is_a_link_without_the_signs_behind_it(source, address, behind):
    text, runs = InlineParser().parse(source)
    (link,) = [run for run in runs if run.href]
    assert (link.href, text[link.start : link.end], text[link.end :]) == (address, address, behind)


@pytest.mark.parametrize(
    "source", ["`https://a.b/c`", "ahttps://a.b/c", "https://a", "file://a.b/c", "<b c='https://a.b/c'>"]
)
def test_what_is_no_address_of_the_web_is_no_link(source):
    assert [run for run in InlineParser().parse(source)[1] if run.href] == []


def test_a_link_whose_words_are_another_address_leads_where_it_says():
    text, runs = InlineParser().parse("[https://a.b/c:](https://d.e/f)")
    assert [(text[run.start : run.end], run.href) for run in runs] == [("https://a.b/c:", "https://d.e/f")]


def test_a_line_break_in_code_is_a_blank_and_no_break():
    for source in ("`one  \ntwo`", "`one\\\ntwo`"):
        text, (run,) = InlineParser().parse(source)
        assert run.code
        assert text == source.strip("`").replace("\n", " ")
