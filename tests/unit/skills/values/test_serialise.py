"""Safe copies and JSON text of any value, and the way back (S-RES-1, R-COD-14)."""

from __future__ import annotations

import asyncio
import functools
import json
import sys
from collections import ChainMap, OrderedDict, deque, namedtuple
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import PurePosixPath
from types import MappingProxyType, SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.skills.values.kinds import ValueProblem
from desktop.skills.values.serialise import (
    DeserializeOptions,
    SerializeOptions,
    deserialize,
    parse,
    safe_clone,
    safe_snapshot,
    safe_stringify,
    serialize,
    serialize_context,
    stringify,
)


class Colour(Enum):
    RED = "red"
    BOTH = ("red", "blue")


class Level(IntEnum):
    HIGH = 3


@dataclass
class Record:
    name: str
    secret: str = field(repr=False, default="hunter2")
    inner: Any = None

    @property
    def computed(self) -> str:
        raise AssertionError("a property was read")


@dataclass(frozen=True, slots=True)
class Slotted:
    x: int
    y: list[int]


Pair = namedtuple("Pair", "a b")


class Text(str):
    def __str__(self) -> str:
        raise AssertionError

    __repr__ = __format__ = __str__


def function() -> None: ...


class Thing:
    def method(self) -> None: ...


async def coroutine() -> None: ...


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        (0, 0),
        (1.5, 1.5),
        ("é😀", "é😀"),
        (-0.0, -0.0),
        (10**300, 10**300),
        (float("nan"), None),
        (float("inf"), None),
        (2**5000, "[Integer of 5001 bits]"),
        ("a\ud800b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ({"\udfff": 1}, {"\ufffd": 1}),
        ((1, (2,)), [1, [2]]),
        (Pair(1, 2), [1, 2]),
        (deque([1]), [1]),
        (range(3), [0, 1, 2]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset("ba"), ["a", "b"]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (MappingProxyType({"a": [1]}), {"a": [1]}),
        (ChainMap({"a": 1}), "[ChainMap]"),
        (
            {7: "i", None: "n", True: "t", 1.5: "f", (1, 2): "p", Colour.RED: "e"},
            {"7": "i", "null": "n", "true": "t", "1.5": "f", "[tuple]": "p", "red": "e"},
        ),
        ({"1": "a", 1: "b", Level.HIGH: "c", 3: "d"}, {"1": "a", "1#2": "b", "3": "d"}),
        ({(1,): 1, (2,): 2, (3,): 3}, {"[tuple]": 1, "[tuple]#2": 2, "[tuple]#3": 3}),
        (Colour.RED, "red"),
        (Colour.BOTH, ["red", "blue"]),
        (Level.HIGH, 3),
        (Text("x"), "x"),
        (Record("n", inner=[1]), {"name": "n", "inner": [1]}),
        (Slotted(1, [2]), {"x": 1, "y": [2]}),
        (b"abc", "[Bytes: 3]"),
        (bytearray(2), "[Bytes: 2]"),
        (memoryview(b"abcd"), "[Bytes: 4]"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05Z"),
        (datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T00:00:00+02:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (timedelta(seconds=90), "0:01:30"),
        (Decimal("1.10"), "1.10"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("/a/b"), "/a/b"),
        (1j, "1j"),
        (ValueError("bad", 2), {"name": "ValueError", "message": "bad, 2"}),
        (KeyError("k"), {"name": "KeyError", "message": "k"}),
        (function, "[Function: function]"),
        (len, "[Function: len]"),
        (Thing().method, "[Function: method]"),
        (functools.partial(len), "[Function]"),
        (lambda: 0, "[Function: <lambda>]"),
        (Thing, "[Class: Thing]"),
        (Thing(), "[Thing]"),
        (SimpleNamespace(a=1), "[SimpleNamespace]"),
        (sys, "[module]"),
        (iter([]), "[list_iterator]"),
        (Future(), "[Promise]"),
    ],
)
def test_every_kind_of_value_has_a_plain_form(value: object, plain: object) -> None:
    for copy in (serialize(value), safe_clone(value), safe_snapshot(value, 10, 100_000)):
        assert copy == plain
        assert type(copy) is type(plain)
    assert json.loads(safe_stringify(value)) == plain
    assert json.loads(stringify(value).encode().decode()) == plain


async def test_awaitables_are_promises_and_are_not_awaited() -> None:
    waiting = coroutine()
    task = asyncio.create_task(coroutine())
    assert serialize([waiting, task, asyncio.get_running_loop().create_future()]) == ["[Promise]"] * 3
    await task
    waiting.close()


def test_cycles_are_marked_and_repetitions_are_not() -> None:
    shared = [1]
    value: dict[str, Any] = {"a": shared, "b": shared}
    value["me"] = [value]
    value["proxy"] = MappingProxyType(value)
    assert serialize(value) == {"a": [1], "b": [1], "me": ["[Circular]"], "proxy": "[Circular]"}
    record = Record("r")
    record.inner = record
    assert serialize(record) == {"name": "r", "inner": "[Circular]"}
    listed: list[Any] = []
    listed.append(listed)
    assert safe_stringify(listed) == '["[Circular]"]'


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise AssertionError(f"the class was asked for {name}")


class Hostile(metaclass=Meta):
    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"asked for {name}")

    def trap(self, *_: Any) -> Any:
        raise AssertionError("its code ran")

    __repr__ = __str__ = __iter__ = __len__ = __bool__ = __eq__ = __getitem__ = __call__ = __hash__ = trap


class HostileDict(dict[str, Any]):
    __iter__ = __len__ = __getitem__ = keys = values = items = __repr__ = Thing.method  # type: ignore[assignment]


class HostileList(list[Any]):
    __iter__ = __len__ = __getitem__ = __repr__ = Thing.method  # type: ignore[assignment]


class HostileError(Exception):
    args = property(lambda self: 1 / 0)  # type: ignore[assignment]
    __str__ = __repr__ = Thing.method  # type: ignore[assignment]


class HostileZone(tzinfo):
    utcoffset = dst = tzname = Thing.method  # type: ignore[assignment]


@dataclass
class HostileRecord:
    x: int = 1

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)


