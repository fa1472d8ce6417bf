"""Help is found by words in all their forms, and what matched is marked."""

import pytest

from desktop.domain.help.pages import HelpHit
from desktop.services.help.pages import ReadSection, pages_of, sections_of
from desktop.services.help.search import HelpIndex
from desktop.services.help.stems import stem

UPDATES = """# Updates
<!-- also: upgrade -->

How a new version comes. See [Chats](chats.md).

## Go back to an older version
<!-- there: settings:Updates -->

Assent keeps the version before this one.

```sh
assent --version
# a comment, and no heading
```
"""
CHATS = """# Chats

A chat is kept.

## Undo what an agent wrote

Each file goes back to what it was.
"""


def sections() -> tuple[ReadSection, ...]:
    return (*sections_of("updates", UPDATES), *sections_of("chats", CHATS))


def index() -> HelpIndex:
    return HelpIndex(sections())


def titles(query: str) -> list[str]:
    return [hit.section.title for hit in index().find(query).hits]


def marked(hit: HelpHit) -> list[str]:
    return [hit.snippet[start : start + length] for start, length in hit.marks]


def test_a_page_is_cut_at_its_headings_and_code_is_left_alone() -> None:
    first, second = (one.section for one in sections_of("updates", UPDATES))
    assert (first.title, second.title) == ("Updates", "Go back to an older version")
    assert (first.there, second.there) == ("", "settings:Updates")
    assert second.command == "assent --version\n# a comment, and no heading"
    assert first.see == ("chats",)
    assert "<!--" not in first.text + second.text
    assert "no heading" in second.text


def test_the_first_sentence_of_a_page_says_what_it_is_about() -> None:
    assert pages_of(sections())["updates"].about == "How a new version comes."


@pytest.mark.parametrize(
    "words", ["go goes going went", "copy copies copied copying", "colour colors coloured", "stop stopped stopping"]
)
def test_the_forms_of_a_word_are_one(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


def test_words_that_are_not_the_same_stay_apart() -> None:
    assert len({stem(word) for word in ("rule", "ruin", "run", "rung", "key", "keyring", "this", "bus")}) == 8


def test_the_best_hit_has_the_words_in_its_title_and_the_others_show_where_they_have_them() -> None:
    found = index().find("go back")
    assert [hit.section.title for hit in found.hits] == ["Go back to an older version", "Undo what an agent wrote"]
    assert found.pages == 2
    best, other = found.hits
    assert [best.section.title[start : start + length] for start, length in best.title] == ["Go", "back"]
    assert (best.snippet, other.title) == ("", ())
    assert marked(other) == ["goes", "back"]


def test_words_side_by_side_in_a_title_come_before_the_same_words_apart() -> None:
    apart, beside = "# A\n\n## Back, go\n\nx\n", "# B\n\n## Go back again\n\nx\n"
    found = HelpIndex((*sections_of("a", apart), *sections_of("b", beside))).find("go back ")
    assert [hit.section.title for hit in found.hits] == ["Go back again", "Back, go"]


def test_of_the_last_word_its_beginning_is_enough_until_it_is_finished() -> None:
    assert titles("old") == ["Go back to an older version"]
    assert titles("old ") == []
    assert titles("older version") == ["Go back to an older version"]


def test_a_word_that_the_page_does_not_say_finds_it_too() -> None:
    assert titles("upgrade") == ["Updates"]


def test_small_words_count_only_where_there_are_no_others() -> None:
    assert titles("how do I undo it") == ["Undo what an agent wrote"]
    assert titles("what an") != []


def test_where_no_section_has_all_the_words_the_one_with_most_is_found() -> None:
    assert titles("undo the file zebra") == ["Undo what an agent wrote"]
    assert titles("zebra") == titles("zebra giraffe file") == []


@pytest.mark.parametrize("query", ["", "   ", "(", "\0", "🙂", "*" * 5_000, "a " * 5_000, "go" * 3_000])
def test_odd_queries_find_nothing_or_something_and_never_fail(query: str) -> None:
    found = index().find(query)
    assert found.query == query
    for hit in found.hits:
        assert all(start >= 0 and start + length <= len(hit.snippet) for start, length in hit.marks)


@pytest.mark.parametrize(
    "text", ["", "no heading", "```\n# x\n", "#", "# ", "<!-- there: x -->", "# A\n<!-- also: -->\n"]
)
def test_a_page_in_an_odd_form_is_read_as_far_as_it_goes(text: str) -> None:
    found = sections_of("x", text)
    assert [one.section.title for one in found] == (["A"] if text.startswith("# A") else [])


def test_a_word_that_is_nowhere_is_sought_as_one_that_means_the_same_and_then_as_one_that_was_mistyped() -> None:
    assert titles("revert ") == ["Undo what an agent wrote"]
    assert titles("undoo ") == ["Undo what an agent wrote"]
    assert titles("ndo ") == []  # three letters are too few to guess from
    assert titles("vresion ") == ["Go back to an older version", "Updates"]
    assert titles("upgarde ") == ["Updates"]


def test_a_title_and_what_a_section_says_it_is_found_by_come_before_the_same_words_anywhere() -> None:
    elsewhere = "## Elsewhere\n<!-- also: lost it -->\n<!-- also: gone -->\n\nx\n"
    page = f"# Undo and more of undo\n\nundo undo undo\n\n## Undo\n\nx\n\n{elsewhere}"
    index = HelpIndex(sections_of("a", page))
    assert index.find("how do I undo").hits[0].section.title == "Undo"
    assert index.find("I lost it").hits[0].section.title == "Elsewhere"
    assert index.find("gone").hits[0].section.title == "Elsewhere"
