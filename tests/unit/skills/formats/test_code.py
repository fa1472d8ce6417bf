"""Code skills are read as text: never run, and every reason not to be readable has its place (R-SK-6)."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.skills import SkillSource
from desktop.domain.text.places import FormatError
from desktop.skills.formats import javascript, js_literal, load_skills_from_file, python
from desktop.skills.formats.code import MAX_CODE
from tests.unit.skills.formats.kit import load, place, skill

PY = 'frontmatter = {"name": "a", "description": "d"}\n'
JS = "export const frontmatter = { name: 'a', description: 'd' }\n"

# -- nothing runs -----------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-SK-6", "R-SK-14", "R-SK-15")
@pytest.mark.parametrize("source", ["library", "mine", "project"])
def test_a_python_skill_that_writes_and_raises_is_listed_and_does_neither(source: SkillSource, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    path = tmp_path / "a.skill.py"
    path.write_text(
        f'open({str(mark)!r}, "w").close()\nimport os\nos.environ["RAN"] = "1"\nraise SystemExit("ran")\n{PY}'
        "def run(ctx, args):\n    return 1\nraise RuntimeError\n"
    )
    loaded = load_skills_from_file(str(path), source=source, root=str(tmp_path))
    assert [found.name for found in loaded.definitions] == ["a"]
    assert not any(problem.severity == "error" for problem in loaded.problems)
    assert not mark.exists()
    assert "RAN" not in os.environ
    assert sorted(os.listdir(tmp_path)) == ["a.skill.py"]


# -- Python -----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-SK-6", "R-SK-7")
def test_a_python_skill_has_what_its_literal_says() -> None:
    found = skill(
        '"""About."""\nfrom typing import Any\n\nfrontmatter: dict[str, Any] = {\n  "name": "pay",\n'
        '  "description": "a "  "b",\n  "allowed-tools": ["x", "y"],\n'
        '  "metadata": {"tags": ("A",), "n": -1, "f": 1.5, "on": True,\n'
        '  "params": {"type": "object"}, "none": None},\n  "license": "MIT"}\n\n'
        "@decorated\nasync def run(ctx, args): ...\n",
        "a.skill.py",
    )
    assert (found.name, found.description, found.kind, found.entry) == ("pay", "a b", "python", "run")
    assert (found.allowed_tools, found.tags, found.extras) == ("x y", ("a",), {"license": "MIT"})
    assert found.params == {"type": "object"}
    assert json.loads(json.dumps(found.metadata)) == found.metadata
    assert (found.state, found.body_at) == ("ready", -1)


@pytest.mark.spec("R-SK-6")
@pytest.mark.parametrize(
    ("value", "code", "offset"),
    [
        ("name()", "not-literal", 0),
        ("f'{x}'", "not-literal", 0),
        ("'a' + 'b'", "not-literal", 0),
        ("os.name", "not-literal", 0),
        ("[n for n in x]", "not-literal", 0),
        ("{'a'}", "not-literal", 0),
        ("lambda: 1", "not-literal", 0),
        ("-x", "not-literal", 0),
        ("'é', name()", "not-literal", 5),
        ("b'a'", "value", 0),
        ("1j", "value", 0),
        ("...", "value", 0),
        ("1e999", "value", 0),
        ("9" * 30, "value", 0),
        ("'\\ud800'", "value", 0),
        ("{1: 2}", "key", 1),
        ("{**x}", "key", 3),
        ("{'a': 1, 'a': 2}", "duplicate-key", 9),
        ("[" * 60 + "]" * 60, "too-large", 38),
        ("[" + "1," * 6_000 + "]", "too-large", 9_995),
    ],
)
def test_what_is_no_plain_value_in_python_is_a_problem_at_its_column(value: str, code: str, offset: int) -> None:
    loaded = load(f"import os\nfrontmatter = {{'x': [{value}]}}\ndef run(ctx, args): ...\n", "a.skill.py")
    assert loaded.definitions == ()
    assert place(loaded) == (f"frontmatter.{code}", 2, 22 + offset, "error")


@pytest.mark.spec("R-SK-6")
@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("def run(ctx, args): ...\n", "frontmatter.missing", 1),
        ("", "frontmatter.missing", 1),
        ("if True:\n    frontmatter = {}\n", "frontmatter.missing", 1),
        ("# " + PY, "frontmatter.missing", 1),
        (f'"""\n{PY}"""\n', "frontmatter.missing", 1),
        (PY + PY, "frontmatter.ambiguous", 2),
        (PY + "skills = []\n", "frontmatter.ambiguous", 2),
        ("frontmatter = []\n", "frontmatter.yaml", 1),
        ("skills = {}\n", "frontmatter.yaml", 1),
        ("skills = [1]\n", "frontmatter.yaml", 1),
        (PY + "def (:\n", "code.syntax", 2),
        (PY + "x = '\n", "code.syntax", 2),
        (PY + "\x00", "code.syntax", 1),
        (PY + "x = " + "(" * 5_000, "code.syntax", 2),
        (PY + "x = " + "-" * 90_000 + "1", "code.syntax", 1),
        pytest.param(
            PY + "x = a" + ".b" * 20_000,
            "code.syntax",
            1,
            marks=pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python reads it from there on"),
        ),
        ("x = 1\n" * (MAX_CODE // 5), "file.too-large", 1),
        (f"skills = [{'{},' * 201}]\n", "file.skills", 1),
    ],
)
def test_a_python_file_that_declares_nothing_readable(text: str, code: str, line: int) -> None:
    loaded = load(text, "a.skill.py")
    assert loaded.definitions == ()
    assert place(loaded)[:2] == (code, line)


@pytest.mark.spec("R-SK-7")
@pytest.mark.parametrize(
    ("code", "fits"),
    [
        ("def run(ctx, args): ...", True),
        ("async def run(ctx, args): ...", True),
        ("def run(*a): ...", True),
        ("def run(ctx, args, more=1): ...", True),
        ("def run(ctx, args, *, more=1): ...", True),
        ("def run(ctx, /, args): ...", True),
        ("run = make()", True),
        ("def run(ctx, *rest): ...", True),
        ("def run(): ...", False),
        ("def run(ctx): ...", False),
        ("def run(ctx, args, more): ...", False),
        ("def run(ctx, args, *, more): ...", False),
        ("class A:\n    def run(self, ctx): ...", False),
        ("def Run(ctx, args): ...", False),
        ("", False),
        ("if x:\n    def run(ctx, args): ...", False),
    ],
)
def test_a_python_skill_needs_run_with_ctx_and_args(code: str, fits: bool) -> None:
    loaded = load(f"{PY}{code}\n", "a.skill.py")
    assert loaded.definitions[0].state == ("ready" if fits else "broken")
    assert [problem.code for problem in loaded.problems] == ([] if fits else ["entry.missing"])


@pytest.mark.spec("R-SK-8")
def test_a_python_file_may_hold_several_skills_each_with_its_function() -> None:
    loaded = load(
        "skills = [\n  {'name': 'one', 'description': 'd', 'entry': 'first'},\n"
        "  {'name': 'two', 'description': 'd', 'entry': 'nothing'},\n  {'name': 'three', 'description': 'd'},\n"
        "  {'name': 'Four', 'description': 'd', 'entry': 'first'},\n"
        "  {'name': 'one', 'description': 'd', 'entry': 'first'},\n"
        "]\ndef first(ctx, args): ...\n",
        "a.skill.py",
    )
    assert [(found.name, found.entry, found.state) for found in loaded.definitions] == [
        ("one", "first", "ready"),
        ("two", "nothing", "broken"),
        ("three", "", "broken"),
    ]
    assert loaded.definitions[1].src == "file:///skills/a.skill.py#two"
    assert sorted((problem.code, problem.line) for problem in loaded.problems) == [
        ("entry.missing", 3),
        ("entry.missing", 4),
        ("name.duplicate", 1),
        ("name.invalid", 5),
    ]


def test_a_long_python_file_is_read_in_pieces_and_means_the_same() -> None:
    filler = "".join(
        f'@wraps\ndef f{n}(x):\n    """Says\nat column zero\ndef no{n}(): it is text\n"""\n'
        "    if x:\n        return [\n1,\n]\n"
        f"    else_ = {n}\n\nTEXT{n} = '''\ndef no(ctx, args):\n'''\n"
        for n in range(440)
    )
    assert 50_000 < len(filler) < MAX_CODE
    loaded = load(f"{filler}{PY}def run(ctx, args): ...\n", "a.skill.py")
    assert loaded.definitions[0].state == "ready"
    assert "no" not in python.read(filler + PY).functions
    broken = load(f"{filler}{PY}def run(ctx, args) ...\n", "a.skill.py")
    assert place(broken)[:2] == ("code.syntax", filler.count("\n") + 2)
    far = load(f"{filler}frontmatter = {{'name': call()}}\n", "a.skill.py")
    assert place(far) == ("frontmatter.not-literal", filler.count("\n") + 1, 24, "error")


# -- JavaScript -------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-SK-6")
def test_a_javascript_skill_has_what_its_literal_says() -> None:
    found = skill(
        "// export const frontmatter = { name: 'no' }\n/* export const frontmatter = 1 */\nimport x from 'y'\n"
        "const re = /['\"`{]/g, t = `a ${ {b: '}'}.b } export default`\n"
        "export const frontmatter = {\n  name: 'pay', // its name\n  \"description\":\n"
        "  'It\\'s\\n \\u00e9\\x41\\u{1F600}\\ud83d\\ude00',\n"
        "  'allowed-tools': ['x', \"y\",],\n  metadata: { tags: [`A`], params: { type: 'object', },\n"
        "    n: -1, f: +1.5e1, h: 0xFF, b: 0b11, o: 0o17, u: 1_000, d: .5, on: true, none: null, 7: 1, $x: 1, },\n"
        "  license: 'MIT',\n};\nexport default async function (ctx, args) { return 1 }\n",
        "a.skill.js",
    )
    assert (found.name, found.kind, found.entry, found.state) == ("pay", "javascript", "default", "ready")
    assert found.description == "It's éA😀😀"
    assert (found.allowed_tools, found.tags, found.extras) == ("x y", ("a",), {"license": "MIT"})
    assert found.metadata == {
        "tags": ["a"],
        "params": {"type": "object"},
        "n": -1,
        "f": 15.0,
        "h": 255,
        "b": 3,
        "o": 15,
        "u": 1000,
        "d": 0.5,
        "on": True,
        "none": None,
        "7": 1,
        "$x": 1,
    }


@pytest.mark.spec("R-SK-6")
@pytest.mark.parametrize(
    ("inner", "code", "column"),
    [
        ("a: name", "frontmatter.not-literal", 6),
        ("a: call()", "frontmatter.not-literal", 6),
        ("a: 'b' + 'c'", "frontmatter.not-literal", 10),
        ("a: `b${c}`", "frontmatter.not-literal", 8),
        ("a: undefined", "frontmatter.not-literal", 6),
        ("a: NaN", "frontmatter.not-literal", 6),
        ("a: /x/", "frontmatter.not-literal", 6),
        ("a: -x", "frontmatter.not-literal", 6),
        ("a", "frontmatter.not-literal", 4),
        ("a() {}", "frontmatter.not-literal", 4),
        ("get a() {}", "frontmatter.not-literal", 6),
        ("...a", "frontmatter.key", 3),
        ("[a]: 1", "frontmatter.key", 3),
        ("__proto__: {}", "frontmatter.key", 3),
        ("a: 1, a: 2", "frontmatter.duplicate-key", 9),
        ("a: 1n", "frontmatter.value", 6),
        ("a: 01", "frontmatter.value", 6),
        ("a: 1e999", "frontmatter.value", 6),
        ("a: 99999999999999999999", "frontmatter.value", 6),
        ("a: '\\ud800'", "frontmatter.value", 6),
        ("a: 'b", "code.syntax", 6),
        ("a: '\\u{110000}'", "code.syntax", 7),
        ("a: '\\x4'", "code.syntax", 7),
        ("a: 1 /* b", "code.syntax", 8),
        ("a: [" + "[" * 60, "frontmatter.too-large", 45),
        ("a: 1;", "frontmatter.not-literal", 7),
        ("a: (1)", "frontmatter.not-literal", 6),
        ("a: 1.2.3", "frontmatter.value", 6),
        ("a: [" + "1," * 6_000 + "]", "frontmatter.too-large", 10_003),
    ],
)
def test_what_is_no_plain_value_in_javascript_is_a_problem_at_its_column(inner: str, code: str, column: int) -> None:
    loaded = load(f"// é\nexport const frontmatter = {{\n  {inner}\n}}\nexport default 1\n", "a.skill.js")
    assert loaded.definitions == ()
    assert place(loaded) == (code, 3, column, "error")


@pytest.mark.spec("R-SK-6")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "frontmatter.missing"),
        ("const frontmatter = {}", "frontmatter.missing"),
        ("export let frontmatter = {}", "frontmatter.missing"),
        ("{ export const frontmatter = {} }", "frontmatter.missing"),
        ("`" + JS + "`", "frontmatter.missing"),
        ("x.export const frontmatter = {}", "frontmatter.missing"),
        (JS + JS, "frontmatter.ambiguous"),
        (JS + "export const skills = []", "frontmatter.ambiguous"),
        ("export const frontmatter = []", "frontmatter.yaml"),
        ("export const frontmatter = {}.x", "frontmatter.not-literal"),
        ("export const frontmatter = {} as const", "frontmatter.not-literal"),
        ("export const frontmatter = {", "frontmatter.key"),
        ("'", "code.syntax"),
        ("`${", "frontmatter.missing"),
        ("/*", "code.syntax"),
        (")", "code.syntax"),
        ("(" * 501, "code.syntax"),
        ("`", "code.syntax"),
        ("/[" * 49_000, "code.syntax"),
        ("/" * 99_000, "frontmatter.missing"),
        ("export default;" * 6_000, "frontmatter.missing"),
        ("x" * (MAX_CODE + 1), "file.too-large"),
        ("export const skills = {}", "frontmatter.yaml"),
    ],
)
def test_a_javascript_file_that_declares_nothing_readable(text: str, code: str) -> None:
    loaded = load(text, "a.skill.js")
    assert loaded.definitions == ()
    assert place(loaded)[0] == code


@pytest.mark.spec("R-SK-6", "R-SK-7")
@pytest.mark.parametrize(
    ("code", "entry"),
    [
        ("export default async (ctx, args) => 1", "default"),
        ("export default function run() {}", "default"),
        ("const f = 1; export { f as default, g }", "default"),
        ("export async function run(ctx, args) {}", "run"),
        ("export const run = async () => {}", "run"),
        ("if (x) /[\"'{]/.test(y)\nexport default 1", "default"),
        ("export * from 'x'; export default 1", "default"),
        ("a = b / c; d = '/'; export default 1", "default"),
        ("const f = () => `${a ? `b${c}` : '}'}`\nexport default f", "default"),
        ("return /'/\nexport default 1", "default"),
        ("function run() {}", ""),
        ("{ export default 1 }", ""),
        ("// export default 1", ""),
        ("'export default 1'", ""),
        ("exports.default = 1", ""),
        ("export function go() {}", ""),
    ],
)
def test_the_entry_point_of_javascript_is_what_is_exported(code: str, entry: str) -> None:
    loaded = load(f"{JS}{code}\n", "a.skill.js")
    assert loaded.definitions[0].state == ("ready" if entry else "broken")
    assert [problem.code for problem in loaded.problems] == ([] if entry else ["entry.missing"])
    assert loaded.definitions[0].entry == (entry or "default")


def test_a_javascript_file_may_hold_several_skills() -> None:
    loaded = load(
        "export const skills = [\n  { name: 'one', description: 'd', entry: 'first' },\n"
        "  { name: 'two', description: 'd', entry: 'no' },\n"
        "]\nexport async function first(ctx, args) {}\n",
        "a.skill.js",
    )
    assert [(found.name, found.entry, found.state) for found in loaded.definitions] == [
        ("one", "first", "ready"),
        ("two", "no", "broken"),
    ]
    assert place(loaded) == ("entry.missing", 3, 44, "error")


TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(-1e9, 1e9), st.text(max_size=10)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=5).filter(lambda key: key != "__proto__"), inner, max_size=3),
    ),
    max_leaves=15,
)


@given(TREES, st.sampled_from([None, 2]))
def test_every_json_text_is_a_javascript_value(tree: object, indent: int | None) -> None:
    text = json.dumps(tree, indent=indent)
    literal, end = js_literal.read_literal(f"  {text} ;", 0)
    assert json.dumps(literal.value) == json.dumps(tree)
    assert end == len(text) + 2
    written = json.dumps(tree, ensure_ascii=False)
    assert json.dumps(js_literal.read_literal(written, 0)[0].value) == json.dumps(tree)


def failure(read: Callable[[str], object], text: str) -> tuple[int, int]:
    """Where reading failed; (1, 1) when it did not."""
    try:
        read(text)
    except FormatError as error:
        return error.line, error.column
    return 1, 1


@given(st.text(st.sampled_from("export const frontmatter={}[]()'\"`/*\\\n$a1.,:;+-"), max_size=80))
def test_no_text_makes_the_javascript_reader_fail_otherwise(text: str) -> None:
    for prefix in ("", "export const frontmatter = {"):
        line, column = failure(javascript.read, prefix + text)
        assert 1 <= line <= text.count("\n") + 1
        assert column >= 1


@given(st.text(st.sampled_from("frontmatter = {}[]()'\"#\\\nab1.,:@-"), max_size=80))
def test_no_text_makes_the_python_reader_fail_otherwise(text: str) -> None:
    for prefix in ("", "frontmatter = {"):
        line, column = failure(python.read, prefix + text)
        assert min(line, column) >= 1


# -- TypeScript -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "export const frontmatter: Meta<{a: 1}> = { name: 'typed', description: 'd' } as const satisfies Meta\n",
            "typed",
        ),
        ("export const frontmatter = make()\nexport default 1\n", "a"),
        ("", "a"),
        ("'", "a"),
    ],
)
def test_typescript_is_listed_and_never_runs(text: str, name: str) -> None:
    loaded = load(text, "a.skill.ts")
    (found,) = loaded.definitions
    assert (found.name, found.kind, found.state) == (name, "foreign", "broken")
    assert found.is_code
    assert place(loaded)[0] == "kind.foreign"


def test_typescript_whose_name_is_none_is_a_problem_only() -> None:
    assert load("", "A_b.skill.ts").definitions == ()