def test_no_code_of_a_value_runs() -> None:
    moment = datetime(2026, 1, 2, tzinfo=HostileZone())
    for copy in (serialize, safe_snapshot, safe_clone):
        found = copy(
            [Hostile(), HostileDict(a=1), HostileList([2]), HostileError("e"), moment, HostileRecord(), Hostile]
        )
        assert found == [
            "[Hostile]",
            {"a": 1},
            [2],
            {"name": "HostileError", "message": "e"},
            "2026-01-02T00:00:00",
            {"x": 1},
            "[Class: Hostile]",
        ]


def nested(depth: int) -> Any:
    value: Any = "end"
    for number in range(depth):
        value = [value] if number % 2 else {"k": value}
    return value


@pytest.mark.parametrize("depth", [99, 100, 101, 5_000, 100_000])
def test_depth_costs_no_recursion_and_is_cut_with_a_mark(depth: int) -> None:
    text = safe_stringify(nested(depth))
    assert text.count("{") + text.count("[") == min(depth, 100) + text.count("[Object]") + text.count("[Array]")
    assert ("end" in text) is (depth <= 100)
    deep = stringify(nested(depth), SerializeOptions(max_depth=200_000, max_bytes=10_000_000))
    assert "end" in deep


def test_depth_is_counted_in_containers() -> None:
    assert safe_snapshot({"a": {"b": {"c": {"d": {}, "e": [], "f": 1}}}}) == {
        "a": {"b": {"c": {"d": "[Object]", "e": "[Array]", "f": 1}}}
    }
    assert serialize([[1]], SerializeOptions(max_depth=1)) == ["[Array]"]
    assert serialize([1], SerializeOptions(max_depth=0)) == "[Array]"
    assert serialize(1, SerializeOptions(max_depth=0)) == 1


def test_what_does_not_fit_is_counted() -> None:
    assert serialize(list(range(1000)), SerializeOptions(max_bytes=64))[-1].startswith("[Truncated: 9")
    found = serialize({f"key{n}": n for n in range(1000)}, SerializeOptions(max_bytes=100))
    assert found["[Truncated]"] + len(found) - 1 == 1000
    assert serialize([[1, 2, 3]] * 3, SerializeOptions(max_values=2)) == [[1, "[Truncated: 2]"], "[Truncated: 2]"]
    cut = serialize("x" * 1000, SerializeOptions(max_bytes=64))
    assert cut.endswith("…")
    assert len(json.dumps(cut, ensure_ascii=False).encode()) == 64


def test_a_value_that_unfolds_without_end_is_bounded() -> None:
    value: Any = ["lol"]
    for _ in range(60):
        value = [value, value]
    assert len(stringify(value, SerializeOptions(max_bytes=10_000))) <= 10_000
    assert len(json.dumps(safe_snapshot(value, 50))) <= 10_240 * 2


def test_a_snapshot_of_one_long_text_leaves_room_for_others() -> None:
    found = safe_snapshot({"a": "x" * 1_000_000, "b": "y" * 1_000_000, "c": 1})
    assert found["c"] == 1
    assert found["a"].endswith("…")
    assert found["b"].startswith("yyyy")


def test_json_text_is_that_of_json_stringify() -> None:
    value = {"a": [], "b": {}, "c": [1, {"d": 'é\u2028"\\\n'}], "e": None, "f": True}
    assert stringify(value) == '{"a":[],"b":{},"c":[1,{"d":"é\u2028\\"\\\\\\n"}],"e":null,"f":true}'
    assert safe_stringify({"a": [1, {"b": 2}]}, 2) == json.dumps({"a": [1, {"b": 2}]}, indent=2)
    assert safe_stringify([1], 99) == "[\n" + " " * 10 + "1\n]"
    assert safe_stringify([1], 0) == safe_stringify([1], -3) == "[1]"
    assert stringify([1], SerializeOptions(indent=1)) == "[\n 1\n]"


