"""JSONPath by the compliance test suite of RFC 9535, and patterns by the words of RFC 9485 (S-PAT-1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from desktop.skills.values import jsonpath
from desktop.skills.values.iregexp import PatternMatcher
from desktop.skills.values.jsonpath_walk import find
from desktop.skills.values.kinds import PathError
from desktop.skills.values.paths import path_query

SUITE = Path(__file__).resolve().parents[3] / "data" / "jsonpath" / "cts.json"
CASES: list[dict[str, Any]] = json.loads(SUITE.read_text("utf-8"))["tests"]


def read(selector: str, document: Any) -> list[Any]:
    return [place.value for place in find(jsonpath.parse(selector), document)]


def answer(case: dict[str, Any], query: Any) -> Any:
    try:
        return query(case["selector"], case.get("document"))
    except PathError:
        return "invalid"


def expected(case: dict[str, Any]) -> list[Any]:
    """All answers that are right: where the order of members is open there are several."""
    if case.get("invalid_selector"):
        return ["invalid"]
    return case.get("results") or [case["result"]]


def exactly(value: Any) -> str:
    """A value as text, in which true is not 1, and in which the order of members does not count."""
    return json.dumps(value, sort_keys=True)


def differing(query: Any) -> dict[str, Any]:
    return {
        case["name"]: answer(case, query)
        for case in CASES
        if exactly(answer(case, query)) not in map(exactly, expected(case))
    }


@pytest.mark.spec("S-PAT-1")
def test_every_case_of_the_suite_is_answered_as_it_says() -> None:
    assert len(CASES) == 703
    assert differing(read) == {}


@pytest.mark.spec("S-PAT-1")
def test_path_expressions_answer_the_suite_alike_but_for_a_blank_in_front() -> None:
    """What does not begin with ``$`` is a path of dots and brackets, in which a name may be `` $``."""
    assert differing(lambda selector, document: path_query(document, selector)) == {"basic, no leading whitespace": []}


def test_beyond_the_rfc_a_path_to_one_place_takes_digits_for_names_and_elements_alike() -> None:
    assert path_query([1, 2], "$['0']") == [1]
    assert path_query({"0": 5}, "$[0]") == [5]
    assert path_query([1, 2], "$['0','1']") == path_query({"0": 5}, "$[0,1]") == []


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ("a|b", "b", "ab"),
        ("(a|b)c", "bc", "c"),
        ("", "", "a"),
        ("a{2}", "aa", "aaa"),
        ("a{2,}", "aaa", "a"),
        ("a{1,2}", "aa", "aaa"),
        ("(ab?)+", "aabab", "b"),
        ("[a-c]", "b", "d"),
        ("[^a-c]", "d", "b"),
        ("[-a]", "-", "b"),
        ("[a-]", "-", "b"),
        ("[^-]", "a", "-"),
        (r"[\p{Lu}x]", "Ä", "ä"),
        (r"\P{L}", "1", "a"),
        (r"\n\t\\", "\n\t\\", "nt"),
        (r"\(\|\)", "(|)", "x"),
        (".", "\u2028", "\n"),
        ("[.]", ".", "a"),
        ("a$", "a", "a\n"),
        ("[$]", "$", "a"),
        ("[a&&b]", "&", "c"),
        ("#x y", "#x y", "#"),
    ],
)
def test_a_pattern_means_what_i_regexp_says(pattern: str, fitting: str, other: str) -> None:
    assert PatternMatcher().fits(fitting, pattern, whole=True)
    assert not PatternMatcher().fits(other, pattern, whole=True)


def test_the_end_of_a_text_is_behind_its_last_line_break() -> None:
    assert PatternMatcher().fits("ba", "a$", whole=False)
    assert not PatternMatcher().fits("ba\n", "a$", whole=False)


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "(a",
            "a)",
            "a**",
            "*a",
            "(*a)",
            "a|*",
            "a{",
            "a}",
            "a{,2}",
            "a{x}",
            "a]",
            "[a",
            "[]",
            "[b-a]",
            "[a[b]",
            "[a-b-c]",
        ),
        *(r"\d", r"\w", r"\1", r"\p{Xx}", r"\p{Greek}", "a\\", r"[\p{L}-z]"),
        *("a*?", "a++", "(?:a)", "(?=a)", "(?i)a", "(?P<x>a)", "(?R)", "(?:a){e<=1}"),
    ],
)
def test_what_is_no_i_regexp_fits_nothing(pattern: str) -> None:
    for text in ("", "a", "b", "aa", pattern):
        assert not PatternMatcher().fits(text, pattern, whole=False), text


def test_patterns_of_one_evaluation_share_one_limit_of_work() -> None:
    slow, quick = "(a|aa)+b", "a*"
    with pytest.raises(PathError, match="take too long"):
        read(f"$[?match(@,'{slow}')]", ["a" * 60])
    many = ["a" * (18 + i % 3) for i in range(30_000)]
    with pytest.raises(PathError, match="take too long"):
        read(f"$[?match(@,'{slow}')]", many)
    assert read(f"$[?match(@,'{quick}')]", many[:100]) == many[:100]


@pytest.mark.parametrize("pattern", ["a" * 501, "((a{99}){99}){99}", "a{99999999999}"])
def test_a_pattern_that_costs_too_much_to_make_is_refused(pattern: str) -> None:
    with pytest.raises(PathError, match="too large"):
        read("$.v[?search(@, $.p)]", {"v": ["a"], "p": pattern})


@pytest.mark.parametrize(
    ("expr", "column"),
    [
        ("$[?match(@.a)]", 13),
        ("$[?search(@.*,'a')]", 14),
        ("$[?match(@,'a')==1]", 16),
        ("$[?length(match(@,'a'))>1]", 23),
    ],
)
def test_wrong_use_of_match_and_search_is_refused_with_its_column(expr: str, column: int) -> None:
    with pytest.raises(PathError) as caught:
        jsonpath.parse(expr)
    assert caught.value.column == column
