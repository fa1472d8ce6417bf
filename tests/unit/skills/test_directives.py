"""Directives of a markdown body: found, expanded once, and prose left alone (S-SK-1, S-SK-2)."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.errors import KnownError
from desktop.skills.directive_syntax import parse_directives
from desktop.skills.directive_text import Directive
from desktop.skills.directives import (
    DirectiveCall,
    DirectiveLimits,
    Expanded,
    Resolver,
    env_resolver,
    expand,
    value_resolver,
)

pytestmark = pytest.mark.spec("S-SK-1", "S-SK-2")


def shown(call: DirectiveCall) -> str:
    attrs = "".join(f" {key}={value}" for key, value in call.attrs.items())
    return f"<{call.name}|{call.arg}|{call.form}{attrs}|{call.content}>"


EVERY: dict[str, Resolver] = dict.fromkeys(
    ["arg", "skill", "tool", "path", "config", "context", "inline", "env", "note", "box"], shown
)


async def text_of(body: str) -> str:
    return (await expand(body, EVERY)).text


# -- how they are written ---------------------------------------------------------------------------------------------


@pytest.mark.spec("R-SK-12")
@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("Hi :arg[name]!", "Hi <arg|name|inline|>!"),
        (":arg[a] :skill[b] (:tool[c])", "<arg|a|inline|> <skill|b|inline|> (<tool|c|inline|>)"),
        ('_:arg[x]_ **:arg[y]** ":arg[z]"', '_<arg|x|inline|>_ **<arg|y|inline|>** "<arg|z|inline|>"'),
        ("[text](:path[a/b.md])", "[text](<path|a/b.md|inline|>)"),
        (":arg[a [b] c]", "<arg|a [b] c|inline|>"),
        (r":arg[a \] b \\ c]", r"<arg|a ] b \ c|inline|>"),
        (r":path[C:\dir\sub]", r"<path|C:\dir\sub|inline|>"),
        (":arg[`]`]", "<arg|`]`|inline|>"),
        (":arg[ spaced ]", "<arg|spaced|inline|>"),
        (":arg[]", "<arg||inline|>"),
        (
            ":arg[x]{#i .a .b k=v w=\"two words\" e='q' flag}",
            "<arg|x|inline id=i class=a b k=v w=two words e=q flag=|>",
        ),
        (":arg{k=v}", "<arg||inline k=v|>"),
        (":arg[x]{not an = attribute}", "<arg|x|inline|>{not an = attribute}"),
        ("你好:arg[x]。", "你好<arg|x|inline|>。"),
        ("> quoted :arg[x]", "> quoted <arg|x|inline|>"),
        ("- a\n  :arg[x]\n\n      :arg[y]\n", "- a\n  <arg|x|inline|>\n\n      <arg|y|inline|>\n"),
        ("# :arg[x]\n| :arg[y] |", "# <arg|x|inline|>\n| <arg|y|inline|> |"),
        ("::note[x]{k=v}", "<note|x|leaf k=v|>"),
        ("a\n  ::note  \nb", "a\n<note||leaf|>\nb"),
        (":::box{k=v}\ntext\n:::\nafter", "<box||block k=v|text\n>\nafter"),
        (":::box[l]\n:::", "<box|l|block|>"),
        ("::::box\n:::note\nx\n:::\n::::\n", "<box||block|<note||block|x\n>\n>\n"),
        (":::box\n::::note\nx\n::::\n:::\n", "<box||block|<note||block|x\n>\n>\n"),
        (":::box\n:::note\nx\n:::\n:::\n", "<box||block|<note||block|x\n>\n>\n"),
        ("::::box\n:::note\nx\n::::\n", "<box||block|:::note\nx\n>\n"),
        (":::box\n:arg[x]\n```\n:::\n```\n:::\n", "<box||block|<arg|x|inline|>\n```\n:::\n```\n>\n"),
        (":::box\r\na\r\n:::\r\nb\r:arg[x]\r", "<box||block|a\r\n>\nb\r<arg|x|inline|>\r"),
    ],
)
async def test_a_directive_is_read_as_remark_reads_it(body: str, text: str) -> None:
    assert await text_of(body) == text


PROSE = [
    "At 12:30 or 7:05[pm], ratio 3:arg[x]",
    "http://example.org:8080/a:arg[b] mailto:arg[x]",
    "a:b[c] x:arg[1] é:arg[y]",
    ":smile: :+1: :arg: :white_check_mark:[x]",
    "Term\n: definition\n:   another [x]\n",
    "std::vector[0] a::arg[x] ::1 fe80::arg[x]",
    ": arg[x] :arg [x] :arg\n[x]",
    "|:---|:-:|\n|:--[x]|",
    ":arg[open :arg{a: b} :arg{open :arg",
    ":arg[line\nbreak]",
    "`:arg[x]` ``a ` :arg[y]`` `\n:arg[z]\n`",
    "```\n:arg[x]\n::note\n:::box\n```\n",
    "~~~~ md\n:arg[x]\n~~~\n:arg[y]\n~~~~~\n",
    "> ```\n> :arg[x]\n> ```\n",
    "- ```\n  :arg[x]\n  ```\n",
    "```\n:arg[unclosed]\n\n:::box\n",
    "para\n\n    :arg[code]\n    ::note\n\n    :arg[more]\n",
    "\t:arg[code]\n",
    "<!-- :arg[x]\n\n:::box\n:::\n-->\ntext <!-- :arg[y] --> text",
    ":::\n:::::\n",
    "::: warning\ntext\n:::\n",
    "::: {.note}\ntext\n:::\n",
    "> ::note[x]\n> :::box\n",
    "    ::note\n",
    ":::box[x] trailing\n::note trailing\n",
    ":-arg[x] :1[x] :_[x]",
    "css :root{color:red} json {:a[b] c}",
    "",
    "\n\n",
    "no newline at the end",
]


@pytest.mark.spec("R-SK-12")
@pytest.mark.parametrize("body", PROSE)
async def test_prose_and_code_stay_as_they_are(body: str) -> None:
    found = await expand(body, dict.fromkeys(EVERY, shown) | {"root": shown})
    assert found.text == body
    assert all(problem.message == "there is no directive :a" for problem in found.problems)


async def test_code_spans_do_not_reach_over_blank_lines_items_or_headings() -> None:
    assert await text_of("a ` b\n\n:arg[x] ` c") == "a ` b\n\n<arg|x|inline|> ` c"
    assert await text_of("- a ` b\n- :arg[x] ` c") == "- a ` b\n- <arg|x|inline|> ` c"
    assert await text_of("a `` :arg[x] ` b") == "a `` <arg|x|inline|> ` b"
    assert await text_of("> ```\n> x\n\n:arg[x]") == "> ```\n> x\n\n<arg|x|inline|>"
    assert await text_of(r"\` :arg[x] `") == r"\` <arg|x|inline|> `"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"\:arg[x] \:note[:arg[y]]", ":arg[x] :note[<arg|y|inline|>]"),
        (r"\\:arg[x]", r"\\<arg|x|inline|>"),
        (r"\\\:arg[x]", r"\\:arg[x]"),
        (r"12\:30 \: \:smile: \*", r"12\:30 \: \:smile: \*"),
        ("\\::note[x]\n  \\:::box\n\\:::\n", "::note[x]\n  :::box\n\\:::\n"),
    ],
)
async def test_a_backslash_keeps_a_directive_as_text(body: str, text: str) -> None:
    found = await expand(body, EVERY)
    assert (found.text, found.problems) == (text, ())


# -- expansion --------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-SK-12")
async def test_substituted_text_is_never_read_again() -> None:
    planted = {
        "arg": lambda call: ":env[SECRET] \n::note[x]\n:::box\n```",
        "box": lambda call: call.content + ":arg[z]",
    }
    body = ":arg[a] :arg[b]\n:::box\n:arg[c]\n:::\n"
    found = await expand(body, {**EVERY, **planted})
    put_in = ":env[SECRET] \n::note[x]\n:::box\n```"
    assert found.text == f"{put_in} {put_in}\n{put_in}\n:arg[z]\n"
    assert found.problems == ()


@pytest.mark.spec("R-SK-12")
async def test_a_label_is_data_and_not_expanded() -> None:
    assert await text_of(":tool[:arg[name]]") == "<tool|:arg[name]|inline|>"


async def test_resolvers_may_wait_and_are_asked_in_order_from_the_inside_out() -> None:
    asked: list[str] = []

    async def slowly(call: DirectiveCall) -> str:
        await asyncio.sleep(0)
        asked.append(call.arg)
        return call.content.upper() or call.arg

    found = await expand(":arg[1]\n:::box[3]\n:arg[2]\n:::\n:arg[4]", {"arg": slowly, "box": slowly})
    assert found.text == "1\n2\n4"
    assert asked == ["1", "2", "3", "4"]


async def test_values_that_are_no_text_become_json() -> None:
    found = await expand(
        ":arg[a] :arg[b] :arg[c]", {"arg": value_resolver({"a": 3, "b": {"x": [True]}, "c": "\ud800"})}
    )
    assert found.text == '3 {"x":[true]} \ufffd'


def problems_of(found: Expanded) -> list[tuple[int, int, str]]:
    return [(problem.line, problem.column, problem.code) for problem in found.problems]


async def test_what_cannot_be_expanded_stays_with_a_problem_at_its_place() -> None:
    def refuse(call: DirectiveCall) -> Any:
        if call.arg == "none":
            return None
        raise KnownError("the file is outside")

    body = "ä :what[x]{a=b}\n\n  ::what\n:::what\n:inline[f] :inline[none]\n:::\n"
    found = await expand(body, {"inline": refuse}, first_line=5)
    assert found.text == body
    assert problems_of(found) == [
        (5, 3, "unknown"),
        (7, 3, "unknown"),
        (8, 1, "unknown"),
        (9, 1, "failed"),
        (9, 12, "missing"),
    ]
    assert found.problems[3].message == ":inline[f]: the file is outside"
    assert found.problems[0].message == "there is no directive :what"


async def test_code_in_a_prompt_is_shown_as_unsupported_and_not_looked_into() -> None:
    body = ":eval[1+1] x\n::script[a]\n:::script{lang=js}\n:arg[x]\n\\:arg[y]\n:::\n:arg[z]"
    found = await expand(body, {**EVERY, "eval": shown, "script": shown})
    assert found.text == body.replace(":arg[z]", "<arg|z|inline|>")
    assert problems_of(found) == [(1, 1, "unsupported"), (2, 1, "unsupported"), (3, 1, "unsupported")]


async def test_a_block_without_an_end_is_text_whose_directives_count() -> None:
    found = await expand("::::box\n:::note\n:arg[x]\n", EVERY)
    assert found.text == "::::box\n:::note\n<arg|x|inline|>\n"
    assert problems_of(found) == [(1, 1, "unclosed"), (2, 1, "unclosed")]


async def test_other_blocks_keep_their_closing_line() -> None:
    found = await expand(":::box\n::: tip\nx\n:::\ny\n:::\n", EVERY)
    assert found.text == "<box||block|::: tip\nx\n:::\ny\n>\n"
    assert found.problems == ()


async def test_a_mistake_of_ours_in_a_resolver_is_not_hidden() -> None:
    def broken(call: DirectiveCall) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await expand(":arg[x]", {"arg": broken})


async def test_sizes_and_numbers_are_limited() -> None:
    def long(call: DirectiveCall) -> str:
        return "x" * int(call.arg)

    limits = DirectiveLimits(max_body=200, max_value=10, max_total=15, max_directives=4)
    found = await expand(":arg[11] :arg[10] :arg[6] :arg[5] :arg[1]", {"arg": long}, limits=limits)
    assert found.text == ":arg[11] xxxxxxxxxx :arg[6] xxxxx :arg[1]"
    assert problems_of(found) == [(1, 1, "limit"), (1, 19, "limit"), (1, 35, "limit")]
    body = ":arg[1]" + " " * 200
    found = await expand(body, {"arg": long}, limits=limits, first_line=3)
    assert (found.text, problems_of(found)) == (body, [(3, 1, "limit")])
    found = await expand(":what[x] " * 300, {}, limits=DirectiveLimits(max_problems=7))
    assert len(found.problems) == 7
    deep = "".join(f"{':' * (30 - n)}box\n" for n in range(20))
    assert ("limit" in {problem.code for problem in (await expand(deep, EVERY)).problems}) is True


@pytest.mark.parametrize("piece", [":inline[", ":inline[`", ":a{b ", ":::a\n", "\\:inline["])
async def test_a_text_of_nothing_but_openings_is_refused_without_reading_it(piece: str) -> None:
    body = (piece * 200_000)[:1_000_000]
    start = time.process_time()
    found = await expand(body, {"inline": lambda call: "!"})
    assert (found.text, problems_of(found)) == (body, [(1, 1, "limit")])
    few = (piece * 15_000)[:290_000]
    assert problems_of(await expand(few, {"inline": lambda call: "!"})) == [(1, 1, "limit")]
    assert time.process_time() - start < 10  # some milliseconds here


async def test_a_long_text_without_directives_is_taken_as_it_is() -> None:
    body = "words: `more` \\* and\n" * 45_000
    assert await expand(body, {}) == Expanded(body)


async def test_a_long_body_is_read_beside_the_loop() -> None:
    body = "word :arg[x] `:arg[y]`\n\n" * 2_000
    found = await expand(body, {"arg": lambda call: "!"}, limits=DirectiveLimits(max_directives=2_000))
    assert found.text == "word ! `:arg[y]`\n\n" * 2_000


@pytest.mark.parametrize(
    "piece",
    [":a[", ":a{", "`a``", "\\:a[", "<!-- ", ":::a\n", "::: a\n", ":::\n", ":a[" + "\\]" * 300, ':a{b="', "- - "],
)
def test_a_long_text_of_openings_takes_no_more_than_linear_work(piece: str) -> None:
    """Half a second here; work that grows with the square would take minutes."""
    start = time.process_time()
    parse_directives(piece * (200_000 // len(piece)))
    assert time.process_time() - start < 30


# -- ready resolvers --------------------------------------------------------------------------------------------------


async def test_values_are_found_by_name_then_by_path() -> None:
    data = {"a.b": "whole", "a": {"b": "path", "l": [1]}, "none": None}
    body = ":arg[a.b] :arg[a.l[0]] :arg[none] :arg[no] :arg[a[]"
    found = await expand(body, {"arg": value_resolver(data)})
    assert found.text == "whole 1 :arg[none] :arg[no] :arg[a[]"
    assert problems_of(found) == [(1, 24, "missing"), (1, 35, "missing")]
    found = await expand(":arg[a..b]", {"arg": value_resolver(data)})
    assert problems_of(found) == [(1, 1, "failed")]


async def test_only_listed_environment_variables_are_read() -> None:
    environ = {"LANG": "C", "SECRET": "s3cret"}
    found = await expand(":env[LANG] :env[SECRET] :env[TZ]", {"env": env_resolver(environ, {"LANG", "TZ"})})
    assert found.text == "C :env[SECRET] :env[TZ]"
    assert [problem.code for problem in found.problems] == ["failed", "missing"]
    assert "s3cret" not in str(found)


# -- properties -------------------------------------------------------------------------------------------------------

pieces = st.lists(
    st.sampled_from(
        [
            ":",
            "::",
            ":::",
            "::::",
            "a",
            "arg",
            "[",
            "]",
            "{",
            "}",
            "x",
            "`",
            "```",
            "~~~",
            "\n",
            "\r\n",
            " ",
            "    ",
            "- ",
            "> ",
            "<!--",
            "-->",
            "#",
            "=",
            '"',
            ":arg[x]",
            ":::box\n",
            ":::\n",
            "::: b\n",
            "::note\n",
            "é",
            "\u2028",
            "\t",
        ]
    ),
    max_size=40,
).map("".join)


def written(parts: tuple[Any, ...]) -> str:
    return "".join(
        part.source + written(part.body) + part.tail if isinstance(part, Directive) else part for part in parts
    )


@given(pieces)
def test_every_text_without_backslashes_is_the_sum_of_its_parts(body: str) -> None:
    assert written(parse_directives(body).parts) == body


@given(st.text())
def test_any_text_can_be_read(body: str) -> None:
    document = parse_directives(body)
    if "\\" not in body:
        assert written(document.parts) == body


@given(pieces)
def test_places_are_where_directives_begin(body: str) -> None:
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def check(parts: tuple[Any, ...]) -> None:
        for part in parts:
            if isinstance(part, Directive):
                line = lines[part.line - 1]
                assert line[part.column - 1 :].startswith(part.source.strip().split("\n")[0].strip())
                check(part.body)

    check(parse_directives(body).parts)
