"""Pattern lists read: records, and every mistake at its column (R-PAT-14)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.skills.patterns import (
    Constraint,
    Meta,
    Pattern,
    PatternError,
    PatternList,
    Selector,
    compile_glob,
    parse_patterns,
)
from tests.unit.skills.patterns.tools import patient


def problem(text: str) -> PatternError | None:
    try:
        parse_patterns(text)
    except PatternError as error:
        return error
    return None


def only(text: str) -> Pattern:
    (found,) = parse_patterns(text).patterns
    return found


def texts(text: str) -> list[str]:
    return [pattern.text for pattern in parse_patterns(text).patterns]


@pytest.mark.spec("R-PAT-1", "R-PAT-4")
def test_a_pattern_has_a_selector_constraints_and_a_directive() -> None:
    found = parse_patterns("file-read  context-manager(op={finish,fail}, $deny)").patterns
    assert found[0] == Pattern(Selector("glob", "file-read"), "file-read", 1)
    assert found[1].selector == Selector("glob", "context-manager")
    assert found[1].constraints == (Constraint("op", "{finish,fail}", 28),)
    assert found[1].metas == (Meta("deny", 46),)
    assert (found[1].column, found[1].denies, found[0].policy) == (12, True, None)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        (" \t\n", []),
        ("a b\tc\nd", ["a", "b", "c", "d"]),
        ("a(b=c d) e", ["a(b=c d)", "e"]),
        ("{a b,c}d e", ["{a b,c}d", "e"]),
        ("{a b c", ["{a", "b", "c"]),
        ("a} b{", ["a}", "b{"]),
        ("a\\ b c", ["a\\ b", "c"]),
        ("a\\(b c", ["a\\(b", "c"]),
        ("x(a={b,c},d=e) y", ["x(a={b,c},d=e)", "y"]),
        ("x(a=f(b, c)) y", ["x(a=f(b, c))", "y"]),
        ("x(a={b) y(c=d})", ["x(a={b)", "y(c=d})"]),
        ("x(a=\\)) y", ["x(a=\\))", "y"]),
        ("a[b]c d", ["a[b]c", "d"]),
        ("a\\", ["a\\"]),
        ("日本 é", ["日本", "é"]),
        ("{a,{b c,d}} e", ["{a,{b c,d}}", "e"]),
    ],
)
def test_spaces_split_but_not_inside_parentheses_braces_and_behind_backslashes(text: str, parts: list[str]) -> None:
    assert texts(text) == parts


def test_commas_in_braces_and_in_nested_parentheses_separate_no_specifiers() -> None:
    assert [c[:2] for c in only("x(a={b,c},d.e[0].f-g = h i )").constraints] == [("a", "{b,c}"), ("d.e[0].f-g", "h i")]
    assert only("x(a=f(b,c))").constraints[0].glob == "f(b,c)"
    assert only("x(a=b=c)").constraints[0].glob == "b=c"


@pytest.mark.spec("R-PAT-15")
def test_tags_are_normalised_like_tags() -> None:
    assert only("#Destructive").selector == only("#destructive").selector == Selector("tag", "destructive")
    assert only("#Big_Data($deny)").selector.text == "big-data"


@pytest.mark.spec("R-PAT-13", "Q-5")
@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("a", None),
        ("a($deny)", "deny"),
        ("a($policy=deny)", "deny"),
        ("a($policy=ask)", "ask"),
        ("a( $policy = allow )", "allow"),
        ("a(b=c,$policy=allow)", "allow"),
    ],
)
def test_policies_are_allow_ask_and_deny(text: str, policy: str | None) -> None:
    assert only(text).policy == policy


@pytest.mark.spec("R-PAT-14", "Q-5")
@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("file-read(", 10, "never closed"),
        ("ok a(b=(c)", 5, "never closed"),
        ("a(b={c)", 0, ""),
        ("a)", 2, "never opened"),
        ("a(b=c))", 7, "space is missing"),
        ("a(b=c)d", 7, "space is missing"),
        ("a()", 3, "empty"),
        ("a(b=c,)", 7, "empty"),
        ("a(,b=c)", 3, "empty"),
        ("a( , )", 4, "empty"),
        ("x a($frob)", 5, "no directive $frob"),
        ("a($)", 3, "no directive"),
        ("a($deny=yes)", 3, "no value"),
        ("a($policy)", 3, "allow, ask or deny"),
        ("a($policy=maybe)", 3, "allow, ask or deny"),
        ("a($Deny)", 3, "no directive"),
        ("a(b=c,$deny,$policy=allow)", 13, "one directive"),
        ("Bash(git:*)", 6, "name=value"),
        ("a(b=)", 5, "no value"),
        ("a(=c)", 3, "no name"),
        ("a(b c=d)", 3, "no name"),
        ("read, bash", 5, "by spaces"),
        ("(a=b)", 1, "begins with a name"),
        ("#", 1, "tag"),
        ("#a*", 1, "tag"),
        ("a #{b,c}", 3, "tag"),
        ("ok [z-a]", 4, "backwards"),
        ("ok a(b=x[z-a])", 9, "backwards"),
        ("a b\0", 4, "null"),
        ("a(b=\0)", 5, "null"),
        ("ok " + "{a,b}" * 11, 4, "too many"),
        ("ok a(b=" + "{a,b}" * 11 + ")", 8, "too many"),
    ],
)
def test_mistakes_are_named_at_their_column(text: str, column: int, says: str) -> None:
    if not column:
        assert len(parse_patterns(text).patterns) == 1
        return
    with pytest.raises(PatternError, match=says.replace("$", r"\$")) as caught:
        parse_patterns(text)
    assert caught.value.column == column


def test_a_list_of_texts_is_joined_with_single_spaces_and_columns_count_in_that() -> None:
    assert parse_patterns(["a", "b c"]) == parse_patterns("a b c")
    with pytest.raises(PatternError) as caught:
        parse_patterns(["file-read", "bash("])
    assert caught.value.column == 15
    with pytest.raises(PatternError, match="Entry 2"):
        parse_patterns(["a", 3])  # type: ignore[list-item]


def test_ten_thousand_entries_are_read_whole() -> None:
    entries = [f"tool-{n}" if n % 4 else f"tool-{n}(path=src/*,mode={{r,w}},$deny)" for n in range(10_000)]
    found = parse_patterns(entries)
    assert [pattern.text for pattern in found.patterns] == entries
    assert found.text[found.patterns[-1].column - 1 :] == entries[-1]


@pytest.mark.parametrize(
    "huge",
    [
        "a " * 20_001,
        "x" * 500_001,
        "x" * 3000,
        "a(" * 100_000,
        "{" * 400_000,
        "(" * 400_000,
        "a(b=c" * 9_000,
        "a(" + "b=c," * 40 + "b=c)",
        "a(" + " " * 400_000,
        "a($" + "x " * 200_000 + ")",
        ")" * 100_000,
        "a {" * 9_000 + "\0",
    ],
)
def test_what_is_huge_is_refused_at_a_column(huge: str) -> None:
    with pytest.raises(PatternError) as caught:
        parse_patterns(huge)
    assert 1 <= caught.value.column <= len(huge) + 1
    assert len(str(caught.value)) < 300


@patient
@given(
    st.text(alphabet="ab(){},=$# \\*[]-\0\n1.", max_size=40)
    | st.from_regex(r"(#?[ab]{1,3}\([ab]{1,3}=[ab*]{1,3}(,[ab]=1)?(,\$deny)?\) ?){1,3}", fullmatch=True)
)
def test_any_text_is_a_list_or_a_mistake_at_a_column_in_it(text: str) -> None:
    mistake = problem(text)
    if mistake is not None:
        assert 1 <= mistake.column <= len(text) + 1
        return
    found = parse_patterns(text)
    assert isinstance(found, PatternList)
    for pattern in found.patterns:
        assert text.startswith(pattern.text, pattern.column - 1)
        for constraint in pattern.constraints:
            assert text.startswith(constraint.name, constraint.column - 1)


@patient
@given(st.lists(st.from_regex(r"(#[a-z]{1,5}|[a-z*?]{1,6})(\([a-z]{1,3}=[a-z*]{1,4}(,\$deny)?\))?", fullmatch=True)))
def test_what_is_written_apart_is_read_apart(entries: list[str]) -> None:
    assert texts("  ".join(entries)) == entries


@patient
@given(
    st.lists(st.sampled_from(["?", "*", ".*", "/", "{*,?}", "{.*,.?,[a/]}", "[+-9]", "a", "**/", ".*/"]), max_size=700)
)
def test_a_constraint_that_is_read_can_be_compiled_later(pieces: list[str]) -> None:
    text = f"x(a={''.join(pieces) or '*'})"
    if problem(text) is None:
        assert compile_glob(only(text).constraints[0].glob).cost <= 16_384
