"""The serialiser that is injected into a JavaScript isolate.

What it does is run where there is an engine: quickjs-ng, the planned one, or node; its shape is checked everywhere.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.domain.errors import ConfigurationError
from desktop.skills.values.serialise import stringify
from desktop.skills.values.transferable import transferable_serializer_source

Run = Callable[[str], str]


QUICKJS = "import sys, quickjs; sys.stdout.write(str(quickjs.Context().eval(open(sys.argv[1]).read())))"
NODE = "process.stdout.write(String((0, eval)(require('fs').readFileSync(process.argv[1], 'utf8'))))"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Evaluates a JavaScript expression, which gives a text, after the serialiser was defined; in a process."""
    node = shutil.which("node")
    if importlib.util.find_spec("quickjs") is not None:
        command = [sys.executable, "-c", QUICKJS]
    elif node is not None:
        command = [node, "-e", NODE]
    else:
        pytest.skip("no JavaScript engine on this machine")

    def evaluated(code: str) -> str:
        file = tmp_path / "code.js"
        file.write_text(transferable_serializer_source() + code, encoding="utf-8")
        done = subprocess.run([*command, file], capture_output=True, encoding="utf-8", timeout=120, check=True)
        return done.stdout

    return evaluated


_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|//[^\n]*|[()\[\]{}]|[^()\[\]{}\"/]+|.")


def test_the_source_is_ascii_closed_and_asks_for_nothing_from_outside() -> None:
    source = transferable_serializer_source()
    assert source.isascii()
    opened = []
    for token in _TOKEN.findall(source):
        if token in "([{":
            opened.append(token)
        elif token in ")]}":
            assert {"(": ")", "[": "]", "{": "}"}[opened.pop()] == token
    assert opened == []
    assert not re.search(r"\b(import|require|process|fetch|globalThis|window|await|async)\b", source)
    assert source.startswith("var [stringify, parse, reviveFns] = (function () {")


def test_the_names_can_be_chosen() -> None:
    source = transferable_serializer_source({"stringify": "__s", "parse": "$p"})
    assert source.startswith("var [__s, $p, reviveFns] = ")
    assert "{stringify}" not in source


@pytest.mark.parametrize(
    "names",
    [{"stringify": "a b"}, {"stringify": "x; evil()"}, {"parse": "class"}, {"parse": "stringify"}, {"other": "x"},
     {"parse": ""}, {"parse": "é"}, {"parse": "a\n"}],
)  # fmt: skip
def test_a_name_that_is_none_is_refused(names: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError):
        transferable_serializer_source(names)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("{a: 1, b: [true, null, 'x']}", '{"a":1,"b":[true,null,"x"]}'),
        ("{u: undefined, l: [undefined], n: NaN, i: -Infinity}", '{"l":[null],"n":null,"i":null}'),
        ("undefined", "null"),
        ("function named() {}", '"[Function: named]"'),
        ("[Promise.resolve(1), Symbol('s'), 12n]", '["[Promise]","[symbol]","12"]'),
        ("new Map([[1, 'a'], ['1', 'b'], [{}, 'c']])", '{"1":"a","1#2":"b","[object]":"c"}'),
        ("new Set([1, 'b'])", '[1,"b"]'),
        ("[new Error('no'), new Date(0), new Date(NaN)]",
         '[{"name":"Error","message":"no"},"1970-01-01T00:00:00.000Z",null]'),
        ("(function () { var a = {}; a.me = [a]; return a; })()", '{"me":["[Circular]"]}'),
        ("JSON.parse('{\"__proto__\": {\"x\": 1}}')", '{"__proto__":{"x":1}}'),
        ("[[[[]]]], {maxDepth: 2}", '[["[Array]"]]'),
        ("{f: (a) => a + 1}, {functions: true}", '{"f":{"$fn":"(a) => a + 1"}}'),
        ("{a: [1]}, {indent: 1}", '{\n "a": [\n  1\n ]\n}'),
    ],
)  # fmt: skip
def test_values_become_text(run: Run, value: str, text: str) -> None:
    assert run(f"stringify({value});") == text


def test_a_deep_value_is_cut_and_does_not_overflow(run: Run) -> None:
    build = "(function () { var v = 1; for (var i = 0; i < 20000; i += 1) v = [v]; return v; })()"
    assert run(f"stringify({build});") == "[" * 100 + '"[Array]"' + "]" * 100


def test_functions_come_back_only_where_they_are_asked_for(run: Run) -> None:
    text = json.dumps(json.dumps({"f": {"$fn": "function (x) { return x * 2; }"}, "g": {"$fn": "known"}}))
    assert run(f"typeof parse({text}).f;") == "object"
    assert run(f"String(parse({text.replace('known', '() => 1')}, {{functions: true}}).f(21));") == "42"
    registry = "{functions: {known: function () { return 7; }}}"
    assert run(f"(function () {{ var v = parse({text}, {registry}); return typeof v.f + v.g(); }})();") == "object7"
    inherited = json.dumps('{"$fn":"toString"}')
    assert run(f"typeof parse({inherited}, {registry});") == "object"


def test_later_changes_to_the_built_ins_change_nothing(run: Run) -> None:
    spoiled = "JSON.stringify = Array.prototype.push = Map.prototype.forEach = Object.keys = null"
    assert run(f"({spoiled}, stringify({{a: [new Map([[1, 2]])]}}));") == '{"a":[{"1":2}]}'


def test_what_python_wrote_is_read_and_written_the_same(run: Run) -> None:
    text = stringify({"a": [1, 2.5, 'é\u2028"\\', None, True, {"$fn": "x"}], "__proto__": 1})
    assert run(f"stringify(parse({json.dumps(text)}));") == text
