"""JSON that others wrote: nested so deeply as functions can go, on each Python."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.text.json_text import MAX_DEPTH, read_json

ROOT = Path(__file__).resolve().parents[3]
DEEP = 45_000


def nested(levels: int, inside: str = "", opening: str = "[", closing: str = "]") -> str:
    return opening * levels + inside + closing * levels


@pytest.mark.parametrize(
    "text",
    [
        nested(DEEP),
        nested(DEEP, "1", '{"a":', "}"),
        nested(DEEP // 2, "1", '[{"a":', "}]"),
        "[" * DEEP,
        '{"a":' * DEEP,
        "[" * DEEP + "}" * DEEP,
        f'["{"]" * DEEP}", {nested(DEEP)}]',
        f'{{"\\\\": {nested(DEEP)}}}',
        f'{{"\\"": {nested(DEEP)}}}',
        nested(MAX_DEPTH + 1),
    ],
    ids=range(10),
)
def test_what_is_nested_too_deeply_is_said_to_be_so(text: str) -> None:
    for written in (text, text.encode(), text.encode("utf-16")):
        with pytest.raises(RecursionError):
            read_json(written)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps("[" * DEEP),
        json.dumps({"{" * DEEP: '"' + "\\" + "[" * DEEP}),
        json.dumps([[], {}] * DEEP),
        json.dumps(["\\" * 3 + '"[' * DEEP, "ä" * 9]),
        nested(MAX_DEPTH // 2),
        json.dumps({"a": [1, 2.5, None, True, "\ud800"]}),
        "1",
    ],
    ids=range(7),
)
def test_everything_else_is_read_as_json_reads_it(text: str) -> None:
    for written in (text, text.encode(), text.encode("utf-16")):
        assert read_json(written) == json.loads(text)


@pytest.mark.parametrize("text", ["", "[", "{]", '"', "[" * 5 + "x", "[1,]", "\ufeff1", b"\xff\x00\x9f", b"\xc3"])
def test_what_is_no_json_is_refused_as_json_refuses_it(text: str | bytes) -> None:
    with pytest.raises(ValueError) as theirs:
        json.loads(text)
    with pytest.raises(ValueError) as ours:
        read_json(text)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("odd", [None, 1, ["x"], {}])
def test_what_is_no_text_is_refused_as_json_refuses_it(odd: Any) -> None:
    with pytest.raises(TypeError):
        json.loads(odd)
    with pytest.raises(TypeError):
        read_json(odd)


def test_its_keywords_are_those_of_json() -> None:
    def none(name: str) -> Any:
        raise ValueError(name)

    assert read_json('{"a": 1}', object_pairs_hook=list) == [("a", 1)]
    with pytest.raises(ValueError, match="NaN"):
        read_json("[NaN]", parse_constant=none)


def test_as_much_of_it_as_may_be_sent_takes_no_more_time_than_it_is_long() -> None:
    """In a process of its own, which the system ends after so many seconds of computing."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_CPU, (20, 20))\n"
        "from desktop.domain.text.json_text import read_json\n"
        "M = 1_000_000\n"
        "for text in ('[' * 4 * M, '[' * 2 * M + ']' * 2 * M, '\"[' * 2 * M, '[\"' + '\\\\' * 4 * M):\n"
        "    try: read_json(text + '[' * 901)\n"
        "    except (ValueError, RecursionError): pass\n"
        "print('all')"
    )
    if os.name == "nt":
        pytest.skip("Windows bounds no process by what it computes")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == "all\n", done.stderr