# -- the way back -----------------------------------------------------------------------------------------------------


def test_functions_travel_by_their_registered_names() -> None:
    functions = {"length": len, "own": function}
    text = stringify({"f": len, "g": [function], "h": lambda: 0}, SerializeOptions(functions=functions))
    assert json.loads(text) == {"f": {"$fn": "length"}, "g": [{"$fn": "own"}], "h": "[Function: <lambda>]"}
    found = parse(text, DeserializeOptions(functions=functions))
    assert found["f"] is len
    assert found["g"] == [function]


@pytest.mark.parametrize(
    "value",
    [
        {"$fn": "() => 1"},
        {"$fn": "os.system"},
        {"$fn": "length", "x": 1},
        {"$fn": ["length"]},
        {"$fn": None},
        {"$fn": 1},
    ],
)
def test_nothing_but_a_registered_name_becomes_a_function(value: Any) -> None:
    assert deserialize([value]) == [value]
    assert deserialize([value], DeserializeOptions(functions={"length": len})) == [value]


def test_without_a_registry_even_a_registered_name_stays_data() -> None:
    assert parse('{"$fn":"length"}') == {"$fn": "length"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Line 1, column 2"),
        ('{"a":\n nope}', "Line 2, column 2"),
        ("NaN", "NaN is no JSON number"),
        ("[-Infinity]", "-Infinity"),
        ("", "column 1"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "JSON text"),
        ("[" * 200 + "]" * 200, "nested deeper"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(ValueProblem, match=said):
        parse(text)


def test_data_beyond_the_limits_is_refused_and_not_cut() -> None:
    for value, opts in (
        ([[1]], DeserializeOptions(max_depth=1)),
        (["x" * 100], DeserializeOptions(max_bytes=64)),
        (list(range(100)), DeserializeOptions(max_values=50)),
        ({"k" * 100: 1}, DeserializeOptions(max_bytes=64)),
    ):
        with pytest.raises(ValueProblem):
            deserialize(value, opts)
    with pytest.raises(ValueProblem, match="more than 5 characters"):
        parse("[1,2,3]", DeserializeOptions(max_bytes=5))


def test_a_copy_shares_nothing() -> None:
    value = {"a": [1, {"b": 2}]}
    for copy in (safe_clone(value), deserialize(value)):
        copy["a"][1]["b"] = 3
        copy["a"].append(4)
        assert value == {"a": [1, {"b": 2}]}


# -- contexts ---------------------------------------------------------------------------------------------------------


def context(**changes: Any) -> Any:
    made = SimpleNamespace(
        args={"x": 1}, run=None, locals={}, nonlocals={}, globals={}, manager=Thing(), trigger="", wraps=""
    )
    made.envelope = SimpleNamespace(id="c1", target=made, parent=None)
    made.__dict__.update(changes)
    return made


def test_a_context_is_shown_without_functions_and_other_contexts() -> None:
    ctx = context(locals={"f": len, "list": [len], "deep": nested(10)}, nonlocals={"a": {"b": 1}})
    ctx.locals["ctx"] = ctx.locals
    ctx.envelope.parent = context()
    shown = serialize_context(ctx)
    assert shown is not None
    assert shown["envelope"] == {"id": "c1", "target": "[Circular]", "parent": "c1"}
    assert "f" not in shown["locals"]
    assert shown["locals"]["list"] == [None]
    assert shown["locals"]["ctx"] == "[Circular]"
    assert "manager" not in shown
    assert "end" not in json.dumps(shown)
    assert shown["args"] == {"x": 1}
    assert serialize_context(None) is None
    shallow = serialize_context(ctx, 1)
    assert shallow is not None
    assert shallow["nonlocals"] == {"a": "[Object]"}


def test_a_served_context_is_shown_by_its_id() -> None:
    ctx, served = context(), context()
    served.envelope.id = "c2"
    ctx.envelope.target = served
    shown = serialize_context(ctx)
    assert shown is not None
    assert shown["envelope"]["target"] == "c2"


# -- properties -------------------------------------------------------------------------------------------------------

numbers = st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | st.text(st.characters(codec="utf-8"), max_size=12)
plain_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5).filter(str.isascii), inner, max_size=5)
    ),
    max_leaves=30,
)
odd = st.sampled_from([len, b"x", {1, 2}, Thing(), float("nan"), "\ud800", Colour.BOTH, Record("r"), ValueError("v")])
values = st.recursive(
    scalars | odd,
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.integers() | st.text(max_size=20), inner, max_size=6)
    ),
    max_leaves=60,
)


@given(plain_values)
def test_plain_data_comes_back_as_it_went(value: Any) -> None:
    assert serialize(value) == value
    assert parse(stringify(value)) == value
    assert json.loads(safe_stringify(value, 3)) == value
    assert stringify(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@given(values, st.integers(0, 6), st.integers(0, 400))
def test_a_snapshot_never_takes_more_bytes_than_allowed(value: Any, depth: int, size: int) -> None:
    found = safe_snapshot(value, depth, size)
    assert len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()) <= max(64, size)
